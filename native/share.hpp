// Work that threads share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace epignn {

// Run make()(n) for n below `count`; a thread that is free takes the next.
template <typename Make>
void share(std::int64_t count, int threads, const Make& make) {
  std::atomic<std::int64_t> next{0};
  const auto run = [&] {
    auto work = make();
    for (std::int64_t n = next++; n < count; n = next++) work(n);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min<std::int64_t>(threads, count); ++t) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
}

}  // namespace epignn
