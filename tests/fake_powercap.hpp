// SPDX-License-Identifier: Apache-2.0
// A folder that looks like /sys/class/powercap, whose counters a test writes.
//
//   fake_powercap f;   f.zone("intel-rapl:0", "package-0", 5'000'000);   f.set("intel-rapl:0",
//   6'000'000)
#pragma once

#include "program.hpp"

#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace benanza::test {

class fake_powercap {
public:
  std::string folder() const { return place_ / "powercap"; }

  void zone(const std::string& id, const std::string& name, std::uint64_t uj,
            std::uint64_t range_uj = 1'000'000'000'000'000) {
    write(id, "name", name + '\n');
    write(id, "max_energy_range_uj", std::to_string(range_uj) + '\n');
    set(id, uj);
  }
  /// In one piece, in place: who reads it meanwhile sees either number.
  void set(const std::string& id, std::uint64_t uj) {
    std::string text = std::to_string(uj);
    text.insert(0, 20 - text.size(), '0');
    std::filesystem::create_directories(folder() + '/' + id);
    const std::string file = folder() + '/' + id + "/energy_uj";
    const int to = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (to < 0 || pwrite(to, text.data(), text.size(), 0) < 0) std::abort();
    close(to);
  }
  void write(const std::string& id, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(folder() + '/' + id);
    std::ofstream(folder() + '/' + id + '/' + file) << text;
  }
  /// Its counter cannot be opened, not even by root.
  void forbid(const std::string& id) {
    const std::string file = folder() + '/' + id + "/energy_uj";
    std::filesystem::remove(file);
    std::filesystem::create_symlink(file, file);
  }

private:
  static inline int made_ = 0;
  scratch_folder place_{"powercap" + std::to_string(++made_)};
};

} // namespace benanza::test
