// The components of a facet as one value, with a note of the edge each came from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "inline.hpp"

namespace epignn {

constexpr int MAX_SIZE = 256;  // components of a facet

#if defined(__GNUC__)
constexpr bool HAVE_VECTORS = true;
#else
constexpr bool HAVE_VECTORS = false;
#endif

// SIZE is the number of components, or 0 where it is known only at run time, as `n`.
template <typename T, int SIZE, bool VECTOR = (HAVE_VECTORS && SIZE > 0 && std::is_same<T, float>::value)>
struct Lanes {
  static constexpr bool VECTORS = false;
  T at[SIZE ? SIZE : MAX_SIZE];
  std::int32_t edge[SIZE ? SIZE : MAX_SIZE];

  EPIGNN_INLINE T operator[](int k) const { return at[k]; }
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
  EPIGNN_INLINE void lower_to(const Lanes& other, std::int32_t e, int n) {
    for (int k = 0; k < n; ++k)
      if (other.at[k] < at[k]) at[k] = other.at[k], edge[k] = e;
  }
  EPIGNN_INLINE void multiply(const Lanes& other, int n) {
    for (int k = 0; k < n; ++k) at[k] *= other.at[k];
  }
  EPIGNN_INLINE void add_scaled(const T* other, T factor, int n) {
    for (int k = 0; k < n; ++k) at[k] += factor * other[k];
  }
  EPIGNN_INLINE void add_scaled(const Lanes& other, T factor, int n) { add_scaled(other.at, factor, n); }
  EPIGNN_INLINE void add_product(const T* left, const T* right, int n) {
    for (int k = 0; k < n; ++k) at[k] += left[k] * right[k];
  }
  EPIGNN_INLINE void scale(T factor, int n) {
    for (int k = 0; k < n; ++k) at[k] *= factor;
  }
  EPIGNN_INLINE void at_least(T least, int n) {
    for (int k = 0; k < n; ++k) at[k] = at[k] > least ? at[k] : least;
  }
};

#if defined(__GNUC__)
#if defined(__AVX512F__)
constexpr int REGISTER_FLOATS = 16;
#elif defined(__AVX__)
constexpr int REGISTER_FLOATS = 8;
#else
constexpr int REGISTER_FLOATS = 4;
#endif

// Pieces as wide as a register, since compilers take wider vectors apart, lane by lane.
template <int SIZE>
struct Lanes<float, SIZE, true> {
  static constexpr bool VECTORS = true;
  static constexpr int PIECE = SIZE < REGISTER_FLOATS ? SIZE : REGISTER_FLOATS, PIECES = SIZE / PIECE;
  typedef float Vector __attribute__((vector_size(PIECE * 4)));
  typedef std::int32_t Edges __attribute__((vector_size(PIECE * 4)));
  typedef Vector Unaligned __attribute__((aligned(4), may_alias));
  typedef Edges UnalignedEdges __attribute__((aligned(4), may_alias));
  Vector at[PIECES]{};
  Edges edge[PIECES]{};

  template <typename Act>
  static EPIGNN_INLINE void each(const Act& act) {
    for (int p = 0; p < PIECES; ++p) act(p);
  }
  static EPIGNN_INLINE Vector read(const float* from, int p) {
    return *reinterpret_cast<const Unaligned*>(from + p * PIECE);
  }
  EPIGNN_INLINE float operator[](int k) const { return at[k / PIECE][k % PIECE]; }
  EPIGNN_INLINE void load(const float* from, int) {
    each([&](int p) { at[p] = read(from, p); });
  }
  EPIGNN_INLINE void store(float* to, int) const {
    each([&](int p) { *reinterpret_cast<Unaligned*>(to + p * PIECE) = at[p]; });
  }
  EPIGNN_INLINE void fill(float value, int) {
    each([&](int p) { at[p] = Vector{} + value; });
  }
  EPIGNN_INLINE void fill_edges(std::int32_t e, int) {
    each([&](int p) { edge[p] = Edges{} + e; });
  }
  EPIGNN_INLINE void store_edges(std::int32_t* to, int) const {
    each([&](int p) { *reinterpret_cast<UnalignedEdges*>(to + p * PIECE) = edge[p]; });
  }
  EPIGNN_INLINE void compose(const float* state, const float* matrix, int) {
    each([&](int p) { at[p] = read(matrix, p) * state[0]; });
    for (int i = 1; i < SIZE; ++i) add_scaled(matrix + i * SIZE, state[i], SIZE);
  }
  EPIGNN_INLINE void lower_to(const Lanes& other, std::int32_t e, int) {
    each([&](int p) {
      const Edges lower = other.at[p] < at[p];
      at[p] = lower ? other.at[p] : at[p];
      edge[p] = lower ? Edges{} + e : edge[p];
    });
  }
  EPIGNN_INLINE void multiply(const Lanes& other, int) {
    each([&](int p) { at[p] *= other.at[p]; });
  }
  EPIGNN_INLINE void add_scaled(const float* other, float factor, int) {
    each([&](int p) { at[p] += read(other, p) * factor; });
  }
  EPIGNN_INLINE void add_scaled(const Lanes& other, float factor, int) {
    each([&](int p) { at[p] += other.at[p] * factor; });
  }
  EPIGNN_INLINE void add_product(const float* left, const float* right, int) {
    each([&](int p) { at[p] += read(left, p) * read(right, p); });
  }
  EPIGNN_INLINE void scale(float factor, int) {
    each([&](int p) { at[p] *= factor; });
  }
  EPIGNN_INLINE void at_least(float least, int) {
    each([&](int p) { at[p] = at[p] > least ? at[p] : Vector{} + least; });
  }
  // All components joined to one number: pieces, then halves of a piece, and so on, so that few steps follow one
  // another.
  template <typename Join>
  EPIGNN_INLINE float fold(const Join& join) const {
    Vector whole = at[0];
    for (int p = 1; p < PIECES; ++p) whole = join(whole, at[p]);
    return fold_piece<PIECE>(whole, join);
  }
  template <int COUNT, typename Values, typename Join>
  static EPIGNN_INLINE float fold_piece(const Values& values, const Join& join) {
    if constexpr (COUNT == 4) {
      return join(join(values[0], values[2]), join(values[1], values[3]));
    } else {
      typedef float Half __attribute__((vector_size(COUNT * 2)));
      Half low, high;
      std::memcpy(&low, &values, sizeof low);
      std::memcpy(&high, reinterpret_cast<const char*>(&values) + sizeof low, sizeof low);
      return fold_piece<COUNT / 2>(join(low, high), join);
    }
  }
};
#endif

template <typename T, int SIZE>
EPIGNN_INLINE T sum(const Lanes<T, SIZE>& lanes, int n) {
  if constexpr (Lanes<T, SIZE>::VECTORS) {
    return lanes.fold([](const auto& a, const auto& b) { return a + b; });
  } else {
    T total = 0;
    for (int k = 0; k < n; ++k) total += lanes.at[k];
    return total;
  }
}

template <typename T, int SIZE>
EPIGNN_INLINE T largest(const Lanes<T, SIZE>& lanes, int n) {
  if constexpr (Lanes<T, SIZE>::VECTORS) {
    return lanes.fold([](const auto& a, const auto& b) { return a > b ? a : b; });
  } else {
    T top = lanes.at[0];
    for (int k = 1; k < n; ++k) top = std::max<T>(top, lanes.at[k]);
    return top;
  }
}

// target[k] += factor * other[k]; `other` is an array, or lanes
template <typename T, int SIZE, typename Other>
EPIGNN_INLINE void accumulate(T* target, const Other& other, T factor, int n) {
  Lanes<T, SIZE> lanes;
  lanes.load(target, n);
  lanes.add_scaled(other, factor, n);
  lanes.store(target, n);
}

// What counts as nothing: a state whose components sum to less is a contradiction.
template <typename T>
constexpr T FLOOR = T(1e-18);

// Scale to a sum of one and return the sum before; a contradiction becomes ignorance, and 0 is returned.
template <typename T, int SIZE>
EPIGNN_INLINE T normalise(Lanes<T, SIZE>& lanes, int n) {
  const T total = sum<T, SIZE>(lanes, n);
  if (total < FLOOR<T>) {
    lanes.fill(T(1) / n, n);
    return 0;
  }
  lanes.scale(T(1) / total, n);
  return total;
}

// Multiply, and scale to a largest component of one, so that no number of factors underflows. No component of
// a factor counts as less than the floor.
template <typename T, int SIZE>
EPIGNN_INLINE void multiply_scaled(Lanes<T, SIZE>& product, Lanes<T, SIZE>& factor, int n) {
  factor.at_least(FLOOR<T>, n);
  product.multiply(factor, n);
  product.scale(T(1) / largest<T, SIZE>(product, n), n);
}

// From the gradient of a normalised state to that of what was pooled (min) or of its logarithm (product).
template <typename T, int SIZE>
EPIGNN_INLINE void unnormalise(const T* state, const T* grad, bool minimum, T total, T* back, int n) {
  Lanes<T, SIZE> products;
  products.fill(T(0), n);
  products.add_product(grad, state, n);
  const T inner = sum<T, SIZE>(products, n);
  for (int k = 0; k < n; ++k)
    back[k] = total == 0 ? T(0) : (grad[k] - inner) * (minimum ? T(1) / total : state[k]);
}

// Facet sizes that are compiled for; others take the path of any size.
#define EPIGNN_SIZES(X) X(4) X(8) X(16) X(32)

}  // namespace epignn
