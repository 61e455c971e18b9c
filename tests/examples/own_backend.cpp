// SPDX-License-Identifier: Apache-2.0
// How does a library of mine take part? A backend lists its algorithms for a layer and prepares
// one; this one computes Relu in f32 by a plain loop. The rest of the program is that of
// benanza_bench: the result is checked against the reference before it is timed, and competes.
//
//   own_backend --benchmark_filter=Relu
#include <benanza/backend/concept.hpp>
#include <benanza/bench/run.hpp>
#include <benanza/core/stopwatch.hpp>
#include <benanza/op/kinds.hpp>
#include <benanza/op/registry.hpp>

#include <algorithm>

namespace {
using namespace benanza;

class plain_relu : public backend::prepared {
public:
  plain_relu(std::span<const float> in)
      : in_(in.begin(), in.end())
      , out_(in.size()) {}
  std::string ran() const override { return "loop"; }
  void run(int executions) override {
    for (; executions > 0; --executions)
      std::ranges::transform(in_, out_.begin(), [](float v) { return std::max(v, 0.f); });
  }
  double time(int executions) override {
    const stopwatch watch;
    run(executions);
    return watch.ns();
  }
  void read(std::vector<double>& out) const override { out.assign(out_.begin(), out_.end()); }

private:
  std::vector<float> in_, out_;
};

class my_library : public backend::library {
public:
  std::string_view name() const override { return "mine"; }
  std::map<std::string, std::string> facts() const override { return {{"mine", "1.0"}}; }
  std::vector<backend::algorithm> enumerate(const op::layer& l, numeric t,
                                            const backend::setting& with) override {
    const auto* p = op::as<op::unary>(l);
    const bool runs = p != nullptr && p->function == op::unary_function::relu &&
                      p->element == dtype::real && t == numeric::f32 && with.threads == 1;
    if (!runs) return {};
    return {{.id = "loop", .equivalence = "f32", .fallback = "host", .flops = op::cost(l).flops()}};
  }
  std::unique_ptr<backend::prepared> prepare(const op::layer&, numeric, const backend::algorithm&,
                                             const backend::operands& o,
                                             const backend::setting&) override {
    return std::make_unique<plain_relu>(o.inputs.at(0).as<float>());
  }
};

const backend::registration<my_library> here{"mine"};
const bool layer_is_there = [] { // in place of sources that benanza_generate writes
  const op::layer l = op::parse("Relu/1x16x14x14");
  op::registered_layers().push_back({0, l, op::cost(l)});
  return true;
}();
} // namespace

int main(int argc, char** argv) {
  return benanza::bench::run(argc, argv);
}
