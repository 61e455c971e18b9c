// SPDX-License-Identifier: Apache-2.0
// What do the libraries have by name and refuse, and why? Asked for each layer of a list. oneDNN
// prints its reasons on standard output, if that is set before it is first called: a run, which
// must not print them, asks in a process of its own.
//
//   tell_reasons();   for (const result::refused_case& r : refusals(listing)) r.why;
#pragma once

#include "listing.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace benanza::bench {

/// From now on libraries that are called for the first time say why they refuse.
inline void tell_reasons() {
  setenv("ONEDNN_VERBOSE", "dispatch", 1);
}

/// What the libraries of a list refuse for its layers, also for those of which they refuse all.
inline std::vector<result::refused_case> refusals(const listing& l) {
  std::vector<result::refused_case> out;
  const auto ask = [&](const op::layer& of, numeric t, int threads) {
    for (const auto& library : l.libraries)
      for (backend::refused_algorithm& r : library->refused(of, t, {.threads = threads}))
        out.push_back({std::string(op::family(of)), op::key(of), std::string(name(t)),
                       std::string(library->name()), std::move(r.id), std::move(r.why)});
  };
  for (const group& g : l.groups)
    if (const auto* of = dynamic_cast<const layer_subject*>(g.what.get()))
      ask(of->layer(), of->type, of->threads);
  for (const result::measurement& m : l.without)
    if (const auto t = parse_numeric(m.type); t && result::nothing_runs(m))
      ask(op::parse(m.family, m.key), *t, m.threads);
  return out;
}

/// The same, asked in a process of its own; `list` makes the list there. To be called before the
/// libraries and threads of this process.
template <class List>
std::vector<result::refused_case> refusals_apart(List list) {
  int ends[2];
  if (pipe(ends) != 0) throw error("no pipe for the libraries' reasons", "--refused");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    int failed = 0;
    try {
      tell_reasons();
      result::run r;
      r.refused = refusals(list());
      const std::string text = result::context_to_json(r).dump(
          -1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
      for (std::size_t at = 0; at < text.size();) {
        const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
        if (n <= 0) break;
        at += static_cast<std::size_t>(n);
      }
    } catch (const std::exception&) {
      failed = 1;
    }
    _exit(failed);
  }
  close(ends[1]);
  std::string text;
  char some[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], some, sizeof some)) > 0;)
    text.append(some, static_cast<std::size_t>(n));
  close(ends[0]);
  int ended = 0;
  if (child < 0 || waitpid(child, &ended, 0) != child || ended != 0) {
    std::fprintf(stderr,
                 "benanza_bench: what the libraries refuse is not in the result: the process "
                 "that asked them failed\n");
    return {};
  }
  std::vector<result::refused_case> out;
  const nlohmann::json all = nlohmann::json::parse(text, nullptr, false);
  if (all.is_object() && all.contains("refused"))
    for (const auto& row : all["refused"])
      out.push_back({row[0], row[1], row[2], row[3], row[4], row[5]});
  return out;
}

} // namespace benanza::bench
