// Several facets side by side in one register, with a note of the edge each component came from.
//
// A block holds `lanes` components: of as many facets as fill a register where a facet is 4, 8 or 16 floats, or of
// one facet of any size. A matrix is laid out so that row i of all facets of a block lies in one register.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lanes.hpp"

namespace epignn {

constexpr int REGISTER = 16;  // floats

#if defined(__GNUC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define EPIGNN_REGISTERS 1
#endif
#endif
#if defined(EPIGNN_REGISTERS)
constexpr bool HAVE_REGISTERS = true;
#else
constexpr bool HAVE_REGISTERS = false;
#endif

// How many components a block holds.
inline int block_lanes(int facets, int size, bool single_precision) {
  const bool fits = size == 4 || size == 8 || size == 16;
  return HAVE_REGISTERS && single_precision && fits && facets * size % REGISTER == 0 ? REGISTER : size;
}

// SIZE is the number of components of a facet, or 0 where a block is one facet of `n` components.
template <typename T, int SIZE>
struct Block {
  T at[MAX_SIZE];
  std::int32_t edge[MAX_SIZE];

  EPIGNN_INLINE void load(const T* from, int n) { std::copy(from, from + n, at); }
  EPIGNN_INLINE void store(T* to, int n) const { std::copy(at, at + n, to); }
  EPIGNN_INLINE void fill(T value, int n) { std::fill(at, at + n, value); }
  EPIGNN_INLINE void fill_edges(std::int32_t e, int n) { std::fill(edge, edge + n, e); }
  EPIGNN_INLINE void store_edges(std::int32_t* to, int n) const { std::copy(edge, edge + n, to); }
  // at[k] = sum over i of state[i] * matrix[i][k]
  EPIGNN_INLINE void compose(const T* state, const T* matrix, int n) {
    for (int k = 0; k < n; ++k) at[k] = state[0] * matrix[k];
    for (int i = 1; i < n; ++i)
      for (int k = 0; k < n; ++k) at[k] += state[i] * matrix[i * n + k];
  }
  EPIGNN_INLINE void lower_to(const Block& other, std::int32_t e, int n) {
    for (int k = 0; k < n; ++k)
      if (other.at[k] < at[k]) at[k] = other.at[k], edge[k] = e;
  }
  EPIGNN_INLINE void multiply(const Block& other, T least, int n) {
    for (int k = 0; k < n; ++k) at[k] *= std::max(other.at[k], least);
  }
};

#if defined(EPIGNN_REGISTERS)
template <int SIZE>
struct Register {
  typedef float Vector __attribute__((vector_size(REGISTER * 4)));
  typedef std::int32_t Edges __attribute__((vector_size(REGISTER * 4)));
  typedef Vector Unaligned __attribute__((aligned(4), may_alias));
  typedef Edges UnalignedEdges __attribute__((aligned(4), may_alias));
  Vector at{};
  Edges edge{};

  static EPIGNN_INLINE Vector read(const float* from) { return *reinterpret_cast<const Unaligned*>(from); }
  // Component i of each facet, in all lanes of that facet.
  template <int I>
  static EPIGNN_INLINE Vector spread(Vector s) {
    constexpr int G = REGISTER / SIZE;
    if constexpr (G == 4)
      return __builtin_shufflevector(s, s, I, I, I, I, I + 4, I + 4, I + 4, I + 4, I + 8, I + 8, I + 8, I + 8, I + 12,
                                     I + 12, I + 12, I + 12);
    else if constexpr (G == 2)
      return __builtin_shufflevector(s, s, I, I, I, I, I, I, I, I, I + 8, I + 8, I + 8, I + 8, I + 8, I + 8, I + 8,
                                     I + 8);
    else
      return Vector{} + s[I];
  }
  template <int I>
  static EPIGNN_INLINE Vector rows(Vector s, const float* matrix) {
    if constexpr (I + 1 == SIZE)
      return read(matrix + I * REGISTER) * spread<I>(s);
    else
      return read(matrix + I * REGISTER) * spread<I>(s) + rows<I + 1>(s, matrix);
  }
  EPIGNN_INLINE void load(const float* from, int) { at = read(from); }
  EPIGNN_INLINE void store(float* to, int) const { *reinterpret_cast<Unaligned*>(to) = at; }
  EPIGNN_INLINE void fill(float value, int) { at = Vector{} + value; }
  EPIGNN_INLINE void fill_edges(std::int32_t e, int) { edge = Edges{} + e; }
  EPIGNN_INLINE void store_edges(std::int32_t* to, int) const { *reinterpret_cast<UnalignedEdges*>(to) = edge; }
  EPIGNN_INLINE void compose(const float* state, const float* matrix, int) { at = rows<0>(read(state), matrix); }
  EPIGNN_INLINE void lower_to(const Register& other, std::int32_t e, int) {
    const Edges lower = other.at < at;
    at = lower ? other.at : at;
    edge = lower ? Edges{} + e : edge;
  }
  EPIGNN_INLINE void multiply(const Register& other, float least, int) {
    at *= other.at > least ? other.at : Vector{} + least;
  }
};
template <>
struct Block<float, 4> : Register<4> {};
template <>
struct Block<float, 8> : Register<8> {};
template <>
struct Block<float, 16> : Register<16> {};
#endif

}  // namespace epignn
