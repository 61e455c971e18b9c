// SPDX-License-Identifier: Apache-2.0
// Does a flush leave none of others' data in the L2 cache, and nothing to be written back?
#include "on_fake.hpp"

#include <benanza/backend/cuda/l2_flush.hpp>

#include <doctest/doctest.h>

using namespace benanza::backend;
using cuda_test::on_fake;

TEST_CASE("cuda: what is read after a flush waits for no lines to be written back" *
          doctest::skip(!on_fake() || !cuda::compiles)) {
  const cuda::stream s;
  const cuda::l2_flush f(s, cuda::attribute(cudaDevAttrL2CacheSize));
  const cuda::memory from(8 << 20), to(8 << 20);
  const auto copy_ns = [&] {
    return cuda::between_events(s, [&] {
      cudaMemcpyAsync(to.data(), from.data(), 8 << 20, cudaMemcpyDeviceToDevice, s.get());
    });
  };
  f.overwrite(s);
  CHECK(copy_ns() == doctest::Approx(10e3 + (8 << 20) / 4000)); // the first half alone: the defect
  f.put(s);
  CHECK(copy_ns() == doctest::Approx(10e3));
}

TEST_CASE("cuda: a flush is proven by reading what it drove out" *
          doctest::skip(!on_fake() || !cuda::compiles)) {
  const cuda::stream s;
  const cuda::l2_flush f(s, cuda::attribute(cudaDevAttrL2CacheSize));
  // On the fake GPU 256 loads take 51.2 us, and as much again where the cache has lost the lines.
  CHECK(f.proof(s) == std::string(cuda::l2_flush::holds) +
                          ": a load takes 400 ns after it, 200 ns where its line was just read");
}
