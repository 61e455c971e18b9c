// SPDX-License-Identifier: Apache-2.0
// The backend on the fake GPU (programs/fake_gpu.cpp), which computes what cuBLAS's documentation
// says: does each algorithm compute what ONNX says, is it the one of its id, and is each failure an
// error with the library's reason?
#include "../cuda/on_fake.hpp"

#include <benanza/backend/cublas/library.hpp>
#include <benanza/backend/make_operands.hpp>
#include <benanza/backend/reference/reference.hpp>
#include <benanza/result/json.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace benanza;
using namespace benanza::backend;
using blas = cublas::library;
using cuda_test::on_fake;

namespace {
const std::string simple = "lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0";
const std::string split = "lt:algo23_tile18_stages8_splitk4_red2_swz1_cust0_inner0_cluster0";
const std::string clustered = "lt:algo66_tile39_stages35_splitk1_red0_swz0_cust3_inner1_cluster2";

std::vector<std::string> ids(blas& lib, const std::string& layer, numeric t) {
  std::vector<std::string> out;
  for (const algorithm& a : lib.enumerate(op::parse(layer), t, {}))
    out.push_back(a.id);
  return out;
}
using texts = std::vector<std::string>;

/// Runs every algorithm of a layer and compares all of its result, or so much of it; how many
/// algorithms there were.
int compared(blas& lib, const std::string& name, numeric t, std::int64_t most = 1 << 20) {
  const op::layer l = op::parse(name);
  const operands values = make_operands(l, t);
  const auto positions = reference::positions_to_check(l, most);
  const std::int64_t count_of_result = elements(op::output(l));
  std::vector<double> expected(positions.size()), got;
  reference::evaluate(l, t, values, positions, expected);
  int count = 0;
  for (const algorithm& a : lib.enumerate(l, t, {})) {
    CAPTURE(name);
    CAPTURE(std::string(benanza::name(t)));
    CAPTURE(a.id);
    const auto made = lib.prepare(l, t, a, values, {});
    CHECK(made->ran() == a.id);
    made->run(1);
    made->read_at(positions, count_of_result, got);
    const verdict v = compare(l, t, positions, expected, got);
    CHECK(v.ok);
    CHECK(v.worst <= 1);
    ++count;
  }
  return count;
}
} // namespace

TEST_CASE("cublas: every algorithm computes what ONNX says" * doctest::skip(!on_fake())) {
  blas lib;
  const char* const layers[] = {"Gemm/5x7x11",
                                "Gemm/5x7x11-ta",
                                "Gemm/5x7x11-tb",
                                "Gemm/5x7x11-ta-tb",
                                "Gemm/5x7x11-w",
                                "Gemm/5x7x11-tb-c1x7-w",
                                "Gemm/5x7x11-ta-c5x7",
                                "Gemm/1x7x11-w",
                                "Gemm/1x7x11-tb-w",
                                "Gemm/5x1x11",
                                "Gemm/5x1x11-ta",
                                "Gemm/1x1x11",
                                "Gemm/17x1x1-c1x1",
                                "MatMul/3x5x11-11x7-w",
                                "MatMul/3x5x11-3x11x7",
                                "MatMul/5x11-3x11x7",
                                "MatMul/2x3x5x11-2x3x11x7",
                                "MatMul/2x3x5x11-2x1x11x7",
                                "MatMul/3x1x11-3x11x7",
                                "MatMul/3x5x11-3x11x1",
                                "MatMul/1x11-3x11x7",
                                "Conv/1x5x3x4-7x1x1-s1",
                                "Conv/3x5x3x4-7x1x1-s1",
                                "Conv/3x5x3x4-7x1x1-s1-b",
                                "Conv/2x5x9-7x1-s1",
                                "Conv/2x5x2x3x2-7x1x1x1-s1",
                                "Conv/1x5x1x1-7x1x1-s1",
                                "Gemm+Relu/5x7x11-c1x7-w",
                                "Gemm+Add/5x7x11-w",
                                "Gemm+Add+Relu/5x7x11-tb-c1x7-w",
                                "MatMul+Add/3x5x11-11x7-w-w7",
                                "MatMul+Add+Relu/3x5x11-3x11x7-w7",
                                "MatMul+Add+Add/3x5x11-11x7-w-w7",
                                "Conv+Relu/2x5x3x4-7x1x1-s1",
                                "Conv+Add+Relu/2x5x3x4-7x1x1-s1-b",
                                "Conv+Add/2x5x3x4-7x1x1-s1-w7x1x1"};
  for (const char* layer : layers)
    for (const numeric t : {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16})
      CHECK_MESSAGE(compared(lib, layer, t) >= 2, layer);
}

TEST_CASE("cublas: of a large result single elements are read" * doctest::skip(!on_fake())) {
  blas lib;
  for (const char* layer : {"Gemm/700x900x9-ta-tb", "Gemm+Relu/700x900x9-tb-c1x900-w",
                            "Gemm+Add/700x900x9-w", "MatMul/3x500x9-3x9x400",
                            "MatMul+Add/3x500x9-9x400-w-w400", "Conv+Add/2x9x20x40-700x1x1-s1-b"})
    for (const numeric t : {numeric::f32, numeric::f16})
      CHECK_MESSAGE(compared(lib, layer, t, 500) >= 2, layer);
}

TEST_CASE("cublas: sums as products with ones are what ONNX says" * doctest::skip(!on_fake())) {
  blas lib;
  for (const char* layer : {"ReduceSum/9x48-a1", "ReduceMean/9x33-a1", "ReduceSum/33x5-a0",
                            "ReduceMean/3x33x5-a1", "GlobalAveragePool/2x5x3x7"}) {
    for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16})
      CHECK_MESSAGE(compared(lib, layer, t) >= 3, layer);
    CHECK(compared(lib, layer, numeric::tf32) == 0);
  }
}

TEST_CASE("cublas: integers and FP8 too, as far as cublasLt takes them" *
          doctest::skip(!on_fake())) {
  blas lib;
  for (const char* layer :
       {"Gemm/5x32x48-w", "Gemm/5x32x48-tb-w", "Gemm/5x32x48-tb", "Gemm/5x32x48-tb-c1x32-w",
        "Gemm+Relu/5x32x48-c1x32-w", "MatMul/2x5x48-48x32-w", "MatMul/2x5x48-2x48x32-w",
        "MatMul+Add/2x5x48-48x32-w-w32", "Conv/2x16x3x5-32x1x1-s1", "Conv/2x16x3x5-32x1x1-s1-b"})
    for (const numeric t : {numeric::s8s8s8, numeric::e4m3}) // FP8 also with fast accumulation
      CHECK_MESSAGE(compared(lib, layer, t) == (t == numeric::e4m3 ? 6 : 3), layer);
  CHECK(compared(lib, "Gemm+Gelu/5x32x48-tb-c1x32-w", numeric::e4m3) == 6);
  for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16, numeric::e4m3})
    CHECK(compared(lib, "Gemm+FastGelu/5x32x48-tb-c1x32-w", t) >= 2);
  CHECK(compared(lib, "Gemm+Add+Relu/5x32x48-tb-c1x32-w", numeric::s8s8s8) == 3);
  // What the library itself refuses is not offered.
  CHECK(compared(lib, "Gemm/5x7x11-w", numeric::s8s8s8) == 0);
  CHECK(compared(lib, "Gemm/5x7x11-w", numeric::e4m3) == 0);
  CHECK(compared(lib, "Gemm/5x32x48-tb-w", numeric::u8s8u8) == 0);
}

TEST_CASE("cublas: the library's plain functions come first, then what cublasLt proposes" *
          doctest::skip(!on_fake())) {
  blas lib;
  CHECK(ids(lib, "Gemm/5x7x11", numeric::f16) == texts{"gemm", simple, split, clustered});
  CHECK(ids(lib, "Gemm/1x7x11", numeric::bf16) == texts{"gemm", "gemv", simple, split, clustered});
  CHECK(ids(lib, "Gemm/5x7x11-c1x7", numeric::f16) == texts{simple, split, clustered});
  CHECK(ids(lib, "Conv/2x5x3x4-7x1x1-s1-b", numeric::f16) ==
        texts{"nhwc:" + simple, "nhwc:" + split, "nhwc:" + clustered});
  CHECK(ids(lib, "Relu/4x4", numeric::f32).empty());
  CHECK(lib.enumerate(op::parse("Gemm/5x7x11-w"), numeric::f32, {.threads = 2}).empty());
}

TEST_CASE("cublas: FP32 has no tensor cores in it, and TF32 nothing else" *
          doctest::skip(!on_fake())) {
  blas lib;
  CHECK(ids(lib, "Gemm/5x7x11", numeric::f32) == texts{"gemm", simple, split});
  CHECK(ids(lib, "Gemm/5x7x11", numeric::tf32) == texts{"gemm", split, clustered});
}

TEST_CASE(
    "cublas: weights of all types compete in both orders, of 8 bits in the one that there is" *
    doctest::skip(!on_fake())) {
  blas lib;
  const std::string wt = "wt:";
  CHECK(ids(lib, "Gemm/1x7x11-w", numeric::f16) == texts{"gemm", "gemv", simple, split, clustered,
                                                         "wt:gemm", "wt:gemv", wt + simple,
                                                         wt + split, wt + clustered});
  CHECK(ids(lib, "MatMul+Add/3x5x11-11x7-w-w7", numeric::tf32) ==
        texts{split, clustered, wt + split, wt + clustered});
  for (const numeric t : {numeric::s8s8s8, numeric::e4m3}) {
    for (const std::string& id : ids(lib, "MatMul/1x5x48-48x32-w", t))
      CHECK(id.starts_with(wt));
    for (const std::string& id : ids(lib, "Gemm/5x32x48-tb-w", t))
      CHECK_FALSE(id.starts_with(wt));
  }
  // Of few the first of each order.
  texts few;
  for (const algorithm& a :
       lib.enumerate(op::parse("Gemm/5x7x11-w"), numeric::f16, {.proposed = true}))
    few.push_back(a.id);
  for (const char* first : {"gemm", "wt:gemm"})
    CHECK(std::count(few.begin(), few.end(), first) == 1);
  for (const std::string& first : {simple, wt + simple})
    CHECK(std::count(few.begin(), few.end(), first) == 1);
}

TEST_CASE("cublas: weights are turned once for all that want them so, and that is their packing" *
          doctest::skip(!on_fake())) {
  blas lib;
  const op::layer l = op::parse("MatMul/1x5x48-48x32-w");
  const operands values = make_operands(l, numeric::f16);
  const setting interleaved{.keeps_operands = true, .interleaved = true};
  const auto made = [&](const std::string& id, const setting& s) {
    return lib.prepare(l, numeric::f16, {.id = id}, values, s);
  };
  const auto first = made("wt:gemm", interleaved), second = made("wt:" + simple, interleaved);
  CHECK(packed_weights::of(*first)->packing_ns() > 0);
  CHECK(packed_weights::of(*second)->packing_ns() == 0);
  const auto alone = made("wt:" + simple, {}); // as in a model, where each node has its own
  CHECK(packed_weights::of(*alone)->packing_ns() > 0);
  const auto weights_of = [](const prepared& p) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(p.weight_bytes()));
    packed_weights::of(p)->copy_weights(bytes.data());
    return bytes;
  };
  const auto as_stored = weights_of(*made("gemm", {})), turned = weights_of(*second);
  REQUIRE(as_stored.size() == 48 * 32 * 2);
  for (std::size_t k = 0; k < 48; ++k)
    for (std::size_t n = 0; n < 32; ++n)
      for (std::size_t byte = 0; byte < 2; ++byte)
        REQUIRE(turned[(n * 48 + k) * 2 + byte] == as_stored[(k * 32 + n) * 2 + byte]);
}

TEST_CASE("cublas: an algorithm says its workspace, its parts of k, and how it fills the GPU" *
          doctest::skip(!on_fake())) {
  blas lib;
  std::map<std::string, algorithm> by_id;
  int index = 0;
  for (const algorithm& a : lib.enumerate(op::parse("Gemm/5x7x11"), numeric::f16, {})) {
    CHECK(a.index == index++);
    CHECK(a.equivalence == "f16");
    CHECK(a.layouts == "ab,ab,ab");
    CHECK(a.result_layout == "plain");
    CHECK(a.flops == 2 * 5 * 7 * 11);
    by_id[a.id] = a;
  }
  CHECK(by_id[simple].workspace_bytes == 0);
  CHECK(by_id[split].workspace_bytes == 4 * 5 * 7 * 4);
  CHECK(by_id[simple].notes == "heuristic,waves=0.5");
  CHECK(by_id[split].notes == "heuristic,split-k=4,waves=0.5");
  CHECK(by_id[clustered].notes == "heuristic,tensor-cores,waves=0.5");
}

TEST_CASE("cublas: the algorithm of an id is made again where it was never listed" *
          doctest::skip(!on_fake())) {
  const op::layer l = op::parse("Gemm+Relu/5x7x11-tb-c1x7-w");
  const operands values = make_operands(l, numeric::f16);
  for (const std::string& id : {simple, split, clustered, "wt:" + simple, "wt:" + clustered}) {
    blas fresh;
    const auto made = fresh.prepare(l, numeric::f16, {.id = id}, values, {});
    CHECK(made->ran() == id);
    CHECK(made->weight_bytes() == 256); // 7 x 11 of two bytes, in whole lines
    CHECK(made->on_device());
  }
}

TEST_CASE("cublas: FP8 is added up in two ways, which do not compete" * doctest::skip(!on_fake())) {
  blas lib;
  const std::string layer = "Gemm/5x32x48-tb-w", fast = "-fast-accum";
  CHECK(ids(lib, layer, numeric::e4m3) ==
        texts{simple, split, clustered, simple + fast, split + fast, clustered + fast});
  for (const algorithm& a : lib.enumerate(op::parse(layer), numeric::e4m3, {}))
    CHECK(a.equivalence == (a.id.ends_with(fast) ? "e4m3-fast-accum" : "e4m3"));
}

TEST_CASE("cublas: operands and result of FP8 are scaled by what is in the GPU's memory" *
          doctest::skip(!on_fake())) {
  const auto on = std::make_shared<cublas::context>(cuda::gpu::of_this_process());
  const op::layer l = op::parse("Gemm/5x32x48-tb-w");
  const operands values = make_operands(l, numeric::e4m3);
  cublas::lt_run run(on, cublas::tasks_for(l, numeric::e4m3).at(0), numeric::e4m3,
                     cublas::parse_lt(simple).value(), {}, values, {});
  const auto result_for = [&](float scale) {
    REQUIRE(cudaMemcpy(const_cast<std::byte*>(on->one()), &scale, sizeof scale,
                       cudaMemcpyHostToDevice) == cudaSuccess);
    cuda::wait_for_default_stream();
    std::vector<double> out;
    run.run(1);
    run.read(out);
    return out;
  };
  const std::vector<double> once = result_for(1), twice = result_for(2);
  int compared = 0;
  for (std::size_t i = 0; i < once.size(); ++i) {
    if (std::fabs(once[i]) < 0x1p-5 || std::fabs(once[i]) > 32) continue; // exact in e4m3
    CHECK(twice[i] == 2 * 2 * 2 * once[i]);
    ++compared;
  }
  CHECK(compared > 50);
}

TEST_CASE("cublas: the library's own bytes come back from a result, and are what runs" *
          doctest::skip(!on_fake())) {
  blas lib;
  const op::layer l = op::parse("Gemm/5x7x11-w");
  const operands values = make_operands(l, numeric::f16);
  std::map<std::string, std::string> bytes;
  for (const algorithm& a : lib.enumerate(l, numeric::f16, {})) {
    CHECK(a.opaque.empty() == a.id.ends_with("gemm"));
    const std::string text =
        result::to_json(result::measurement{.algorithm = a.id, .opaque = a.opaque}).dump();
    bytes[a.id] = nlohmann::json::parse(text).value("opaque", "");
    CHECK(bytes[a.id] == a.opaque);
  }
  for (const std::string& id : {simple, split, clustered})
    CHECK(blas().prepare(l, numeric::f16, {.id = id, .opaque = bytes[id]}, values, {})->ran() ==
          id);
  // They go before what the id says.
  CHECK(lib.prepare(l, numeric::f16, {.id = simple, .opaque = bytes[split]}, values, {})->ran() ==
        split);
  // Where the library does not take them, or they are none, the settings are left.
  for (const char* none : {"00", "17", "xyz"})
    CHECK(lib.prepare(l, numeric::f16, {.id = simple, .opaque = none}, values, {})->ran() ==
          simple);
  CHECK(lib.prepare(l, numeric::f16, {.id = simple + "-h00000000"}, values, {})->ran() == simple);
}

TEST_CASE("cublas: an algorithm that is not there is refused with the reason" *
          doctest::skip(!on_fake())) {
  blas lib;
  const op::layer l = op::parse("Gemm/5x7x11-w");
  const operands values = make_operands(l, numeric::f32);
  const auto refused = [&](const std::string& id) -> std::string {
    try {
      lib.prepare(l, numeric::f32, {.id = id}, values, {});
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  const auto holds = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const std::string unknown =
      refused("lt:algo77_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0");
  CHECK(holds(unknown, "algorithm 77"));
  CHECK(holds(unknown, "CUBLAS_STATUS_INVALID_VALUE"));
  CHECK(holds(unknown, "Gemm/5x7x11-w"));
  const std::string other =
      refused("lt:algo21_tile21_stages8_splitk1_red0_swz0_cust0_inner0_cluster0");
  CHECK(holds(other, "tile21"));
  CHECK(holds(other, "CUBLAS_STATUS_NOT_SUPPORTED"));
  const std::string narrow =
      refused("lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner5_cluster0");
  CHECK(holds(narrow, "inner5"));
  CHECK(holds(narrow, "CUBLAS_STATUS_NOT_SUPPORTED"));
  CHECK(holds(refused("lt:algo66_tile39_stages35_splitk1_red0_swz0_cust3_inner1_cluster65538"),
              "no setting of an algorithm is 65538"));
  for (const char* id : {"gemv", "gemm_grouped", "nhwc:gemm", "wt:gemv", "wt:", "wt:wt:gemm",
                         "eng4", "lt:algo21", ""})
    CHECK(holds(refused(id), "does not offer this algorithm here"));
  CHECK(holds(refused(simple + "-fast-accum"), "does not offer this algorithm here"));
  CHECK(lib.prepare(l, numeric::f32, {.id = "gemm"}, values, {}) != nullptr);
}

TEST_CASE("cublas: weights come from wherever they are put, and back" * doctest::skip(!on_fake())) {
  blas lib;
  for (const char* name :
       {"Gemm/5x7x11-tb-w", "Conv/2x5x3x4-7x1x1-s1", "Gemm/1x7x11-w", "MatMul/3x5x11-3x11x7-w"}) {
    const op::layer l = op::parse(name);
    const operands values = make_operands(l, numeric::f32);
    for (const algorithm& a : lib.enumerate(l, numeric::f32, {})) {
      CAPTURE(a.id);
      const auto made = lib.prepare(l, numeric::f32, a, values, {});
      std::vector<double> own, zeros, again;
      made->run(1);
      made->read(own);
      const std::int64_t bytes = made->weight_bytes();
      REQUIRE(bytes > 0);
      cuda::memory pool(2 * bytes);
      pool.upload(std::vector<std::byte>(static_cast<std::size_t>(2 * bytes)));
      made->rotate_weights(pool.data(), bytes, 2);
      made->run(1);
      made->read(zeros);
      CHECK(std::all_of(zeros.begin(), zeros.end(), [](double v) { return v == 0; }));
      made->rotate_weights(nullptr, 0, 0);
      made->run(1);
      made->read(again);
      CHECK(again == own);
    }
  }
  const op::layer loose = op::parse("MatMul/5x11-11x7");
  const auto made =
      lib.prepare(loose, numeric::f32, {.id = "gemm"}, make_operands(loose, numeric::f32), {});
  CHECK(made->weight_bytes() == 0);
}

TEST_CASE("cublas: it says its version, and where it runs" * doctest::skip(!on_fake())) {
  blas lib;
  const auto facts = lib.facts();
  CHECK(facts.at("version").starts_with(std::to_string(CUBLAS_VER_MAJOR) + '.'));
  CHECK(facts.contains("gpu"));
  CHECK(lib.name() == "cublas");
  CHECK(lib.on_device());
}
