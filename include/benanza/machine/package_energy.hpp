// SPDX-License-Identifier: Apache-2.0
// How much energy did the processor take? Linux shows a counter for each of its packages (RAPL, of
// Intel and AMD): microjoules, which begin anew where their range ends. All of a package is in it:
// idle power, and what other processes do. Virtual machines often have none, and most systems let
// only root read them: then it says why. Reading costs some microseconds.
//
//   package_energy e;   const auto before = e.joules();   work();   *e.joules() - *before
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace benanza::machine {

/// The counters of all packages together. Each goes on about once a millisecond.
class package_energy {
public:
  static constexpr double step_ns = 1e6;

  /// Where Linux has them, or where BENANZA_POWERCAP says.
  static std::string usual_folder() {
    const char* named = std::getenv("BENANZA_POWERCAP");
    return named != nullptr ? named : "/sys/class/powercap";
  }

  explicit package_energy(const std::string& folder = usual_folder()) {
    namespace fs = std::filesystem;
    std::error_code absent;
    // A loop over an iterator: one that fails on its way ends.
    for (fs::directory_iterator zone(folder, absent), end; !absent && zone != end;
         zone.increment(absent))
      if (is_package(zone->path())) open(zone->path(), folder);
    if (packages_.empty() && why_not_.empty()) why_not_ = "no RAPL in " + folder;
  }
  package_energy(const package_energy&) = delete;
  package_energy& operator=(const package_energy&) = delete;
  ~package_energy() {
    for (const package& p : packages_)
      close(p.file);
  }

  /// Why nothing is known; empty: all packages are counted.
  const std::string& why_not() const { return why_not_; }
  std::size_t packages() const { return packages_.size(); }

  /// Joules that were counted since this object was made, right where no counter went through its
  /// whole range between two questions (minutes, at full power); nothing: one cannot be read.
  std::optional<double> joules() {
    if (!why_not_.empty()) return std::nullopt;
    double all_uj = 0;
    for (package& p : packages_) {
      const auto now = number_in(p.file);
      const bool anew = now && *now < p.last_uj;
      if (!now || (anew && p.range_uj < p.last_uj)) return std::nullopt;
      p.counted_uj += anew ? *now + (p.range_uj - p.last_uj) : *now - p.last_uj;
      p.last_uj = *now;
      all_uj += static_cast<double>(p.counted_uj);
    }
    return all_uj / 1e6;
  }

private:
  struct package {
    int file = -1;
    std::uint64_t range_uj = 0, last_uj = 0, counted_uj = 0;
  };

  /// `intel-rapl:0` named `package-0`, also on AMD; its parts are `intel-rapl:0:0`, and `psys` is
  /// more than processors.
  static bool is_package(const std::filesystem::path& zone) {
    const std::string its = zone.filename();
    std::string name;
    return its.starts_with("intel-rapl:") && std::count(its.begin(), its.end(), ':') == 1 &&
           std::getline(std::ifstream(zone / "name"), name) && name.starts_with("package");
  }

  void open(const std::filesystem::path& zone, const std::string& folder) {
    const std::string counter = zone / "energy_uj";
    const int file = ::open(counter.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      why_not_ =
          counter + " cannot be read: as root, chmod a+r " + folder + "/intel-rapl:*/energy_uj";
      return;
    }
    const auto now = number_in(file);
    std::uint64_t range_uj = 0; // without one it must not begin anew
    std::ifstream(zone / "max_energy_range_uj") >> range_uj;
    if (!now) why_not_ = counter + " holds no number";
    packages_.push_back({file, range_uj, now.value_or(0)});
  }

  static std::optional<std::uint64_t> number_in(int file) {
    char text[32];
    const ssize_t n = pread(file, text, sizeof text, 0);
    std::uint64_t out = 0;
    if (n <= 0 || std::from_chars(text, text + n, out).ec != std::errc{}) return std::nullopt;
    return out;
  }

  std::vector<package> packages_{};
  std::string why_not_{};
};

} // namespace benanza::machine
