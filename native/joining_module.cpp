// The Python face of joining.hpp: addresses of arrays, whose sizes the caller vouches for.
#include <nanobind/nanobind.h>

#include "address.hpp"
#include "joining.hpp"

namespace nb = nanobind;

namespace epignn {
namespace {

template <typename T>
void bind_kind(nb::module_& m, const char* add, const char* add_back, const char* join, const char* join_back) {
  using Address = std::uintptr_t;
  m.def(add,
        [](const Joining& j, Address state, Address vector, Address result, int threads) {
          add_messages(j, at<const T>(state), at<const T>(vector), at<T>(result), threads);
        },
        nb::call_guard<nb::gil_scoped_release>());
  m.def(add_back,
        [](const Joining& j, Address state, Address vector, Address grad, Address grad_state, Address grad_vector,
           int threads) {
          add_messages_back(j, at<const T>(state), at<const T>(vector), at<const T>(grad), at<T>(grad_state),
                            at<T>(grad_vector), threads);
        },
        nb::call_guard<nb::gil_scoped_release>());
  m.def(join,
        [](const Joining& j, Address state, Address vector, Address boundary, Address result, int threads) {
          principal(j, at<const T>(state), at<const T>(vector), at<const T>(boundary), at<T>(result), threads);
        },
        nb::call_guard<nb::gil_scoped_release>());
  m.def(join_back,
        [](const Joining& j, Address state, Address vector, Address boundary, Address result, Address grad,
           Address grad_state, Address grad_vector, Address grad_boundary, int threads) {
          principal_back(j, at<const T>(state), at<const T>(vector), at<const T>(boundary), at<const T>(result),
                         at<const T>(grad), at<T>(grad_state), at<T>(grad_vector), at<T>(grad_boundary), threads);
        },
        nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_joining(nb::module_& m) {
  nb::class_<Joining>(m, "Joining");
  m.def("joining", [](int nodes, int passes, int width, std::uintptr_t offset, std::uintptr_t source,
                      std::uintptr_t label) {
    return Joining{nodes, passes, width, at<const std::int32_t>(offset), at<const std::int32_t>(source),
                   at<const std::int32_t>(label)};
  });
  bind_kind<float>(m, "add_messages_float", "add_messages_back_float", "principal_float", "principal_back_float");
  bind_kind<double>(m, "add_messages_double", "add_messages_back_double", "principal_double", "principal_back_double");
}

}  // namespace epignn
