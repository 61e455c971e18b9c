// SPDX-License-Identifier: Apache-2.0
// ONNX's own node tests say which dims every operator gives. All of them are read (Debian:
// libonnx-testdata), with the whole numbers that they feed as constants; what we infer must be what
// they declare, or nothing.
#include "text_model.hpp"

#include <filesystem>
#include <fstream>

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace fs = std::filesystem;
using benanza::shape;

namespace {
const fs::path folder = "/usr/share/libonnx-testdata/data";

bool has_data() {
  return fs::exists(folder);
}

std::optional<shape> declared(const onnx::ValueInfoProto& v) {
  if (!v.type().has_tensor_type() || !v.type().tensor_type().has_shape()) return std::nullopt;
  shape s;
  for (const auto& d : v.type().tensor_type().shape().dim()) {
    if (!d.has_dim_value()) return std::nullopt;
    s.push(d.dim_value());
  }
  return s;
}

/// Shapes are steered by whole numbers, and by a few scales.
bool steers(const onnx::TensorProto& t) {
  const auto* type = bonnx::find_element_type(t.data_type());
  return type != nullptr && type->bits > 0 &&
         (!type->floating || bonnx::declared_elements(t).value_or(1000) <= 16);
}
} // namespace

TEST_CASE("node tests: what is inferred is what is declared" * doctest::skip(!has_data())) {
  int right = 0, unknown = 0, wrong = 0, refused = 0;
  for (const auto& at : fs::recursive_directory_iterator(folder)) {
    if (at.path().filename() != "model.onnx") continue;
    CAPTURE(at.path());
    try {
      onnx::ModelProto m = bonnx::load(at.path()).model();
      auto& g = *m.mutable_graph();
      bonnx::options o;
      for (const auto& i : g.input())
        if (const auto s = declared(i)) o.shapes[i.name()] = *s;
      for (int i = 0; i < g.input_size(); ++i) {
        std::ifstream in(at.path().parent_path() / "test_data_set_0" /
                             ("input_" + std::to_string(i) + ".pb"),
                         std::ios::binary);
        onnx::TensorProto t;
        if (!in || !g.input(i).type().has_tensor_type() || !t.ParseFromIstream(&in)) continue;
        if (!steers(t) || (i == 0 && g.input_size() > 1)) continue;
        t.set_name(g.input(i).name());
        *g.add_initializer() = t;
      }
      std::map<std::string, shape> expected;
      for (auto& out : *g.mutable_output()) {
        if (const auto s = declared(out)) expected.emplace(out.name(), *s);
        if (out.type().has_tensor_type()) out.mutable_type()->mutable_tensor_type()->clear_shape();
      }
      g.clear_value_info();
      const bool loops = std::any_of(g.node().begin(), g.node().end(),
                                     [](const auto& n) { return n.op_type() == "Loop"; });
      const auto got = bonnx::known_dims(bonnx::from(m), o);
      for (const auto& [name, dims] : expected) {
        const auto found = got.find(name);
        if (found == got.end()) {
          ++unknown;
        } else if (found->second == dims) {
          ++right;
        } else if (loops) { // how often one runs is known when the model runs: once is assumed
          ++unknown;
        } else {
          ++wrong;
          FAIL_CHECK(name << ": declared " << bonnx::text(dims) << ", inferred "
                          << bonnx::text(found->second));
        }
      }
    } catch (const benanza::error& e) {
      ++refused;
      FAIL_CHECK(e.what());
    }
  }
  MESSAGE(right << " outputs right, " << unknown << " unknown, " << wrong << " wrong, " << refused
                << " models refused");
  CHECK(wrong == 0);
  CHECK(refused == 0);
  CHECK(right > 12 * unknown);
}
