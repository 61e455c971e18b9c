// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "../report/heading.hpp"
#include "../report/json.hpp"
#include "../report/units.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace benanza::report {

namespace {
using tables::above_zero;
using tables::unit;
using tables::whole;

/// From the weights to the first answer: with weights of the process's own, and with shared ones.
tables::table steps_of(const bound::cold_start& c) {
  const bool disk = c.from_disk();
  tables::table out{.columns = {{"", "weights"},
                                {"", disk ? "of cache" : "private", unit::time},
                                {"", "shared", unit::time},
                                {"", ""}}};
  if (disk) out.columns.insert(out.columns.begin() + 1, {"", "of disk", unit::time});
  const auto row = [&](std::string what, double of_disk, double mine, double shared,
                       std::string how = {}) {
    std::vector<tables::cell>& cells = out.rows.emplace_back();
    cells.emplace_back(std::move(what));
    if (disk) cells.emplace_back(of_disk);
    cells.insert(cells.end(), {mine, shared, std::move(how)});
  };
  const auto same = [&row](const char* what, double mine, double shared, std::string how = {}) {
    row(what, mine, mine, shared, std::move(how));
  };
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
  return out;
}

std::string ideal_text(const bound::cold_start& c) {
  return fmt::format("{:.2f}x, were loading free: sharing saves {} of the {} that loading takes, "
                     "efficiency {}",
                     c.ideal(), show_time(c.private_ns() - c.shared_ns()),
                     show_time(c.private_load_ns()), percent(c.efficiency()));
}

/// How long it takes to read the file, from where.
std::string reading_text(const bound::cold_start& c) {
  const auto told = [&c](double ns, const char* how) {
    return fmt::format("{} ({:.3g} GB/s, {})", show_time(ns), c.file_bytes / ns, how);
  };
  std::string out = "from the page cache " +
                    told(c.file_ns(), c.read_ns <= c.mmap_ns ? "read" : "mmap") + "; from disk ";
  if (c.from_disk())
    out += told(c.disk_ns(), c.disk_read_ns <= c.disk_mmap_ns ? "disk_read" : "disk_mmap");
  else
    out += "not measured" + (c.no_disk.empty() ? "" : ": " + c.no_disk);
  return "each byte of the file is read: " + out;
}

std::string rho_text(const bound::granularity& g) {
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
  return out;
}

/// What several processes wait for that begin at once.
tables::table clients_of(const bound::cold_start& c) {
  tables::table out{.key = "clients",
                    .columns = {{"count", "clients", unit::count},
                                {"private_median_ns", "private", unit::time},
                                {"private_worst_ns", "worst", unit::time},
                                {"shared_median_ns", "shared", unit::time},
                                {"shared_worst_ns", "worst", unit::time},
                                {"private_held_bytes", "held, private", unit::bytes},
                                {"shared_held_bytes", "held, shared", unit::bytes},
                                {"speedup", "", unit::factor}}};
  for (const bound::clients& n : c.at_once)
    out.rows.push_back({whole(n.count), n.own.median_ns, n.own.worst_ns, n.shared.median_ns,
                        n.shared.worst_ns, n.own.held_bytes, n.shared.held_bytes, n.speedup()});
  return out;
}

std::string clients_text(const bound::clients& most) {
  const std::string factor = fmt::format("{:.2f}x", most.speedup());
  return fmt::format(
      "median and worst time to the first answer of so many processes at once; of {} "
      "the last one has it {}; each gets the weights (from the page cache, or "
      "shared), makes its kernels ready and runs once",
      most.count,
      most.speedup() >= 1 ? factor + " sooner with shared weights"
                          : "no sooner with shared weights (" + factor + ")");
}

tables::table granularity_of(const bound::cold_start& c) {
  tables::table out{.key = "granularity",
                    .columns = tables::keys(
                        {"objects", "attach_ns", "load_ns", "rho_ns", "disk_ns", "disk_rho_ns"})};
  for (const bound::granularity& g : c.shared)
    out.rows.push_back(
        {whole(g.objects), g.attach_ns, above_zero(g.load_ns),
         c.complete() ? tables::cell(g.rho_ns()) : tables::cell(), above_zero(g.disk_ns),
         c.complete() && g.disk_ns > 0 ? tables::cell(g.disk_rho_ns()) : tables::cell()});
  return out;
}

std::vector<tables::field> fields_of(const bound::cold_start& c) {
  const bool all = c.complete(), disk = all && c.from_disk();
  const auto if_so = [](bool so, double v) { return so ? tables::cell(v) : tables::cell(); };
  return {{"model", c.model, true},
          {"type", std::string(name(c.type)), true},
          {"threads", whole(c.threads), true},
          {"device", std::string(c.on_gpu ? result::gpu_device : result::cpu_device), true},
          {"file_bytes", c.file_bytes},
          {"packed_bytes", c.packed_bytes},
          {"setup_ns", above_zero(c.setup_ns)},
          {"read_ns", above_zero(c.read_ns)},
          {"mmap_ns", above_zero(c.mmap_ns)},
          {"disk_read_ns", above_zero(c.disk_read_ns)},
          {"disk_mmap_ns", above_zero(c.disk_mmap_ns)},
          {"no_disk", c.no_disk},
          {"pack_ns", above_zero(c.pack_ns)},
          {"attach_ns", above_zero(c.attach_ns)},
          {"touch_ns", above_zero(c.touch_ns)},
          {"populate_ns", above_zero(c.populate_ns)},
          {"pageable_ns", above_zero(c.pageable_ns)},
          {"pinned_ns", above_zero(c.pinned_ns)},
          {"pin_ns", above_zero(c.pin_ns)},
          {"run_ns", above_zero(c.run_ns)},
          {"private_ns", if_so(all, c.private_ns())},
          {"shared_ns", if_so(all, c.shared_ns())},
          {"speedup", if_so(all, c.speedup())},
          {"speedup_when_ready", if_so(all, c.speedup_when_ready())},
          {"ideal", if_so(all, c.ideal())},
          {"efficiency", if_so(all, c.efficiency())},
          {"disk_private_ns", if_so(disk, c.disk_private_ns())},
          {"disk_speedup", if_so(disk, c.disk_speedup())},
          {"least_load_ns", above_zero(c.least_load_ns)},
          {"bound_ns", above_zero(c.bound_ns.value_or(0))},
          {"cold_bound_ns", above_zero(c.least_load_ns > 0 ? c.cold_bound_ns().value_or(0) : 0)},
          {"lacking", c.lacking},
          {"failed", c.failed}};
}

tables::chapter cold_start_chapter(const bound::cold_start& c) {
  tables::chapter out{.key = "cold_starts",
                      .title = fmt::format("{}, {} on {}: weights of {} in a file, {} packed",
                                           c.model, name(c.type),
                                           c.on_gpu ? "a GPU" : counted(c.threads, "thread"),
                                           show_bytes(c.file_bytes), show_bytes(c.packed_bytes)),
                      .fields = fields_of(c)};
  if (c.complete()) {
    out.add(steps_of(c));
    out.say("ideal", ideal_text(c));
  }
  if (const auto cold = c.cold_bound_ns(); cold && c.least_load_ns > 0)
    out.say("bound",
            fmt::format("{} cold: {} for the fastest way to the weights, {} for a run",
                        show_time(*cold), show_time(c.least_load_ns), show_time(*c.bound_ns)));
  else
    out.say("bound", "not known: add a result that holds all cases of the model's layers");
  if (c.complete()) {
    out.say("b/q", reading_text(c));
    for (const bound::granularity& g : c.shared)
      out.say("rho", rho_text(g));
  }
  out.add(granularity_of(c));
  out.add(clients_of(c));
  if (!c.at_once.empty()) out.say("clients", clients_text(c.at_once.back()));
  for (const std::string& what : c.lacking)
    out.warn(what + '.');
  for (const std::string& what : c.failed)
    out.warn("no time of " + what + '.');
  return out;
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

tables::chapter cold_start_answer(const result::run& r, const std::vector<bound::cold_start>& all) {
  tables::chapter out{.title = where_measured(r),
                      .fields = {{"schema", whole(report_schema)}, {"sources", r.source}}};
  out.chapters.push_back(provenance_of(r));
  for (const bound::cold_start& c : all)
    out.chapters.push_back(cold_start_chapter(c));
  out.chapters.emplace_back().say(
      "Weights are random, of the model's true sizes. From disk: the page cache was emptied of the "
      "file, caches of the disk and of a host below were not. What a process takes to start is in "
      "none of this.");
  return out;
}

} // namespace benanza::report
