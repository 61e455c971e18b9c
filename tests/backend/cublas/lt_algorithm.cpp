// SPDX-License-Identifier: Apache-2.0
// Are an algorithm's settings read and written as cublasLt itself has them? That needs no GPU, and
// the fake one takes no algorithm that it did not make.
#include "../cuda/on_fake.hpp"

#include <benanza/backend/cublas/lt_algorithm.hpp>

#include <doctest/doctest.h>

#include <cstring>

using namespace benanza;
using namespace benanza::backend::cublas;

TEST_CASE("cublas: the library itself keeps each setting apart, in its width" *
          doctest::skip(cuda_test::on_fake())) {
  cublasLtMatmulAlgo_t algo{};
  lt_choice wanted;
  for (std::size_t i = 1; i < wanted.values.size(); ++i) {
    wanted.values[i] = static_cast<std::int64_t>(3 * i + 1);
    backend::cublas::detail::write_setting(algo, i, wanted.values[i]);
  }
  CHECK(settings_of(algo) == wanted);
  // Its number is what it is made with.
  CHECK_THROWS_AS(backend::cublas::detail::write_setting(algo, 0, 1), refusal);
  CHECK_THROWS_WITH_AS(backend::cublas::detail::write_setting(algo, 7, 65536),
                       "cuBLAS: no setting of an algorithm is 65536", refusal);
  CHECK_THROWS_AS(backend::cublas::detail::write_setting(algo, 1, std::int64_t{1} << 32), refusal);
  CHECK(settings_of(algo) == wanted);
}

TEST_CASE("cublas: sums that meet in a narrow type are a class of their own") {
  lt_found f;
  f.choice[lt_setting::splitk] = 4;
  for (const auto& [scheme, narrow] : {std::pair{CUBLASLT_REDUCTION_SCHEME_NONE, false},
                                       {CUBLASLT_REDUCTION_SCHEME_INPLACE, true},
                                       {CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, false},
                                       {CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE, true}}) {
    f.choice[lt_setting::reduction] = scheme;
    CHECK(equivalence_of(f, numeric::f16) == (narrow ? "f16-reduced-accumulation" : "f16"));
    CHECK(equivalence_of(f, numeric::f32) == "f32");
  }
  f.choice[lt_setting::splitk] = 1;
  CHECK(equivalence_of(f, numeric::f16) == "f16");
}

TEST_CASE("cublas: FP8 that is added up in fewer bits is a class of its own") {
  lt_found f;
  f.choice[lt_setting::splitk] = 1;
  f.choice.fast_accum = true;
  CHECK(equivalence_of(f, numeric::e4m3) == "e4m3-fast-accum");
  CHECK(notes_of(f) == "heuristic,fast-accumulation,waves=0");
  f.choice[lt_setting::splitk] = 2;
  f.choice[lt_setting::reduction] = CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  CHECK(equivalence_of(f, numeric::e4m3) == "e4m3-fast-accum-reduced-accumulation");
}

TEST_CASE("cublas: an algorithm's bytes are a text, and come back from it") {
  cublasLtMatmulAlgo_t algo{};
  CHECK(hex_of(algo).empty());
  CHECK_FALSE(algo_of("").has_value());
  auto* const bytes = reinterpret_cast<unsigned char*>(&algo);
  bytes[0] = 0x0a, bytes[3] = 0xf0;
  CHECK(hex_of(algo) == "0a0000f0");
  const std::string short_hash = hash_of(algo);
  CHECK(short_hash.size() == hash_digits);
  for (std::size_t i = 0; i < sizeof algo; ++i)
    bytes[i] = static_cast<unsigned char>(37 * i + 1);
  const auto back = algo_of(hex_of(algo));
  REQUIRE(back.has_value());
  CHECK(std::memcmp(&*back, &algo, sizeof algo) == 0);
  CHECK(hash_of(*back) == hash_of(algo));
  CHECK(hash_of(algo) != short_hash);
  for (const char* text : {"0", "0g", "g0", "0a0", " 1", "+1", "-1"})
    CHECK_FALSE_MESSAGE(algo_of(text).has_value(), text);
  CHECK_FALSE(algo_of(hex_of(algo) + "00").has_value());
}

TEST_CASE("cublas: FP32 is what has no tensor cores, TF32 what has them, and others have either") {
  lt_found f;
  for (const bool tensor_cores : {false, true}) {
    f.tensor_cores = tensor_cores;
    CHECK(has_own_arithmetic(f, numeric::f32) == !tensor_cores);
    CHECK(has_own_arithmetic(f, numeric::tf32) == tensor_cores);
    CHECK(has_own_arithmetic(f, numeric::f16));
    CHECK(has_own_arithmetic(f, numeric::s8s8s8));
  }
}

TEST_CASE("cublas: notes are words with commas between") {
  lt_found f;
  f.choice[lt_setting::splitk] = 1;
  f.waves = 1.25;
  CHECK(notes_of(f) == "heuristic,waves=1.25");
  f.tensor_cores = true;
  f.choice[lt_setting::splitk] = 8;
  CHECK(notes_of(f) == "heuristic,tensor-cores,split-k=8,waves=1.25");
}
