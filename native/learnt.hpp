// What the parameters of the model stand for, and the way back from gradients: relation vectors r, compositions a_ij,
// and the matrices that composing with a relation applies to a state. As `EpiGNN.algebra` and `right_matrices`.
#pragma once

#include <cstdint>
#include <vector>

namespace epignn {

struct Shape {
  std::int32_t relations, facets, size;
  bool coupled;         // a softmax over the right argument, then normalised over the result; else a softmax over that
  bool right_identity;  // a_i1 = one-hot(i) is fixed, too
  std::size_t width() const { return std::size_t(facets) * size; }
  std::size_t vectors() const { return relations * width(); }
  std::size_t matrices() const { return vectors() * size; }
  std::size_t table() const { return width() * size * size; }
  std::size_t compositions() const { return width() * (size - 1) * (right_identity ? size - 1 : size); }
};

template <typename T>
struct Learnt {
  std::vector<T> vectors;      // relation, facet, k
  std::vector<T> table;        // facet, i, j, k
  std::vector<T> totals;       // facet, i, j: where a_ij is coupled, what it was divided by at last
  std::vector<T> ahead, back;  // relation, facet, i, k: composing with a relation on the right, and on the left
  explicit Learnt(const Shape& s)
      : vectors(s.vectors()),
        table(s.table()),
        totals(s.coupled ? s.width() * s.size : 0),
        ahead(s.matrices()),
        back(s.matrices()) {}
};

// From parameters (relation, facet, k) and (facet, i, j, k), of which what the identity fixes is left out.
template <typename T>
void learnt_of(const Shape& s, const T* relation, const T* composition, Learnt<T>& out);

// From the gradients of vectors, table and matrices, which are spent, to those of the parameters.
template <typename T>
void learnt_back(const Shape& s, const Learnt<T>& learnt, Learnt<T>& grad, T* grad_relation, T* grad_composition);

}  // namespace epignn
