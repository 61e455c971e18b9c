// SPDX-License-Identifier: Apache-2.0
// Are functions looked up, and is what is not there an error?
#include <benanza/backend/cublas/functions.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend::cublas;

TEST_CASE("cublas: the library is loaded, and says its version") {
  REQUIRE(why_not_loaded().empty());
  int major = 0;
  CHECK(call::get_property(MAJOR_VERSION, &major) == CUBLAS_STATUS_SUCCESS);
  CHECK(major == CUBLAS_VER_MAJOR);
  CHECK(std::string(call::status_name(CUBLAS_STATUS_NOT_SUPPORTED)) ==
        "CUBLAS_STATUS_NOT_SUPPORTED");
}

TEST_CASE("cublas: a function that no library has is an error") {
  const late<int(int)> none{"cublasOfAnotherWorld"};
  CHECK_THROWS_WITH_AS(none(1), "cuBLAS has no cublasOfAnotherWorld", error);
}
