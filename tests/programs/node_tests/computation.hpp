// SPDX-License-Identifier: Apache-2.0
// What does a model compute? Node by node as it is resolved, by the reference; and every algorithm
// of the processor is held to it on the same operands.
//
//   computation c(inputs, resolver, libraries);   c.see(step, call, answer, node);   c.of(value)
#pragma once

#include "attributes.hpp"

#include <benanza/backend/concept.hpp>
#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>
#include <benanza/measure/chain/operands.hpp>
#include <benanza/onnx/resolver.hpp>
#include <benanza/op/kinds.hpp>

#include <memory>
#include <numeric>
#include <set>
#include <utility>

namespace benanza::node_tests {

/// How often a framework rounds what a layer computes. An Attention: queries and keys scaled, their
/// product, the mask added, the softmax's exponentials, sum and quotients, the product with values.
inline int roundings_of(const op::layer& l) {
  if (op::is<op::attention>(l)) return 8;
  const op::work w = op::cost(l);
  return backend::result_type(l, numeric::f32) == dtype::f32 && (w.macs > 0 || w.other > 0);
}

/// Storage in which the reference reads numbers without rounding.
inline dtype exact(dtype t) {
  return t == dtype::f32 || t == dtype::f16 || t == dtype::bf16 ? dtype::f64 : t;
}

using libraries = std::vector<std::unique_ptr<backend::library>>;

/// Computes a model node by node as it is resolved.
class computation {
public:
  computation(const named_numbers& given, const onnx::detail::resolver& resolved, libraries& cpu)
      : given_(given)
      , resolved_(resolved)
      , cpu_(cpu) {}

  std::string not_computed{}; ///< why, where it is not
  std::vector<std::string> wrong_on_cpu{};
  std::vector<std::string> on_infinities{}; ///< a library's, whose operands hold infinities or NaNs
  std::vector<std::string> layers{};
  std::vector<std::string> without_algorithm{}; ///< layers that no library computes
  int ran = 0;
  int roundings = 0; ///< of narrow numbers on the way, where every operation rounds

  void see(const onnx::step& s, const onnx::call& c, const onnx::answer& a, int node) {
    if (node < 0 || !a.layer || !a.problem.empty()) return;
    try {
      const op::layer l =
          op::visit([](const auto& p) { return op::layer(p.canonical_form()); }, *a.layer);
      layers.push_back(op::name(l));
      roundings += roundings_of(l);
      compute(l, s, c, a, node);
    } catch (const error& e) {
      if (not_computed.empty()) not_computed = c.op() + ": " + e.what();
    }
  }

  /// True for codes of reals, where a tie falls to either side if a quotient is rounded first.
  bool holds_codes(const onnx::value& v) const { return codes_.contains(v.producer); }

  /// The tensor that a value of the model turned out to be.
  numbers of(const onnx::value& v) const {
    if (v.producer >= 0) {
      const auto found = made_.find({v.producer, v.output});
      if (found == made_.end()) throw error("it reads what was not computed");
      return found->second;
    }
    if (v.given >= 0)
      if (const auto found = given_.find(resolved_.name_of(v.given)); found != given_.end())
        return found->second;
    const onnx::elements_of* e = v.constant ? v.elements() : nullptr;
    if (e == nullptr || !v.dims) throw error("it reads a constant whose elements are not known");
    numbers out{.dims = *v.dims};
    for (std::size_t i = 0; i < e->size(); ++i)
      out.values.push_back(e->number(i));
    return out;
  }

private:
  void compute(const op::layer& l, const onnx::step& s, const onnx::call& c, const onnx::answer& a,
               int node) {
    if (onnx::detail::has_experts(c))
      throw error("a run decides which of its experts each row meets");
    operand_numbers listed;
    for (int i : s.inputs)
      listed.push_back(i < 0 ? std::optional<numbers>{}
                             : of(c.operand(static_cast<int>(listed.size()))));
    if (const auto* p = op::as<op::tf_idf>(l)) add_pool(*p, c, listed);
    if (op::is_view(l)) {
      const numbers& from = listed.at(0).value();
      const auto& v = op::get<op::view>(l);
      made_[{node, 0}] = {*a.outputs.at(0).dims, v.casts() ? looked_at(from, v) : from.values};
      if (c.op() == "Dropout") // which drops nothing
        made_[{node, 1}] = {*a.outputs[0].dims, std::vector<double>(listed[0]->values.size(), 1)};
      return;
    }
    if (const auto* joined = op::as<op::concat>(l))
      if (benanza::elements(joined->whole) > 0)
        std::erase_if(listed, [](const auto& n) { return n && n->values.empty(); });
    if (const auto* q = op::as<op::quantize>(l); q != nullptr && !q->inverse) codes_.insert(node);
    backend::operands o = operands_of(l, listed);
    const auto storage = [&](dtype (*as)(dtype)) {
      for (std::size_t k = 0; k < listed.size(); ++k)
        if (const auto at = measure::operand_index(l, k, listed.size(), o.inputs.size())) {
          backend::tensor& t = o.inputs[*at];
          if (!listed[k] && t.count() == 0) continue;
          if (!listed[k]) throw error("an operand is left out");
          if (static_cast<std::int64_t>(listed[k]->values.size()) != t.count())
            throw error("an operand has " + std::to_string(listed[k]->values.size()) +
                        " elements, its layer " + op::name(l) + " wants " +
                        std::to_string(t.count()));
          fill(t, *listed[k], as(t.type));
        }
    };
    for (const onnx::result& r : a.outputs)
      if (op::is<op::split>(l) && benanza::elements(*r.dims) > 0)
        o.parts.push_back((*r.dims)[op::get<op::split>(l).axis]);
    storage([](dtype t) { return t; });
    run_on_cpu(l, o);
    storage(exact);
    o.attributes = attributes_of(c, listed);
    keep(a, node, evaluated(l, o));
  }

  /// The numbers that the same memory holds as elements of another type.
  static std::vector<double> looked_at(const numbers& from, const op::view& v) {
    backend::tensor t{.dims = v.input};
    fill(t, from, v.element);
    std::vector<double> out;
    backend::load_all(v.to, t.bytes.data(), t.count(), out);
    return out;
  }

  /// The pool of n-grams, which the node has as attributes and a layer as operands.
  static void add_pool(const op::tf_idf& p, const onnx::call& c, operand_numbers& listed) {
    const auto add = [&](std::vector<double> values) {
      listed.push_back(numbers{.dims = {std::ssize(values)}, .values = std::move(values)});
    };
    const auto reals = [](const std::vector<std::int64_t>& v) {
      return std::vector<double>(v.begin(), v.end());
    };
    add(reals(c.integers("pool_int64s")));
    add(reals(c.integers("ngram_indexes")));
    const std::vector<double> weights = c.reals("weights");
    if (p.weighs())
      add(weights.empty() ? std::vector<double>(static_cast<std::size_t>(p.n_grams()), 1)
                          : weights);
  }

  static backend::operands operands_of(const op::layer& l, const operand_numbers& listed) {
    const auto* p = op::as<op::concat>(l);
    if (p == nullptr) return backend::make_operands(l, numeric::f32);
    std::vector<std::int64_t> lengths;
    for (const auto& n : listed)
      lengths.push_back(n.value().dims[p->axis]);
    auto made = measure::concat_operands(*p, numeric::f32, lengths);
    if (!made) throw error("the parts do not add up");
    return std::move(*made);
  }

  static std::vector<std::int64_t> all_of(const op::layer& l) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(backend::result_count(l)));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  static std::vector<double> evaluated(const op::layer& l, const backend::operands& o) {
    const std::vector<std::int64_t> all = all_of(l);
    std::vector<double> out(all.size());
    backend::reference::evaluate(l, numeric::f32, o, all, out);
    return out;
  }

  /// Results are one after the other, each in its type.
  void keep(const onnx::answer& a, int node, std::vector<double> values) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < a.outputs.size(); ++i) {
      const auto& dims = a.outputs[i].dims;
      if (!dims) continue;
      const auto n = static_cast<std::size_t>(elements(*dims));
      if (at + n > values.size()) return;
      const auto from = values.begin() + static_cast<std::ptrdiff_t>(at);
      numbers& made = made_[{node, static_cast<int>(i)}];
      made = {*dims, {from, from + static_cast<std::ptrdiff_t>(n)}};
      for (double& v : made.values)
        v = as_stored(v, a.outputs[i].element);
      at += n;
    }
  }

  static bool finite(const backend::operands& o) {
    for (const backend::tensor& t : o.inputs)
      for (std::int64_t i = 0; i < t.count(); ++i)
        if (!std::isfinite(backend::load(t.type, t.bytes.data(), i))) return false;
    return true;
  }

  void run_on_cpu(const op::layer& l, const backend::operands& o) {
    std::vector<double> expected = evaluated(l, o);
    const bool all_finite = finite(o);
    bool any = false;
    for (const auto& library : cpu_) {
      for (const backend::algorithm& a : library->enumerate(l, numeric::f32, {.threads = 1})) {
        any = true;
        ++ran;
        try {
          const auto p = library->prepare(l, numeric::f32, a, o, {.threads = 1});
          p->run(1);
          std::vector<double> got;
          p->read(got);
          std::vector<double> right = expected;
          for (std::size_t i = 0; i < right.size() && i < got.size(); ++i)
            if (std::isnan(right[i]) && std::isnan(got[i])) right[i] = got[i] = 0;
          const backend::verdict v = backend::compare(l, numeric::f32, all_of(l), right, got);
          if (!v.ok)
            (all_finite || library->name() == "host" ? wrong_on_cpu : on_infinities)
                .push_back(std::string(library->name()) + '/' + a.id + ' ' + op::name(l) +
                           ": element " + std::to_string(v.where) + " is " +
                           std::to_string(got[static_cast<std::size_t>(v.where)]) +
                           " and should be " +
                           std::to_string(right[static_cast<std::size_t>(v.where)]));
        } catch (const std::exception& e) {
          wrong_on_cpu.push_back(std::string(library->name()) + '/' + a.id + ' ' + op::name(l) +
                                 ": " + e.what());
        }
      }
    }
    if (!any) without_algorithm.push_back(op::name(l));
  }

  const named_numbers& given_;
  const onnx::detail::resolver& resolved_;
  libraries& cpu_;
  std::map<std::pair<int, int>, numbers> made_{};
  std::set<int> codes_{}; ///< nodes that give some
};

} // namespace benanza::node_tests
