// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/pages.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <unistd.h>
#include <utility>

using namespace benanza;
using namespace benanza::machine;

namespace {
/// A folder that says what a system says.
struct fake_system {
  std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("benanza_memory_" + std::to_string(getpid()));
  fake_system() { std::filesystem::create_directory(root); }
  ~fake_system() { std::filesystem::remove_all(root); }
  void say(const std::string& file, const std::string& text) const {
    const std::filesystem::path p = root / file;
    std::filesystem::create_directories(p.parent_path());
    std::ofstream(p) << text;
  }
  std::int64_t memory() const { return system_memory(root.string()); }
};
} // namespace

TEST_CASE("the least of what the system and control groups leave may be taken") {
  const fake_system s;
  CHECK(s.memory() > std::int64_t{1} << 60); // no file says anything
  s.say("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n");
  CHECK(s.memory() == 8000 * 1024);
  s.say("proc/self/cgroup", "4:cpu,memory:/a/b\n1:cpu:/x\n0::/c\n");
  CHECK(s.memory() == 8000 * 1024);
  s.say("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  s.say("sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "1000\n");
  CHECK(s.memory() == 8000 * 1024);
  s.say("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000000\n"); // around it
  s.say("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000000\n");
  CHECK(s.memory() == 4000000);
  s.say("sys/fs/cgroup/memory/a/memory.stat", "cache 7\ntotal_inactive_file 500000\n");
  CHECK(s.memory() == 4500000);
  s.say("sys/fs/cgroup/c/memory.max", "max\n");
  s.say("sys/fs/cgroup/c/memory.current", "1000000\n");
  CHECK(s.memory() == 4500000);
  s.say("sys/fs/cgroup/c/memory.max", "3000000\n");
  CHECK(s.memory() == 2000000);
  s.say("sys/fs/cgroup/c/memory.stat", "anon 1\ninactive_file 400000\n");
  CHECK(s.memory() == 2400000);
  s.say("sys/fs/cgroup/c/memory.current", "4000000\n"); // over its limit for a moment
  CHECK(s.memory() == 0);
}

TEST_CASE("this system says how much memory there is") {
  CHECK(system_memory() > 0);
  CHECK(system_memory() < std::int64_t{1} << 50);
  CHECK(available_memory() < system_memory());
}

TEST_CASE("pages that are not there are refused before they are taken, kept ones serve") {
  page_store::get().release();
  const auto asked = std::exchange(memory_source(), [] { return std::int64_t{100'000'000}; });
  CHECK_THROWS_AS(page_memory(91'000'000), std::bad_alloc);
  CHECK(page_store::get().kept_bytes() == 0);
  { const page_memory fits(80 << 20); }
  { const page_memory more(160 << 20); } // half of it is kept
  check_memory(200e6);
  CHECK_THROWS_WITH_AS(check_memory(300e6, "here", "do this"),
                       "needs 300 MB of memory, 258 MB are available (here); do this", error);
  make_room(85e6);
  CHECK(page_store::get().kept_bytes() > 0);
  CHECK_THROWS_AS(make_room(95e6), error); // others cannot have the kept ones but as free memory
  CHECK(page_store::get().kept_bytes() == 0);
  memory_source() = asked;
}

TEST_CASE("sizes are written with three digits") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(1000) == "1.0 kB");
  CHECK(bytes_text(22.14e9) == "22.1 GB");
  CHECK(bytes_text(999.6e6) == "1.0 GB");
  CHECK(bytes_text(4.4e12) == "4.4 TB");
  CHECK(bytes_text(1.7e22) == "17000 EB");
}
