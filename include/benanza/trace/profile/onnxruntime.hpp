// SPDX-License-Identifier: Apache-2.0
// What does a profile of ONNX Runtime (1.17 to 1.32) say? Its file holds several runs, of which the
// first is cold, as Chrome's events. Times are whole us: of a node of some us only many runs say
// more. Names of nodes are those of the optimised graph (blocked_tensor.hpp), blocked layouts pad
// channels to their block, and weights that were packed before are not among the operands. Old
// versions write names unescaped: such JSON is mended.
//
//   profile p = read_onnxruntime(text, "ort.json");   p.operators[0].ns   // one a run
#pragma once

#include "chrome_trace.hpp"
#include "executions.hpp"

#include <map>
#include <tuple>
#include <unordered_map>

namespace benanza::trace {

/// At so many events ONNX Runtime stops to write any.
inline constexpr std::size_t onnxruntime_event_limit = 1'000'000;

namespace detail {

inline constexpr std::string_view record_onnxruntime =
    "record one with SessionOptions.enable_profiling, and call end_profiling()";

/// The tensors of `[{"float":[2,3,32,32]}, ...]`, also if that is in a text, or as
/// `{"type":"float","shape":[2,3,32,32]}`.
inline std::vector<profiled_tensor> onnxruntime_tensors(const json* j) {
  std::vector<profiled_tensor> out;
  if (j == nullptr) return out;
  if (j->is_string()) {
    const std::string& text = j->get_ref<const std::string&>();
    if (nesting(text) > deepest_json) return out;
    const json parsed = json::parse(text, nullptr, false);
    return parsed.is_array() ? onnxruntime_tensors(&parsed) : out;
  }
  if (!j->is_array()) return out;
  for (const json& one : *j) {
    profiled_tensor& t = out.emplace_back();
    if (const json* dims = member(one, "shape")) {
      t.type = type_token(text_in(one, "type"));
      t.dims = dims_of(*dims);
    } else if (one.is_object() && one.size() == 1) {
      t.type = type_token(one.begin().key());
      t.dims = dims_of(one.begin().value());
    }
  }
  return out;
}

/// Puts the runs of a profile together, event by event.
class onnxruntime_runs {
public:
  static std::vector<std::string_view> wanted() {
    return {"op_name",         "provider",         "node_index",        "graph_index",
            "exec_plan_index", "input_type_shape", "output_type_shape", "thread_scheduling_stats"};
  }

  void take(trace_event& e) {
    ++events_;
    if (e.category == "Session" && e.name == "model_run") return take_run(e);
    if (e.category == "Node") return take_node(e);
    if (e.category == "Kernel") return take_kernel(e);
  }
  std::size_t events() const { return events_; }

  profile finish(std::string source, std::vector<std::string> warnings) {
    profile p{.source = std::move(source),
              .format = "ONNX Runtime's profile",
              .framework = "onnxruntime",
              .warnings = std::move(warnings)};
    if (nodes_.empty())
      throw error("no node of a model is in this profile of ONNX Runtime", p.source,
                  record_onnxruntime);
    std::stable_sort(runs_.begin(), runs_.end(),
                     [](const run& a, const run& b) { return a.begin < b.begin; });
    place_nodes();
    choose_runs(p);
    p.spans = spans();
    say_containment(p.warnings, find_parents(p.spans, ns_of_us)); // times are cut to whole us
    fill(p);
    say_what_is_odd(p);
    return p;
  }

private:
  struct run {
    double begin = 0, end = 0;
    int thread = 0;
  };
  struct node {
    double begin = 0, end = 0, inside = 0; ///< in us; `inside`: of nodes within this one
    int thread = 0, op = 0, run = -1;
    double kernels = 0; ///< in us, of a GPU
  };
  struct kernel {
    std::string name;
    double begin = 0, length = 0; ///< in us
    std::size_t node = 0;
  };
  struct op {
    profiled_operator told;
    double begin = longest_ns; ///< of its first execution that counts
    bool on_gpu = false, has_kernels = false;
    json in{}, out{}; ///< its shapes, as they are written
  };

  static std::string index_of(const trace_event& e) {
    for (const std::string_view key : {"node_index", "graph_index", "exec_plan_index"})
      if (const json* j = e.argument(key)) return text_of(*j);
    return {};
  }
  int thread_of(const trace_event& e) {
    return threads_.try_emplace(e.tid, static_cast<int>(threads_.size())).first->second;
  }
  static bool timed(const trace_event& e) {
    return e.ts && e.dur && *e.ts >= 0 && *e.ts * ns_of_us <= longest_ns &&
           ns_of(e.dur, ns_of_us).has_value();
  }

  void take_run(const trace_event& e) {
    if (!timed(e)) return void(++broken_);
    runs_.push_back({*e.ts, *e.ts + *e.dur, thread_of(e)});
  }

  void take_node(trace_event& e) {
    if (e.name.ends_with("_fence_before") || e.name.ends_with("_fence_after")) return;
    if (!timed(e)) return void(++broken_);
    if (e.name.ends_with("_kernel_time")) e.name.resize(e.name.size() - 12);
    const std::string type = e.text("op_name");
    key_.assign(index_of(e)).append(1, '\0').append(e.name).append(1, '\0').append(type);
    const auto [found, fresh] = op_of_.try_emplace(key_, static_cast<int>(ops_.size()));
    if (fresh) {
      op& o = ops_.emplace_back();
      o.told.name = std::move(e.name);
      o.told.type = type;
      o.told.kernel = e.text("provider");
      o.on_gpu = on_gpu(o.told.kernel);
    }
    op& o = ops_[static_cast<std::size_t>(found->second)];
    take_shapes(o, e);
    take_threads(e);
    nodes_.push_back(
        {.begin = *e.ts, .end = *e.ts + *e.dur, .thread = thread_of(e), .op = found->second});
  }

  static bool on_gpu(std::string_view provider) {
    for (const std::string_view gpu :
         {"CUDA", "Tensorrt", "TensorRT", "NvTensorRT", "ROCM", "Dml", "MIGraphX", "WebGpu", "Js"})
      if (provider.starts_with(gpu)) return true;
    return false;
  }

  /// Shapes are those of the last execution; other runs may have had other ones.
  void take_shapes(op& o, const trace_event& e) {
    const json *in = e.argument("input_type_shape"), *out = e.argument("output_type_shape");
    const auto same = [](const json* now, const json& before) {
      return now == nullptr || *now == before;
    };
    if (same(in, o.in) && same(out, o.out)) return;
    different_shapes_ |= !o.in.is_null() || !o.out.is_null();
    o.in = in == nullptr ? json() : *in;
    o.out = out == nullptr ? json() : *out;
    o.told.operands = onnxruntime_tensors(in);
    o.told.results = onnxruntime_tensors(out);
  }

  /// Statistics of threads are empty where there is one, and list the others where there are more.
  void take_threads(const trace_event& e) {
    const json* stats = e.argument("thread_scheduling_stats");
    if (stats == nullptr) return;
    int n = 1;
    if (const json* others = member(*stats, "sub_threads");
        others != nullptr && others->is_object())
      n += static_cast<int>(std::min<std::size_t>(others->size(), 1 << 20));
    most_threads_ = std::max(most_threads_, n);
  }

  /// Kernels of a GPU follow their node, whose operator they name.
  void take_kernel(const trace_event& e) {
    if (!ns_of(e.dur, ns_of_us)) return void(++broken_);
    if (nodes_.empty()) return void(++lone_kernels_);
    node& n = nodes_.back();
    op& o = ops_[static_cast<std::size_t>(n.op)];
    if (const std::string type = e.text("op_name"); !type.empty() && type != o.told.type)
      return void(++lone_kernels_);
    n.kernels += *e.dur;
    if (timed(e)) kernels_.push_back({e.name, *e.ts, *e.dur, nodes_.size() - 1});
    if (!std::exchange(o.has_kernels, true)) o.told.kernel = e.name;
    any_kernels_ = true;
  }

  /// Says of each node in which run it is, and how much of it are nodes within it: those of the
  /// body of If, Loop and Scan are written next to these. Times are cut to whole us, so that of two
  /// that follow each other in a thread the second never begins within the first.
  void place_nodes() {
    std::vector<std::size_t> order(nodes_.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const node &l = nodes_[a], &r = nodes_[b];
      return std::tie(l.thread, l.begin, r.end) < std::tie(r.thread, r.begin, l.end);
    });
    std::vector<std::size_t> open;
    for (const std::size_t i : order) {
      node& n = nodes_[i];
      while (!open.empty() &&
             (nodes_[open.back()].thread != n.thread || nodes_[open.back()].end <= n.begin))
        open.pop_back();
      if (!open.empty()) nodes_[open.back()].inside += n.end - n.begin;
      open.push_back(i);
      n.run = run_at(n);
    }
  }

  /// The run within whose time a node is; of several at the same time that of its thread.
  int run_at(const node& n) const {
    auto behind = std::upper_bound(runs_.begin(), runs_.end(), n.begin,
                                   [](double at, const run& r) { return at < r.begin; });
    int found = -1;
    for (int tries = 0; behind != runs_.begin() && tries < 64; ++tries) {
      --behind;
      if (behind->end < n.end) continue;
      const int here = static_cast<int>(behind - runs_.begin());
      if (behind->thread == n.thread) return here;
      if (found < 0) found = here;
    }
    return found;
  }

  /// The first run is cold, and counts only where there is no other.
  void choose_runs(profile& p) {
    if (runs_.empty()) {
      p.warnings.push_back("no whole run is in it: the times are those of a part of one");
      for (node& n : nodes_)
        n.run = 0;
      counted_ = 1;
      return;
    }
    p.step_ns = ns_of_us;
    p.first_ns = (runs_[0].end - runs_[0].begin) * ns_of_us;
    if (runs_.size() == 1)
      p.warnings.push_back(
          "one run is in it: the times of operators are those of a first, cold run");
    first_ = runs_.size() == 1 ? 0 : 1;
    counted_ = runs_.size() - first_;
    for (std::size_t i = 1; i < runs_.size(); ++i) {
      p.profiled_ns.push_back((runs_[i].end - runs_[i].begin) * ns_of_us);
      runs_overlap_ |= runs_[i].begin < runs_[i - 1].end;
    }
    const auto outside = static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](const node& n) { return n.run < 0; }));
    if (outside != 0)
      p.warnings.push_back(counted(outside, "execution") +
                           " of nodes lie in no whole run, and are left out");
  }

  /// The run of median length: the model, its nodes, and their kernels, which say whose they are.
  std::vector<span> spans() const {
    if (runs_.empty()) return {};
    const std::size_t at = first_ + median_place(counted_, [&](std::size_t i) {
                             return runs_[first_ + i].end - runs_[first_ + i].begin;
                           });
    const run& chosen = runs_[at];
    const auto made = [&](int level, std::string name, std::string of, double begin, double us) {
      return span{.level = level,
                  .name = std::move(name),
                  .kind = std::move(of),
                  .begin_ns = (begin - chosen.begin) * ns_of_us,
                  .ns = us * ns_of_us};
    };
    std::vector<span> out{
        made(model_level, "model_run", "", chosen.begin, chosen.end - chosen.begin)};
    std::unordered_map<std::size_t, int> place;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const node& n = nodes_[i];
      if (n.run != static_cast<int>(at)) continue;
      const op& o = ops_[static_cast<std::size_t>(n.op)];
      place[i] = static_cast<int>(out.size());
      out.push_back(made(layer_level, o.told.name, o.told.type, n.begin, n.end - n.begin));
      if (n.thread != chosen.thread) out.back().track = "thread " + std::to_string(n.thread);
    }
    for (const kernel& k : kernels_)
      if (const auto its = place.find(k.node); its != place.end()) {
        out.push_back(made(call_level, k.name, "kernel", k.begin, k.length));
        out.back().track = "GPU";
        out.back().parent = its->second;
        out.back().told = true;
      }
    return out;
  }

  void fill(profile& p) {
    std::map<int, int> thread_of_run;
    for (const node& n : nodes_) {
      if (n.run < static_cast<int>(first_)) continue;
      op& o = ops_[static_cast<std::size_t>(n.op)];
      o.told.ns.resize(counted_);
      const double us =
          any_kernels_ && o.on_gpu ? n.kernels : std::max(0.0, n.end - n.begin - n.inside);
      o.told.ns[static_cast<std::size_t>(n.run) - first_] += us * ns_of_us;
      o.begin = std::min(o.begin, n.begin);
      const auto [known, fresh] = thread_of_run.try_emplace(n.run, n.thread);
      p.overlapping = p.overlapping == true || (!fresh && known->second != n.thread);
    }
    std::stable_sort(ops_.begin(), ops_.end(),
                     [](const op& a, const op& b) { return a.begin < b.begin; });
    for (op& o : ops_) {
      p.device = o.on_gpu ? "gpu" : p.device.empty() ? "cpu" : p.device;
      if (!o.told.ns.empty()) p.operators.push_back(std::move(o.told));
    }
    p.threads = most_threads_;
  }

  void say_what_is_odd(profile& p) const {
    if (p.overlapping == true)
      p.warnings.push_back("operators ran at the same time in several threads: their times do not "
                           "add up to that of the model");
    if (runs_overlap_) p.warnings.push_back("several runs went on at the same time");
    if (different_shapes_)
      p.warnings.push_back("a node had other shapes in other executions: the last ones are told");
    if (broken_ != 0) p.warnings.push_back(counted(broken_, "event") + " without a time left out");
    if (lone_kernels_ != 0)
      p.warnings.push_back(counted(lone_kernels_, "kernel") + " follow no node of theirs");
    if (any_kernels_)
      p.warnings.push_back(
          "times of nodes on the GPU are those of their kernels, without launches");
    else if (p.device == "gpu")
      p.warnings.push_back("no kernel of the GPU is in it: times of nodes are those of launches");
    if (events_ >= onnxruntime_event_limit)
      p.warnings.push_back("it holds a million events, at which ONNX Runtime stops: later ones are "
                           "missing; profile fewer runs");
  }

  std::vector<run> runs_;
  std::vector<node> nodes_;
  std::vector<kernel> kernels_;
  std::vector<op> ops_;
  std::unordered_map<std::string, int> op_of_, threads_;
  std::string key_;
  std::size_t first_ = 0, counted_ = 0; ///< runs that count: from which on, and how many
  std::size_t events_ = 0, broken_ = 0, lone_kernels_ = 0;
  int most_threads_ = 0;
  bool any_kernels_ = false, runs_overlap_ = false, different_shapes_ = false;
};
} // namespace detail

/// The profile in a text that ONNX Runtime wrote; `source` is its name in messages.
inline profile read_onnxruntime(std::string_view text, const std::string& source) {
  std::vector<std::string> warnings;
  auto runs = detail::read_trace<detail::onnxruntime_runs>(text, "args", source, warnings);
  return runs.finish(source, std::move(warnings));
}

/// The same of a value that was parsed already.
inline profile read_onnxruntime_value(const nlohmann::json& value, const std::string& source) {
  detail::onnxruntime_runs runs;
  say_trace_events(value, detail::onnxruntime_runs::wanted(),
                   [&](trace_event& e) { runs.take(e); });
  return runs.finish(source, {});
}

} // namespace benanza::trace
