// SPDX-License-Identifier: Apache-2.0
// Which models, types and thread counts of a run are reported? All by default; a name, a type or a
// thread count narrows that down. What the run does not hold is refused, naming what it does hold.
//
//   auto models = select(bound::source(run), {.model = "resnet50", .type = "bf16"});
#pragma once

#include <benanza/bound/model.hpp>
#include <fmt/format.h>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace benanza::analyzer {

/// What to report; what is not given means all there is.
struct selection {
  std::string model;
  std::string type;
  std::optional<int> threads;
  int workers = 0; ///< that run layers at the same time; 0: as the cores allow
};

/// `what`, refused because none of `known` fits; names at most twenty of them.
template <class Names>
[[noreturn]] void refuse_choice(const std::string& what, const Names& known) {
  constexpr std::ptrdiff_t most = 20;
  const auto shown = known | ranges::views::take(most) |
                     ranges::views::transform([](const auto& k) { return std::string(k); }) |
                     ranges::to<std::vector>;
  std::string list = fmt::format("{}", fmt::join(shown, ", "));
  if (std::ssize(known) > most) list += fmt::format(" and {} more", std::ssize(known) - most);
  throw error(what, {}, list.empty() ? "the result holds none" : "there are: " + list);
}

/// The graphs called `wanted`, as variants or models; if there are none, those with it in their
/// name.
std::vector<const model::graph*> models_named(const result::run& r, const std::string& wanted);

/// A graph of the layers of a run that has no model: a node each, and nothing between them.
model::graph loose_layers(const result::run& r);

/// The figures of all that is wanted: models by name, of each its own type first, then by threads.
/// A model that lacks what was asked for, and others have, is reported as not measured.
std::vector<bound::model_bound> select(const bound::source& source, const selection& wanted);

/// The figures of the same models in another type, on other threads or at other batches than those
/// that were wanted: advice compares with them.
std::vector<bound::model_bound> related(const bound::source& source,
                                        const std::vector<bound::model_bound>& models);

} // namespace benanza::analyzer
