// SPDX-License-Identifier: Apache-2.0
// How is a long run kept alive, kept, and split? The options that say so; what a case is and how it
// is timed does not depend on them.
//
//   campaign_options c;   c.read("--shard", "2/4");   c.shard == 2
#pragma once

#include "../core/error.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::measure {

/// What of the results that are there already is measured again.
enum class again_mode { nothing, failed, everything };

struct campaign_options {
  std::optional<bool> isolate{}; ///< unset: as `isolated` says
  std::string store{};           ///< results go there, and come back from there
  again_mode again = again_mode::nothing;
  int shard = 1, shards = 1;              ///< this one, of how many
  std::optional<double> case_timeout_s{}; ///< unset: as long as the case may need

  /// Whether a process of its own measures: the default when a store is written.
  bool isolated() const { return isolate.value_or(!store.empty()); }

  static std::optional<int> whole(std::string_view text) {
    int n = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (bad != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return n;
  }

  /// Takes an option with its value; false if it is none of these.
  bool read(std::string_view name, std::string_view value) {
    if (name == "--store") {
      if (value.empty()) throw error("a file is needed", "--store", "write --store results.db");
      store = value;
    } else if (name == "--shard") {
      const std::size_t slash = value.find('/');
      const auto i = whole(value.substr(0, slash));
      const auto n =
          slash == std::string_view::npos ? std::nullopt : whole(value.substr(slash + 1));
      if (!i || !n || *i < 1 || *n < 1 || *i > *n)
        throw error("\"" + std::string(value) + "\" is no part of a run", "--shard",
                    "write --shard 2/4 for the second of four");
      shard = *i;
      shards = *n;
    } else if (name == "--case-timeout") {
      const std::string text(value);
      char* end = nullptr;
      const double s = std::strtod(text.c_str(), &end);
      if (text.empty() || *end != 0 || !(s > 0) || s > 1e6)
        throw error("seconds are needed, not \"" + text + "\"", "--case-timeout",
                    "write --case-timeout 60");
      case_timeout_s = s;
    } else if (name == "--again" && (value == "failed" || value == "all")) {
      again = value == "failed" ? again_mode::failed : again_mode::everything;
    } else {
      return false;
    }
    return true;
  }
};

inline constexpr std::string_view campaign_help_text = R"(
Long runs:
  --isolate[=false]        a process of its own measures: a crash, a hang or lack of memory costs
                           one case (default with --store)
  --case-timeout SECONDS   without a sign of life, then a case is given up (default 120, and more
                           for large layers); with --isolate
  --store FILE             keeps each result there at once (SQLite); what it holds of this machine
                           and software is not measured again, unless with less effort
  --again[=failed|all]     measures again what is kept: what failed, or everything (default: all)
  --shard I/N              the I-th of N parts that take about the same time
  With --benchmark_out=FILE results are kept in FILE.unfinished until FILE is whole: after Ctrl-C, a
  crash or a full disk the same command goes on where it was.
)";

} // namespace benanza::measure
