// SPDX-License-Identifier: Apache-2.0
// Does a prepared algorithm do what it is asked, and refuse in one line what it cannot? Rotation of
// weights, threads, clocks, and errors.
#include <benanza/backend/make_operands.hpp>
#include <benanza/backend/onednn/library.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace benanza;
namespace onednn = backend::onednn;

namespace {
static_assert(backend::backend_library<onednn::library>);

std::vector<double> result(backend::prepared& p) {
  std::vector<double> out;
  p.run(1);
  p.read(out);
  return out;
}

std::vector<std::pair<numeric, backend::algorithm>> listed_in_floats(onednn::library& lib,
                                                                     const op::layer& l) {
  std::vector<std::pair<numeric, backend::algorithm>> out;
  for (const numeric t : {numeric::f32, numeric::bf16}) {
    const std::size_t before = out.size();
    for (const auto& a : lib.enumerate(l, t, {.threads = 1}))
      out.emplace_back(t, a);
    if (t == numeric::f32) REQUIRE(out.size() > before);
  }
  return out;
}
} // namespace

TEST_CASE("onednn: facts name version, threading and instruction set") {
  const auto facts = onednn::library().facts();
  CHECK(facts.at("version").substr(0, 2) == std::to_string(DNNL_VERSION_MAJOR) + '.');
  CHECK(!facts.at("threading").empty());
  CHECK(!facts.at("instruction_set").empty());
  CHECK(onednn::library().name() == "onednn");
  CHECK(onednn::library("onednn-3.2.0").name() == "onednn-3.2.0");
}

TEST_CASE("onednn: activations are the memory that is read and written, wherever it is") {
  onednn::library lib;
  for (const std::string name : {"Conv/1x16x9x9-24x3x3-s1-p1", "MaxPool/1x16x8x8-2x2-s2",
                                 "Conv+Add/1x16x9x9-24x1x1-s1", "Concat/1x8x6x6-a1-n2"}) {
    const op::layer l = op::parse(name);
    for (const auto& [t, a] : listed_in_floats(lib, l)) {
      CAPTURE(name);
      const std::string& id = a.id; // what CAPTURE takes
      CAPTURE(id);
      const auto p = lib.prepare(l, t, a, backend::make_operands(l, t), {.threads = 1});
      std::vector<double> out = result(*p);
      CHECK(std::any_of(out.begin(), out.end(), [](double v) { return v != 0; }));
      const auto none = [](double v) { return v == 0; };
      std::fill(p->chain()->result_memory().begin(), p->chain()->result_memory().end(),
                std::byte{0});
      p->read(out);
      CHECK(std::all_of(out.begin(), out.end(), none));
      for (const std::span<std::byte> memory : p->chain()->operand_memory())
        std::fill(memory.begin(), memory.end(), std::byte{0});
      if (p->chain()->overwritten() < 0) // else the result is where an operand was
        std::fill(p->chain()->result_memory().begin(), p->chain()->result_memory().end(),
                  std::byte{1});
      out = result(*p); // from operands of zeros
      CHECK(std::all_of(out.begin(), out.end(), none));
    }
  }
}

TEST_CASE("onednn: scratch memory is what a run writes to, wherever it is") {
  onednn::library lib;
  const op::layer l = op::parse("Conv/1x32x14x14-32x3x3-s1-p1");
  int with_scratch = 0;
  for (const auto& [t, a] : listed_in_floats(lib, l)) {
    const std::string& id = a.id; // what CAPTURE takes
    CAPTURE(id);
    const auto p = lib.prepare(l, t, a, backend::make_operands(l, t), {.threads = 1});
    const std::span<std::byte> own = p->chain()->scratch_memory();
    CHECK(std::ssize(own) == p->chain()->scratch_bytes());
    CHECK(p->chain()->scratch_bytes() == a.workspace_bytes);
    if (own.empty()) continue;
    const std::vector<double> expected = result(*p);
    const auto is_written = [](std::span<const std::byte> m) {
      return std::any_of(m.begin(), m.end(), [](std::byte b) { return b != std::byte{0x5a}; });
    };
    std::fill(own.begin(), own.end(), std::byte{0x5a});
    CHECK(result(*p) == expected);
    if (!is_written(own)) continue; // some ask for scratch memory that they then leave alone
    ++with_scratch;
    onednn::aligned_bytes elsewhere(own.size());
    std::fill(elsewhere.data(), elsewhere.data() + elsewhere.size(), std::byte{0x5a});
    p->chain()->connect_scratch(elsewhere.data());
    CHECK(p->chain()->scratch_memory().data() == elsewhere.data());
    CHECK(result(*p) == expected);
    CHECK(is_written(p->chain()->scratch_memory()));
  }
  CHECK(with_scratch > 0);
}

TEST_CASE(
    "onednn: bf16 by kernels of f32 where the processor has no matrix units for bf16, and only "
    "products") {
  onednn::library lib;
  const bool matrix_units =
      lib.facts().at("instruction_set").find("amx") != std::string::npos; // not needed beside them
  for (const std::string name :
       {"Conv/1x32x14x14-32x3x3-s1-p1-b", "Conv+Add+Relu/1x32x14x14-32x1x1-s1",
        "Conv/1x3x18x18-20x3x3-s2-p1", "Gemm/4x40x48-tb-c1x40-w", "MatMul/4x24-24x40"}) {
    CAPTURE(name);
    const op::layer l = op::parse(name);
    const auto narrow = lib.enumerate(l, numeric::bf16, {.threads = 1});
    const auto wide = lib.enumerate(l, numeric::f32, {.threads = 1});
    std::set<std::string> names;
    for (const auto& a : wide)
      names.insert("f32:" + a.id);
    int offered = 0;
    for (const auto& a : narrow) {
      if (!a.id.starts_with("f32:")) continue;
      ++offered;
      const std::string& id = a.id; // what CAPTURE takes
      CAPTURE(id);
      CHECK(names.contains(a.id));
      CHECK(a.equivalence == "bf16");
      CHECK(a.fallback.empty());
      const auto p = lib.prepare(l, numeric::bf16, a, backend::make_operands(l, numeric::bf16),
                                 {.threads = 1});
      // Its weights are those of f32, its activations those of bf16.
      const auto is_same = [&](const backend::algorithm& x) { return "f32:" + x.id == a.id; };
      const auto q = lib.prepare(l, numeric::f32, *std::find_if(wide.begin(), wide.end(), is_same),
                                 backend::make_operands(l, numeric::f32), {.threads = 1});
      CHECK(p->weight_bytes() == q->weight_bytes());
      CHECK(2 * p->chain()->result_bytes() == q->chain()->result_bytes());
      CHECK(2 * p->chain()->operand_bytes(0) == q->chain()->operand_bytes(0));
      CHECK(p->chain()->overwritten() < 0);
    }
    CHECK((offered > 0) == (!narrow.empty() && !matrix_units));
  }
  for (const char* other : {"MaxPool/1x16x8x8-2x2-s2", "ReduceSum/64x256-a1"})
    for (const auto& a : lib.enumerate(op::parse(other), numeric::bf16, {.threads = 1}))
      CHECK_FALSE(a.id.starts_with("f32:"));
  for (const numeric t : {numeric::f32, numeric::u8s8u8})
    for (const auto& a :
         lib.enumerate(op::parse("Conv/1x32x14x14-32x3x3-s1-p1"), t, {.threads = 1}))
      CHECK_FALSE(a.id.starts_with("f32:"));
}

TEST_CASE("onednn: a buffer begins with a page, and holds zeros or a copy") {
  const onednn::aligned_bytes zeros(10000);
  CHECK(reinterpret_cast<std::uintptr_t>(zeros.data()) % 4096 == 0);
  CHECK(std::all_of(zeros.data(), zeros.data() + zeros.size(),
                    [](std::byte b) { return b == std::byte{0}; }));
  const std::vector<std::byte> given(5000, std::byte{7});
  const onednn::aligned_bytes copy{std::span<const std::byte>(given)};
  CHECK(std::equal(given.begin(), given.end(), copy.data(), copy.data() + copy.size()));
  CHECK(onednn::aligned_bytes(std::span<const std::byte>{}).size() == 0);
}

TEST_CASE("onednn: rotated weights are read, left alone, and give way to the true ones again") {
  onednn::library lib;
  for (const std::string name :
       {"Conv/1x16x9x9-24x3x3-s1-p1-b", "Conv/1x24x9x9-24x3x3-s1-p1-g24", "Gemm/4x40x48-tb-c1x40-w",
        "MatMul/4x24-24x40-w", "BatchNormalization/1x24x6x6"}) {
    const op::layer l = op::parse(name);
    for (const numeric t : {numeric::f32, numeric::bf16, numeric::s8s8s8}) {
      const auto o = backend::make_operands(l, t);
      for (const auto& a : lib.enumerate(l, t, {.threads = 1})) {
        CAPTURE(name);
        CAPTURE(benanza::name(t));
        const std::string& id = a.id; // what CAPTURE takes
        CAPTURE(id);
        const auto p = lib.prepare(l, t, a, o, {.threads = 1});
        const auto truth = result(*p);
        const std::int64_t bytes = p->weight_bytes(), stride = (bytes + 63) / 64 * 64;
        REQUIRE(bytes > 0);
        onednn::aligned_bytes pool(static_cast<std::size_t>(3 * stride));
        std::fill_n(pool.data() + stride, stride, std::byte{0x3c});
        const std::vector<std::byte> copy(pool.data(), pool.data() + pool.size());

        p->rotate_weights(pool.data(), stride, 3);
        const auto first = result(*p), second = result(*p), third = result(*p), fourth = result(*p);
        CHECK(first != truth);
        CHECK(second != first);
        CHECK(third == first);
        CHECK(fourth == first);
        CHECK(result(*p) == second);
        CHECK(std::equal(copy.begin(), copy.end(), pool.data()));

        p->rotate_weights(nullptr, 0, 0);
        CHECK(result(*p) == truth);
      }
    }
  }
}

TEST_CASE("onednn: the place in the rotation goes on when algorithms take turns") {
  onednn::library lib;
  const op::layer l = op::parse("Gemm/4x16x16-w");
  const auto a = lib.enumerate(l, numeric::f32, {.threads = 1}).at(0);
  const auto p =
      lib.prepare(l, numeric::f32, a, backend::make_operands(l, numeric::f32), {.threads = 1});
  const std::int64_t stride = (p->weight_bytes() + 63) / 64 * 64;
  onednn::aligned_bytes pool(static_cast<std::size_t>(2 * stride));
  std::fill_n(pool.data() + stride, stride, std::byte{0x3c});
  p->rotate_weights(pool.data(), stride, 2);
  const auto zero = result(*p);
  p->rotate_weights(nullptr, 0, 0);
  p->run(1);
  p->rotate_weights(pool.data(), stride, 2);
  CHECK(result(*p) != zero);
  CHECK(result(*p) == zero);
  p->rotate_weights(pool.data(), stride, 1);
  CHECK(result(*p) == zero);
}

TEST_CASE("onednn: layers without weights have none to rotate") {
  onednn::library lib;
  const op::layer l = op::parse("Relu/1x16x9x9");
  const auto o = backend::make_operands(l, numeric::f32);
  const auto p = lib.prepare(l, numeric::f32, lib.enumerate(l, numeric::f32, {.threads = 1}).at(0),
                             o, {.threads = 1});
  CHECK(p->weight_bytes() == 0);
  const auto truth = result(*p);
  onednn::aligned_bytes pool(64);
  p->rotate_weights(pool.data(), 64, 1);
  CHECK(result(*p) == truth);
}

TEST_CASE("onednn: large weights that stay, in a layout that can be read as it is, are no copy") {
  onednn::library lib;
  const op::layer l = op::parse("Gemm/1x1100x1100-tb-c1x1100-w");
  int shared = 0;
  for (const auto& a : lib.enumerate(l, numeric::f32, {.threads = 1})) {
    const std::string& id = a.id; // what CAPTURE takes
    CAPTURE(id);
    auto o = backend::make_operands(l, numeric::f32);
    const auto copy = lib.prepare(l, numeric::f32, a, o, {.threads = 1}),
               lent = lib.prepare(l, numeric::f32, a, o, {.threads = 1, .keeps_operands = true});
    const auto truth = result(*copy);
    CHECK(result(*lent) == truth);
    CHECK(lent->weight_bytes() == copy->weight_bytes());
    onednn::aligned_bytes pool(static_cast<std::size_t>(lent->weight_bytes()));
    lent->rotate_weights(pool.data(), lent->weight_bytes(), 1);
    CHECK(result(*lent) != truth);
    lent->rotate_weights(nullptr, 0, 0);
    CHECK(result(*lent) == truth);
    std::fill(o.inputs[1].bytes.begin(), o.inputs[1].bytes.end(), std::byte{0});
    CHECK(result(*copy) == truth);
    shared += result(*lent) != truth;
  }
  CHECK(shared > 0);
}

TEST_CASE("onednn: two threads compute the same as one") {
  onednn::library lib;
  const op::layer l = op::parse("Conv/1x32x20x20-32x3x3-s1-p1");
  const auto o = backend::make_operands(l, numeric::u8s8u8);
  std::vector<double> one;
  for (const int threads : {1, 2}) {
    const auto all = lib.enumerate(l, numeric::u8s8u8, {.threads = threads});
    REQUIRE(!all.empty());
    const auto p = lib.prepare(l, numeric::u8s8u8, all[0], o, {.threads = threads});
    if (threads == 1)
      one = result(*p);
    else
      CHECK(result(*p) == one);
    CHECK(omp_get_max_threads() == threads);
  }
  onednn::use_threads(1);
}

TEST_CASE("onednn: time grows with the number of executions") {
  onednn::library lib;
  const op::layer l = op::parse("Conv/1x32x28x28-32x3x3-s1-p1");
  const auto o = backend::make_operands(l, numeric::f32);
  const auto p = lib.prepare(l, numeric::f32, lib.enumerate(l, numeric::f32, {.threads = 1}).at(0),
                             o, {.threads = 1});
  p->run(3);
  double once = p->time(1), often = p->time(20);
  for (int i = 0; i < 5; ++i) {
    once = std::min(once, p->time(1));
    often = std::min(often, p->time(20));
  }
  CHECK(once > 0);
  CHECK(often > 5 * once);
}

TEST_CASE("onednn: what cannot be prepared is refused in one line that names layer and algorithm") {
  onednn::library lib;
  const op::layer l = op::parse("Conv/1x16x9x9-24x3x3-s1-p1");
  const auto good = backend::make_operands(l, numeric::f32);
  const auto refuses = [&](const backend::algorithm& a, const backend::operands& o,
                           std::string_view why) {
    try {
      lib.prepare(l, numeric::f32, a, o, {.threads = 1});
      FAIL("it was prepared");
    } catch (const error& e) {
      const std::string text = e.what();
      CAPTURE(text);
      CHECK(text.find(why) != std::string::npos);
      CHECK(text.find(op::name(l)) != std::string::npos);
      CHECK(text.find(a.id) != std::string::npos);
      CHECK(text.find('\n') == std::string::npos);
    }
  };
  const auto first = lib.enumerate(l, numeric::f32, {.threads = 1}).at(0);
  refuses({.id = "jit:z80"}, good, "does not offer");
  refuses(first, {}, "missing");
  refuses(first, backend::make_operands(l, numeric::bf16), "type");
  backend::operands small = good;
  small.inputs[1].bytes.resize(16);
  refuses(first, small, "smaller");
}
