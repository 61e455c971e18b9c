// SPDX-License-Identifier: Apache-2.0
// What happens when a plan of cuDNN is executed? Its engine's name says what it costs and how it
// fails; its graph is interpreted over the fake GPU's memory when the result is read.
//
//   auto p = make_plan(plan_bag, engine);   auto e = to_execution(p, pack_bag);   device.run(e, s)
#pragma once

#include "device.hpp"
#include "interpreter.hpp"
#include "last_results.hpp"

#include <algorithm>
#include <span>

namespace fake {

/// What a configuration says of itself.
struct engine {
  std::int64_t index = 0;
  std::string id{};
  bool compiled_at_run_time = false;

  std::string name() const { return "engine " + std::to_string(index); }
};

struct plan {
  std::shared_ptr<bag> graph{}; ///< what the interpreter refers to
  interpreter run;
  fake::engine engine{};
  std::int64_t workspace_bytes = 0;
  std::vector<std::int64_t> writes{}; ///< the tensors that are results
  std::shared_ptr<last_results> last = std::make_shared<last_results>();
};

/// The plan of a finalized descriptor; what the callers themselves built is read back.
inline std::shared_ptr<const plan> make_plan(const bag& b, const engine& e,
                                             std::int64_t workspace) {
  const bag& configuration = b.child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const auto& graphs =
      configuration.child(CUDNN_ATTR_ENGINECFG_ENGINE).children(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  if (graphs.size() != 1) throw not_understood("an engine without a graph");
  auto made = std::make_shared<plan>(plan{graphs[0], interpreter(*graphs[0]), e, workspace});
  for (const auto& [id, t] : made->run.tensors())
    if (made->run.writes(id) && !t.is_virtual) made->writes.push_back(id);
  if (made->writes.empty()) throw not_understood("a graph without a result");
  return made;
}

/// Adds an error that no tolerance allows.
inline void spoil(dense& y) {
  y[0] += 2 + 2 * std::fabs(y[0]);
}

/// Adds an error of that share of their root mean square to all, up and down.
inline void shift(dense& y, double share) {
  double squares = 0;
  for (const double v : y.at)
    squares += v * v;
  const double by =
      share * std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, y.at.size())));
  for (std::size_t i = 0; i < y.at.size(); ++i)
    y.at[i] += i % 2 == 0 ? by : -by;
}

/// One execution with the operands of a variant pack. Numbers by value are read now.
inline std::shared_ptr<const execution> to_execution(std::shared_ptr<const plan> p,
                                                     const bag& pack) {
  const auto ids = pack.numbers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto places = pack.all<const void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  if (ids.size() != places.size()) throw not_understood("a variant pack without places");
  std::map<std::int64_t, const void*> given;
  for (std::size_t i = 0; i < ids.size(); ++i)
    given[ids[i]] = places[i];

  auto e = std::make_shared<execution>();
  e->name = p->engine.name();
  e->id = p->engine.id;
  values numbers;
  for (const auto& [id, t] : p->run.tensors()) {
    if (t.is_virtual) continue;
    const auto at = given.find(id);
    if (at == given.end() || at->second == nullptr)
      throw not_understood("tensor " + std::to_string(id) + " is not in the variant pack");
    if (t.by_value) {
      numbers[id] = load(t, static_cast<const std::byte*>(at->second));
      continue;
    }
    if (reinterpret_cast<std::uintptr_t>(at->second) % static_cast<std::uintptr_t>(t.alignment) !=
        0)
      throw not_understood("tensor " + std::to_string(id) + " is not aligned as it says");
    const extent there{at->second, t.bytes()};
    if (!p->run.writes(id))
      e->reads.push_back(there);
    else if (id == p->writes.front())
      e->writes = there;
    else
      e->writes_too.push_back(there);
  }
  const bool wrong = device::it().rules.fails(e->name, "wrong", e->id);
  const double off = device::it().rules.off(e->name, e->id);
  e->compute = [p, given, numbers, wrong, off](memory& m) {
    last_results now;
    for (const auto& [id, n] : numbers)
      now.see(reinterpret_cast<const std::byte*>(n.at.data()), std::ssize(n.at) * 8);
    for (const auto& [id, t] : p->run.tensors())
      if (!t.is_virtual && !t.by_value && !p->run.writes(id))
        now.see(m.contents(given.at(id), t.bytes()), t.bytes());
    const auto place = [&](std::int64_t id) {
      const std::int64_t bytes = p->run.tensors().at(id).bytes();
      return std::span(m.contents(given.at(id), bytes), static_cast<std::size_t>(bytes));
    };
    if (p->last->of_the_same(now)) {
      for (std::size_t i = 0; i < p->writes.size(); ++i)
        std::copy(p->last->made[i].begin(), p->last->made[i].end(), place(p->writes[i]).begin());
      return;
    }
    values v = numbers;
    for (const auto& [id, t] : p->run.tensors())
      if (!t.is_virtual && !t.by_value && !p->run.writes(id))
        v[id] = load(t, m.contents(given.at(id), t.bytes()));
    p->run(v);
    bool gaps = false; // between elements, which are not written
    for (const std::int64_t id : p->writes) {
      const facts& t = p->run.tensors().at(id);
      if (wrong) spoil(v.at(id));
      if (off > 0) shift(v.at(id), off);
      store(t, v.at(id), place(id).data());
      gaps = gaps || t.bytes() != product(t.size) * benanza::size_bytes(t.type);
    }
    if (gaps) return;
    for (const std::int64_t id : p->writes)
      now.made.emplace_back(place(id).begin(), place(id).end());
    *p->last = std::move(now);
  };
  return e;
}

} // namespace fake
