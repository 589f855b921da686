#include "joining.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "share.hpp"

#if defined(__GNUC__)
#define EPIGNN_RESTRICT __restrict__
#else
#define EPIGNN_RESTRICT
#endif

namespace epignn {
namespace {

constexpr std::int32_t TOGETHER = 512;  // components of a block, about: what is added up for it stays in the cache

// Some passes of all nodes. Blocks share nothing that is written, so that threads may take them in any order.
struct Block {
  std::int32_t passes;     // in the block
  std::int64_t first;      // component of a row at which it begins
  std::int64_t components;
};

// Run make()(block) for all blocks.
template <typename Make>
void each_block(const Joining& j, int threads, const Make& make) {
  const std::int32_t most = std::max(1, TOGETHER / j.width), blocks = (j.passes + most - 1) / most;
  share(blocks, threads, [&] {
    return [&, work = make(std::int64_t{std::min(most, j.passes)} * j.width)](std::int64_t n) mutable {
      const std::int32_t first = std::int32_t(n) * most, passes = std::min(most, j.passes - first);
      work(Block{passes, std::int64_t{first} * j.width, std::int64_t{passes} * j.width});
    };
  });
}

// The rows of one message.
template <typename T>
struct Message {
  const T* state;
  const T* vector;
  std::int64_t state_at, vector_at;
};

template <typename T>
Message<T> message(const Joining& j, const Block& b, const T* state, const T* vector, std::int32_t edge) {
  const std::int64_t row = std::int64_t{j.passes} * j.width;
  const std::int64_t state_at = j.source[edge] * row + b.first, vector_at = j.label[edge] * row + b.first;
  return {state + state_at, vector + vector_at, state_at, vector_at};
}

// gradient · vector to the state, gradient · state to the vector
template <typename T>
void pass_back(const Message<T>& m, const T* EPIGNN_RESTRICT gradient, T* EPIGNN_RESTRICT grad_state,
               T* EPIGNN_RESTRICT grad_vector, std::int64_t n) {
  T* const EPIGNN_RESTRICT to_state = grad_state + m.state_at;
  T* const EPIGNN_RESTRICT to_vector = grad_vector + m.vector_at;
  for (std::int64_t k = 0; k < n; ++k) {
    to_state[k] += gradient[k] * m.vector[k];
    to_vector[k] += gradient[k] * m.state[k];
  }
}

// Rows of a block, side by side: what a node's messages come to, and what is computed of that.
template <typename T, int ROWS>
struct Rows {
  std::vector<T> held;
  std::int64_t size;
  explicit Rows(std::int64_t n) : held(ROWS * n), size(n) {}
  T* operator[](int row) { return held.data() + row * size; }
};

// Take one message more.
template <typename T>
void take(const T* EPIGNN_RESTRICT state, const T* EPIGNN_RESTRICT vector, T* EPIGNN_RESTRICT total,
          T* EPIGNN_RESTRICT squares, T* EPIGNN_RESTRICT largest, T* EPIGNN_RESTRICT smallest, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    const T m = state[k] * vector[k];
    total[k] += m;
    squares[k] += m * m;
    largest[k] = m > largest[k] ? m : largest[k];
    smallest[k] = m < smallest[k] ? m : smallest[k];
  }
}

// Count the messages that are the largest, and those that are the smallest.
template <typename T>
void count_extremes(const T* EPIGNN_RESTRICT state, const T* EPIGNN_RESTRICT vector, const T* EPIGNN_RESTRICT largest,
                    const T* EPIGNN_RESTRICT smallest, T* EPIGNN_RESTRICT largest_count,
                    T* EPIGNN_RESTRICT smallest_count, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    const T m = state[k] * vector[k];
    largest_count[k] += m == largest[k] ? T(1) : T(0);
    smallest_count[k] += m == smallest[k] ? T(1) : T(0);
  }
}

// The gradient of messages: constant + message · slope, and a part of that of an extreme where they are one.
template <typename T>
struct Slopes {
  const T *EPIGNN_RESTRICT constant, *EPIGNN_RESTRICT slope, *EPIGNN_RESTRICT largest, *EPIGNN_RESTRICT smallest,
      *EPIGNN_RESTRICT by_largest, *EPIGNN_RESTRICT by_smallest;
};

template <typename T>
void gradient_of(const T* EPIGNN_RESTRICT state, const T* EPIGNN_RESTRICT vector, const Slopes<T> s,
                 T* EPIGNN_RESTRICT gradient, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    const T m = state[k] * vector[k];
    gradient[k] = s.constant[k] + m * s.slope[k] + (m == s.largest[k] ? s.by_largest[k] : T(0)) +
                  (m == s.smallest[k] ? s.by_smallest[k] : T(0));
  }
}

}  // namespace

template <typename T>
void add_messages(const Joining& j, const T* state, const T* vector, T* result, int threads) {
  const std::int64_t row = std::int64_t{j.passes} * j.width;
  each_block(j, threads, [&](std::int64_t) {
    return [&](const Block& b) {
      for (std::int32_t v = 0; v < j.nodes; ++v) {
        T* const EPIGNN_RESTRICT total = result + v * row + b.first;
        for (std::int32_t e = j.offset[v]; e < j.offset[v + 1]; ++e) {
          const Message<T> m = message(j, b, state, vector, e);
          for (std::int64_t k = 0; k < b.components; ++k) total[k] += m.state[k] * m.vector[k];
        }
      }
    };
  });
}

template <typename T>
void add_messages_back(const Joining& j, const T* state, const T* vector, const T* grad, T* grad_state, T* grad_vector,
                       int threads) {
  const std::int64_t row = std::int64_t{j.passes} * j.width;
  each_block(j, threads, [&](std::int64_t) {
    return [&](const Block& b) {
      for (std::int32_t v = 0; v < j.nodes; ++v)
        for (std::int32_t e = j.offset[v]; e < j.offset[v + 1]; ++e)
          pass_back(message(j, b, state, vector, e), grad + v * row + b.first, grad_state, grad_vector, b.components);
    };
  });
}

template <typename T>
void principal(const Joining& j, const T* state, const T* vector, const T* boundary, T* result, int threads) {
  const std::int64_t row = std::int64_t{j.passes} * j.width;
  each_block(j, threads, [&](std::int64_t most) {
    return [&, rows = Rows<T, 4>(most)](const Block& b) mutable {
      T *const total = rows[0], *const squares = rows[1], *const largest = rows[2], *const smallest = rows[3];
      for (std::int32_t v = 0; v < j.nodes; ++v) {
        for (std::int64_t k = 0; k < b.components; ++k) {
          const T m = boundary[v * row + b.first + k];
          total[k] = largest[k] = smallest[k] = m, squares[k] = m * m;
        }
        for (std::int32_t e = j.offset[v]; e < j.offset[v + 1]; ++e) {
          const Message<T> m = message(j, b, state, vector, e);
          take(m.state, m.vector, total, squares, largest, smallest, b.components);
        }
        const T count = T(j.offset[v + 1] - j.offset[v] + 1), least = T(SMALLEST_VARIANCE);
        for (std::int32_t p = 0; p < b.passes; ++p) {
          T* const to = result + 4 * (v * row + b.first + std::int64_t{p} * j.width);
          for (std::int32_t d = 0; d < j.width; ++d) {
            const std::int64_t k = std::int64_t{p} * j.width + d;
            const T mean = total[k] / count, variance = squares[k] / count - mean * mean;
            to[d] = mean;
            to[j.width + d] = largest[k];
            to[2 * j.width + d] = smallest[k];
            to[3 * j.width + d] = std::sqrt(variance > least ? variance : least);
          }
        }
      }
    };
  });
}

template <typename T>
void principal_back(const Joining& j, const T* state, const T* vector, const T* boundary, const T* result,
                    const T* grad, T* grad_state, T* grad_vector, T* grad_boundary, int threads) {
  const std::int64_t row = std::int64_t{j.passes} * j.width;
  const T least = std::sqrt(T(SMALLEST_VARIANCE));
  each_block(j, threads, [&](std::int64_t most) {
    return [&, rows = Rows<T, 10>(most)](const Block& b) mutable {
      const std::int64_t n = b.components;
      T *const constant = rows[0], *const slope = rows[1], *const largest = rows[2], *const smallest = rows[3];
      T *const by_largest = rows[4], *const by_smallest = rows[5], *const gradient = rows[6], *const one = rows[7];
      T *const largest_count = rows[8], *const smallest_count = rows[9];
      const Slopes<T> slopes{constant, slope, largest, smallest, by_largest, by_smallest};
      std::fill_n(one, n, T(1));
      for (std::int32_t v = 0; v < j.nodes; ++v) {
        const std::int64_t at = v * row + b.first;
        const std::int32_t begin = j.offset[v], end = j.offset[v + 1];
        const T count = T(end - begin + 1);
        for (std::int32_t p = 0; p < b.passes; ++p) {
          const T* const r = result + 4 * (at + std::int64_t{p} * j.width);
          const T* const g = grad + 4 * (at + std::int64_t{p} * j.width);
          for (std::int32_t d = 0; d < j.width; ++d) {
            const std::int64_t k = std::int64_t{p} * j.width + d;
            const T spread = r[3 * j.width + d], by_spread = g[3 * j.width + d];
            const T by_variance = spread > least ? by_spread / spread / 2 : T(0);
            constant[k] = (g[d] - 2 * r[d] * by_variance) / count;
            slope[k] = 2 * by_variance / count;
            largest[k] = r[j.width + d], smallest[k] = r[2 * j.width + d];
          }
        }
        std::fill_n(largest_count, n, T(0));
        std::fill_n(smallest_count, n, T(0));
        count_extremes(boundary + at, one, largest, smallest, largest_count, smallest_count, n);
        for (std::int32_t e = begin; e < end; ++e) {
          const Message<T> m = message(j, b, state, vector, e);
          count_extremes(m.state, m.vector, largest, smallest, largest_count, smallest_count, n);
        }
        for (std::int32_t p = 0; p < b.passes; ++p) {
          const T* const g = grad + 4 * (at + std::int64_t{p} * j.width);
          for (std::int32_t d = 0; d < j.width; ++d) {
            const std::int64_t k = std::int64_t{p} * j.width + d;
            by_largest[k] = g[j.width + d] / largest_count[k];
            by_smallest[k] = g[2 * j.width + d] / smallest_count[k];
          }
        }
        gradient_of(boundary + at, one, slopes, grad_boundary + at, n);
        for (std::int32_t e = begin; e < end; ++e) {
          const Message<T> m = message(j, b, state, vector, e);
          gradient_of(m.state, m.vector, slopes, gradient, n);
          pass_back(m, gradient, grad_state, grad_vector, n);
        }
      }
    };
  });
}

#define EPIGNN_INSTANTIATE(T)                                                                                    \
  template void add_messages<T>(const Joining&, const T*, const T*, T*, int);                                    \
  template void add_messages_back<T>(const Joining&, const T*, const T*, const T*, T*, T*, int);                 \
  template void principal<T>(const Joining&, const T*, const T*, const T*, T*, int);                             \
  template void principal_back<T>(const Joining&, const T*, const T*, const T*, const T*, const T*, T*, T*, T*, int);
EPIGNN_INSTANTIATE(float)
EPIGNN_INSTANTIATE(double)

}  // namespace epignn
