// Several facets side by side in one register, with a note of the edge each component came from.
//
// A block holds `lanes` components: of as many facets as fill a register where a facet is 4, 8 or 16 floats, or of
// one facet of any size. A matrix is laid out so that row i of all facets of a block lies in one register.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heads.hpp"
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

// How many components a block holds; a block holds facets that are pooled alike.
inline int block_lanes(const HeadGraph& g, bool single_precision) {
  const bool fits = g.size == 4 || g.size == 8 || g.size == 16;
  const bool whole = g.facets * g.size % REGISTER == 0 && g.counting * g.size % REGISTER == 0;
  return HAVE_REGISTERS && single_precision && fits && whole ? REGISTER : g.size;
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
  EPIGNN_INLINE void lower_to(const Block& other, int n) {
    for (int k = 0; k < n; ++k) at[k] = other.at[k] < at[k] ? other.at[k] : at[k];
  }
  EPIGNN_INLINE void multiply(const Block& other, T least, int n) {
    for (int k = 0; k < n; ++k) at[k] *= std::max(other.at[k], least);
  }
  EPIGNN_INLINE void add(const Block& other, int n) {
    for (int k = 0; k < n; ++k) at[k] += other.at[k];
  }
  EPIGNN_INLINE void add_to(T* target, int n) const {
    for (int k = 0; k < n; ++k) target[k] += at[k];
  }
  // target[k][i] += at[k] * right[i]
  EPIGNN_INLINE void add_outer(T* target, const T* right, int n) const {
    for (int k = 0; k < n; ++k)
      for (int i = 0; at[k] != 0 && i < n; ++i) target[k * n + i] += at[k] * right[i];
  }
  EPIGNN_INLINE void compose(const Block& state, const T* matrix, int n) { compose(state.at, matrix, n); }
  // From the gradient of a normalised state to that of what was pooled (min, mean) or of its logarithm (product).
  EPIGNN_INLINE void unnormalise(const T* state, const T* grad, const T* total, bool logarithm, int n, int) {
    T inner = 0;
    for (int k = 0; k < n; ++k) inner += grad[k] * state[k];
    for (int k = 0; k < n; ++k)
      at[k] = *total == 0 ? T(0) : (grad[k] - inner) * (logarithm ? state[k] : T(1) / *total);
  }
  EPIGNN_INLINE void scale_to_largest(int n, int) {
    const T top = *std::max_element(at, at + n);
    for (int k = 0; k < n; ++k) at[k] /= top;
  }
  // Scale each facet to a sum of one and write the sums before to `total`, unless it is null; a sum below the floor
  // is a contradiction, which becomes ignorance, and 0 is written.
  EPIGNN_INLINE void normalise(T* state, T* total, T floor, int n, int) const {
    T sum = 0;
    for (int k = 0; k < n; ++k) sum += at[k];
    for (int k = 0; k < n; ++k) state[k] = sum < floor ? T(1) / n : at[k] / sum;
    if (total) *total = sum < floor ? T(0) : sum;
  }
};

#if defined(EPIGNN_REGISTERS)
// Two halves, since compilers take vectors wider than the machine's apart, lane by lane.
template <int SIZE>
struct Register {
  static constexpr int HALF = REGISTER / 2;
  typedef float Vector __attribute__((vector_size(HALF * 4)));
  typedef std::int32_t Edges __attribute__((vector_size(HALF * 4)));
  typedef Vector Unaligned __attribute__((aligned(4), may_alias));
  typedef Edges UnalignedEdges __attribute__((aligned(4), may_alias));
  Vector at[2]{};
  Edges edge[2]{};

  static EPIGNN_INLINE Vector read(const float* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static EPIGNN_INLINE void write(float* to, Vector value) { *reinterpret_cast<Unaligned*>(to) = value; }
  // Component i of each facet of a half, in all lanes of that facet.
  template <int I>
  static EPIGNN_INLINE Vector spread(const float* state, int half) {
    if constexpr (SIZE == 4) {
      const Vector s = read(state + half * HALF);
      return __builtin_shufflevector(s, s, I, I, I, I, I + 4, I + 4, I + 4, I + 4);
    }
    return Vector{} + state[SIZE == 8 ? half * HALF + I : I];
  }
  // Rows I, I + STEP, …; sums of at most four follow one another, and several sums go on at once.
  static constexpr int STEP = SIZE / 4;
  template <int I>
  static EPIGNN_INLINE Vector rows(const float* state, const float* matrix, int half) {
    const Vector row = read(matrix + I * REGISTER + half * HALF) * spread<I>(state, half);
    if constexpr (I + STEP < SIZE)
      return row + rows<I + STEP>(state, matrix, half);
    else
      return row;
  }
  template <int I = 0>
  static EPIGNN_INLINE Vector all_rows(const float* state, const float* matrix, int half) {
    if constexpr (I + 1 < STEP)
      return rows<I>(state, matrix, half) + all_rows<I + 1>(state, matrix, half);
    else
      return rows<I>(state, matrix, half);
  }
  EPIGNN_INLINE void load(const float* from, int) {
    for (int h = 0; h < 2; ++h) at[h] = read(from + h * HALF);
  }
  EPIGNN_INLINE void store(float* to, int) const {
    for (int h = 0; h < 2; ++h) write(to + h * HALF, at[h]);
  }
  EPIGNN_INLINE void fill(float value, int) { at[0] = at[1] = Vector{} + value; }
  EPIGNN_INLINE void fill_edges(std::int32_t e, int) { edge[0] = edge[1] = Edges{} + e; }
  EPIGNN_INLINE void store_edges(std::int32_t* to, int) const {
    for (int h = 0; h < 2; ++h) *reinterpret_cast<UnalignedEdges*>(to + h * HALF) = edge[h];
  }
  EPIGNN_INLINE void compose(const float* state, const float* matrix, int) {
    for (int h = 0; h < 2; ++h) at[h] = all_rows(state, matrix, h);
  }
  EPIGNN_INLINE void lower_to(const Register& other, std::int32_t e, int) {
    for (int h = 0; h < 2; ++h) {
      const Edges lower = other.at[h] < at[h];
      at[h] = lower ? other.at[h] : at[h];
      edge[h] = lower ? Edges{} + e : edge[h];
    }
  }
  EPIGNN_INLINE void lower_to(const Register& other, int) {
    for (int h = 0; h < 2; ++h) at[h] = other.at[h] < at[h] ? other.at[h] : at[h];
  }
  EPIGNN_INLINE void multiply(const Register& other, float least, int) {
    for (int h = 0; h < 2; ++h) at[h] *= other.at[h] > least ? other.at[h] : Vector{} + least;
  }
  EPIGNN_INLINE void add(const Register& other, int) {
    for (int h = 0; h < 2; ++h) at[h] += other.at[h];
  }
  EPIGNN_INLINE void add_to(float* target, int) const {
    for (int h = 0; h < 2; ++h) write(target + h * HALF, read(target + h * HALF) + at[h]);
  }
  EPIGNN_INLINE void add_outer(float* target, const float* right, int n) const {
    alignas(64) float left[REGISTER];
    store(left, n);
    add_rows<0>(target, left, right);
  }
  template <int K>
  static EPIGNN_INLINE void add_rows(float* target, const float* left, const float* right) {
    for (int h = 0; h < 2; ++h) {
      float* const row = target + K * REGISTER + h * HALF;
      write(row, read(row) + spread<K>(left, h) * read(right + h * HALF));
    }
    if constexpr (K + 1 < SIZE) add_rows<K + 1>(target, left, right);
  }
  EPIGNN_INLINE void compose(const Register& state, const float* matrix, int n) {
    alignas(64) float values[REGISTER];
    state.store(values, n);
    compose(values, matrix, n);
  }
  EPIGNN_INLINE void unnormalise(const float* state, const float* grad, const float* total, bool logarithm, int, int) {
    Vector inner[2];
    for (int h = 0; h < 2; ++h) inner[h] = read(grad + h * HALF) * read(state + h * HALF);
    over_facets(inner, [](Vector a, Vector b) __attribute__((always_inline)) { return a + b; });
    for (int h = 0; h < 2; ++h) {
      Vector sum{};
      for (int c = 0; c < HALF; ++c) sum[c] = total[(h * HALF + c) / SIZE];
      const Vector factor = logarithm ? read(state + h * HALF) : 1.0f / sum;
      at[h] = sum == 0.0f ? Vector{} : (read(grad + h * HALF) - inner[h]) * factor;
    }
  }
  // Lane by lane, `join` over all components of its facet.
  template <typename Join>
  static EPIGNN_INLINE void over_facets(Vector (&v)[2], const Join& join) {
    for (int h = 0; h < 2; ++h) {
      v[h] = join(v[h], __builtin_shufflevector(v[h], v[h], 1, 0, 3, 2, 5, 4, 7, 6));
      v[h] = join(v[h], __builtin_shufflevector(v[h], v[h], 2, 3, 0, 1, 6, 7, 4, 5));
      if constexpr (SIZE > 4) v[h] = join(v[h], __builtin_shufflevector(v[h], v[h], 4, 5, 6, 7, 0, 1, 2, 3));
    }
    if constexpr (SIZE > HALF) v[0] = v[1] = join(v[0], v[1]);
  }
  EPIGNN_INLINE void scale_to_largest(int, int) {
    Vector top[2] = {at[0], at[1]};
    over_facets(top, [](Vector a, Vector b) __attribute__((always_inline)) { return a > b ? a : b; });
    for (int h = 0; h < 2; ++h) at[h] /= top[h];
  }
  EPIGNN_INLINE void normalise(float* state, float* total, float floor, int, int) const {
    Vector sum[2] = {at[0], at[1]};
    over_facets(sum, [](Vector a, Vector b) __attribute__((always_inline)) { return a + b; });
    for (int h = 0; h < 2; ++h) {
      const Edges none = sum[h] < floor;
      write(state + h * HALF, none ? Vector{} + 1.0f / SIZE : at[h] / sum[h]);
      if (total)
        for (int c = 0; c < (SIZE > HALF ? (h == 0) : HALF / SIZE); ++c)
          total[h * (HALF / SIZE) + c] = none[c * SIZE] ? 0.0f : sum[h][c * SIZE];
    }
  }
};
template <>
struct Block<float, 4> : Register<4> {};
template <>
struct Block<float, 8> : Register<8> {};
template <>
struct Block<float, 16> : Register<16> {};
#endif

// target[i] += factor * other[i], at most half a register at a time
template <typename T, int SIZE>
EPIGNN_INLINE void add_scaled(T* target, const T* other, T factor, int n) {
  constexpr int PART = SIZE > REGISTER / 2 ? REGISTER / 2 : SIZE;
  if constexpr (SIZE == 0)
    accumulate<T, 0>(target, other, factor, n);
  else
    for (int i = 0; i < SIZE; i += PART) accumulate<T, PART>(target + i, other + i, factor, PART);
}

}  // namespace epignn
