// SPDX-License-Identifier: Apache-2.0
#include "cold_start.hpp"

#include "heading.hpp"
#include "json.hpp"
#include "json_array.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace benanza::report {

namespace {
std::string cold_start_table(const bound::cold_start& c) {
  const bool disk = c.from_disk();
  std::string out = fmt::format("{:<24}{}{:>11}{:>11}\n", "weights", disk ? "    of disk" : "",
                                disk ? "of cache" : "private", "shared");
  const auto row = [&](std::string_view what, double of_disk, double mine, double shared,
                       const std::string& how = {}) {
    out += fmt::format("{:<24}{}{:>11}{:>11}{}{}\n", what,
                       disk ? fmt::format("{:>11}", show_time(of_disk)) : "", show_time(mine),
                       show_time(shared), how.empty() ? "" : "  ", how);
  };
  const auto same = [&row](std::string_view what, double mine, double shared,
                           const std::string& how = {}) { row(what, mine, mine, shared, how); };
  same("make the kernels ready", c.setup_ns, c.setup_ns);
  row("get the weights", c.disk_ns(), c.file_ns(), c.attach_ns,
      std::string(c.read_ns <= c.mmap_ns ? "read" : "mmap") + " / attach");
  if (c.on_gpu) {
    same("pack / access first", c.pack_ns, c.map_ns(), "pack / touch");
    same("copy them to the GPU", c.copy_ns(), 0, c.pins() ? "pin and pinned" : "pageable");
  } else {
    same("pack / map their pages", c.pack_ns, c.map_ns(),
         std::string("pack / ") + (c.touch_ns <= c.populate_ns ? "touch" : "populate"));
  }
  same("run", c.run_ns, c.run_ns);
  row("first answer", c.disk_private_ns(), c.private_ns(), c.shared_ns(),
      (disk ? fmt::format("{:.2f}x, ", c.disk_speedup()) : "") +
          fmt::format("{:.2f}x", c.speedup()));
  row("  with kernels ready", c.disk_private_ns() - c.setup_ns, c.private_ns() - c.setup_ns,
      c.shared_ns() - c.setup_ns, fmt::format("{:.2f}x", c.speedup_when_ready()));
  out += wrapped("ideal       ",
                 fmt::format("{:.2f}x, were loading free: sharing saves {} of the {} that loading "
                             "takes, efficiency {}",
                             c.ideal(), show_time(c.private_ns() - c.shared_ns()),
                             show_time(c.private_load_ns()), percent(c.efficiency())));
  return out;
}

/// How long it takes to read the file, from where.
std::string reading_line(const bound::cold_start& c) {
  const auto told = [&c](double ns, const char* how) {
    return fmt::format("{} ({:.3g} GB/s, {})", show_time(ns), c.file_bytes / ns, how);
  };
  std::string out = "from the page cache " +
                    told(c.file_ns(), c.read_ns <= c.mmap_ns ? "read" : "mmap") + "; from disk ";
  if (c.from_disk())
    out += told(c.disk_ns(), c.disk_read_ns <= c.disk_mmap_ns ? "disk_read" : "disk_mmap");
  else
    out += "not measured" + (c.no_disk.empty() ? "" : ": " + printable(c.no_disk));
  return wrapped("b/q         ", "each byte of the file is read: " + out);
}

std::string rho_line(const bound::granularity& g) {
  // One object may pay, and many not.
  const auto verdict = [&g](double rho_ns) {
    if (rho_ns > 0) return "sharing pays";
    return g.objects == 1 ? "sharing does not pay" : "sharing so many objects does not pay";
  };
  std::string out = fmt::format("{} for {}: a load of one's own {} - attaching and mapping {}; {}",
                                show_time(g.rho_ns()), counted(g.objects, "object"),
                                show_time(g.load_ns), show_time(g.attach_ns), verdict(g.rho_ns()));
  if (g.disk_ns > 0)
    out += fmt::format(
        "; from disk {}, of a load of {}{}", show_time(g.disk_rho_ns()), show_time(g.disk_ns),
        (g.rho_ns() > 0) == (g.disk_rho_ns() > 0) ? ""
                                                  : std::string(": ") + verdict(g.disk_rho_ns()));
  return wrapped("rho         ", out);
}

std::string clients_table(const bound::cold_start& c) {
  std::string out =
      fmt::format("\n{:<9}{:>22}{:>22}{:>24}\n{:<9}{:>11}{:>11}{:>11}{:>11}{:>12}{:>12}\n",
                  "clients", "private weights", "shared weights", "memory of all", "at once",
                  "median", "worst", "median", "worst", "private", "shared");
  for (const bound::clients& n : c.at_once)
    out += fmt::format("{:<9}{:>11}{:>11}{:>11}{:>11}{:>12}{:>12}\n", n.count,
                       show_time(n.own.median_ns), show_time(n.own.worst_ns),
                       show_time(n.shared.median_ns), show_time(n.shared.worst_ns),
                       show_bytes(n.own.held_bytes), show_bytes(n.shared.held_bytes));
  const bound::clients& most = c.at_once.back();
  const std::string factor = fmt::format("{:.2f}x", most.speedup());
  return out + wrapped("clients     ",
                       fmt::format("of {} the last one has its first answer {}; each is a process, "
                                   "which gets the weights (from the page cache, or shared), makes "
                                   "its kernels ready and runs once",
                                   most.count,
                                   most.speedup() >= 1
                                       ? factor + " sooner with shared weights"
                                       : "no sooner with shared weights (" + factor + ")"));
}

std::string cold_start_page(const bound::cold_start& c) {
  std::string out = wrapped("", fmt::format("{}, {} on {}: weights of {} in a file, {} packed",
                                            printable(c.model), name(c.type),
                                            c.on_gpu ? "a GPU" : counted(c.threads, "thread"),
                                            show_bytes(c.file_bytes), show_bytes(c.packed_bytes))) +
                    '\n';
  if (c.complete()) out += cold_start_table(c);
  if (const auto cold = c.cold_bound_ns(); cold && c.least_load_ns > 0)
    out +=
        wrapped("bound       ",
                fmt::format("{} cold: {} for the fastest way to the weights, {} for a run",
                            show_time(*cold), show_time(c.least_load_ns), show_time(*c.bound_ns)));
  else
    out += wrapped("bound       ",
                   "not known: add a result that holds all cases of the model's layers");
  if (c.complete()) {
    out += reading_line(c);
    for (const bound::granularity& g : c.shared)
      out += rho_line(g);
  }
  if (!c.at_once.empty()) out += clients_table(c);
  for (const std::string& what : c.lacking)
    out += wrapped("! ", what + '.');
  for (const std::string& what : c.failed)
    out += wrapped("! ", "no time of " + printable(what) + '.');
  return out + '\n';
}
} // namespace

std::string cold_start_shortfall(const std::vector<bound::cold_start>& all) {
  for (const bound::cold_start& c : all)
    if (!c.complete())
      return printable(c.model) + ": " + c.lacking.front();
    else if (!c.failed.empty())
      return printable(c.model) + ": no time of " + printable(c.failed.front());
  return {};
}

std::string cold_start_report(const result::run& r, const std::vector<bound::cold_start>& all) {
  std::string out = wrapped("", where_measured(r)) + '\n';
  for (const bound::cold_start& c : all)
    out += cold_start_page(c);
  return out + wrapped("- ", "Weights are random, of the model's true sizes. From disk: the page "
                             "cache was emptied of the file, caches of the disk and of a host "
                             "below were not. What a process takes to start is in none of this.");
}

std::string cold_start_json(const result::run& r, const std::vector<bound::cold_start>& all) {
  using result::ordered_json;
  const auto time = [](double ns) -> result::ordered_json {
    return ns > 0 ? result::ordered_json(ns) : result::ordered_json(nullptr);
  };
  result::ordered_json models =
      array_of(all, [&](const bound::cold_start& c) -> result::ordered_json {
        result::ordered_json out{{"model", c.model},
                                 {"type", name(c.type)},
                                 {"threads", c.threads},
                                 {"device", c.on_gpu ? result::gpu_device : result::cpu_device},
                                 {"file_bytes", c.file_bytes},
                                 {"packed_bytes", c.packed_bytes},
                                 {"setup_ns", time(c.setup_ns)},
                                 {"read_ns", time(c.read_ns)},
                                 {"mmap_ns", time(c.mmap_ns)},
                                 {"disk_read_ns", time(c.disk_read_ns)},
                                 {"disk_mmap_ns", time(c.disk_mmap_ns)},
                                 {"no_disk", c.no_disk},
                                 {"pack_ns", time(c.pack_ns)},
                                 {"attach_ns", time(c.attach_ns)},
                                 {"touch_ns", time(c.touch_ns)},
                                 {"populate_ns", time(c.populate_ns)},
                                 {"pageable_ns", time(c.pageable_ns)},
                                 {"pinned_ns", time(c.pinned_ns)},
                                 {"pin_ns", time(c.pin_ns)},
                                 {"run_ns", time(c.run_ns)}};
        if (c.complete()) {
          out["private_ns"] = c.private_ns();
          out["shared_ns"] = c.shared_ns();
          out["speedup"] = c.speedup();
          out["speedup_when_ready"] = c.speedup_when_ready();
          out["ideal"] = c.ideal();
          out["efficiency"] = c.efficiency();
        }
        if (c.complete() && c.from_disk()) {
          out["disk_private_ns"] = c.disk_private_ns();
          out["disk_speedup"] = c.disk_speedup();
        }
        out["least_load_ns"] = time(c.least_load_ns);
        out["bound_ns"] = time(c.bound_ns.value_or(0));
        out["cold_bound_ns"] = time(c.least_load_ns > 0 ? c.cold_bound_ns().value_or(0) : 0);
        out["granularity"] =
            array_of(c.shared, [&](const bound::granularity& g) -> result::ordered_json {
              const bool disk = c.complete() && g.disk_ns > 0;
              return {{"objects", g.objects},
                      {"attach_ns", g.attach_ns},
                      {"load_ns", time(g.load_ns)},
                      {"rho_ns", c.complete() ? result::ordered_json(g.rho_ns())
                                              : result::ordered_json(nullptr)},
                      {"disk_ns", time(g.disk_ns)},
                      {"disk_rho_ns", disk ? result::ordered_json(g.disk_rho_ns())
                                           : result::ordered_json(nullptr)}};
            });
        out["clients"] = array_of(c.at_once, [](const bound::clients& n) -> result::ordered_json {
          const auto side = [](const bound::clients::side& s) -> result::ordered_json {
            return {
                {"median_ns", s.median_ns}, {"worst_ns", s.worst_ns}, {"held_bytes", s.held_bytes}};
          };
          return {{"count", n.count},
                  {"private", side(n.own)},
                  {"shared", side(n.shared)},
                  {"speedup", n.speedup()}};
        });
        out["lacking"] = c.lacking;
        out["failed"] = c.failed;
        return out;
      });
  return dumped({{"schema", report_schema},
                 {"sources", r.source},
                 {"provenance", r.provenance},
                 {"cold_starts", std::move(models)}},
                1);
}

} // namespace benanza::report
