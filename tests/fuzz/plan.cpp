// SPDX-License-Identifier: Apache-2.0
// Plans: what is read is written the same way again.
#include "../result/document.hpp"
#include "analysis.hpp"
#include "mutate.hpp"

#include <benanza/result/plan.hpp>

namespace {
void take_plan(std::string_view bytes) {
  const auto text = [](const benanza::result::plan& p) {
    return benanza::result::to_json(p).dump(
        1, ' ', false, benanza::result::ordered_json::error_handler_t::replace);
  };
  const std::string once = text(benanza::result::read_plan(bytes, "plan.json"));
  if (text(benanza::result::read_plan(once, "plan.json")) != once)
    throw fuzz::finding("a plan is written another way than it was read");
}

std::vector<std::string> plan_samples() {
  const std::string plan = fuzz::folder() / "plan.json";
  std::vector<std::string> out;
  const std::string result = fuzz::put("planned.json", synthetic::text(synthetic::fused_run()));
  for (const char* form : {"--fused", "--unfused"}) {
    fuzz::analyze({result, "--plan", plan, form});
    out.push_back(fuzz::bytes_of(plan));
  }
  return out;
}

const fuzz::registration plan_target{{.name = "plan",
                                      .take = take_plan,
                                      .samples = plan_samples,
                                      .words = {"\"steps\"", "\"graph\"", "nchw16c", "plain", "{}"},
                                      .change = fuzz::spoil_json}};
} // namespace
