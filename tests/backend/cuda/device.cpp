// SPDX-License-Identifier: Apache-2.0
// Do the owners of a GPU's things give them back, and do errors become what they mean?
#include "on_fake.hpp"

#include <doctest/doctest.h>

using namespace benanza::backend;
using cuda_test::on_fake;

namespace {
std::vector<std::byte> contents(const cuda::memory& m) {
  std::vector<std::byte> out(static_cast<std::size_t>(m.bytes()));
  cuda::download(m.data(), out);
  return out;
}
std::string said(cudaError_t e) {
  try {
    cuda::check(e, "a test");
  } catch (const std::exception& problem) {
    return problem.what();
  }
  return {};
}
} // namespace

TEST_CASE("cuda: errors after which nothing works are distinguished from others") {
  CHECK(said(cudaSuccess).empty());
  CHECK(said(cudaErrorInvalidValue).find("CUDA: a test: ") == 0);
  CHECK(said(cudaErrorInvalidValue).find("(cudaErrorInvalidValue)") != std::string::npos);
  CHECK_THROWS_AS(cuda::check(cudaErrorMemoryAllocation, ""), std::bad_alloc);
  CHECK_THROWS_AS(cuda::check(cudaErrorLaunchFailure, ""), device_lost);
  CHECK_THROWS_AS(cuda::check(cudaErrorIllegalAddress, ""), device_lost);
  CHECK_FALSE(cuda::is_final(cudaErrorInvalidValue));
  CHECK_FALSE(cuda::is_final(cudaErrorMemoryAllocation));
}

TEST_CASE("cuda: memory holds what is put there, and moves with its owner" *
          doctest::skip(!on_fake())) {
  const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  cuda::memory a(3);
  a.upload(bytes);
  std::byte* const at = a.data();
  cuda::memory b = std::move(a);
  CHECK(a.data() == nullptr);
  CHECK(a.bytes() == 0);
  CHECK(b.data() == at);
  CHECK(contents(b) == bytes);
  cuda::memory c(8);
  c = std::move(b);
  CHECK(std::equal(bytes.begin(), bytes.end(), contents(c).begin()));
  const cuda::memory none(0);
  CHECK(none.data() == nullptr);
  CHECK(contents(none).empty());
  CHECK_THROWS_AS(c.upload(std::vector<std::byte>(4)), benanza::error);
}

TEST_CASE("cuda: events time what is between them, once the host has waited" *
          doctest::skip(!on_fake())) {
  const cuda::stream s;
  cuda::memory m(cuda_test::bytes_for(2500));
  cuda::event first, last;
  first.record(s);
  cudaMemsetAsync(m.data(), 0, static_cast<std::size_t>(m.bytes()), s.get());
  last.record(s);
  CHECK_THROWS_AS(last.ns_since(first), benanza::error);
  s.wait();
  CHECK(last.ns_since(first) == doctest::Approx(2500).epsilon(1e-6));
  const cuda::event never;
  CHECK_THROWS_AS(last.ns_since(never), benanza::error);
  // Only a capture takes it.
  CHECK_THROWS_AS(first.record_in_graph(s), benanza::error);
}

TEST_CASE("cuda: properties that the GPU does not report are errors" * doctest::skip(!on_fake())) {
  CHECK(cuda::attribute(cudaDevAttrL2CacheSize) > 1 << 20);
  CHECK_THROWS_AS(cuda::attribute(cudaDevAttrMax), benanza::error);
}
