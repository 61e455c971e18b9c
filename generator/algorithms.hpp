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
#include <benanza/backend/cudnn/enumerate.hpp>
#endif
#include "messages.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/view/transform.hpp>

#include <set>
#include <span>
#include <string>
#include <vector>

namespace benanza::generator {

/// What the command line says of the GPU.
struct target_arguments {
  bool wanted = false;          ///< --algorithms
  std::string target{};         ///< --target: a name, or a file with a description
  std::vector<numeric> types{}; ///< --types: those of the models, if empty
  std::string format = "text";  ///< --format: text or json
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

inline std::string bytes_text(std::int64_t bytes) {
  if (bytes < 0) return "?";
  if (bytes < 1 << 10) return fmt::format("{} B", bytes);
  const double n = static_cast<double>(bytes);
  return n < 1 << 20 ? fmt::format("{:.1f} KiB", n / 1024) : fmt::format("{:.1f} MiB", n / 1048576);
}

inline std::string spaced(std::string words) {
  std::string out;
  for (char c : words)
    out += c == ',' ? std::string(", ") : std::string(1, c == '-' ? ' ' : c);
  return out;
}

/// "memcpy, kernel:v1"
inline std::string ids_of(const std::vector<backend::algorithm>& all) {
  return join(all | ranges::views::transform(&backend::algorithm::id), ", ");
}

/// Why cublasLt's algorithms are not in the list.
inline constexpr std::string_view without_cublaslt =
    "cublasLt lists its algorithms on the GPU itself alone";

/// True where cuBLAS computes a layer on a GPU of that compute capability.
inline bool has_product(const layer_algorithms& l, int capability) {
  return (l.type != numeric::tf32 || capability >= 800) &&
         !backend::cublas::tasks_for(l.layer, l.type).empty();
}

/// What cuBLAS has for the layers, one a line; empty where it has nothing.
inline std::string products_text(const algorithm_list& a, int capability) {
  std::string out;
  for (const layer_algorithms& l : a.layers) {
    if (!has_product(l, capability)) continue;
    out += fmt::format("  {} {} x{}: ", op::name(l.layer), name(l.type), l.uses);
    std::vector<std::string> ids;
    for (const backend::algorithm& f : backend::cublas::plain_functions(l.layer, l.type))
      ids.push_back(f.id);
    for (const backend::cublas::task& t : backend::cublas::tasks_for(l.layer, l.type))
      ids.push_back(t.before + "lt:...");
    out += join(ids, ", ") + '\n';
  }
  return out;
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
      out.layers.push_back(
          {e.layer, t, e.count(), lister.offers(e.layer, t), backend::cuda::offers(e.layer, t)});
  }
  out.seconds = watch.seconds();
  return out;
}

/// A table for people.
inline std::string text_of(const algorithm_list& a) {
  const int capability = detail::capability_of(a.target.json);
  std::string out = fmt::format(
      "cuDNN {} on {} (compute capability {}.{}), described, not measured\n",
      detail::version_text(), printable(a.target.name), capability / 100, capability / 10 % 10);
  if (const std::string w = detail::warning_of(a); !w.empty()) out += w + '\n';
  std::size_t count = 0, served = 0, width = 9;
  std::string without, moved, by_none;
  for (const layer_algorithms& l : a.layers) {
    for (const backend::cudnn::offer& o : l.offers)
      width = std::max(width, o.what.id.size());
    count += l.offers.size();
    served += !l.offers.empty();
    const std::string what = fmt::format("  {} {} x{}", op::name(l.layer), name(l.type), l.uses);
    if (l.offers.empty()) without += what + '\n';
    if (l.offers.empty() && l.movers.empty() && !detail::has_product(l, capability))
      by_none += what + '\n';
    if (!l.movers.empty()) moved += what + ": " + detail::ids_of(l.movers) + '\n';
  }
  for (const layer_algorithms& l : a.layers) {
    if (l.offers.empty()) continue;
    out += fmt::format("\n{}  {} x{}: {} algorithms\n", op::name(l.layer), name(l.type), l.uses,
                       l.offers.size());
    for (const backend::cudnn::offer& o : l.offers)
      out += fmt::format("  {:<{}}  {:<15} {:>10}  {}{}\n", o.what.id, width, o.what.layouts,
                         detail::bytes_text(o.how.workspace_bytes), detail::spaced(o.what.notes),
                         o.what.equivalence == name(l.type) ? "" : " (" + o.what.equivalence + ')');
  }
  if (!without.empty()) out += "\ncuDNN has nothing for:\n" + without;
  if (const std::string products = detail::products_text(a, capability); !products.empty())
    out += fmt::format("\ncuBLAS has, where {}:\n{}", detail::without_cublaslt, products);
  if (!moved.empty())
    out += "\nThe CUDA runtime's copies, and kernels compiled at run time:\n" + moved;
  if (!by_none.empty()) out += "\nNothing at all is there for:\n" + by_none;
  out += fmt::format("\n{} algorithms for {} of {} layers, listed in {:.1f} s\n", count, served,
                     a.layers.size(), a.seconds);
  return out;
}

/// All fields.
inline nlohmann::ordered_json json_of(const algorithm_list& a) {
  const int capability = detail::capability_of(a.target.json);
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const layer_algorithms& l : a.layers) {
    nlohmann::ordered_json offers = nlohmann::ordered_json::array();
    for (const backend::cudnn::offer& o : l.offers) {
      nlohmann::ordered_json one{{"algorithm", o.what.id},
                                 {"algorithm_index", o.what.index},
                                 {"equivalence", o.what.equivalence},
                                 {"layouts", o.what.layouts},
                                 {"notes", o.what.notes}};
      // Not known without the GPU for what is compiled at run time.
      if (o.how.workspace_bytes >= 0) one["workspace_bytes"] = o.how.workspace_bytes;
      offers.push_back(std::move(one));
    }
    nlohmann::ordered_json movers = nlohmann::ordered_json::array();
    for (const backend::algorithm& m : l.movers)
      movers.push_back({{"algorithm", m.id}, {"algorithm_index", m.index}, {"notes", m.notes}});
    layers.push_back({{"family", op::family(l.layer)},
                      {"key", op::key(l.layer)},
                      {"type", name(l.type)},
                      {"uses", l.uses},
                      {"algorithms", std::move(offers)},
                      {"movers", std::move(movers)}});
    if (!detail::has_product(l, capability)) continue;
    nlohmann::ordered_json functions = nlohmann::ordered_json::array();
    for (const backend::algorithm& f : backend::cublas::plain_functions(l.layer, l.type))
      functions.push_back({{"algorithm", f.id},
                           {"algorithm_index", f.index},
                           {"equivalence", f.equivalence},
                           {"layouts", f.layouts},
                           {"notes", f.notes}});
    layers.back()["cublas"] = {{"algorithms", std::move(functions)},
                               {"left_out", detail::without_cublaslt}};
  }
  nlohmann::ordered_json out{{"backend", "cudnn"},
                             {"version", detail::version_text()},
                             {"target", a.target.name},
                             {"device", nlohmann::ordered_json::parse(a.target.json)}};
  if (const std::string w = detail::warning_of(a); !w.empty()) out["warning"] = w;
  out["layers"] = std::move(layers);
  return out;
}

/// Prints the list.
inline void print_algorithms(const model::catalogue& all, std::span<const model::graph> graphs,
                             const target_arguments& a) {
  const algorithm_list made = list_algorithms(all, graphs, a);
  if (a.format == "json")
    say(json_of(made).dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n');
  else
    say(text_of(made));
}

#else

inline void print_algorithms(const model::catalogue&, std::span<const model::graph>,
                             const target_arguments&) {
  throw error("this benanza_generate was built without cuDNN", "--algorithms",
              "install cuDNN 9 and the CUDA toolkit, and build it again");
}

#endif

} // namespace benanza::generator
