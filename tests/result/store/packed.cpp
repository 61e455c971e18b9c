// SPDX-License-Identifier: Apache-2.0
// Does a measurement come back from its bytes to the last bit, and are damaged bytes refused?
#include "../synthetic.hpp"

#include <benanza/result/store/packed.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

using benanza::result::measurement;
using benanza::result::to_json;
using namespace benanza::result::store;

namespace {

measurement columns_of(const measurement& m) {
  measurement out;
  out.family = m.family;
  out.key = m.key;
  out.type = m.type;
  out.backend = m.backend;
  out.algorithm = m.algorithm;
  out.state = m.state;
  out.threads = m.threads;
  return out;
}

measurement trip(const measurement& m) {
  const packed p = pack(m);
  measurement out = columns_of(m);
  unpack(out, description(p.description), p.numbers);
  return out;
}

measurement sample() {
  measurement m = synthetic::timed(synthetic::conv, "jit:avx512_core", 3, "hot",
                                   synthetic::samples(812'345.0, 40));
  m.workspace_bytes = 1 << 20;
  m.setup_ns = 1234.5678901;
  return m;
}

} // namespace

TEST_CASE("every field of a measurement comes back to the last bit") {
  const measurement m = sample();
  const measurement back = trip(m);
  CHECK(to_json(back).dump() == to_json(m).dump());
  CHECK(back.samples_ns == m.samples_ns);
  CHECK(back.setup_ns == m.setup_ns);

  // One by one, whatever fields there are: each gets a value that is its own.
  measurement odd = m;
  int k = 0;
  benanza::result::fields(odd, [&](std::string_view, auto& value, auto) {
    ++k;
    using type = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<type, std::string>)
      value = "text \"" + std::to_string(k) + "\"\n";
    else if constexpr (std::is_integral_v<type>)
      value = static_cast<type>(k * 1'000'003);
    else if constexpr (std::is_same_v<type, double>)
      value = k / 7.0;
    else if constexpr (std::is_same_v<type, std::vector<benanza::device_kernel>>)
      value = {{.name = "a \"kernel\"\n", .grid = {k, 2, 1}, .block = {32, 1, 1}, .ns = k / 3.0},
               {.name = "memset", .ns = 0.01}};
    else if constexpr (std::is_same_v<type, std::vector<benanza::timed_part>>)
      value = {{"a \"part\"\n", k / 3.0, "Relu/4", {k, 0}}, {"reorders", 0.01}};
    else if constexpr (std::is_same_v<type, std::vector<benanza::timed_call>>)
      value = {{k, "exec,\"x\"\n", k / 3.0}, {-1, "", 0.01}};
    else if constexpr (std::is_same_v<type, std::vector<std::string>>)
      value = {"instructions", "a \"counter\""};
    else
      value = {k / 3.0, 1e18, 0.01, 5e-324, static_cast<double>(k)};
  });
  odd.name = "a name of its own";
  CHECK(to_json(trip(odd)).dump() == to_json(odd).dump());
}

TEST_CASE("numbers at the ends of their ranges come back") {
  measurement m = sample();
  using whole = std::numeric_limits<std::int64_t>;
  for (std::int64_t v : {whole::min(), whole::max(), std::int64_t{0}, std::int64_t{-1}}) {
    m.bytes = v;
    CHECK(trip(m).bytes == v);
  }
  using real = std::numeric_limits<double>;
  for (double v : {0.0, -0.0, 0.01, 1.005, 1e15, 0x1p52, -0x1p52, 0x1p60, real::max(), real::min(),
                   real::denorm_min(), real::infinity(), 45035996273704.95}) {
    m.min_ns = m.setup_ns = v;
    m.samples_ns = {v, 1.0, v};
    const measurement back = trip(m);
    CHECK(std::signbit(back.setup_ns) == std::signbit(v));
    CHECK(back.setup_ns == v);
    CHECK(back.min_ns == v);
    CHECK(back.samples_ns == m.samples_ns);
  }
  m.setup_ns = real::quiet_NaN();
  CHECK(std::isnan(trip(m).setup_ns));
  m.samples_ns.clear();
  CHECK(trip(m).samples_ns.empty());
}

TEST_CASE("a failed case keeps its reason and has no times") {
  measurement m = sample();
  m.error = "out of memory";
  const measurement back = trip(m);
  CHECK(back.error == "out of memory");
  CHECK(back.samples_ns.empty());
  CHECK(back.min_ns == 0);
  CHECK(back.workspace_bytes == m.workspace_bytes);
  CHECK(to_json(back).dump() == to_json(m).dump());
}

TEST_CASE("what many results share is described once, and forty samples are short") {
  const measurement m = sample();
  measurement other = synthetic::timed(synthetic::deep, "jit:avx512_core", 1, "coldw",
                                       synthetic::samples(99'000.0, 40));
  CHECK(pack(m).description == pack(other).description);
  CHECK(pack(m).numbers != pack(other).numbers);
  CHECK(pack(m).numbers.size() < 250);
  measurement unnamed = m;
  unnamed.name.clear();
  CHECK(pack(unnamed).description == pack(m).description);
  CHECK(trip(unnamed).name == m.name);
}

TEST_CASE("a remark that says nothing is not stored, one that does comes back") {
  measurement m = sample();
  CHECK(pack(m).description.find("rejected") == std::string::npos);
  m.rejected = 3;
  m.clock_ns = 1050.25;
  m.disturbed = "a neighbour";
  CHECK(pack(m).description.find("kernels") == std::string::npos);
  m.kernels = {{.name = "k",
                .grid = {1, 2, 3},
                .block = {4, 5, 6},
                .registers = 7,
                .shared_bytes = 8,
                .ns = 9.5}};
  const measurement back = trip(m);
  CHECK(back.kernels == m.kernels);
  CHECK(back.rejected == 3);
  CHECK(back.clock_ns == 1050.25);
  CHECK(back.disturbed == "a neighbour");
}

TEST_CASE(
    "a field that this program does not know is passed over, one that is missing stays empty") {
  packed p;
  p.description = R"({"numbers":"i:strange i:threads_of_fate i:count v:unknown_ns d:setup_ns"})";
  const auto put = [&](std::uint64_t v) { detail::put_varint(p.numbers, v); };
  put(detail::fold(-5));
  put(detail::fold(1));
  put(detail::fold(77));
  put(2);
  detail::put_double(p.numbers, 1.5, 0);
  detail::put_double(p.numbers, 1.0 / 3, 0);
  detail::put_double(p.numbers, 2.5, 0);
  measurement m = columns_of(sample());
  unpack(m, description(p.description), p.numbers);
  CHECK(m.count == 77);
  CHECK(m.setup_ns == 2.5);
  CHECK(m.min_ns == 0);
}

TEST_CASE("damaged descriptions and bytes end in a refusal or in numbers, never in a crash") {
  for (const char* bad : {"", "[]", "{", "1", R"({"numbers":1})", R"({"numbers":"i"})",
                          R"({"numbers":"icount"})", R"({"numbers":"i:a  i:b"})"})
    CHECK_THROWS_AS(description{bad}, benanza::error);
  const packed p = pack(sample());
  const description d(p.description);
  for (std::size_t n = 0; n < p.numbers.size(); ++n) {
    measurement m;
    CHECK_THROWS_AS(unpack(m, d, std::span(p.numbers).first(n)), benanza::error);
  }
  synthetic::random dice{5};
  for (int i = 0; i < 5000; ++i) {
    bytes changed = p.numbers;
    changed[static_cast<std::size_t>(dice.below(static_cast<int>(changed.size())))] =
        static_cast<unsigned char>(dice.below(256));
    measurement m;
    try {
      unpack(m, d, changed);
    } catch (const benanza::error&) {
      continue;
    }
    CHECK(m.samples_ns.size() <= changed.size());
  }
}
