// SPDX-License-Identifier: Apache-2.0
#include "transfers.hpp"

#include "units.hpp"

#include <benanza/bound/transfers.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace benanza::report {

std::string transfers_line(const result::run& r, const bound::model_bound& b) {
  const auto t = bound::transfers_of(r, *b.graph, b.type);
  if (!t) return {};
  const double bound_ns = b.best_form().bound.sequential.ns;
  return wrapped("transfers   ",
                 fmt::format("{} of inputs to the GPU in {}, {} back in {}, pinned: not in the "
                             "bound, which is {} with them",
                             show_bytes(t->input_bytes), show_time(t->there_ns),
                             show_bytes(t->result_bytes), show_time(t->back_ns),
                             show_time(bound_ns + t->ns())));
}

result::ordered_json transfers_json(const result::run& r, const bound::model_bound& b) {
  const auto t = bound::transfers_of(r, *b.graph, b.type);
  if (!t) return nullptr;
  return {{"input_bytes", t->input_bytes},
          {"there_ns", t->there_ns},
          {"result_bytes", t->result_bytes},
          {"back_ns", t->back_ns},
          {"bound_with_them_ns", b.best_form().bound.sequential.ns + t->ns()}};
}

} // namespace benanza::report
