// SPDX-License-Identifier: Apache-2.0
// Which calls of cublasLt are cuBLAS's own? cuBLAS runs most products by cublasLt, under names of
// its own (cublasLtTSTMatmul), so that logs of both hold them twice. Here the call of cuBLAS gets
// the algorithm that cublasLt names, and the inner call goes.
//
//   join_inner_calls(logs);
#pragma once

#include "call.hpp"
#include "form.hpp"

#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::trace {

/// True for a call that cuBLAS made.
inline bool made_by_cublas(const call& c) {
  return c.from == library::cublaslt && c.function != "cublasLtMatmul";
}

namespace detail {
/// Writes the calls of a call_log again, after `change` had each of its entries; where that returns
/// false the entry goes.
template <class Change>
void rewrite(call_log& l, Change&& change) {
  call_log out = l;
  out.calls.clear();
  out.entries.clear();
  out.failed.clear();
  call_table table;
  for (std::size_t i = 0; i < l.entries.size(); ++i) {
    call c = l.at(l.entries[i]);
    if (!change(c, i)) continue;
    entry e = l.entries[i];
    e.call = table.place(out, std::move(c));
    out.entries.push_back(std::move(e));
  }
  for (const failure& f : l.failed) {
    failure kept = f;
    kept.at.call = table.place(out, l.at(f.at));
    out.failed.push_back(std::move(kept));
  }
  l = std::move(out);
}
} // namespace detail

/// Joins each inner call of cublasLt to the call of cuBLAS that it belongs to: the first of equal
/// work that has none. Where no log is of cuBLAS, nothing is changed.
inline void join_inner_calls(std::vector<call_log>& logs) {
  struct place {
    const call_log* in;
    std::size_t entry;
  };
  std::unordered_map<std::string, std::deque<place>> inner;
  const auto work_of = [](const call& c) { return form_of(*c.layer).base; };
  for (const call_log& l : logs)
    for (std::size_t i = 0; i < l.entries.size(); ++i)
      if (const call& c = l.at(l.entries[i]); made_by_cublas(c) && c.layer)
        inner[work_of(c)].push_back({&l, i});
  if (inner.empty()) return;

  std::set<std::pair<const call_log*, std::size_t>> gone;
  std::vector<std::unordered_map<std::size_t, call>> better(logs.size());
  for (std::size_t k = 0; k < logs.size(); ++k)
    for (std::size_t i = 0; i < logs[k].entries.size(); ++i) {
      const call& c = logs[k].at(logs[k].entries[i]);
      if (c.from != library::cublas || !c.layer) continue;
      const auto found = inner.find(work_of(c));
      if (found == inner.end() || found->second.empty()) continue;
      const place p = found->second.front();
      found->second.pop_front();
      gone.emplace(p.in, p.entry);
      const call& does = p.in->at(p.in->entries[p.entry]);
      call joined = c;
      joined.algorithm = does.algorithm;
      joined.workspace_bytes = does.workspace_bytes;
      if (does.type) joined.type = does.type;
      better[k].emplace(i, std::move(joined));
    }
  if (gone.empty()) return;
  for (std::size_t k = 0; k < logs.size(); ++k)
    detail::rewrite(logs[k], [&](call& c, std::size_t i) {
      if (const auto found = better[k].find(i); found != better[k].end()) c = found->second;
      return !gone.contains({&logs[k], i});
    });
}

} // namespace benanza::trace
