// SPDX-License-Identifier: Apache-2.0
// Is a product that is in two logs counted once, with the algorithm that cublasLt names?
#include "log_text.hpp"

#include <benanza/trace/inner_calls.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace test_of_inner_calls {
using namespace log_text;
using benanza::trace::call_log;
using benanza::trace::join_inner_calls;

std::string outer(int m) {
  return cublas_call("cublasSgemm_v2", gemm_sizes(false, false, m, 4, 2));
}
std::string inner(int m, const std::string& id, const std::string& function = "cublasLtSSSMatmul") {
  const std::string rows = std::to_string(m);
  return cublaslt_line(function, "type=R_32F rows=" + rows + " cols=2 ld=" + rows,
                       "type=R_32F rows=2 cols=4 ld=2",
                       "type=R_32F rows=" + rows + " cols=4 ld=" + rows,
                       "computeType=COMPUTE_32F_FAST_TF32 scaleType=R_32F", "algoId=" + id);
}

TEST_CASE("two logs, or one of both") {
  const std::string one = outer(8) + outer(16) + outer(8),
                    two = inner(8, "1") + inner(16, "2") + inner(8, "3");
  std::vector<call_log> apart{read(one), read(two)};
  join_inner_calls(apart);
  CHECK(apart[1].entries.empty());
  CHECK(apart[1].calls.empty());
  std::vector<call_log> together{
      read(outer(8) + inner(8, "1") + outer(16) + inner(16, "2") + outer(8) + inner(8, "3"))};
  join_inner_calls(together);
  for (const call_log* l : {&apart[0], &together[0]}) {
    REQUIRE(l->entries.size() == 3);
    for (int i = 0; i < 3; ++i) {
      const benanza::trace::call& c = l->at(l->entries[static_cast<std::size_t>(i)]);
      CHECK(c.function == "cublasSgemm");
      CHECK(c.algorithm == "algo" + std::to_string(i + 1));
      CHECK(c.type == benanza::numeric::tf32);
      CHECK(c.workspace_bytes == 1048576);
    }
  }
}

TEST_CASE("a framework's own calls of cublasLt stay, as do inner ones without a call of cuBLAS") {
  std::vector<call_log> logs{read(outer(8)),
                             read(inner(8, "1", "cublasLtMatmul") + inner(16, "2"))};
  const std::vector<call_log> before = logs;
  join_inner_calls(logs);
  CHECK(logs[1].entries.size() == 2);
  CHECK(logs[0].at(logs[0].entries[0]).algorithm.empty());
  std::vector<call_log> alone{read(inner(8, "1"))};
  join_inner_calls(alone);
  CHECK(alone[0].entries.size() == 1);
}

} // namespace test_of_inner_calls
