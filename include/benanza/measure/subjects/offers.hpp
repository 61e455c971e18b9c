// SPDX-License-Identifier: Apache-2.0
// What have the libraries for a layer? All their algorithms, without reference loops and outdated
// instruction sets where there is anything better, and without those of a device that want more
// scratch memory than frameworks give them. What is less exact counts as worse, but for Winograds
// that frameworks run unasked. A library that fails or crashes over a layer is named,
// and costs no other.
//
//   offer_list o = offers_for("Relu/1x4/f32", layer, numeric::f32, 1, libraries, crashed, false);
#pragma once

#include "../../core/rounded.hpp"
#include "../../core/winograd.hpp"
#include "../../model/graph.hpp"
#include "../process/crash_guard.hpp"
#include "../process/exit_reason.hpp"
#include "layer_subject.hpp"
#include "selection.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::measure {

/// One algorithm of one library.
struct offer {
  backend::library* library;
  backend::algorithm algorithm;
};

/// What libraries say of a layer.
struct offer_list {
  std::vector<offer> list{};
  std::map<std::string, std::string> failed{}; ///< libraries that could not say, and why
};

/// Everything the libraries have for a layer. Reference loops and outdated instruction sets are
/// left out where there is anything better, and so is what wants too much scratch memory, unless
/// `all` are asked for. `title` names layer and type; a library that `crashed` over them before is
/// not asked again. `proposed`: what each would try first, alone.
inline offer_list offers_for(const std::string& title, const op::layer& layer, numeric type,
                             int threads, const library_list& libraries,
                             const std::map<std::string, int>& crashed, bool all,
                             bool proposed = false, const parameters& p = usual_parameters) {
  offer_list out;
  for (const auto& library : libraries) {
    const std::string backend(library->name()), what = title + '/' + backend;
    std::string why;
    if (const auto crash = crashed.find(what); crash != crashed.end()) {
      why = how_it_ended(crash->second);
    } else {
      const asking now(what);
      try {
        for (backend::algorithm& a :
             library->enumerate(layer, type, {.threads = threads, .proposed = proposed}))
          out.list.push_back({library.get(), std::move(a)});
      } catch (const std::exception& e) {
        why = e.what();
      }
    }
    if (!why.empty()) out.failed[backend] = why + ", while its algorithms were listed";
  }
  if (all) return out;
  std::erase_if(out.list, [&p](const offer& o) {
    return o.library->on_device() && o.algorithm.workspace_bytes > p.most_workspace_bytes;
  });
  const auto beside = [type](const offer& o) {
    const std::string& its = o.algorithm.equivalence;
    return is_winograd_class(its, type) || is_rounded_class(its, type);
  };
  const auto rank = [type](const offer& o) {
    if (o.algorithm.equivalence != name(type)) return 3;
    if (o.algorithm.fallback == "ref") return 2;
    return o.algorithm.fallback == "old-isa" ? 1 : 0;
  };
  int best = 3;
  for (const offer& o : out.list)
    best = std::min(best, rank(o));
  std::erase_if(out.list, [&](const offer& o) { return rank(o) > best && !beside(o); });
  return out;
}

/// The type in which a model is measured where none is asked for: its own, or f32 where no library
/// here computes some of its layers in that. Frameworks without such kernels do the same.
inline numeric measured_type(const model::graph& g, const library_list& libraries,
                             const selection& s) {
  if (g.type == numeric::f32 || !s.types.empty()) return g.type;
  for (const auto& library : libraries)
    if (library->on_device()) return g.type;
  const auto computes = [&](const op::layer& l, numeric type) {
    const std::string title = op::name(l) + '/' + std::string(name(type));
    return !offers_for(title, l, type, s.threads.front(), libraries, s.crashed, false).list.empty();
  };
  for (const op::layer& l : g.layers)
    if (!op::is_view(l) && !computes(l, g.type) && computes(l, numeric::f32)) return numeric::f32;
  return g.type;
}

} // namespace benanza::measure
