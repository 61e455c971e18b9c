// SPDX-License-Identifier: Apache-2.0
// Which cases does the machine itself have? Arithmetic by type out of registers and through the
// libraries, bandwidth by working set, calls, launches, hand-offs, fresh pages, what the C library
// takes for memory, messages between processes, copies between NUMA nodes, and what devices have.
// What this machine or build does not have is said in words.
//
//   for (group& g : list_machine_cases(libraries, {numeric::f32}, {0, 1}, selection)) ...
//   absent_ceilings({0, 1}, libraries, true) == "copies to, from and within a device: none runs
//   here..."
#pragma once

#include "../../machine/cache_lines.hpp"
#include "../../machine/facts.hpp"
#include "../subjects/name_filter.hpp"
#include "../subjects/offers.hpp"
#include "fresh_pages.hpp"
#include "hand_off.hpp"
#include "host_copies.hpp"
#include "library_subject.hpp"
#include "limit_subject.hpp"
#include "loop_subject.hpp"
#include "numa.hpp"
#include "process_copy.hpp"
#include "sweep_subject.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace benanza::measure::ceilings {

/// Layers that are all arithmetic, for a host and for a device with a hundred times its units; and
/// one that is none.
struct peak_layer {
  std::string_view kind, on_host, on_device;
};
inline constexpr peak_layer peak_layers[] = {
    {"matmul", "MatMul/1024x1024-1024x1024-w", "MatMul/4096x4096-4096x4096-w"},
    {"conv", "Conv/1x256x14x14-1024x1x1-s1", "Conv/32x1024x28x28-1024x1x1-s1"},
};
inline constexpr std::string_view call_layer = "Relu/16";

/// Kinds of devices, by their beginnings, that are measured with --all alone: managed memory and
/// memory of other processes. Not every GPU that is shared or lent serves them.
inline constexpr std::string_view kinds_of_all[] = {"prefetch_", "demand_", "ipc_"};
/// Transfers that no figure of a model rests on: with --all, or a filter that is about the machine.
inline constexpr std::string_view transfers[] = {
    "memcpy_flushed", "copy_2d_", "copy_small_pages", "malloc", "first_touch", "process", "numa_"};

/// Is this kind measured, where all is asked for or not, and with this filter?
inline bool is_asked_for(std::string_view kind, bool all, std::string_view filter) {
  const auto among = [kind](const auto& kinds) {
    return std::any_of(std::begin(kinds), std::end(kinds),
                       [kind](std::string_view start) { return kind.starts_with(start); });
  };
  const bool of_machine =
      filter.find(result::machine_family) != filter.npos && !filter.starts_with('-');
  return all || (!among(kinds_of_all) && (of_machine || !among(transfers)));
}

/// Working sets from well inside the first cache to four times the last: doubling, with a step
/// between in memory, where a line needs points; no more than `most_bytes`. Those of a quick look
/// end at twice the last cache: the largest take most of the time.
inline std::vector<std::int64_t> working_sets(int threads, std::int64_t last_cache_bytes,
                                              std::int64_t most_bytes, bool quick = false) {
  std::vector<std::int64_t> out;
  for (std::int64_t n = std::int64_t{4096} * threads;; n *= 2) {
    if (n <= most_bytes) out.push_back(n);
    if (n >= (quick ? 2 : 4) * last_cache_bytes || n > most_bytes) return out;
    if (n >= 2 * last_cache_bytes && n / 2 * 3 <= most_bytes) out.push_back(n / 2 * 3);
  }
}

/// What the machine, the build or a run that is not about all lacks of the ceilings that there are,
/// in words.
inline std::string absent_ceilings(const std::vector<int>& processors,
                                   const library_list& libraries, bool all,
                                   std::string_view filter = result::machine_family) {
  std::string out;
  const auto on_device = std::find_if(libraries.begin(), libraries.end(),
                                      [](const auto& l) { return l->on_device(); });
  if (on_device == libraries.end())
    out = "copies to, from, within and between devices: no library of this run has a device";
  else if (const std::string why = (*on_device)->unavailable(); !why.empty())
    out = "copies to, from, within and between devices: " + why;
  for (const auto& l : libraries)
    if (backend::device_library* devices = l->own_devices())
      if (const std::string absent = devices->absent_limits(); !absent.empty())
        out += (out.empty() ? "" : "; ") + absent;
  if (!all && on_device != libraries.end())
    out += std::string(out.empty() ? "" : "; ") +
           "managed memory, memory of other processes (IPC): measured with --all alone";
  if (!is_asked_for(transfers[0], all, filter))
    out +=
        std::string(out.empty() ? "" : "; ") +
        "transfers that no model's figure rests on (rows, fresh pages, other processes): measured "
        "with --all or --benchmark_filter=^machine/";
  if (nodes(processors).size() < 2)
    out += std::string(out.empty() ? "" : "; ") +
           "copies between NUMA nodes: there is one node for the processors of the run";
  if (processors.size() < 2)
    out += "; hand-offs between threads, copies between processes: there is one processor";
  if (!machine::flushes)
    out += "; copies of what no cache holds: the program cannot flush lines of this processor";
  if (!huge_pages_given()) out += "; huge pages: the kernel gives none";
  for (numeric t : {numeric::f32, numeric::bf16, numeric::u8s8u8, numeric::s8s8s8}) {
    bool found = false;
    for (const loop& l : kernels().loops)
      found = found || l.type == t;
    if (!found)
      out += "; loops of " + std::string(name(t)) +
             " arithmetic: the program is compiled for no such instruction";
  }
  return out;
}

namespace detail {
/// Collects the groups that the filter selects.
class group_list {
public:
  explicit group_list(const selection& s)
      : selection_(s)
      , selected_(s.filter) {}

  bool takes(std::string_view kind) const {
    return is_asked_for(kind, selection_.all_algorithms, selection_.filter);
  }

  /// What the libraries have for a layer; nothing where no case can be selected anyhow.
  std::vector<offer> offers(const op::layer& l, numeric type, int threads,
                            const library_list& libraries) const {
    if (!selected_.may_select("machine/")) return {};
    const std::string title = op::name(l) + '/' + std::string(name(type));
    return offers_for(title, l, type, threads, libraries, selection_.crashed, false).list;
  }

  void add(std::shared_ptr<subject> what, std::vector<bench_case> cases) {
    if (!takes(what->key)) return;
    std::erase_if(cases, [this](const bench_case& c) { return !selected_(c.name); });
    if (!cases.empty()) groups_.push_back({std::move(what), std::move(cases)});
  }
  std::vector<group> take() { return std::move(groups_); }

private:
  const selection& selection_;
  name_filter selected_;
  std::vector<group> groups_;
};

inline void add_layer(group_list& list, std::string_view kind, std::string_view layer, numeric type,
                      int threads, const library_list& libraries, double share,
                      bool on_device = false) {
  const op::layer l = op::parse(layer);
  auto what = std::make_shared<library_subject>(result::machine_key{std::string(kind), 0}, l, type,
                                                threads, libraries, share);
  std::vector<bench_case> cases;
  for (offer& o : list.offers(l, type, threads, libraries)) {
    if (o.algorithm.equivalence != name(type) || o.library->on_device() != on_device) continue;
    if (o.algorithm.fallback == "ref") continue; // no limit of the machine, and minutes a run
    cases.push_back(machine_case(*what, std::string(o.library->name()), std::move(o.algorithm)));
    cases.back().on_device = on_device;
  }
  list.add(what, std::move(cases));
}

inline void add_arithmetic(group_list& list, numeric type, int threads,
                           const library_list& libraries) {
  for (const loop& l : kernels().loops) {
    if (l.type != type) continue;
    auto what = std::make_shared<loop_subject>(l, threads);
    list.add(what, {own_case(*what, l.way)});
  }
  for (const peak_layer& p : peak_layers) {
    add_layer(list, p.kind, p.on_host, type, threads, libraries, 0.5);
    if (threads == 1) add_layer(list, p.kind, p.on_device, type, threads, libraries, 0.5, true);
  }
}

/// What devices move, and what it costs to start something there.
inline void add_devices(group_list& list, const library_list& libraries) {
  for (const auto& library : libraries)
    if (backend::device_library* devices = library->own_devices())
      for (backend::device_limit& limit : devices->limits()) {
        auto what = std::make_shared<device_subject>(std::move(limit));
        list.add(what, {what->only_case(std::string(library->name()))});
      }
}

inline void add_sweeps(group_list& list, int threads, std::int64_t most_bytes, bool quick,
                       const std::shared_ptr<working_memory>& memory) {
  const std::int64_t cache = machine::last_level_cache_bytes(),
                     second = machine::detail::cache_bytes(2);
  for (const sweep& s : kernels().sweeps)
    for (std::int64_t n : working_sets(threads, cache, most_bytes, quick)) {
      // Of two ways to read each has the sizes where it is the faster one.
      const bool fits = n <= second * threads;
      if (s.for_memory ? fits : s.kind == "read" && !fits) continue;
      // In memory others are in the way more often, and an execution takes milliseconds.
      const double share = n >= cache ? 0.4 : 0.1;
      auto what = std::make_shared<sweep_subject>(s, n, threads, share, memory);
      list.add(what, {own_case(*what, s.way)});
    }
}

inline void add_other(group_list& list, int threads, const library_list& libraries) {
  add_layer(list, "call", call_layer, numeric::f32, threads, libraries, 0.3);
  if (threads == 1)
    add_layer(list, "call", call_layer, numeric::f32, threads, libraries, 0.3, true);
  if (threads > 1) {
    auto what = std::make_shared<launch_subject>(threads);
    list.add(what, {own_case(*what, "parallel_region")});
  }
  for (const std::int64_t n : {2 << 20, 16 << 20, 128 << 20}) {
    auto fresh = std::make_shared<fresh_pages_subject>(threads, n);
    std::vector<bench_case> cases{own_case(*fresh, "small_pages")};
    if (huge_pages_given()) cases.push_back(own_case(*fresh, "huge_pages"));
    for (bench_case& c : cases)
      c.algorithm.equivalence = c.algorithm.id; // they do not compete: each is an answer
    list.add(fresh, std::move(cases));
  }
}

/// Working sets of transfers: three or more in each level of the caches, where a line needs points.
inline std::vector<std::int64_t> transfer_sets(int threads, std::int64_t most_bytes) {
  constexpr std::int64_t enough = 128 << 20;
  return working_sets(threads, machine::last_level_cache_bytes(), std::min(most_bytes, enough));
}

/// What the C library takes for memory; and a sweep on pages that are small.
inline void add_host_copies(group_list& list, std::int64_t most_bytes) {
  const std::vector<std::int64_t> sets = transfer_sets(1, most_bytes);
  if (sets.empty()) return;
  for (limit& l : host_copies(sets)) {
    const std::string way = l.way;
    auto what = std::make_shared<limit_subject>(std::move(l));
    list.add(what, {own_case(*what, way)});
  }
  const auto memory =
      std::make_shared<working_memory>(sweep_subject::memory_bytes(sets.back()), page_size::small);
  for (sweep s : kernels().sweeps) {
    if (s.kind != "copy") continue;
    s.kind = "copy_small_pages";
    for (const std::int64_t n : sets) {
      auto what = std::make_shared<sweep_subject>(s, n, 1, 0.3, memory);
      list.add(what, {own_case(*what, s.way)});
    }
  }
}

inline void add_between_processors(group_list& list, const std::vector<int>& processors,
                                   std::int64_t most_bytes) {
  if (processors.size() > 1) {
    auto what = std::make_shared<hand_off_subject>(processors);
    list.add(what, {own_case(*what, "spin")});
    for (const std::int64_t moved : transfer_sets(2, most_bytes)) {
      auto message = std::make_shared<process_subject>(moved / 4, processors);
      list.add(message, {own_case(*message, "two_copies")});
    }
  }
  const std::vector<node> all = nodes(processors);
  for (const sweep& s : kernels().sweeps) {
    if (s.kind != "copy" || all.size() < 2) continue;
    for (const node& from : all)
      for (const node& to : all)
        for (const std::int64_t n : {std::int64_t{256} << 10, std::int64_t{4} << 20,
                                     2 * machine::last_level_cache_bytes()}) {
          auto what = std::make_shared<numa_subject>(s, n, from, to);
          list.add(what, {own_case(*what, s.way)});
        }
  }
}
} // namespace detail

/// All groups of machine cases that the options select: arithmetic in `types`, everything else
/// once for each number of threads. `processors` are those that the run may use.
inline std::vector<group> list_machine_cases(const library_list& libraries,
                                             const std::set<numeric>& types,
                                             const std::vector<int>& processors,
                                             const selection& s) {
  detail::group_list list(s);
  // Not what is free now: a worker process has to come to the same list.
  const std::int64_t most = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 8;
  const auto memory = std::make_shared<working_memory>(
      sweep_subject::memory_bytes((s.quick ? 4 : 8) * machine::last_level_cache_bytes()));
  for (int threads : s.threads) {
    for (numeric type : types)
      detail::add_arithmetic(list, type, threads, libraries);
    detail::add_sweeps(list, threads, most, s.quick, memory);
    detail::add_other(list, threads, libraries);
  }
  detail::add_host_copies(list, most);
  detail::add_between_processors(list, processors, most);
  detail::add_devices(list, libraries);
  return list.take();
}

} // namespace benanza::measure::ceilings
