// SPDX-License-Identifier: Apache-2.0
// How is a long run kept alive, kept, split and shown? What a case is and how it is timed does not
// depend on these.
//
//   campaign_settings s;   s.store = "results.db";   s.isolated()
#pragma once

#include <optional>
#include <string>

namespace benanza::measure {

/// What of the results that are there already is measured again.
enum class again_mode { nothing, failed, everything };

/// When progress is shown on stderr.
enum class progress_mode { automatic, always, never };

/// Of which algorithms the kernels are looked at, where a profiler of the device is there.
enum class kernel_choice { none, winners, all };

struct campaign_settings {
  std::optional<bool> isolate{}; ///< unset: as `isolated` says
  std::string store{};           ///< results go there, and come back from there
  again_mode again = again_mode::nothing;
  int shard = 1, shards = 1;              ///< this one, of how many
  std::optional<double> case_timeout_s{}; ///< unset: as long as the case may need
  progress_mode progress = progress_mode::automatic;
  bool dry_run = false; ///< every case runs, as shortly as can be: its times mean nothing

  std::optional<kernel_choice> kernels{}; ///< unset: of the winners

  bool on_device = false; ///< a device is measured

  /// Whether a process of its own measures: the default when a store is written, and where a device
  /// is measured, which one algorithm may take from all others of its process.
  bool isolated() const { return isolate.value_or(!store.empty() || on_device); }
};

} // namespace benanza::measure
