#include "learnt.hpp"

#include <algorithm>
#include <cmath>

#include "lanes.hpp"

namespace epignn {
namespace {

template <typename T, int SIZE>
struct Steps {
  typedef Lanes<T, SIZE> Row;
  const Shape& s;
  const std::int64_t n;
  const std::int64_t skipped;  // right arguments whose composition is fixed
  explicit Steps(const Shape& shape) : s(shape), n(SIZE ? SIZE : shape.size), skipped(shape.right_identity) {}

  static EPIGNN_INLINE T dot(const T* left, const T* right, std::int64_t n) {
    Row products;
    products.fill(T(0), int(n));
    products.add_product(left, right, int(n));
    return sum<T, SIZE>(products, int(n));
  }

  EPIGNN_INLINE void softmax(const T* logits, T* out) const {
    const T most = *std::max_element(logits, logits + n);
    T total = 0;
    for (std::int64_t k = 0; k < n; ++k) total += out[k] = std::exp(logits[k] - most);
    for (std::int64_t k = 0; k < n; ++k) out[k] /= total;
  }

  // From the gradient of a softmax to that of its arguments.
  EPIGNN_INLINE void unsoftmax(const T* out, const T* grad, T* grad_logits) const {
    const T inner = dot(out, grad, n);
    for (std::int64_t k = 0; k < n; ++k) grad_logits[k] = out[k] * (grad[k] - inner);
  }

  // A softmax over j for each k; `rows` of n logits each.
  void softmax_down(const T* logits, std::int64_t rows, T* out) const {
    T most[SIZE ? SIZE : MAX_SIZE], total[SIZE ? SIZE : MAX_SIZE] = {};
    std::copy(logits, logits + n, most);
    for (std::int64_t j = 1; j < rows; ++j)
      for (std::int64_t k = 0; k < n; ++k) most[k] = std::max(most[k], logits[j * n + k]);
    for (std::int64_t j = 0; j < rows; ++j)
      for (std::int64_t k = 0; k < n; ++k) total[k] += out[j * n + k] = std::exp(logits[j * n + k] - most[k]);
    for (std::int64_t j = 0; j < rows; ++j)
      for (std::int64_t k = 0; k < n; ++k) out[j * n + k] /= total[k];
  }

  // Runs of compositions with one left argument i > 0: what is learnt of them, and where they stand in the table.
  template <typename Act>
  void each_left(const Act& act) const {
    const std::int64_t rows = n - skipped;
    for (std::int64_t f = 0; f < s.facets; ++f)
      for (std::int64_t i = 1; i < n; ++i)
        act((f * (n - 1) + i - 1) * rows * n, ((f * n + i) * n + skipped) * n, rows);
  }

  void table(const T* logits, T* out, T* totals) const {
    std::fill(out, out + s.table(), T(0));
    for (std::int64_t f = 0; f < s.facets; ++f)
      for (std::int64_t x = 0; x < n; ++x) {
        out[(f * n * n + x) * n + x] = 1;                     // a_1j = one-hot(j)
        if (skipped) out[(f * n + x) * n * n + x] = 1;  // a_i1 = one-hot(i)
      }
    each_left([&](std::int64_t from, std::int64_t to, std::int64_t rows) {
      if (!s.coupled) {
        for (std::int64_t j = 0; j < rows; ++j) softmax(logits + from + j * n, out + to + j * n);
        return;
      }
      softmax_down(logits + from, rows, out + to);
      for (std::int64_t j = 0; j < rows; ++j) {
        Row row;
        row.load(out + to + j * n, int(n));
        const T total = totals[to / n + j] = sum<T, SIZE>(row, int(n));
        row.scale(T(1) / total, int(n));
        row.store(out + to + j * n, int(n));
      }
    });
  }

  // Spends `grad`.
  void untable(const T* table, const T* totals, T* grad, T* grad_logits) const {
    each_left([&](std::int64_t from, std::int64_t to, std::int64_t rows) {
      if (!s.coupled) {
        for (std::int64_t j = 0; j < rows; ++j)
          unsoftmax(table + to + j * n, grad + to + j * n, grad_logits + from + j * n);
        return;
      }
      T inner[SIZE ? SIZE : MAX_SIZE] = {};  // over j, for each k
      for (std::int64_t j = 0; j < rows; ++j) {
        const T* const out = table + to + j * n;
        T* const g = grad + to + j * n;
        const T mean = dot(out, g, n);
        for (std::int64_t k = 0; k < n; ++k) inner[k] += out[k] * (g[k] -= mean);
      }
      for (std::int64_t j = 0; j < rows; ++j)
        for (std::int64_t k = 0; k < n; ++k)
          grad_logits[from + j * n + k] =
              table[to + j * n + k] * (grad[to + j * n + k] - totals[to / n + j] * inner[k]);
    });
  }

  void matrices(Learnt<T>& out) const {
    Row row;
    for (std::int64_t r = 0; r < s.relations; ++r)
      for (std::int64_t f = 0; f < s.facets; ++f) {
        const T* const vector = out.vectors.data() + (r * s.facets + f) * n;
        const T* const facet = out.table.data() + f * n * n * n;
        for (std::int64_t x = 0; x < n; ++x) {
          const std::int64_t at = ((r * s.facets + f) * n + x) * n;
          row.compose(vector, facet + x * n * n, int(n));
          row.store(out.ahead.data() + at, int(n));
          row.fill(T(0), int(n));
          for (std::int64_t i = 0; i < n; ++i) row.add_scaled(facet + (i * n + x) * n, vector[i], int(n));
          row.store(out.back.data() + at, int(n));
        }
      }
  }

  // Adds what comes by the matrices to the gradients of table and vectors.
  void unmatrices(const Learnt<T>& learnt, Learnt<T>& grad) const {
    std::vector<T> sums(2 * s.relations * std::size_t(n * n));  // of products, by the vector's component and k
    T* const on_right = sums.data();
    T* const on_left = on_right + s.relations * n * n;
    for (std::int64_t f = 0; f < s.facets; ++f) {
      std::fill(sums.begin(), sums.end(), T(0));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t at = ((f * n + i) * n + j) * n;
          const T* const row = learnt.table.data() + at;
          Row change;
          change.load(grad.table.data() + at, int(n));
          for (std::int64_t r = 0; r < s.relations; ++r) {
            const std::int64_t facet = (r * s.facets + f) * n;
            const T *const ahead = grad.ahead.data() + (facet + i) * n, *const back = grad.back.data() + (facet + j) * n;
            change.add_scaled(ahead, learnt.vectors[facet + j], int(n));
            change.add_scaled(back, learnt.vectors[facet + i], int(n));
            add_product(on_right + (r * n + j) * n, row, ahead);
            add_product(on_left + (r * n + i) * n, row, back);
          }
          change.store(grad.table.data() + at, int(n));
        }
      for (std::int64_t r = 0; r < s.relations; ++r)
        for (std::int64_t x = 0; x < n; ++x) {
          Row both;
          both.load(on_right + (r * n + x) * n, int(n));
          both.add_scaled(on_left + (r * n + x) * n, T(1), int(n));
          grad.vectors[(r * s.facets + f) * n + x] += sum<T, SIZE>(both, int(n));
        }
    }
  }

  EPIGNN_INLINE void add_product(T* target, const T* left, const T* right) const {
    Row row;
    row.load(target, int(n));
    row.add_product(left, right, int(n));
    row.store(target, int(n));
  }

  static void of(const Shape& s, const T* relation, const T* composition, Learnt<T>& out) {
    const Steps steps(s);
    for (std::size_t at = 0; at < s.vectors(); at += s.size) steps.softmax(relation + at, out.vectors.data() + at);
    steps.table(composition, out.table.data(), out.totals.data());
    steps.matrices(out);
  }

  static void back(const Shape& s, const Learnt<T>& learnt, Learnt<T>& grad, T* grad_relation, T* grad_composition) {
    const Steps steps(s);
    steps.unmatrices(learnt, grad);
    for (std::size_t at = 0; at < s.vectors(); at += s.size)
      steps.unsoftmax(learnt.vectors.data() + at, grad.vectors.data() + at, grad_relation + at);
    steps.untable(learnt.table.data(), learnt.totals.data(), grad.table.data(), grad_composition);
  }
};

template <typename T>
struct Functions {
  decltype(&Steps<T, 0>::of) of = &Steps<T, 0>::of;
  decltype(&Steps<T, 0>::back) back = &Steps<T, 0>::back;
};

template <typename T>
Functions<T> functions(std::int32_t) {
  return {};
}

template <>
Functions<float> functions<float>(std::int32_t size) {
  switch (size) {
#define EPIGNN_CASE(SIZE) \
  case SIZE:              \
    return {&Steps<float, SIZE>::of, &Steps<float, SIZE>::back};
    EPIGNN_SIZES(EPIGNN_CASE)
    default:
      return {};
  }
}

}  // namespace

template <typename T>
void learnt_of(const Shape& s, const T* relation, const T* composition, Learnt<T>& out) {
  functions<T>(s.size).of(s, relation, composition, out);
}

template <typename T>
void learnt_back(const Shape& s, const Learnt<T>& learnt, Learnt<T>& grad, T* grad_relation, T* grad_composition) {
  functions<T>(s.size).back(s, learnt, grad, grad_relation, grad_composition);
}

template void learnt_of<float>(const Shape&, const float*, const float*, Learnt<float>&);
template void learnt_of<double>(const Shape&, const double*, const double*, Learnt<double>&);
template void learnt_back<float>(const Shape&, const Learnt<float>&, Learnt<float>&, float*, float*);
template void learnt_back<double>(const Shape&, const Learnt<double>&, Learnt<double>&, double*, double*);

}  // namespace epignn
