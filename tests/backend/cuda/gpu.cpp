// SPDX-License-Identifier: Apache-2.0
// Is the GPU of the process one, and are its cold weights apart from each other?
#include "fake_nvml.hpp"
#include "on_fake.hpp"

#include <benanza/backend/cuda/gpu.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend;
using cuda_test::on_fake;

TEST_CASE("cuda: there is one GPU for all, as long as the process lives" *
          doctest::skip(!on_fake())) {
  std::weak_ptr<cuda::gpu> seen = cuda::gpu::of_this_process();
  CHECK_FALSE(seen.expired());
  const auto a = cuda::gpu::of_this_process(), b = cuda::gpu::of_this_process();
  CHECK(a == b);
  CHECK(a == seen.lock());
  CHECK(a->l2_bytes() == cuda::attribute(cudaDevAttrL2CacheSize));
  const auto facts = a->facts();
  for (const char* fact : {"gpu", "compute_capability", "multiprocessors", "l2_bytes",
                           "memory_bytes", "clock_mhz", "driver", "cuda_runtime"})
    CHECK_FALSE(facts.at(fact).empty());
  CHECK(facts.at("compute_capability") == "9.0");
  if (cuda::compiles) CHECK(facts.at("l2_flush").starts_with(cuda::l2_flush::holds));
  CHECK(facts.contains("sm_clock") == !cuda::compiles);
  CHECK(facts.at("uuid") == "GPU-66616b65-2067-7075-206f-662074657374");
}

TEST_CASE("cuda: an operand is placed once, however its dims of one are given" *
          doctest::skip(!on_fake())) {
  cuda::group_memory m;
  const std::vector<float> numbers(12, 1.0f);
  int made = 0;
  const auto operand = [&](const shape& dims, const shape& strides) {
    return m.operand({numbers.data(), {dims, strides, dtype::f32, 12}}, [&] {
      ++made;
      return tensor_bytes(48);
    });
  };
  const auto plain = operand({4, 3}, {3, 1}), with_one = operand({1, 4, 3}, {12, 3, 1}),
             turned = operand({4, 3}, {1, 4}), turned_with_one = operand({4, 1, 3}, {1, 12, 4});
  CHECK(made == 2);
  CHECK(plain == with_one);
  CHECK(turned == turned_with_one);
  CHECK(plain != turned);
}

TEST_CASE("cuda: copies of weights are apart, hold numbers of their type, and stay where they are" *
          doctest::skip(!on_fake())) {
  const auto g = cuda::gpu::of_this_process();
  for (const dtype type : {dtype::f32, dtype::f16, dtype::bf16, dtype::s8, dtype::e4m3}) {
    const weight_slots s = g->pool(type, 1000);
    CHECK(s.stride == 1024);
    CHECK(s.count == cuda::most_copies);
    CHECK(g->pool(type, 600).data == s.data); // what was handed out is still there
    std::vector<std::byte> host(1000);
    REQUIRE(cudaMemcpy(host.data(), s.data + (s.count - 1) * s.stride, host.size(),
                       cudaMemcpyDeviceToHost) == cudaSuccess);
    std::set<double> values;
    const double most = type == dtype::s8 ? 127 : 1;
    for (std::int64_t i = 0; i < 1000 / size_bytes(type); ++i) {
      const double v = load(type, host.data(), i);
      CHECK(std::fabs(v) <= most);
      values.insert(v);
    }
    CHECK(values.size() > 50);
  }
}

TEST_CASE("cuda: a resting GPU works until its clock no longer rises, and only then again" *
          doctest::skip(!on_fake())) {
  // Looks: is there a clock, then one behind each stretch of work.
  const cuda_test::fake_nvml fake("sm 345 345 1200 1980 1980 1980 1980 345 345 1980 1980");
  cuda::gpu g;
  const auto near = [](double ns, double wanted) {
    return ns >= wanted && ns < wanted + cuda::wake_stretch_ns / 2;
  };
  CHECK(near(g.wake(), 4 * cuda::wake_stretch_ns)); // 345, 1200, 1980, 1980
  CHECK(g.wake() == 0);                             // at its clock
  CHECK(near(g.wake(), cuda::wake_stretch_ns));     // it had gone to sleep
}

TEST_CASE("cuda: a GPU whose clock never comes to rest is waited for two seconds, no more" *
          doctest::skip(!on_fake())) {
  const cuda_test::fake_nvml fake("sm 345 1980 345");
  cuda::gpu g;
  CHECK(g.wake() >= cuda::longest_wake_ns);
}

TEST_CASE("cuda: a GPU whose clock is not known works for a fixed time" *
          doctest::skip(!on_fake())) {
  const cuda_test::fake_nvml fake("memory 3201");
  cuda::gpu g;
  const double first = g.wake(), second = g.wake();
  CHECK(first >= cuda::blind_wake_ns);
  CHECK(first < 1.5 * cuda::blind_wake_ns);
  CHECK(second >= cuda::blind_wake_again_ns);
  CHECK(second < first);
}
