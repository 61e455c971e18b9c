// SPDX-License-Identifier: Apache-2.0
// Do the texts of kernels compute what ONNX says? Each is compiled by the host's compiler and run
// thread by thread, for every kind of layer, every type and every width.
#include "../mover_layers.hpp"
#include "on_host.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace benanza;
using namespace benanza::backend;
using cuda::source::kernels_for;

namespace {
std::vector<std::string> names(const char* layer, numeric t) {
  std::vector<std::string> out;
  for (const auto& k : kernels_for(op::parse(layer), t))
    out.push_back(k.name);
  return out;
}
using list_of = std::vector<std::string>;

void check_all(cuda_test::batch& b) {
  b.run([](const cuda_test::tried& t, bool ran, const verdict& v) {
    CAPTURE(op::name(t.layer));
    CAPTURE(benanza::name(t.type));
    CAPTURE(t.kernel.text);
    CHECK(ran);
    CHECK(v.ok);
    CHECK(v.worst <= 1);
  });
}
template <class Layers>
void try_all(const Layers& layers, std::initializer_list<numeric> types) {
  cuda_test::batch b;
  for (const char* name : layers)
    for (const numeric t : types) {
      CAPTURE(name);
      CHECK(b.add(op::parse(name), t) >= 1);
    }
  check_all(b);
}
} // namespace

TEST_CASE("cuda: kernels move elements of every width" * doctest::skip(!fake::has_compiler())) {
  try_all(cuda_test::moved, {numeric::f32, numeric::f16, numeric::s8s8s8});
}

TEST_CASE("cuda: kernels of several types" * doctest::skip(!fake::has_compiler())) {
  try_all(cuda_test::typed, {numeric::f32, numeric::f16, numeric::bf16});
}

TEST_CASE("cuda: the kernel of attentions" * doctest::skip(!fake::has_compiler())) {
  try_all(cuda_test::attended, {numeric::f32, numeric::f16, numeric::bf16});
  CHECK(names("Attention/1x4x1x64-k11264", numeric::f16) == list_of{"attend256"});
  CHECK(names("Attention/1x4x1x64-k11265", numeric::f16).empty());
}

TEST_CASE("cuda: kernels of products of codes" * doctest::skip(!fake::has_compiler())) {
  try_all(cuda_test::of_codes, {numeric::f32, numeric::f16});
}

TEST_CASE("cuda: kernels of weights of few bits" * doctest::skip(!fake::has_compiler())) {
  try_all(cuda_test::of_few_bits, {numeric::f32, numeric::f16, numeric::bf16});
  CHECK(names(cuda_test::of_few_bits[0], numeric::f16) == list_of{"row1", "row32"});
  CHECK(names("MatMulNBits/1x2048-n40-q8-k128", numeric::f16) == list_of{"row32", "row256"});
}

TEST_CASE("cuda: kernels compute in every type" * doctest::skip(!fake::has_compiler())) {
  try_all(cuda_test::computed, {numeric::f32, numeric::f16, numeric::bf16});
}

namespace {
/// Random layers.
class dice {
public:
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  shape dims(int rank) {
    shape s;
    for (int i = 0; i < rank; ++i)
      s.push(1 + below(rank > 3 ? 6 : 18));
    return s;
  }
  op::layer layer() {
    const int rank = 1 + static_cast<int>(below(6));
    const shape input = dims(rank);
    const int axis = static_cast<int>(below(rank));
    switch (below(7)) {
    case 0: {
      shape order;
      for (int i = 0; i < rank; ++i)
        order.push(i);
      std::shuffle(order.at, order.at + rank, random_);
      return op::transpose{.input = input, .order = order};
    }
    case 1: {
      op::slice s{.input = input};
      for (int i = 0; i < rank; ++i) {
        const std::int64_t start = below(input[i]), step = below(5) - 2;
        const std::int64_t room = step >= 0 ? input[i] - 1 - start : start;
        s.starts.push(start);
        s.steps.push(step == 0 ? 1 : step);
        s.sizes.push(1 + below(1 + room / (step < 0 ? -step : step == 0 ? 1 : step)));
      }
      return s.canonical_form();
    }
    case 2: {
      op::pad p{.input = input, .mode = static_cast<op::pad_mode>(below(4))};
      for (int i = 0; i < rank; ++i) {
        p.begins.push(std::max<std::int64_t>(below(5) - 2, -(input[i] / 3)));
        p.ends.push(std::max<std::int64_t>(below(5) - 2, -(input[i] / 3)));
      }
      return p;
    }
    case 3: return op::concat{.whole = input, .axis = axis, .parts = 1 + below(input[axis])};
    case 4: return op::split{.whole = input, .axis = axis, .parts = 1 + below(input[axis])};
    case 5:
      return op::gather{.data = input, .indices = dims(static_cast<int>(below(3))), .axis = axis};
    default: {
      op::reduce r{.function = static_cast<op::reduction>(below(4)), .input = input};
      for (int i = 0; i < rank; ++i)
        if (below(2) != 0) r.axes.push(i);
      return r;
    }
    }
  }

private:
  std::mt19937 random_{20201};
};
} // namespace

TEST_CASE("cuda: kernels of layers by chance" * doctest::skip(!fake::has_compiler())) {
  dice d;
  cuda_test::batch b;
  for (int i = 0; i < 150; ++i)
    b.add(op::parse(op::name(d.layer())), i % 2 == 0 ? numeric::f16 : numeric::s8s8s8);
  CHECK(b.texts() > 200);
  check_all(b);
}

TEST_CASE("cuda: kernels see whole rows before they write" * doctest::skip(!fake::has_compiler())) {
  try_all(cuda_test::rowed, {numeric::f32, numeric::f16, numeric::bf16, numeric::s8s8s8});
  try_all(cuda_test::summed, {numeric::f32, numeric::f16, numeric::bf16});
  CHECK(kernels_for(op::parse(cuda_test::summed[0]), numeric::s8s8s8).empty());
}

TEST_CASE("cuda: kernels compute codes of quantised values" *
          doctest::skip(!fake::has_compiler())) {
  const std::initializer_list<const char*> some{"Resize/1x3x7x5-1x3x14x10-linear",
                                                "Relu/3x7x5",
                                                "Sigmoid/3x7x5",
                                                "Add/3x8x5-8x1",
                                                "Mul/3x8x5",
                                                "Max/3x8x5",
                                                "PRelu/3x8x5-8x1",
                                                "Sigmoid+Mul/3x8x4x5",
                                                "Add+Relu/3x8x5"};
  try_all(some, {numeric::s8s8s8, numeric::u8s8u8});
}

TEST_CASE("cuda: kernels compute whole numbers and truth values" *
          doctest::skip(!fake::has_compiler())) {
  try_all(cuda_test::whole, {numeric::f32});
}

TEST_CASE("cuda: kernels write as many elements at once as 16 bytes hold") {
  CHECK(names("Slice/64x64-8x64-from3x0", numeric::f32) == list_of{"v1", "v4"});
  CHECK(names("Slice/64x64-8x64-from3x0", numeric::f16) == list_of{"v1", "v4", "v8"});
  CHECK(names("Slice/64x64-8x64-from3x0", numeric::s8s8s8) == list_of{"v1", "v4", "v16"});
  CHECK(names("Slice/64-8-from3-s64", numeric::f32) == list_of{"v1", "v2"});
  CHECK(names("Slice/64-3-from3", numeric::f32) == list_of{"v1"});
  CHECK(names("Transpose/33x70-o1x0", numeric::f32) == list_of{"v1", "v4", "tile32"});
  CHECK(names("Transpose/4x70-o1x0", numeric::f32) == list_of{"v1", "v4"}); // short for tiles
  CHECK(names("Transpose/4x5x60-o1x0x2", numeric::f32) == list_of{"v1", "v4"});
  CHECK(names("Equal/64x64", numeric::f16) == list_of{"v1", "v4", "v8"});
}

TEST_CASE("cuda: rows are shared by as many threads as they are long") {
  CHECK(names("Softmax/4x6-a1", numeric::f32) == list_of{"row1"});
  CHECK(names("Softmax/4x50-a1", numeric::f32) == list_of{"row1", "row32"});
  CHECK(names("Softmax/4x500-a1", numeric::f32) == list_of{"row32", "row256"});
  // A thread a column: they read neighbours.
  CHECK(names("ReduceMean/500x400-a0", numeric::f32) == list_of{"row1", "row32", "row256"});
}

TEST_CASE("cuda: what no kernel does is not offered") {
  for (const char* layer :
       {"Conv/1x4x8x8-8x3x3-s1-p1", "QuantizeLinear/4x6-s4", "QuantizeLinear/4x6-u8-a1-k4",
        "Cast/4x6-real-e4m3", "Reshape/4x6-24", "MaxPool/1x8x11x11-3x3-s2-p1", "Slice/4x10-0x5",
        "Sin/4x4-s64", "Add/4x4-u8", "Sum/4x4-n17", "ReduceL2/4x4-a1-s64", "Concat/600-a0-n300"})
    CHECK_MESSAGE(names(layer, numeric::f32).empty(), layer);
  CHECK(names("Relu/4x4", numeric::tf32).empty());
  CHECK(names("Relu/4x4", numeric::e4m3).empty());
  CHECK_FALSE(names("Transpose/4x4-o1x0", numeric::e4m3).empty());
  // More than 64 neighbours.
  CHECK(names("Resize/3x3x3x3-6x6x6x6-cubic", numeric::f32).empty());
}

TEST_CASE("cuda: elements are counted in 64 bits where 32 are too few") {
  const auto text = [](const char* layer) {
    return kernels_for(op::parse(layer), numeric::s8s8s8).at(0).text;
  };
  CHECK(text("Slice/4000000000-8-from1").find("unsigned long long idx") != std::string::npos);
  CHECK(text("Slice/2000000000-8-from1").find("unsigned int idx") != std::string::npos);
  CHECK(text("Resize/1x60000-1x60001-linear").find("typedef long long sig") != std::string::npos);
  CHECK(text("Resize/1x600-1x601-linear").find("typedef int sig") != std::string::npos);
}

TEST_CASE("cuda: equal layers have equal texts, and shapes are constants in them") {
  const auto text = [](const char* layer) {
    return kernels_for(op::parse(layer), numeric::f16).back().text;
  };
  CHECK(text("Transpose/2x3x40x50-o0x2x3x1") == text("Transpose/2x3x40x50-o0x2x3x1"));
  CHECK(text("Transpose/2x3x40x50-o0x2x3x1") != text("Transpose/2x3x40x51-o0x2x3x1"));
  std::set<std::string> texts;
  for (const auto& k : kernels_for(op::parse("Transpose/33x70-o1x0"), numeric::f16))
    CHECK(texts.insert(k.text).second);
}

TEST_CASE("cuda: the host reports kernels that touch what is not theirs" *
          doctest::skip(!fake::has_compiler())) {
  const auto runs = [](const std::string& body, std::int64_t bytes = 64) {
    fake::host_kernels code(fake::build(
        {{"extern \"C\" __global__ void __launch_bounds__(32) v1(const int* x, int* y) {\n" + body +
              "\n}\n",
          "v1"}}));
    fake::memory space;
    std::byte *x = space.contents(space.take(bytes), bytes),
              *y = space.contents(space.take(bytes), bytes);
    void* arguments[] = {&x, &y};
    return code.launch(0, 1, 16, arguments);
  };
  CHECK(runs("y[threadIdx.x] = x[threadIdx.x];"));
  CHECK_FALSE(runs("y[threadIdx.x] = x[threadIdx.x + 20];"));
  CHECK_FALSE(runs("y[threadIdx.x + 20] = 1;"));
  CHECK_FALSE(runs("y[0] = x[-1024];"));
  CHECK_FALSE(runs("struct alignas(16) four { int at[4]; }; *(four*)(y + 1) = *(const four*)x;"));
  // Threads of a block see what others wrote before a barrier.
  CHECK(runs("__shared__ int s[16]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads();\n"
             "y[threadIdx.x] = s[15 - threadIdx.x];"));
  CHECK_THROWS_AS(fake::build({{"__global__ void v1() { nonsense; }", "v1"}}), fake::not_compiled);
}
