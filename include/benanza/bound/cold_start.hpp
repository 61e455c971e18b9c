// SPDX-License-Identifier: Apache-2.0
// When does a new process have its first answer of a model, and what does sharing its weights
// between processes save? Read from a run of the model's plan with --load: making the kernels
// ready, getting the weights (from a file and packing them, or attaching to memory that others have
// filled and mapping its pages), running once. From TrIMS (IEEE CLOUD 2019): the ideal, of which
// load takes nothing; and rho = b / q - n (o + s), above zero where sharing n objects of b bytes
// together pays. Here b / q is all that a load of one's own takes: reading each byte of the file,
// from the page cache or from the disk, packing, and copies to a GPU. Our store has no server, and
// nothing has to be exported: o is zero, s is what attaching takes, and once for all objects
// mapping their pages. On a GPU shared weights are another process's memory of the GPU. Times in
// ns.
//
//   for (const cold_start& c : cold_starts(run)) c.private_ns() / c.shared_ns();
#pragma once

#include "../core/text.hpp"
#include "../result/device.hpp"
#include "../result/load_case.hpp"
#include "../result/statistics.hpp"
#include "model.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::bound {

/// What sharing a model's weights in so many objects takes and spares.
struct granularity {
  int objects = 1;
  double attach_ns = 0; ///< to all of them, and mapping their pages: n (o + s)
  double load_ns = 0;   ///< b / q, of a file in the page cache
  double disk_ns = 0;   ///< b / q, of a file on a disk; 0: not known
  double rho_ns() const { return load_ns - attach_ns; }
  double disk_rho_ns() const { return disk_ns - attach_ns; }
};

/// Clients that begin at once: when half of them, and when the last one has its first answer, and
/// the memory that all hold together. Of one way, zero: not known.
struct clients {
  struct side {
    double median_ns = 0, worst_ns = 0, held_bytes = 0;
  };
  int count = 1;
  side own{}, shared{}; ///< each with its own weights, all with the same
  bool complete() const { return own.worst_ns > 0 && shared.worst_ns > 0; }
  double speedup() const { return own.worst_ns / shared.worst_ns; }
};

/// A model's way to its first answer, in a type on some threads. Times that were not measured are
/// zero, and named in `lacking`.
struct cold_start {
  std::string model{}; ///< or its fused form
  numeric type = numeric::f32;
  int threads = 1;
  bool on_gpu = false;
  double file_bytes = 0, packed_bytes = 0;
  double setup_ns = 0;
  double read_ns = 0, mmap_ns = 0, pack_ns = 0;
  double disk_read_ns = 0, disk_mmap_ns = 0;
  std::string no_disk{}; ///< why these are not known; empty: they are, or were not asked for
  double attach_ns = 0, touch_ns = 0, populate_ns = 0;
  double pageable_ns = 0, pinned_ns = 0, pin_ns = 0; ///< on a GPU
  double run_ns = 0;
  std::vector<granularity> shared{};  ///< from one object on
  std::vector<clients> at_once{};     ///< from one client on
  double least_load_ns = 0;           ///< the least measured time of any way to the weights
  std::optional<double> bound_ns{};   ///< of a run
  std::vector<std::string> lacking{}; ///< what to measure
  std::vector<std::string> failed{};  ///< other ways without a time, and why

  bool complete() const { return lacking.empty(); }
  /// The faster way to the bytes of a file in the page cache; and on a disk, 0: not known.
  double file_ns() const { return std::min(read_ns, mmap_ns); }
  double disk_ns() const { return std::min(disk_read_ns, disk_mmap_ns); }
  /// The faster way to map the pages of what was attached; on a GPU the first access to it.
  double map_ns() const { return on_gpu ? touch_ns : std::min(touch_ns, populate_ns); }
  /// True where a process gains by pinning memory for its copy to the GPU.
  bool pins() const { return pin_ns + pinned_ns < pageable_ns; }
  /// The faster copy to the GPU.
  double copy_ns() const { return pins() ? pin_ns + pinned_ns : pageable_ns; }
  double private_load_ns() const { return file_ns() + pack_ns + copy_ns(); }
  bool from_disk() const { return disk_ns() > 0; }
  double disk_load_ns() const { return disk_ns() + pack_ns + copy_ns(); }
  double disk_private_ns() const { return setup_ns + disk_load_ns() + run_ns; }
  double disk_speedup() const { return disk_private_ns() / shared_ns(); }
  double shared_load_ns() const { return attach_ns + map_ns(); }
  double private_ns() const { return setup_ns + private_load_ns() + run_ns; }
  double shared_ns() const { return setup_ns + shared_load_ns() + run_ns; }
  double speedup() const { return private_ns() / shared_ns(); }
  /// The same of a process that has its kernels ready already.
  double speedup_when_ready() const {
    return (private_load_ns() + run_ns) / (shared_load_ns() + run_ns);
  }
  double ideal() const { return private_ns() / (setup_ns + run_ns); }
  double efficiency() const { return speedup() / ideal(); }
  /// No process that begins with weights elsewhere has its answer before.
  std::optional<double> cold_bound_ns() const {
    return bound_ns ? std::optional(*bound_ns + least_load_ns) : std::nullopt;
  }
};

namespace detail {
/// What is known of a model's load and runs.
struct load_rows {
  std::map<std::string, const measurement*> by_way{};
  const measurement* run = nullptr;
  std::string no_disk{};
  std::map<std::string, std::string> failed{}; ///< why, by way; but of a disk

  double ns(const std::string& way) const {
    const auto found = by_way.find(way);
    return found == by_way.end() ? 0 : found->second->median_ns;
  }
};

/// The bound of a graph in a run that holds its layers, of a fused one that of the better form;
/// nothing where something is missing.
inline std::optional<double> bound_of(const source& s, const std::string& name, setting in) {
  for (const model::graph& g : s.run.graphs) {
    const std::vector<const model::graph*> forms = fused_forms(s.run, g);
    const bool as_fused = std::any_of(forms.begin(), forms.end(),
                                      [&](const model::graph* f) { return f->name == name; });
    if (g.name != name && !as_fused) continue;
    const std::vector<setting> known = s.cases.settings(g);
    if (std::find(known.begin(), known.end(), in) == known.end()) continue;
    const model_bound b = analyse(s, g, in);
    if (b.partial() || (as_fused && !b.fused)) continue;
    return b.form(as_fused).bound.sequential.ns;
  }
  return std::nullopt;
}

/// The least of a way's times; zero: none is known.
inline double least_of(const load_rows& rows, const std::string& way) {
  const auto found = rows.by_way.find(way);
  return found == rows.by_way.end() ? 0 : found->second->min_ns;
}

/// The least measured time of any way to the weights: a sum counts where all of it is known.
inline double least_load(const cold_start& c, const load_rows& rows) {
  const auto least = [&rows](const char* way) { return least_of(rows, way); };
  double out = 0;
  const auto take = [&out](double a, double b) {
    if (b > 0 && (out <= 0 || a + b < out)) out = a + b;
  };
  for (const char* file : {"read", "mmap"}) {
    if (!c.on_gpu) take(0, least(file));
    for (const char* copy : {"pageable", "pinned"})
      if (c.on_gpu && least(file) > 0) take(least(file), least(copy));
  }
  for (const char* map : {"touch", "populate"})
    take(least("attach:1"), least(map));
  return out;
}

inline void fill_clients(cold_start& c, const load_rows& rows) {
  std::map<int, clients> by_count;
  for (const auto& [text, m] : rows.by_way) {
    const result::load_way way = result::parse_load_way(text);
    if (!result::of_clients(way.name)) continue;
    clients& its = by_count[way.count];
    its.count = way.count;
    clients::side& side = way.name == result::private_clients ? its.own : its.shared;
    std::vector<double> answers;
    for (const timed_part& client : m->parts)
      answers.push_back(client.ns);
    side.median_ns = answers.empty() ? m->median_ns : result::median(std::move(answers));
    side.worst_ns = m->median_ns;
    side.held_bytes = static_cast<double>(m->weight_bytes);
  }
  for (const auto& [count, its] : by_count) {
    if (its.complete()) c.at_once.push_back(its);
    for (const auto& [way, side] : {std::pair(result::private_clients, its.own),
                                    std::pair(result::shared_clients, its.shared)})
      if (const std::string text = result::load_way{std::string(way), count}.text();
          side.worst_ns <= 0 && !rows.failed.contains(text))
        c.failed.push_back(text + ": not measured");
  }
}

inline void fill(cold_start& c, const load_rows& rows) {
  c.setup_ns = rows.ns("setup");
  c.read_ns = rows.ns("read");
  c.mmap_ns = rows.ns("mmap");
  c.disk_read_ns = rows.ns("disk_read");
  c.disk_mmap_ns = rows.ns("disk_mmap");
  c.no_disk = rows.no_disk;
  c.pack_ns = rows.ns("pack");
  c.touch_ns = rows.ns("touch");
  c.populate_ns = rows.ns("populate");
  c.pageable_ns = rows.ns("pageable");
  c.pinned_ns = rows.ns("pinned");
  c.pin_ns = rows.ns("pin");
  std::vector<std::string> wanted{"setup", "read", "mmap", "pack", "touch"}, absent;
  if (c.on_gpu)
    wanted.insert(wanted.end(), {"pageable", "pinned", "pin"});
  else
    wanted.emplace_back("populate");
  for (const std::string& way : wanted)
    if (rows.ns(way) <= 0) absent.push_back(way);
  for (const auto& [text, m] : rows.by_way) {
    const result::load_way way = result::parse_load_way(text);
    if (result::of_clients(way.name)) continue;
    if (way.name == "attach")
      c.shared.push_back({way.count, m->median_ns + c.map_ns(), c.private_load_ns(),
                          c.from_disk() ? c.disk_load_ns() : 0});
    double& bytes = result::of_a_file(way.name) ? c.file_bytes : c.packed_bytes;
    bytes = std::max(bytes, static_cast<double>(m->weight_bytes));
  }
  std::sort(c.shared.begin(), c.shared.end(),
            [](const granularity& a, const granularity& b) { return a.objects < b.objects; });
  if (c.shared.empty() || c.shared.front().objects != 1)
    absent.emplace_back("attach");
  else
    c.attach_ns = rows.ns("attach:1");
  if (!absent.empty())
    c.lacking.push_back("no time of " + join(absent, ", ") +
                        ": run its plan with benanza_bench --plan PLAN --load");
  if (rows.run == nullptr)
    c.lacking.push_back("no time of a whole run: run its plan with benanza_bench --plan PLAN");
  else
    c.run_ns = rows.run->median_ns;
  c.least_load_ns = least_load(c, rows);
  for (const auto& [way, why] : rows.failed)
    c.failed.push_back(way + ": " + why);
  fill_clients(c, rows);
}

/// Those of a run whose loads are all of one device.
inline void add_cold_starts(const result::run& r, bool on_gpu, std::vector<cold_start>& out) {
  std::map<std::tuple<std::string, std::string, int>, load_rows> known;
  for (const measurement& m : r.measurements)
    if (result::of_a_load(m)) {
      load_rows& its = known[{m.key, m.type, m.threads}];
      if (m.error.empty())
        its.by_way[m.algorithm] = &m;
      else if (result::of_a_disk(m.algorithm))
        its.no_disk = m.error;
      else
        its.failed[m.algorithm] = m.error;
    }
  for (const measurement& m : r.measurements)
    if (result::of_a_whole_run(m) && m.error.empty() && m.algorithm == result::in_order)
      if (const auto its = known.find({m.key, m.type, m.threads}); its != known.end())
        its->second.run = &m;
  const source looked_up(r);
  for (const auto& [what, rows] : known) {
    const auto& [model, type, threads] = what;
    cold_start c{.model = model,
                 .type = parse_numeric(type).value_or(numeric::f32),
                 .threads = threads,
                 .on_gpu = on_gpu};
    fill(c, rows);
    c.bound_ns = bound_of(looked_up, model, {c.type, threads});
    out.push_back(std::move(c));
  }
}
} // namespace detail

/// All models of a run of which anything was loaded, on a CPU before a GPU.
inline std::vector<cold_start> cold_starts(const result::run& r) {
  std::set<std::string_view> loaded, all = result::devices(r);
  for (const measurement& m : r.measurements)
    if (result::of_a_load(m)) loaded.insert(result::device_of(m));
  all.insert(loaded.begin(), loaded.end());
  std::vector<cold_start> out;
  for (const std::string_view device : loaded) {
    const bool on_gpu = device == result::gpu_device;
    if (all.size() == 1) {
      detail::add_cold_starts(r, on_gpu, out);
      continue;
    }
    result::run its = r;
    result::keep_device(its, device);
    detail::add_cold_starts(its, on_gpu, out);
  }
  return out;
}

} // namespace benanza::bound
