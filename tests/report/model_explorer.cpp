// SPDX-License-Identifier: Apache-2.0
// Does a model of many nodes get its node data in time in proportion to them?
#include "analyzer/report/model_explorer.hpp"
#include "growth.hpp"
#include "pages.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace test_of_model_explorer {

TEST_CASE("node data of a long chain take time in proportion to its nodes") {
  CHECK(benanza::test::growth(4000, [](int n) {
          const auto r = std::make_shared<benanza::result::run>(synthetic::empty_run());
          std::vector<std::vector<int>> inputs(1);
          while (static_cast<int>(inputs.size()) < n)
            inputs.push_back({static_cast<int>(inputs.size()) - 1});
          const std::vector<std::string> layers(inputs.size(), synthetic::relu);
          r->graphs.push_back(synthetic::make_graph("chain@batch=1", layers, inputs));
          synthetic::add(*r, synthetic::relu, "jit:avx512_core", 0, 9e3);
          const auto all =
              std::make_shared<std::vector<benanza::bound::model_bound>>(pages::analyse(*r));
          return [r, all, n] {
            const auto j = benanza::report::node_data(all->front());
            REQUIRE(static_cast<int>(j.at("results").size()) == n);
          };
        }) < benanza::test::near_proportion);
}
} // namespace test_of_model_explorer
