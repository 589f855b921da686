// Arrays that Python hands over by their address.
#pragma once

#include <cstdint>

namespace epignn {

template <typename T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace epignn
