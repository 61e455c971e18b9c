// SPDX-License-Identifier: Apache-2.0
// What becomes of ONNX's node tests? Each is resolved; where it is whole it is computed by the
// reference from the test's own inputs and compared with the test's own outputs, and every
// algorithm of the processor is held to the reference on the same inputs. scripts/prove writes the
// folders: model_<k>.onnx (fewer inputs fed as constants first), tensor_<name>.pb as doubles,
// test.json.
//
//   node_tests FOLDER...   // a JSON object a line; the last line begun names what crashed
#include <benanza/onnx/load.hpp> // before <sys/mman.h>

#include "node_tests/computation.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace benanza::node_tests {
namespace {
using nlohmann::json;

/// A result without its last rows that hold -1 alone, if that leaves so many as are wanted.
numbers found_rows(numbers got, const numbers& want) {
  if (got.dims.size != want.dims.size || got.dims.empty() || got.dims[0] <= want.dims[0])
    return got;
  for (std::size_t i = want.values.size(); i < got.values.size(); ++i)
    if (got.values[i] != -1) return got;
  got.dims[0] = want.dims[0];
  got.values.resize(want.values.size());
  return got;
}

/// How far a result may be from what is wanted.
struct distance {
  double relative = 0, absolute = 0;
  double of_largest = 0; ///< of the largest that is wanted
};

/// What is wrong with a result; empty: nothing. NumPy's assert_allclose, as ONNX's own runner; a
/// test in a narrow type was rounded after each operation, by half a place at most.
std::string difference(const numbers& got, const numbers& want, int element, const distance& may) {
  double absolute = may.absolute;
  if (!(got.dims == want.dims))
    return "dims " + onnx::text(got.dims) + " and not " + onnx::text(want.dims);
  for (const double w : want.values) // the test itself was computed in single precision
    if (std::isfinite(w))
      absolute = std::max(absolute, std::max(0x1p-24, may.of_largest) * std::fabs(w));
  for (std::size_t i = 0; i < want.values.size(); ++i) {
    const double g = as_stored(got.values.at(i), element);
    const double w = want.values[i];
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    if (!(std::fabs(g - w) <= absolute + may.relative * std::fabs(w)))
      return "element " + std::to_string(i) + " is " + std::to_string(g) + " and not " +
             std::to_string(w);
  }
  return {};
}

/// Where a tensor is; names that are no file names have one of their own.
fs::path file_of(const fs::path& folder, const json& test, const std::string& name) {
  const json files = test.value("files", json::object());
  return folder / files.value(name, "tensor_" + name + ".pb");
}

struct attempt {
  json said{};
  std::size_t problems = 0;
  bool whole() const { return problems == 0; }
};

attempt resolve_one(const fs::path& folder, const json& test, int k, const named_numbers& given,
                    libraries& cpu) {
  attempt out;
  out.said["fed"] = k;
  const onnx::source source = onnx::load(folder / ("model_" + std::to_string(k) + ".onnx"));
  onnx::options o{.sizes = onnx::data_dependent::largest};
  for (const auto& i : source.model().graph().input())
    if (const auto found = given.find(i.name()); found != given.end())
      o.shapes[i.name()] = found->second.dims;
  onnx::detail::resolver resolver(source, o);
  computation computed(given, resolver, cpu);
  const model::graph g =
      resolver.run([&](const onnx::step& s, const onnx::call& c, const onnx::answer& a, int node) {
        computed.see(s, c, a, node);
      });
  for (const auto& [what, count] : model::unresolved(g))
    out.said["problems"].push_back(what.first + ": " + what.second), out.problems += 1;
  if (g.nodes.empty() && out.problems == 0)
    for (const auto& y : source.model().graph().output())
      if (const onnx::value* v = resolver.named(y.name());
          v != nullptr && v->dims && v->elements() == nullptr && v->given < 0) {
        out.problems += 1;
        out.said["problems"].push_back(
            source.model().graph().node(source.model().graph().node_size() - 1).op_type() +
            ": it follows from constants, but its elements are not known");
        break;
      }
  std::string wrong;
  for (const auto& y : source.model().graph().output()) {
    const onnx::value* v = resolver.named(y.name());
    if (v == nullptr || !v->dims) {
      out.problems += 1;
      out.said["problems"].push_back("dims of an output are not known since " +
                                     (v == nullptr ? "the beginning" : v->unknown_since));
      continue;
    }
    try {
      const numbers want = read_tensor(file_of(folder, test, y.name()));
      const int element = y.type().tensor_type().elem_type();
      const double relative = std::max(test.value("rtol", 1e-3),
                                       half_a_place(element) * std::max(0, computed.roundings - 1));
      const bool codes = computed.holds_codes(*v) && g.nodes.size() > 1;
      if (v->element != element)
        wrong += y.name() + ": of type " + onnx::type_name(v->element) + " and not " +
                 onnx::type_name(element) + "; ";
      else if (std::string d = difference(found_rows(computed.of(*v), want), want, element,
                                          {.relative = relative,
                                           .absolute = codes ? 1 : test.value("atol", 1e-7),
                                           .of_largest = test.value("of_largest", 0.0)});
               !d.empty())
        wrong += y.name() + ": " + d + "; ";
    } catch (const error& e) {
      if (computed.not_computed.empty()) computed.not_computed = e.what();
    }
  }
  out.said["state"] = out.whole()                                           ? "whole"
                      : g.nodes.size() > 1 && out.problems < g.nodes.size() ? "partial"
                                                                            : "refused";
  out.said["layers"] = computed.layers;
  out.said["folded"] = g.folded;
  if (!computed.not_computed.empty())
    out.said["not_computed"] = computed.not_computed;
  else if (!wrong.empty())
    out.said["wrong"] = wrong;
  out.said["ran"] = computed.ran;
  if (!computed.without_algorithm.empty())
    out.said["without_algorithm"] = computed.without_algorithm;
  if (!computed.wrong_on_cpu.empty()) out.said["wrong_on_cpu"] = computed.wrong_on_cpu;
  if (!computed.on_infinities.empty()) out.said["on_infinities"] = computed.on_infinities;
  return out;
}

json try_test(const fs::path& folder, libraries& cpu) {
  std::ifstream in(folder / "test.json");
  const json test = json::parse(in);
  named_numbers given;
  for (const std::string name : test["inputs"])
    given[name] = read_tensor(file_of(folder, test, name));
  attempt best;
  best.problems = std::string::npos;
  for (int k = 0; fs::exists(folder / ("model_" + std::to_string(k) + ".onnx")); ++k) {
    attempt a;
    try {
      a = resolve_one(folder, test, k, given, cpu);
    } catch (const std::exception& e) {
      a.problems = std::string::npos - 1;
      a.said = {{"state", "refused"}, {"problems", {e.what()}}};
    }
    const auto right = [](const attempt& x) {
      return x.whole() && !x.said.contains("wrong") && !x.said.contains("not_computed");
    };
    if (a.problems < best.problems || (right(a) && !right(best))) best = a;
    if (right(best)) break; // else more of its inputs may decide sizes
  }
  best.said["name"] = folder.filename().string();
  return best.said;
}
} // namespace
} // namespace benanza::node_tests

int main(int argc, char** argv) {
  using namespace benanza::node_tests;
  libraries cpu;
  for (const auto& [name, make] : benanza::backend::registered_backends())
    if (name == "host" || name == "onednn") cpu.push_back(make());
  for (int i = 1; i < argc; ++i) {
    std::cout << R"({"begun":")" << fs::path(argv[i]).filename().string() << "\"}" << std::endl;
    std::cout << try_test(argv[i], cpu).dump(-1, ' ', true, json::error_handler_t::replace)
              << std::endl;
  }
  return 0;
}
