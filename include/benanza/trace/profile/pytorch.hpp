// SPDX-License-Identifier: Apache-2.0
// What does a trace of PyTorch's profiler (Kineto) say? On the processor operators call others:
// those that spend most of their time themselves ran, with that time; views and allocations are
// part of who calls them. On a GPU its kernels ran, and their times belong to the operator that
// launched them. Steps (profiler.step()) are the runs; without them the sequence that repeats is.
//
//   profile p = read_pytorch(text, "model.pt.trace.json");   p.operators[0].type   // "aten::addmm"
#pragma once

#include "chrome_trace.hpp"
#include "executions.hpp"
#include "pytorch_operators.hpp"

#include <limits>
#include <set>
#include <tuple>

namespace benanza::trace {

namespace detail {
inline constexpr std::string_view record_pytorch =
    "record one with torch.profiler.profile(record_shapes=True), and export_chrome_trace()";

/// Puts a trace together, event by event.
class pytorch_trace {
public:
  pytorch_trace() = default;
  /// Ranges of these names, which the program marked by record_function, are the operators.
  explicit pytorch_trace(std::set<std::string> marks)
      : marks_(std::move(marks)) {}

  static std::vector<std::string_view> wanted() {
    return {"External id", "correlation", "Input Dims", "Input type",
            "Input Types", "stream",      "device"};
  }

  void take(trace_event& e) {
    ++events_;
    constexpr double latest_us = 1e16; // since 1970: the year 2286
    if (e.phase != "X" || !e.ts || std::abs(*e.ts) > latest_us || !ns_of(e.dur, ns_of_us)) return;
    const double begin = *e.ts * ns_of_us, end = begin + *e.dur * ns_of_us;
    if (e.name.starts_with("ProfilerStep#") && e.category != "gpu_user_annotation")
      return void(steps_.push_back({begin, end}));
    if (e.category == "cpu_op" || e.category == "Operator") return take_op(e, begin, end);
    if (e.category == "user_annotation" && marks_.contains(e.name))
      return take_op(e, begin, end, true);
    if (e.category == "cuda_runtime" || e.category == "cuda_driver" || e.category == "Runtime")
      return void(launches_[e.text("correlation")] = {begin, thread_of(e),
                                                      e.name.find("GraphLaunch") != e.name.npos});
    if (e.category == "kernel" || e.category == "Kernel" || e.category == "gpu_memcpy" ||
        e.category == "gpu_memset")
      return take_kernel(e, begin, end);
  }
  std::size_t events() const { return events_; }

  profile finish(std::string source, std::vector<std::string> warnings) {
    profile p{.source = std::move(source),
              .format = "PyTorch's trace",
              .framework = "pytorch",
              .warnings = std::move(warnings)};
    if (ops_.empty() && kernels_.empty())
      throw error("no operator of PyTorch is in this trace", p.source, record_pytorch);
    nest();
    std::sort(steps_.begin(), steps_.end());
    std::vector<execution> all = kernels_.empty() ? on_processor(p) : on_gpu(p);
    add(p, std::move(all));
    p.spans = spans();
    say_containment(p.warnings, find_parents(p.spans, 2));
    if (p.overlapping == true)
      p.warnings.push_back("operators ran at the same time in several streams or threads: their "
                           "times do not add up to that of the model");
    return p;
  }

private:
  struct op {
    double begin = 0, end = 0;
    int thread = 0, parent = -1;
    int mark = -1;      ///< the range, of those that are operators, that it is or is in; or none
    int outermost = -1; ///< that, or the operator around all
    double inside = 0;  ///< of those that it called and that compute
    int what = 0;       ///< place in kinds_
  };
  struct kind {
    profiled_operator told{};
    std::string text{};
    bool view = false, mark = false;
    double own = 0, inside = 0; ///< of all of the kind
  };
  struct launch {
    double begin = 0;
    int thread = 0;
    bool graph = false; ///< of many kernels at once
    int op = -1;        ///< within which it was launched; negative: there is none
  };
  struct kernel {
    std::string name, id, correlation;
    double begin = 0, end = 0;
    std::int64_t lane = 0;
  };

  int thread_of(const trace_event& e) {
    return threads_.try_emplace(e.pid + "/" + e.tid, static_cast<int>(threads_.size()))
        .first->second;
  }

  void take_op(const trace_event& e, double begin, double end, bool mark = false) {
    const json *dims = e.argument("Input Dims"), *types = e.argument("Input type");
    if (types == nullptr) types = e.argument("Input Types");
    std::string text = (mark ? "mark " : "") + e.name;
    if (dims != nullptr)
      text.append("\n").append(dims->dump(-1, ' ', false, json::error_handler_t::replace));
    const auto [found, fresh] = kind_of_.try_emplace(text, static_cast<int>(kinds_.size()));
    if (fresh)
      kinds_.push_back({.told = {.name = e.name,
                                 .type = mark ? "" : e.name,
                                 .operands = pytorch_tensors(dims, types)},
                        .text = text,
                        .view = !mark && pytorch_view(e.name),
                        .mark = mark});
    if (const std::string id = e.text("External id"); !mark && !id.empty())
      op_of_id_[id] = static_cast<int>(ops_.size());
    ops_.push_back({.begin = begin, .end = end, .thread = thread_of(e), .what = found->second});
  }

  void take_kernel(const trace_event& e, double begin, double end) {
    const std::string lane = e.text("device") + "/" + e.text("stream") + "/" + e.pid + "/" + e.tid;
    kernels_.push_back({e.name, e.text("External id"), e.text("correlation"), begin, end,
                        lanes_.try_emplace(lane, lanes_.size()).first->second});
  }

  op& at(int i) { return ops_[static_cast<std::size_t>(i)]; }
  const op& at(int i) const { return ops_[static_cast<std::size_t>(i)]; }
  kind& kind_at(const op& o) { return kinds_[static_cast<std::size_t>(o.what)]; }
  const kind& kind_at(const op& o) const { return kinds_[static_cast<std::size_t>(o.what)]; }

  /// Finds for each operator the one within which it was called, which in a thread is whichever
  /// has not ended yet. Times have three decimals, and those since 1970 less than that.
  void nest() {
    order_.resize(ops_.size());
    for (std::size_t i = 0; i < order_.size(); ++i)
      order_[i] = static_cast<int>(i);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return std::tie(at(a).thread, at(a).begin, at(b).end) <
             std::tie(at(b).thread, at(b).begin, at(a).end);
    });
    std::vector<launch*> launches;
    for (auto& [correlation, l] : launches_)
      launches.push_back(&l);
    std::sort(launches.begin(), launches.end(), [](const launch* a, const launch* b) {
      return std::tie(a->thread, a->begin) < std::tie(b->thread, b->begin);
    });
    std::vector<int> open;
    auto launched = launches.begin();
    const auto launched_before = [&](int thread, double begin) {
      for (; launched != launches.end() &&
             std::tie((*launched)->thread, (*launched)->begin) < std::tie(thread, begin);
           ++launched) {
        while (!open.empty() && (at(open.back()).thread != (*launched)->thread ||
                                 at(open.back()).end < (*launched)->begin))
          open.pop_back(); // ended before all that follow
        if (!open.empty()) (*launched)->op = open.back();
      }
    };
    for (const int i : order_) {
      op& o = at(i);
      launched_before(o.thread, o.begin);
      const double error = std::max(2.0, std::abs(o.begin) * 0x1p-51);
      while (!open.empty() &&
             (at(open.back()).thread != o.thread || at(open.back()).end <= o.begin + error))
        open.pop_back();
      if (!open.empty()) o.parent = open.back();
      open.push_back(i);
      o.mark = kind_at(o).mark ? i : o.parent < 0 ? -1 : at(o.parent).mark;
      o.outermost = o.mark == i || o.parent < 0 ? i : at(o.parent).outermost;
    }
    launched_before(std::numeric_limits<int>::max(), 0);
    for (auto i = order_.rbegin(); i != order_.rend(); ++i)
      if (const op& o = at(*i); o.parent >= 0)
        at(o.parent).inside += kind_at(o).view ? o.inside : o.end - o.begin;
    for (const op& o : ops_) {
      kind_at(o).own += std::max(0.0, o.end - o.begin - o.inside);
      kind_at(o).inside += o.inside;
    }
  }

  execution execution_of(const op& o, double ns) const {
    const kind& k = kinds_[static_cast<std::size_t>(o.what)];
    return {k.told, k.text, ns, step_at(o.begin)};
  }

  /// Does an operator count by itself? It does if most of its time is its own, or as a view that no
  /// other called. All of a kind do, or none.
  bool counts(const op& o) const {
    const kind& k = kind_at(o);
    return k.view ? o.parent < 0 && k.inside <= 0 : k.own >= k.inside;
  }
  /// The range, of those that are operators, in which an operator was called; negative: none.
  int mark_of(int i) const { return i < 0 ? i : at(i).mark; }
  static void add_kernel(profiled_operator& o, std::string_view name) {
    constexpr std::size_t longest = 1000; // a list of them is for people
    if (o.kernel.size() < longest) o.kernel.append(o.kernel.empty() ? "" : " + ").append(name);
  }

  /// What ran on the processor: ranges with the time of what was called in them, and elsewhere
  /// operators with their own.
  std::vector<execution> on_processor(profile& p) {
    p.device = "cpu";
    std::vector<int> all;
    std::vector<lane_interval> busy;
    for (const int i : order_) {
      const op& o = at(i);
      if (!kind_at(o).mark && (mark_of(i) >= 0 || !counts(o))) continue;
      all.push_back(i);
      busy.push_back({o.begin, o.end, o.thread});
    }
    p.overlapping = lanes_overlap(std::move(busy));
    std::stable_sort(all.begin(), all.end(),
                     [&](int a, int b) { return at(a).begin < at(b).begin; });
    std::vector<execution> out;
    std::unordered_map<int, std::size_t> place; // of a range in `out`
    for (const int i : all) {
      const op& o = at(i);
      const bool mark = kind_at(o).mark;
      if (mark) place[i] = out.size();
      out.push_back(execution_of(o, mark ? 0 : std::max(0.0, o.end - o.begin - o.inside)));
    }
    for (const int i : order_) {
      const op& o = at(i);
      const int mark = mark_of(o.parent);
      if (kind_at(o).mark || mark < 0) continue;
      execution& e = out[place[mark]];
      if (o.parent == mark) {
        e.ns += o.end - o.begin;
        if (e.told.operands.empty()) e.told.operands = kind_at(o).told.operands;
      }
      if (counts(o)) add_kernel(e.told, kind_at(o).told.name);
    }
    return out;
  }

  /// What ran on a GPU: operators with the sum of their kernels, in the order of the first ones.
  /// Kernels of a CUDA graph have one launch together, and are listed by themselves.
  std::vector<execution> on_gpu(profile& p) {
    p.device = "gpu";
    std::stable_sort(kernels_.begin(), kernels_.end(),
                     [](const kernel& a, const kernel& b) { return a.begin < b.begin; });
    std::vector<execution> out;
    std::vector<lane_interval> busy;
    std::unordered_map<int, std::size_t> place; // of an operator in `out`
    std::size_t lone = 0;
    for (const kernel& k : kernels_) {
      busy.push_back({k.begin, k.end, k.lane});
      const auto launched = launches_.find(k.correlation);
      const bool known = !k.correlation.empty() && launched != launches_.end();
      const auto named = op_of_id_.find(k.id);
      int found = -1;
      if (known && launched->second.graph)
        found = -1;
      else if (named != op_of_id_.end())
        found = named->second;
      else if (known)
        found = launched->second.op;
      if (const int mark = mark_of(found); mark >= 0) found = mark;
      if (found < 0) {
        ++lone;
        out.push_back({{.name = k.name, .type = k.name, .kernel = k.name},
                       k.name,
                       k.end - k.begin,
                       step_at(known ? launched->second.begin : k.begin)});
        continue;
      }
      const auto [there, fresh] = place.try_emplace(found, out.size());
      if (fresh) out.push_back(execution_of(ops_[static_cast<std::size_t>(found)], 0));
      execution& e = out[there->second];
      e.ns += k.end - k.begin;
      add_kernel(e.told, k.name);
    }
    p.overlapping = lanes_overlap(std::move(busy));
    if (lone != 0)
      p.warnings.push_back(std::to_string(kernels_.size() - lone) + " of " +
                           counted(kernels_.size(), "kernel") +
                           " belong to an operator; the others stand by their own names");
    return out;
  }

  /// The step in which something began; the last one before it, since a GPU works behind; negative:
  /// none.
  int step_at(double begin) const {
    const auto behind = std::upper_bound(steps_.begin(), steps_.end(),
                                         std::pair(begin, std::numeric_limits<double>::infinity()));
    if (behind == steps_.begin()) return -1;
    const auto at = behind - 1;
    return !kernels_.empty() || begin <= at->second ? static_cast<int>(at - steps_.begin()) : -1;
  }

  void add(profile& p, std::vector<execution> all) const {
    if (steps_.empty()) return add_executions(p, std::move(all));
    const int runs = static_cast<int>(steps_.size()), first = runs > 1 ? 1 : 0;
    p.first_ns = steps_[0].second - steps_[0].first;
    for (std::size_t i = 1; i < steps_.size(); ++i)
      p.profiled_ns.push_back(steps_[i].second - steps_[i].first);
    if (runs == 1) p.warnings.push_back("one step is in it, which may be cold");
    add_runs(p, all, first, runs);
    if (p.operators.empty())
      throw error("no operator lies in a step of this trace of PyTorch", p.source, record_pytorch);
  }

  /// The step of median length: its outermost operators (or ranges that are operators), and within
  /// these the kernels that they launched, or on a processor what computes. Empty without steps.
  std::vector<span> spans() const {
    if (steps_.empty()) return {};
    const std::size_t first = steps_.size() > 1 ? 1 : 0;
    const std::size_t step = first + median_place(steps_.size() - first, [&](std::size_t i) {
                               return steps_[first + i].second - steps_[first + i].first;
                             });
    const auto& [begin, end] = steps_[step];
    const auto made = [&, from = begin](int level, std::string name, std::string of, double at,
                                        double until) {
      return span{.level = level,
                  .name = std::move(name),
                  .kind = std::move(of),
                  .begin_ns = at - from,
                  .ns = until - at};
    };
    std::vector<span> out{made(model_level, "step", "", begin, end)};
    std::unordered_map<int, int> place;
    const auto outermost = [&](int i) { return at(i).outermost; };
    for (const int i : order_) {
      const op& o = at(i);
      if (step_at(o.begin) != static_cast<int>(step) || outermost(i) != i) continue;
      place[i] = static_cast<int>(out.size());
      const std::string& name = kind_at(o).told.name;
      out.push_back(made(layer_level, name, name, o.begin, o.end));
      out.back().track = o.thread == 0 ? "" : "thread " + std::to_string(o.thread);
    }
    const auto child = [&](int of, span one) {
      const auto its = of < 0 ? place.end() : place.find(outermost(of));
      one.told = its != place.end();
      if (one.told) one.parent = its->second;
      out.push_back(std::move(one));
    };
    for (const kernel& k : kernels_) {
      const auto launched = launches_.find(k.correlation);
      const bool known = !k.correlation.empty() && launched != launches_.end();
      if (step_at(known ? launched->second.begin : k.begin) != static_cast<int>(step)) continue;
      const auto named = op_of_id_.find(k.id);
      const int of = known && !launched->second.graph ? launched->second.op
                     : named != op_of_id_.end()       ? named->second
                                                      : -1;
      span one = made(call_level, k.name, "kernel", k.begin, k.end);
      one.track = "GPU queue " + std::to_string(k.lane);
      child(of, std::move(one));
    }
    std::vector<char> within(ops_.size(), 0); // true where another operator that computes is around
    const auto computes_within = [&](int i) { return within[static_cast<std::size_t>(i)] != 0; };
    for (const int i : order_) {
      const op& o = at(i);
      if (outermost(i) != i && o.parent != outermost(i))
        within[static_cast<std::size_t>(i)] = counts(at(o.parent)) || computes_within(o.parent);
      if (kernels_.empty() && outermost(i) != i && counts(o) && !computes_within(i) &&
          step_at(o.begin) == static_cast<int>(step))
        child(i, made(call_level, kind_at(o).told.name, "operator", o.begin, o.end));
    }
    return out;
  }

  std::set<std::string> marks_;
  std::vector<op> ops_;
  std::vector<kind> kinds_;
  std::vector<kernel> kernels_;
  std::vector<std::pair<double, double>> steps_;
  std::vector<int> order_; ///< operators by thread and beginning
  std::unordered_map<std::string, int> kind_of_, op_of_id_, threads_;
  std::unordered_map<std::string, std::int64_t> lanes_;
  std::unordered_map<std::string, launch> launches_; ///< by correlation
  std::size_t events_ = 0;
};
} // namespace detail

/// The trace in a text that PyTorch wrote. Old versions write names unescaped: these are mended.
inline profile read_pytorch(std::string_view text, const std::string& source) {
  std::vector<std::string> warnings;
  auto trace = detail::read_trace<detail::pytorch_trace>(text, "pid", source, warnings);
  return trace.finish(source, std::move(warnings));
}

/// The same of a value that was parsed already, in which ranges of these names are the operators.
inline profile read_pytorch_value(const nlohmann::json& value, const std::string& source,
                                  std::set<std::string> marks = {}) {
  detail::pytorch_trace trace(std::move(marks));
  say_trace_events(value, detail::pytorch_trace::wanted(), [&](trace_event& e) { trace.take(e); });
  return trace.finish(source, {});
}

} // namespace benanza::trace
