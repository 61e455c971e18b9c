// SPDX-License-Identifier: Apache-2.0
// Does the timer run what it should, in the cache state that was asked for, and count only that?
#include "on_fake.hpp"

#include <benanza/backend/cuda/timer.hpp>

#include <doctest/doctest.h>

using namespace benanza::backend;
using cuda::caches;
using cuda_test::on_fake;

namespace {
constexpr double one_ns = 2500;

/// An execution of known length, which notes the copies of the weights that it was given.
struct known_work {
  std::shared_ptr<cuda::gpu> on = cuda::gpu::of_this_process();
  cuda::memory m{cuda_test::bytes_for(static_cast<std::int64_t>(one_ns))};
  std::vector<std::int64_t> copies{};

  cuda::timer::enqueue enqueue() {
    return [this](std::int64_t copy) {
      copies.push_back(copy);
      cudaMemsetAsync(m.data(), 0, static_cast<std::size_t>(m.bytes()), on->stream().get());
    };
  }
};
using copies_of = std::vector<std::int64_t>;
bool is(double got, double wanted) {
  return std::abs(got - wanted) < 1e-6 * wanted;
}
} // namespace

TEST_CASE("cuda: executions back to back are timed together, and put down once" *
          doctest::skip(!on_fake())) {
  known_work w;
  cuda::timer t(w.on);
  CHECK(is(t.time(7, caches::hot, 1, w.enqueue()), 7 * one_ns));
  CHECK(w.copies == copies_of(7, 0));
  CHECK(is(t.time(7, caches::hot, 1, w.enqueue()), 7 * one_ns));
  CHECK(w.copies.size() == 7); // replayed
  CHECK(is(t.time(3, caches::hot, 1, w.enqueue()), 3 * one_ns));
  CHECK(w.copies.size() == 10);
  CHECK(t.why_not_captured().empty());
}

TEST_CASE("cuda: cases of one algorithm take turns, and each is put down once" *
          doctest::skip(!on_fake())) {
  known_work w;
  cuda::timer t(w.on);
  const int here = 0, there = 0; // two places of weights
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(is(t.time(2, caches::hot, 1, w.enqueue()), 2 * one_ns));
    CHECK(is(t.time(2, caches::cold, 1, w.enqueue()), 2 * one_ns));
    CHECK(is(t.time(2, caches::cold_weights, 3, w.enqueue(), &here), 2 * one_ns));
    CHECK(is(t.time(2, caches::cold_weights, 3, w.enqueue(), &there), 2 * one_ns));
  }
  CHECK(w.copies.size() == 2 + 2 + 3 + 3);
}

TEST_CASE("cuda: before cold executions the cache is emptied, outside of their time" *
          doctest::skip(!on_fake())) {
  known_work w;
  cuda::timer t(w.on);
  CHECK(is(t.time(5, caches::cold, 1, w.enqueue()), 5 * one_ns));
  CHECK(w.copies == copies_of(5, 0));
}

TEST_CASE("cuda: the clock is read around what is timed, unless that is too short" *
          doctest::skip(!on_fake() || !cuda::compiles)) {
  known_work w;
  cuda::timer t(w.on);
  for (const caches state : {caches::hot, caches::cold, caches::cold_weights}) {
    t.time(1000, state, 3, w.enqueue());
    CHECK(t.clock_ns() == doctest::Approx(1000 / 1.98).epsilon(0.01)); // 1980 MHz
    CHECK(is(t.time(20, state, 3, w.enqueue()), 20 * one_ns));
  }
  t.time(2, caches::hot, 1, w.enqueue());
  CHECK(t.clock_ns() == 0);
  CHECK(t.remark().empty());
}

TEST_CASE("cuda: cold executions wait for no lines of a flush to be written back" *
          doctest::skip(!on_fake() || !cuda::compiles)) {
  known_work w;
  cuda::timer t(w.on);
  const cuda::memory from(16 << 20), to(16 << 20);
  const auto copies = [&](std::int64_t) {
    cudaMemcpyAsync(to.data(), from.data(), 16 << 20, cudaMemcpyDeviceToDevice,
                    w.on->stream().get());
  };
  CHECK(is(t.time(3, caches::cold, 1, copies), 3 * 10e3));
}

TEST_CASE("cuda: cold weights are others each time, and what warms the operands is not counted" *
          doctest::skip(!on_fake())) {
  known_work w;
  cuda::timer t(w.on);
  CHECK(is(t.time(5, caches::cold_weights, 4, w.enqueue()), 5 * one_ns));
  CHECK(w.copies == copies_of{0, 1, 2, 3, 0, 1, 2});
  w.copies.clear();
  CHECK(is(t.time(1, caches::cold_weights, 2, w.enqueue()), one_ns));
  CHECK(w.copies == copies_of{0, 1});
}

TEST_CASE("cuda: what cannot be captured is launched, and the reason is kept" *
          doctest::skip(!on_fake())) {
  known_work w;
  cuda::timer t(w.on);
  const auto launch = w.enqueue();
  const auto waits = [&](std::int64_t copy) {
    launch(copy);
    cudaStreamSynchronize(w.on->stream().get()); // not allowed while capturing
  };
  CHECK(is(t.time(3, caches::hot, 1, waits), 3 * one_ns));
  CHECK_FALSE(t.why_not_captured().empty());
  w.copies.clear();
  CHECK(is(t.time(3, caches::hot, 1, waits), 3 * one_ns));
  CHECK(w.copies.size() == 3);
}

TEST_CASE("cuda: an execution that throws leaves the stream usable" * doctest::skip(!on_fake())) {
  known_work w;
  cuda::timer t(w.on);
  CHECK_THROWS_AS(t.time(2, caches::hot, 1, [](std::int64_t) { throw benanza::error("no"); }),
                  benanza::error);
  cuda::timer other(w.on);
  CHECK(is(other.time(2, caches::hot, 1, w.enqueue()), 2 * one_ns));
  CHECK(other.why_not_captured().empty());
}
