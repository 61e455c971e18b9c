// SPDX-License-Identifier: Apache-2.0
// Which algorithms do cuDNN and cuBLAS have for the layers of models on some GPU (--algorithms
// --target)? A list before anyone rents the machine: no GPU is needed, only cuDNN; of cuBLAS there
// are its plain functions, because cublasLt lists its algorithms on the GPU itself alone. Also the
// movers, which are the same on every GPU. As text, or as JSON with every field. Without cuDNN in
// the build it is refused.
//
//   algorithm_list all = list_algorithms(layers, graphs, {.target = "h200"});   text_of(all)
#pragma once

#include <benanza/core/stopwatch.hpp>
#include <benanza/core/text.hpp>
#include <benanza/model/unique.hpp>

#ifdef BENANZA_WITH_CUDNN
#include <benanza/backend/cublas/enumerate.hpp>
#include <benanza/backend/cuda/enumerate.hpp>
#include <benanza/backend/cudnn/all_calls.hpp>
#include <benanza/backend/cudnn/enumerate.hpp>
#endif
#include "../analyzer/report/tables/page.hpp"
#include "messages.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::generator {

/// What the command line says of the GPU.
struct target_arguments {
  bool wanted = false;          ///< --algorithms
  std::string target{};         ///< --target: a name, or a file with a description
  std::vector<numeric> types{}; ///< --types: those of the models, if empty
  bool what_if = false;         ///< --what-if
};

#ifdef BENANZA_WITH_CUDNN

/// What cuDNN has for one layer in one type.
struct layer_algorithms {
  op::layer layer{};
  numeric type = numeric::f32;
  std::int64_t uses = 0;
  std::vector<backend::cudnn::offer> offers{};
  std::vector<backend::algorithm> movers{}; ///< of backend `cuda`
};

/// What cuDNN has for all of them.
struct algorithm_list {
  backend::cudnn::target target{};
  std::vector<layer_algorithms> layers{};
  double seconds = 0;
};

namespace detail {
/// The least compute capability that programs of this CUDA run on.
inline int least_capability() {
  return cudnnGetCudartVersion() >= 13000 ? 750 : 500;
}

/// The compute capability that a description says; 0 if none.
inline int capability_of(const std::string& json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  return parsed.is_object() && parsed.contains("deviceVer") && parsed["deviceVer"].is_number()
             ? parsed["deviceVer"].get<int>()
             : 0;
}

inline std::string version_text() {
  const std::size_t v = cudnnGetVersion();
  return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

/// Why cublasLt's algorithms are not in the list.
inline constexpr std::string_view without_cublaslt =
    "cublasLt lists its algorithms on the GPU itself alone";

/// True where cuBLAS computes a layer on a GPU of that compute capability.
inline bool has_product(const layer_algorithms& l, int capability) {
  return (l.type != numeric::tf32 || capability >= 800) &&
         !backend::cublas::tasks_for(l.layer, l.type).empty();
}

inline std::string warning_of(const algorithm_list& a) {
  const int its = capability_of(a.target.json);
  if (its >= least_capability()) return {};
  return fmt::format(
      "programs of this CUDA do not run on compute capability {}.{}: cuDNN lists for "
      "it, and no more",
      its / 100, its / 10 % 10);
}

/// The types in which the layers of a model are looked at.
inline std::vector<numeric> types_of(const model::graph& g, const target_arguments& a) {
  if (!a.types.empty()) return a.types;
  if (a.what_if && (g.type == numeric::f32 || g.type == numeric::f16 || g.type == numeric::bf16))
    return {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16};
  return {g.type};
}

/// How often the models have a layer: of the forms of each the one that has it most often.
inline std::int64_t uses_in_models(const model::catalogue_entry& e,
                                   std::span<const model::graph> graphs) {
  std::map<std::tuple<std::string, std::int64_t, std::map<std::string, std::int64_t>>, std::int64_t>
      most;
  for (const model::use& u : e.uses) {
    const model::graph& g = graphs[u.graph];
    std::int64_t& its = most[{g.model, g.batch, g.dims}];
    its = std::max(its, u.count);
  }
  std::int64_t sum = 0;
  for (const auto& [model, uses] : most)
    sum += uses;
  return sum;
}
} // namespace detail

/// Asks cuDNN for every layer of `all`; views are left out.
inline algorithm_list list_algorithms(const model::catalogue& all,
                                      std::span<const model::graph> graphs,
                                      const target_arguments& a) {
  if (a.target.empty())
    throw error("for which GPU?", "--algorithms",
                "give --target one of " + backend::cudnn::device_names() +
                    ", or a file with a description");
  const stopwatch watch;
  algorithm_list out{.target = backend::cudnn::described_target(a.target)};
  backend::cudnn::lister lister(out.target);
  for (const model::catalogue_entry& e : all.layers) {
    if (op::is_view(e.layer)) continue;
    std::set<numeric> types;
    for (const model::use& u : e.uses)
      for (const numeric t : detail::types_of(graphs[u.graph], a))
        types.insert(t);
    for (const numeric t : types)
      out.layers.push_back({e.layer, t, detail::uses_in_models(e, graphs),
                            lister.offers(e.layer, t), backend::cuda::offers(e.layer, t)});
  }
  out.seconds = watch.seconds();
  return out;
}

namespace detail {
/// What the list, or what is known by it, begins with.
inline void add_target(report::tables::chapter& c, const algorithm_list& a) {
  const int capability = capability_of(a.target.json);
  c.fields = {{"target", a.target.name, true},
              {"compute_capability", fmt::format("{}.{}", capability / 100, capability / 10 % 10)},
              {"cudnn", version_text()},
              {"measured", false},
              {"device", a.target.json}};
  c.say(fmt::format("cuDNN {} on {} (compute capability {}.{}), described, not measured",
                    version_text(), printable(a.target.name, 60), capability / 100,
                    capability / 10 % 10));
  if (const std::string w = warning_of(a); !w.empty()) {
    c.fields.push_back({"warning", w});
    c.warn(w + '.');
  }
}

/// Rows of the algorithms of a library that lists its own here.
inline void add_rows(report::tables::table& t, const char* library,
                     const std::vector<backend::algorithm>& all) {
  for (const backend::algorithm& f : all)
    t.rows.push_back({std::string(library),
                      f.id,
                      report::tables::whole(f.index),
                      f.equivalence,
                      f.layouts,
                      {},
                      f.notes});
}

/// All algorithms of a layer, by their libraries.
inline report::tables::chapter layer_chapter(const layer_algorithms& l, int capability) {
  using report::tables::unit, report::tables::whole;
  report::tables::chapter c{.key = "layers",
                            .title =
                                fmt::format("{} {} x{}", op::name(l.layer), name(l.type), l.uses),
                            .title_is_name = true,
                            .fields = {{"family", std::string(op::family(l.layer)), true},
                                       {"key", op::key(l.layer), true},
                                       {"type", std::string(name(l.type)), true},
                                       {"uses", whole(l.uses)}}};
  report::tables::table t{.key = "algorithms",
                          .columns = {{"library", "library", unit::name},
                                      {"algorithm", "algorithm", unit::name},
                                      {"algorithm_index", ""},
                                      {"equivalence", "equals", unit::name},
                                      {"layouts", "layouts", unit::name},
                                      {"workspace_bytes", "workspace", unit::bytes},
                                      {"notes", "notes"}}};
  for (const backend::cudnn::offer& o : l.offers)
    t.rows.push_back(
        {std::string("cuDNN"), o.what.id, whole(o.what.index), o.what.equivalence, o.what.layouts,
         // Not known without the GPU for what is compiled at run time.
         o.how.workspace_bytes >= 0 ? whole(o.how.workspace_bytes) : report::tables::cell(),
         o.what.notes});
  std::vector<std::string> asked; // of the GPU, whether it has them
  for (backend::cudnn::call& f : backend::cudnn::all_calls(l.layer, l.type))
    if (f.certain) {
      f.what.index = static_cast<int>(t.rows.size());
      add_rows(t, "cuDNN", {std::move(f.what)});
    } else {
      asked.push_back(f.what.id);
    }
  const bool product = has_product(l, capability);
  if (product) add_rows(t, "cuBLAS", backend::cublas::plain_functions(l.layer, l.type));
  add_rows(t, "CUDA", l.movers);
  const bool by_library = !t.rows.empty() || product;
  if (!by_library && !asked.empty())
    c.say(join(asked, ", ") + ": only the GPU itself says whether cuDNN has them.");
  else if (!by_library)
    c.say(op::family(l.layer).find('+') == std::string_view::npos
              ? "no library has anything for it."
              : "no library has it as one: it counts as its parts.");
  c.add(std::move(t));
  std::vector<std::string> on_gpu;
  if (product)
    for (const backend::cublas::task& task : backend::cublas::tasks_for(l.layer, l.type))
      on_gpu.push_back(task.before + "lt:...");
  c.fields.push_back({"only_known_on_the_gpu", on_gpu});
  if (!on_gpu.empty()) c.say(fmt::format("{}: {}.", join(on_gpu, ", "), without_cublaslt));
  return c;
}
} // namespace detail

/// The list: a chapter for each layer.
inline report::tables::chapter algorithms_answer(const algorithm_list& a) {
  const int capability = detail::capability_of(a.target.json);
  report::tables::chapter out;
  detail::add_target(out, a);
  std::size_t count = 0, served = 0;
  for (const layer_algorithms& l : a.layers) {
    count += l.offers.size();
    served += !l.offers.empty();
    out.chapters.push_back(detail::layer_chapter(l, capability));
  }
  out.say(fmt::format("{} algorithms of cuDNN for {} of {} layers, listed in {:.1f} s.", count,
                      served, a.layers.size(), a.seconds));
  return out;
}

inline report::tables::chapter algorithms_answer(const model::catalogue& all,
                                                 std::span<const model::graph> graphs,
                                                 const target_arguments& a) {
  return algorithms_answer(list_algorithms(all, graphs, a));
}

#else

inline report::tables::chapter
algorithms_answer(const model::catalogue&, std::span<const model::graph>, const target_arguments&) {
  throw error("this benanza_generate was built without cuDNN", "--algorithms",
              "install cuDNN 9 and the CUDA toolkit, and build it again");
}

#endif

} // namespace benanza::generator
