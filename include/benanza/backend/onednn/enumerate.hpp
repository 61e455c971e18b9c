// SPDX-License-Identifier: Apache-2.0
// What does oneDNN offer for a layer? Every implementation of every recipe, in the library's own
// order, under a name that is unique for the layer and the type, with what a bound should know of
// it: layouts, scratch memory, its own arithmetic, and whether it is a reference loop or was
// written for an instruction set far below this machine's.
//
//   for (const offer& o : offers(layer, numeric::f32, {.threads = 1}, engine)) o.what.id;
#pragma once

#include "../../op/kinds.hpp"
#include "conv.hpp"
#include "eltwise.hpp"
#include "fused.hpp"
#include "gemm.hpp"
#include "group_norm.hpp"
#include "layer_norm.hpp"
#include "move.hpp"
#include "norm.hpp"
#include "on_codes.hpp"
#include "pool.hpp"
#include "reduce.hpp"
#include "softmax.hpp"

#include <array>
#include <map>
#include <variant>

namespace benanza::backend::onednn {

/// One algorithm with what it takes to prepare it.
struct offer {
  algorithm what{};
  std::shared_ptr<const recipe> made_by{};
  implementation how{};
  std::string before{}, after{}; ///< of the id, around the implementation's name
};

namespace detail {
/// Instruction sets in the order of their age.
inline constexpr std::array<std::pair<std::string_view, int>, 16> instruction_sets{
    {{"avx10_2", 11},
     {"avx512_core_amx", 10},
     {"avx10_1_512_amx", 10},
     {"avx512_core_fp16", 9},
     {"avx10_1_512", 9},
     {"avx512_core_bf16", 8},
     {"avx512_core_vnni", 7},
     {"avx512_core", 6},
     {"avx512_common", 5},
     {"avx512_mic", 5},
     {"avx2_vnni_2", 4},
     {"avx2_vnni", 4},
     {"avx2", 3},
     {"avx", 2},
     {"sse41", 1},
     {"sse42", 1}}};

inline int instruction_set_rank(std::string_view text) {
  for (const auto& [set, rank] : instruction_sets)
    if (text.find(set) != std::string_view::npos) return rank;
  return 0;
}
} // namespace detail

/// The library's name of an implementation as ids hold it: no '/' and no blank.
inline std::string plain_name(std::string_view text) {
  std::string s(text);
  for (char& c : s)
    if (c == '/' || c == ' ' || c == ',') c = '_';
  return s;
}

/// Why a bound should not rest on an implementation: "ref", "old-isa", or "" if it may. Next to a
/// generated kernel (`jit`) a `simple` one is a scalar loop; alone it is the library's real one.
inline std::string fallback_of(std::string_view its_name, bool beside_jit, bool multiplies,
                               numeric t) {
  const auto says = [&](std::string_view word) {
    return its_name.find(word) != std::string_view::npos;
  };
  if (says("ref") || (beside_jit && says("simple"))) return "ref";
  const int machine = detail::instruction_set_rank(effective_instruction_set());
  const int its = detail::instruction_set_rank(its_name);
  if (its == 0 || machine == 0) return "";
  if (machine >= 5 && its <= 4) return "old-isa";
  if (machine >= 3 && its <= 2) return "old-isa";
  // Without its dot-product instructions an 8-bit kernel is another, slower algorithm.
  const bool dot_products = multiplies && quantised(t) && !says("wino");
  return dot_products && machine >= 7 && its < 7 ? "old-isa" : "";
}

/// True for 8-bit products without dot-product instructions: they add pairs in 16 bits, saturate
/// there, and so compute another function.
inline bool saturates(std::string_view its_name, bool multiplies, numeric t) {
  if (!multiplies || !quantised(t) || its_name.find("ref") != std::string_view::npos) return false;
  const int its = detail::instruction_set_rank(its_name);
  const int used = its != 0 ? its : detail::instruction_set_rank(effective_instruction_set());
  return used != 0 && used < 7 && used != 4;
}

namespace detail {
inline std::string layouts_of(const recipe& r, const implementation& i) {
  std::string text;
  for (const argument& a : r.arguments)
    if (!a.letters.empty())
      text += layout_name(i.query_md(dnnl::query::exec_arg_md, a.id), a.letters) + ',';
  return text + layout_name(result_of(r, i), r.letters);
}

/// The layout that other layers know it by; empty if none of theirs. An operation that sees the
/// dims in another order than ONNX (a Softmax whose axis is innermost) has no other than the plain
/// one.
inline std::string shared_layout(const description& d, const description& plain,
                                 std::string_view letters) {
  if (d == plain) return std::string(name(layout::plain));
  if (plain != dense(anatomy(plain).sizes, type_of(plain))) return {};
  const std::string text = layout_name(d, letters);
  const int rank = anatomy(d).rank;
  for (const layout l : all_layouts)
    if (!text.empty() && benanza::letters(l, rank) == text) return std::string(name(l));
  return {};
}

/// What the activations' layouts are to other layers; nothing if one is of no use to them.
inline void set_shared_layouts(const recipe& r, const implementation& i, algorithm& a) {
  if (r.flat) {
    a.operand_layouts = a.result_layout = any_layout_name;
    return;
  }
  const std::string_view letters =
      activation_letters(static_cast<std::size_t>(anatomy(r.result).rank));
  std::map<int, std::string> operands;
  for (const argument& x : r.arguments) {
    if (!x.activation()) continue;
    const bool joined = x.id >= DNNL_ARG_ATTR_MULTIPLE_POST_OP_BASE;
    const description d = joined ? x.stored : i.query_md(dnnl::query::exec_arg_md, x.id);
    operands[x.input] = shared_layout(d.is_zero() ? x.stored : d, x.stored, letters);
  }
  // No layer reads a gradient by weights: any layout of it will do.
  a.result_layout = r.result_id == DNNL_ARG_DIFF_WEIGHTS
                        ? std::string(name(layout::plain))
                        : shared_layout(result_of(r, i), r.result, letters);
  for (const auto& [input, text] : operands) {
    if (text.empty()) a.result_layout.clear();
    a.operand_layouts += (a.operand_layouts.empty() ? "" : ",") + text;
  }
  if (a.result_layout.empty()) a.operand_layouts.clear();
}

/// Reorders say their layouts themselves.
inline void set_shared_layouts(const op::layer& l, const recipe& r, const implementation& i,
                               algorithm& a) {
  if (const auto* p = op::as<op::reorder>(l)) {
    a.operand_layouts = name(p->from);
    a.result_layout = name(p->to);
  } else {
    set_shared_layouts(r, i, a);
  }
}

/// True for layers on whose operands the library computes at all.
inline bool within_reach(const op::layer& l, numeric t) {
  if (op::is_view(l) || elements(op::output(l)) == 0 || !case_types::of(t)) return false;
  if (op::results(l).size > 1) return false; // it makes the first alone
  return op::visit(
      [](const auto& p) {
        if constexpr (requires { p.input; }) return elements(p.input) > 0;
        return true;
      },
      l);
}
} // namespace detail

/// All that the library offers for a layer. `values`: operands, of which scales and the sizes of a
/// Concat's parts matter; null: any scale, equal parts.
/// `absent` gets the kinds that were asked for by name and are not there.
inline std::vector<offer> offers(const op::layer& l, numeric t, const setting& s,
                                 const dnnl::engine& engine, const operands* values = nullptr,
                                 std::vector<std::string>* absent = nullptr) {
  std::vector<offer> out;
  if (!detail::within_reach(l, t)) return out;
  use_threads(s.threads);
  request r{.type = t,
            .types = *case_types::of(t),
            .output_scale = values != nullptr ? values->output_scale : 0.5,
            .engine = engine,
            .values = values};
  const numeric arithmetic = op::computes_in(l, t);
  if (const auto* p = op::as<op::concat>(l); p != nullptr && values != nullptr)
    for (const tensor& x : values->inputs)
      r.parts.push_back(x.dims[p->axis]);
  recipes made;
  try {
    op::visit(
        [&](const auto& p) {
          if constexpr (requires { describe(p, r, made); }) describe(p, r, made);
        },
        l);
  } catch (const dnnl::error&) {
    // What was described before the refusal is kept.
  }
  const std::int64_t flops = op::direct_flops(l);
  std::map<std::string, int> seen;
  for (recipe& from : made) {
    const auto shared = std::make_shared<const recipe>(std::move(from));
    std::vector<implementation> found = implementations(shared->what, engine);
    if (found.empty() && !shared->kind.empty() && absent != nullptr)
      absent->push_back(shared->kind);
    const bool jit = std::any_of(found.begin(), found.end(), [](const implementation& i) {
      return std::strstr(i.impl_info_str(), "jit") != nullptr;
    });
    for (implementation& i : found) {
      const std::string text = plain_name(i.impl_info_str());
      offer o;
      o.made_by = shared;
      o.before = shared->before;
      o.after = shared->after;
      const int times = ++seen[o.before + text + o.after];
      if (times > 1) o.after += '.' + std::to_string(times);
      std::string inexact = shared->inexact;
      if (inexact.empty() && saturates(text, shared->multiplies, arithmetic))
        inexact = "saturating";
      o.what = {.id = o.before + text + o.after,
                .index = static_cast<int>(out.size()),
                .equivalence = std::string(name(t)) + (inexact.empty() ? "" : '-' + inexact),
                .layouts = detail::layouts_of(*shared, i),
                .fallback = fallback_of(text, jit, shared->multiplies, arithmetic),
                .workspace_bytes = static_cast<std::int64_t>(i.scratchpad_desc().get_size()),
                .flops = shared->own_flops ? shared->own_flops(text) : flops};
      detail::set_shared_layouts(l, *shared, i, o.what);
      o.how = std::move(i);
      out.push_back(std::move(o));
    }
  }
  return out;
}

} // namespace benanza::backend::onednn
