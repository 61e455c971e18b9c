// SPDX-License-Identifier: Apache-2.0
// What does benanza_bench print besides reports? Lists in place of a run, and lines on stderr: what
// came back from an earlier run, what was left out, how the run ended.
//
//   if (const auto text = printed_without_cases(options)) std::cout << *text;
#pragma once

#include "../core/version.hpp"
#include "../measure/campaign/campaign.hpp"
#include "../result/store/version.hpp"
#include "listing.hpp"
#include "refusals.hpp"

#include <cstdio>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>

namespace benanza::bench::detail {

/// What --version prints.
inline std::string versions() {
  std::vector<named_version> libraries{{"Google Benchmark", BENANZA_BENCHMARK_VERSION}};
  for (const auto& [name, make] : backend::registered_backends())
    if (const auto facts = make()->facts(); facts.contains("version"))
      libraries.emplace_back(name, facts.at("version"));
  for (const named_version& v : result::store::sqlite_version())
    libraries.push_back(v);
  libraries.emplace_back("nlohmann-json",
                         nlohmann::json::meta()["version"]["string"].get<std::string>());
  return version_text("benanza_bench", libraries);
}

/// What --parameters prints: a line for each.
inline std::string parameters_table(const parameters& p) {
  std::ostringstream out;
  parameters::visit(p, [&out](std::string_view name, const auto& value, std::string_view unit,
                              std::string_view meaning) {
    out << std::left << std::setw(25) << name << std::right << std::setw(9) << value << ' '
        << std::left << std::setw(11) << unit << meaning << '\n';
  });
  return out.str();
}

/// What --models prints: a line for each model.
inline std::string models_table(const std::vector<model::graph>& graphs) {
  std::size_t width = 4;
  for (const model::graph& g : graphs)
    width = std::max(width, printable(g.name).size());
  std::ostringstream out;
  const auto line = [&](const auto& name, const auto& batch, const auto& type, const auto& nodes,
                        const auto& layers) {
    out << std::left << std::setw(static_cast<int>(width)) << name << std::right << ' '
        << std::setw(6) << batch << ' ' << std::setw(7) << type << ' ' << std::setw(7) << nodes
        << ' ' << std::setw(7) << layers << '\n';
  };
  line("name", "batch", "type", "nodes", "layers");
  for (const model::graph& g : graphs)
    line(printable(g.name), g.batch, name(g.type), g.nodes.size(), g.layers.size());
  return out.str();
}

/// What is printed before anything is listed; nothing: the program goes on.
inline std::optional<std::string> printed_without_cases(const options& o) {
  if (!o.help.empty()) return o.help;
  if (o.version) return versions();
  if (o.list_parameters) return parameters_table(o.parameters);
  if (o.list_models) return models_table(models_of(o).graphs);
  return std::nullopt;
}

/// Prints how cuDNN describes this machine's GPU.
inline status describe_device() {
  for (const auto& [name, make] : backend::registered_backends()) {
    const auto made = make();
    if (backend::device_library* devices = made->own_devices())
      if (const std::string text = devices->device_description(); !text.empty()) {
        std::cout << text << '\n';
        return status::complete;
      }
  }
  throw error("no library of this program knows devices", "--describe-device",
              "build it with cuDNN installed");
}

/// Prints what the libraries have by name and refuse for the layers of a list, and why; also for
/// those of which they refuse all.
inline void print_refused(const listing& l) {
  for (const result::refused_case& r : refusals(l))
    std::cout << "refused, " << r.family << '/' << r.key << '/' << r.type << '/' << r.backend << '/'
              << r.algorithm << ": " << printable(r.why) << '\n';
}

/// Prints the names of the cases, and what could not be listed on stderr.
inline status print_names(const listing& l, const options& o) {
  status ended = status::complete;
  if (o.refused) print_refused(l);
  for (const group& g : l.groups)
    for (const bench_case& c : g.cases)
      if (c.results.empty()) {
        std::cout << c.name << '\n';
      } else {
        ended = status::partial;
        std::fprintf(stderr, "benanza_bench: not listed, %s: %s\n", c.name.c_str(),
                     c.results[0].error.c_str());
      }
  return ended;
}

inline void say_recalled(std::size_t recalled, std::size_t cases, const std::string& place) {
  std::fprintf(stderr, "benanza_bench: %zu of %zu cases are in %s already\n", recalled, cases,
               place.c_str());
}

inline void say_kept_ceilings(std::size_t cases, const std::string& since) {
  std::fprintf(stderr,
               "benanza_bench: %zu of the machine's cases were measured since %s and are not "
               "measured again (--again measures all)\n",
               cases, printable(since).c_str());
}

/// Says which libraries cannot run here, and which models are measured in another type.
inline void say_left_out(const listing& l, bool quiet) {
  if (quiet) return;
  // In a terminal a person may wonder where a library is; elsewhere a line on stderr is a fault.
  if (isatty(STDERR_FILENO) == 1)
    for (const std::string& why : l.left_out)
      std::fprintf(stderr, "benanza_bench: left out, %s\n", why.c_str());
  for (const std::string& why : l.in_f32)
    std::fprintf(stderr, "benanza_bench: measured in f32, %s\n", why.c_str());
  for (const std::string& why : l.in_own)
    std::fprintf(stderr, "benanza_bench: layers measured in their models' own type: %s\n",
                 why.c_str());
}

/// Says where emptying a device's cache was tried and left what was there: cold times are none
/// then.
inline void say_flush(const result::run& header, bool quiet) {
  const auto& measuring = header.provenance.at("measuring");
  const auto fact = measuring.find(device_flush_fact);
  if (!quiet && fact != measuring.end() && fact->second.starts_with("does not"))
    std::fprintf(stderr, "benanza_bench: cold times are too good, what empties the GPU's L2 %s\n",
                 fact->second.c_str());
}

inline void refuse_cut_off(const std::string& problem, const std::string& place) {
  if (!problem.empty())
    throw error("the result cannot be written: " + problem, place,
                "make room, then give the same command again");
}

/// Says how the run ended, where it did not end well, and gives the exit status. `out` is the file
/// that holds whole results only; empty: there is none.
inline status verdict(const listing& l, const campaign& c, const keeper* k,
                      const std::string& out) {
  std::size_t failed = 0, missing = 0;
  const bench_case* first = nullptr;
  for (const group& g : l.groups)
    for (const bench_case& one : g.cases) {
      if (not_measured(one))
        ++missing;
      else if (!one.results[0].error.empty() && failed++ == 0)
        first = &one;
    }
  if (!c.failure().empty()) {
    std::fprintf(stderr, "benanza_bench: %s\n", c.failure().c_str());
    return status::refused;
  }
  if (interrupted) {
    std::fprintf(stderr, "benanza_bench: interrupted, %zu of %zu cases are missing%s%s\n", missing,
                 l.cases, out.empty() ? "" : ("; " + printable(out) + " is not written").c_str(),
                 k == nullptr ? "" : ("; the same command goes on from " + k->place()).c_str());
    return status::interrupted;
  }
  if (failed == 0) return status::complete;
  std::fprintf(stderr, "benanza_bench: %zu of %zu cases failed, the first: %s: %s\n", failed,
               l.cases, first->name.c_str(), first->results[0].error.c_str());
  return status::partial;
}

} // namespace benanza::bench::detail
