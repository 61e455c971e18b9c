// SPDX-License-Identifier: Apache-2.0
// Do the kernels that sweep over memory touch all of it, and no more? Run on the host.
#include "programs/fake_gpu/host_kernel.hpp"
#include "programs/fake_gpu/memory.hpp"

#include <benanza/backend/cuda/source/probes.hpp>

#include <doctest/doctest.h>

#include <numeric>

using namespace benanza::backend::cuda;

namespace {
/// Numbers of the GPU's memory, behind whose end nothing can be touched.
template <class T>
std::span<T> numbers(fake::memory& space, std::size_t count) {
  const auto bytes = static_cast<std::int64_t>(count * sizeof(T));
  return {reinterpret_cast<T*>(space.contents(space.take(bytes), bytes)), count};
}
} // namespace

TEST_CASE("kernels on the host: sweeps go over all of memory, whatever the blocks" *
          doctest::skip(!fake::has_compiler())) {
  const source::kernel read = source::read_all(), copy = source::copy_all(),
                       triad = source::triad(), write = source::write_all();
  fake::host_kernels code(fake::build({{read.text, read.name},
                                       {copy.text, copy.name},
                                       {triad.text, triad.name},
                                       {write.text, write.name}}));
  const auto threads = static_cast<unsigned>(source::threads_of_a_block);
  // Fewer than threads; some of a round; whole rounds and what is left of one.
  for (const std::size_t packs : {1U, 255U, 5000U, 20000U}) {
    CAPTURE(packs);
    fake::memory space;
    unsigned long long count = packs;
    const auto words = numbers<unsigned>(space, 4 * packs),
               copied = numbers<unsigned>(space, 4 * packs), seen = numbers<unsigned>(space, 1);
    for (unsigned i = 0; unsigned& w : words)
      ++i, w = i * i + 7;
    unsigned* from = words.data();
    unsigned* to = copied.data();
    void* copies[] = {&from, &count, &to};
    REQUIRE(code.launch(1, 3, threads, copies));
    CHECK(std::equal(words.begin(), words.end(), copied.begin()));

    // What one thread alone has read comes to the word that makes it write.
    unsigned never = 0;
    for (const unsigned w : words)
      never ^= w;
    unsigned* out = seen.data();
    void* reads[] = {&from, &count, &never, &out};
    REQUIRE(code.launch(0, 1, threads, reads));
    CHECK(seen[0] == (packs == 1 ? never : 0u)); // else no thread sees all

    const auto x = numbers<float>(space, 4 * packs), y = numbers<float>(space, 4 * packs),
               sum = numbers<float>(space, 4 * packs);
    std::iota(x.begin(), x.end(), 1.f);
    std::iota(y.begin(), y.end(), 0.5f);
    float *a = x.data(), *b = y.data(), *z = sum.data();
    void* sums[] = {&a, &b, &count, &z};
    REQUIRE(code.launch(2, 2, threads, sums));
    bool right = true;
    for (std::size_t i = 0; i < sum.size(); ++i)
      right = right && sum[i] == x[i] + 3 * y[i];
    CHECK(right);

    void* fills[] = {&count, &to};
    REQUIRE(code.launch(3, 3, threads, fills));
    CHECK(std::all_of(copied.begin(), copied.end(), [](unsigned w) { return w == 1; }));
  }
}

TEST_CASE("kernels: a sweep has an access a thread, until the GPU is full") {
  CHECK(source::sweep_blocks(16, 132) == 1);
  CHECK(source::sweep_blocks(1 << 20, 132) == 256);
  CHECK(source::sweep_blocks(1 << 30, 132) == 16 * 132);
}
