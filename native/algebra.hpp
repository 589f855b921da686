// A calculus as the kernels see it: converse and composition of bit masks, by tables of four-bit pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace epignn {

using Mask = std::uint64_t;
using Interrupt = std::function<void()>;  // called now and then from long loops; throws to stop them

inline int lowest(Mask bits) { return __builtin_ctzll(bits); }
inline int count(Mask bits) { return __builtin_popcountll(bits); }

struct Algebra {
  int relations;
  Mask universal;
  Mask identity;
  std::vector<int> converses;
  std::vector<Mask> composition;  // relations x relations

  Algebra(int relations_, int identity_, const std::int32_t* converses_, const Mask* composition_)
      : relations(relations_),
        universal(relations_ == 64 ? ~Mask{0} : (Mask{1} << relations_) - 1),
        identity(Mask{1} << identity_),
        converses(converses_, converses_ + relations_),
        composition(composition_, composition_ + relations_ * relations_),
        pieces_((relations_ + 3) / 4),
        converse_(pieces_ * 16),
        compose_(pieces_ * pieces_ * 256) {
    for (int p = 0; p < pieces_; ++p)
      for (Mask bits = 0; bits < 16; ++bits) {
        converse_[p * 16 + bits] = slow_converse((bits << (4 * p)) & universal);
        for (int q = 0; q < pieces_; ++q)
          for (Mask other = 0; other < 16; ++other)
            compose_[((p * pieces_ + q) * 16 + bits) * 16 + other] =
                slow_compose((bits << (4 * p)) & universal, (other << (4 * q)) & universal);
      }
  }

  Mask converse(Mask mask) const {
    Mask result = 0;
    for (int p = 0; p < pieces_; ++p) result |= converse_[p * 16 + ((mask >> (4 * p)) & 15)];
    return result;
  }

  Mask compose(Mask left, Mask right) const {
    Mask result = 0;
    for (int p = 0; p < pieces_; ++p) {
      const Mask* table = &compose_[(p * pieces_ * 16 + ((left >> (4 * p)) & 15)) * 16];
      for (int q = 0; q < pieces_; ++q, table += 256) result |= table[(right >> (4 * q)) & 15];
    }
    return result;
  }

 private:
  Mask slow_converse(Mask mask) const {
    Mask result = 0;
    for (; mask; mask &= mask - 1) result |= Mask{1} << converses[lowest(mask)];
    return result;
  }

  Mask slow_compose(Mask left, Mask right) const {
    Mask result = 0;
    for (; left; left &= left - 1)
      for (Mask rest = right; rest; rest &= rest - 1)
        result |= composition[lowest(left) * relations + lowest(rest)];
    return result;
  }

  int pieces_;
  std::vector<Mask> converse_;
  std::vector<Mask> compose_;
};

}  // namespace epignn
