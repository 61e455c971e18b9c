// SPDX-License-Identifier: Apache-2.0
// What does cuDNN offer for a layer on a GPU? Every engine of every recipe under an id from which
// the same plan can be made again, with what a bound and a reader should know of it. No GPU is
// needed: a described one will do.
//
//   for (const offer& o : offers(layer, numeric::f16, described_target("h200"))) o.what.id;
#pragma once

#include "../../core/winograd.hpp"
#include "../../op/kinds.hpp"
#include "../concept.hpp"
#include "attention.hpp"
#include "conv.hpp"
#include "eltwise.hpp"
#include "gemm.hpp"
#include "group_norm.hpp"
#include "layer_norm.hpp"
#include "norm.hpp"
#include "on_codes.hpp"
#include "plans.hpp"
#include "pool.hpp"
#include "reduce.hpp"
#include "resize.hpp"

namespace benanza::backend::cudnn {

/// One algorithm with what it takes to prepare it.
struct offer {
  algorithm what{};
  std::shared_ptr<const recipe> made_by{};
  found_engine how{};
};

namespace detail {
template <class Layer>
void describe_any(const Layer& l, const request& r, recipes& out) {
  if constexpr (op::is_fused<Layer>) {
    if constexpr (requires { describe(l.base, l.steps, r, out); })
      describe(l.base, l.steps, r, out);
  } else if constexpr (requires { describe(l, op::step_list{}, r, out); }) {
    describe(l, op::step_list{}, r, out);
  }
}

inline bool is_empty(const op::layer& l) {
  return op::visit(
      [&l](const auto& p) {
        if constexpr (requires { p.input; })
          if (elements(p.input) == 0) return true;
        return elements(op::output(l)) == 0;
      },
      l);
}

/// True for layers of sums of products of the class's reals, which tensor cores compute.
inline bool multiplies(const op::layer& l) {
  return op::cost(l).macs > 0 && !op::is<op::on_codes<op::conv>>(l);
}

/// Which algorithms an engine competes with; empty where it is none of the type at all. Products of
/// f32 on tensor cores are TF32. Engines without products may have the same note, which means
/// nothing.
inline std::string equivalence_of(const found_engine& e, numeric t, bool products) {
  if (products && t == numeric::f32 && e.tensor_cores()) return {};
  if (products && t == numeric::tf32 && !e.tensor_cores()) return {};
  std::string text(name(t));
  if (e.winograd() && winograd_apart(t, e.winograd_tile())) text = winograd_class(t);
  if (e.converts_down()) text += "-down-converted";
  if (e.reduces_precision()) text += "-reduced-accumulation";
  return text;
}

inline std::string notes_of(const found_engine& e, bool products) {
  std::string text;
  const auto say = [&text](bool really, std::string_view what) {
    if (really) text.append(text.empty() ? "" : ",").append(what);
  };
  say(e.proposed_by == "A", "heuristic");
  say(e.proposed_by == "fallback", "fallback");
  say(products && e.tensor_cores(), "tensor-cores");
  say(e.converts_down(), "down-converts");
  say(e.reduces_precision(), "reduced-accumulation");
  say(e.winograd(), "winograd");
  say(e.fft(), "fft");
  say(e.numerics.contains(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC), "nondeterministic");
  say(e.compiled_at_run_time(), "compiled-at-run-time");
  say(e.behaviour.contains(CUDNN_BEHAVIOR_NOTE_CUBLASLT_DEPENDENCY), "through-cublaslt");
  return text;
}

/// The edge of a convolution's kernel; of what has none, that of most.
inline std::int64_t kernel_of(const op::layer& l) {
  return op::visit(
      [](const auto& p) -> std::int64_t {
        if constexpr (requires { p.base.kernel[0]; }) return p.base.kernel[0];
        if constexpr (requires { p.kernel[0]; }) return p.kernel[0];
        return 3;
      },
      l);
}

/// Its own arithmetic, which of a Winograd is less.
inline std::int64_t flops_of(const found_engine& e, const op::layer& l) {
  const std::int64_t direct = op::direct_flops(l);
  return e.winograd() ? winograd_products(direct, e.winograd_tile(), kernel_of(l)) : direct;
}
} // namespace detail

/// All ways to write a layer as a graph; none where cuDNN has none for it. Ways that it refuses as
/// a whole are added to `refused`.
inline recipes recipes_for(const op::layer& l, numeric t,
                           std::vector<refused_algorithm>* refused = nullptr) {
  recipes out;
  if (op::is_view(l) || !has_type(t) || detail::is_empty(l)) return out;
  op::visit(
      [&](const auto& p) {
        // Of others it makes the first result alone.
        if (op::results(l).size > 1 && !op::is_residual<std::decay_t<decltype(p)>>) return;
        const request r{.type = t, .refused = refused};
        try {
          detail::describe_any(p, r, out);
        } catch (const refusal& e) { // a way that the library does not have
          r.refuse("graph", e.what());
        }
      },
      l);
  return out;
}

/// Lists what cuDNN offers for layers on a GPU. Of types that are stored alike (f32 and TF32) the
/// graphs are equal, and the library is asked once if one is asked for right after the other.
class lister {
public:
  explicit lister(target on)
      : on_(std::move(on)) {}

  const target& device() const { return on_; }

  /// All offers, recipe by recipe, each in the order of the library's own choice; or the first few
  /// alone that its heuristics propose for each.
  std::vector<offer> offers(const op::layer& l, numeric t, bool proposed = false) {
    std::vector<offer> out;
    const bool products = detail::multiplies(l);
    for (const listed& r : ask(l, t, proposed)) {
      int taken = 0;
      for (const found_engine& e : r.engines) {
        const std::string equivalence = detail::equivalence_of(e, t, products);
        if (equivalence.empty()) continue;
        if (proposed && ++taken > first_proposals) break;
        offer o{.made_by = r.made, .how = e};
        o.what = {.id = r.made->before + id_of(e.choice),
                  .index = static_cast<int>(out.size()),
                  .equivalence = equivalence,
                  .layouts = r.made->layouts,
                  .operand_layouts = r.made->operand_layouts,
                  .result_layout = r.made->result_layout,
                  .workspace_bytes = std::max<std::int64_t>(e.workspace_bytes, 0),
                  .flops = detail::flops_of(e, l)};
        o.what.notes = detail::notes_of(e, op::cost(l).macs > 0);
        out.push_back(std::move(o));
      }
    }
    return out;
  }

  /// What the library names for a layer, and does not offer.
  std::vector<refused_algorithm> refused(const op::layer& l, numeric t) const {
    std::vector<refused_algorithm> out;
    const bool products = detail::multiplies(l);
    for (const recipe& r : recipes_for(l, t, &out)) {
      std::vector<refused_algorithm> of_recipe;
      for (const found_engine& e : engines_for(r.graph, on_, {.refused = &of_recipe}))
        if (detail::equivalence_of(e, t, products).empty())
          of_recipe.push_back({id_of(e.choice), e.tensor_cores()
                                                    ? "it multiplies on tensor cores: tf32"
                                                    : "it multiplies without tensor cores: f32"});
      for (refused_algorithm& one : of_recipe)
        out.push_back({r.before + one.id, std::move(one.why)});
    }
    return out;
  }

  static constexpr int first_proposals = 4; ///< of each recipe's some forty, the best first

private:
  struct listed {
    std::shared_ptr<const recipe> made{};
    std::vector<found_engine> engines{};
  };

  const std::vector<listed>& ask(const op::layer& l, numeric t, bool proposed) {
    std::string asked =
        op::name(l) + '/' + std::string(name(source_of(t))) + (proposed ? "/proposed" : "");
    if (asked == asked_) return last_;
    asked_.clear();
    last_.clear();
    for (recipe& r : recipes_for(l, t)) {
      auto made = std::make_shared<const recipe>(std::move(r));
      auto engines = engines_for(made->graph, on_, {.proposed = proposed});
      last_.push_back({std::move(made), std::move(engines)});
    }
    asked_ = std::move(asked);
    return last_;
  }

  target on_;
  std::string asked_{};
  std::vector<listed> last_{}; ///< of the layer and the storage that were asked for last
};

/// All that cuDNN offers for one layer.
inline std::vector<offer> offers(const op::layer& l, numeric t, const target& on) {
  return lister(on).offers(l, t);
}

} // namespace benanza::backend::cudnn
