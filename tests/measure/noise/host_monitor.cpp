// SPDX-License-Identifier: Apache-2.0
#include "../fragile.hpp"

#include <benanza/measure/noise/host_monitor.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace benanza;
using namespace benanza::measure;

TEST_CASE("quick probes come at most every half millisecond, and are reported once") {
  host_monitor w;
  w.expect(1, {});
  w.begin_slice();
  CHECK_FALSE(w.probed());
  int told = 0;
  const double start_ns = w.now_ns();
  while (w.now_ns() - start_ns < 5e6) {
    w.quick_probe();
    const auto seen = w.probed();
    told += seen.has_value();
    CHECK((!seen || seen->smt_loss >= 0));
    CHECK_FALSE(w.probed());
  }
  CHECK(told >= 1);
  CHECK(told <= (w.now_ns() - start_ns) / 0.5e6 + 1);
  while (!w.probed())
    w.quick_probe();
  for (const double now_ns = w.now_ns(); w.now_ns() - now_ns < 1e6;)
    w.quick_probe();
  w.begin_slice();
  CHECK_FALSE(w.probed()); // what was seen before a slice is not the slice's
}

TEST_CASE("a monitor waits for quiet no longer than it is asked to") {
  host_monitor w;
  w.expect(1, {.nop_ratio = 1e-3}); // no core is as good: a sibling always seems to be active
  w.begin_slice();
  CHECK_FALSE(w.quick_probe(true));
  const double start_ns = w.now_ns();
  CHECK_FALSE(w.wait_for_quiet(3e6));
  CHECK(w.now_ns() - start_ns >= 3e6);
  CHECK_FALSE(w.probed()); // probes while we waited say nothing about samples
}

TEST_CASE("what the kernel reports of waiting and of others' load is the noise") {
  test::scratch_folder folder("kernel");
  const auto say = [](const std::string& file, const std::string& text) {
    std::ofstream(file) << text; // in place: the monitor keeps it open
  };
  const std::string schedstat = folder / "schedstat", stat = folder / "stat";
  say(schedstat, "1000 0 1");
  say(stat, "cpu  0 0 0 0 0 0 0 0");
  parameters p;
  p.window_ns = 1e6;
  host_monitor w(0, p, {schedstat.c_str(), stat.c_str()});
  const auto pass = [&w](double ns) {
    for (const double until = w.now_ns() + ns; w.now_ns() < until;) {
    }
  };
  w.begin_slice();
  pass(1e6);
  CHECK(w.end_slice().waiting == 0);
  w.begin_slice();
  say(schedstat, "1000 500000000 1"); // half a second
  pass(1e6);
  CHECK(judge(w.end_slice()) == interference::waiting);

  pass(2e6);
  CHECK(w.window_is_over());
  CHECK(w.end_window().other_load == 0);
  say(stat, "cpu  5000 0 5000 0 0 0 0 0"); // ticks of a hundredth of a second
  pass(2e6);
  const noise busy = w.end_window();
  CHECK(judge(busy) == interference::other_load);
  pass(2e6);
  CHECK(w.end_window().other_load == 0);
  const pid_t child = fork();
  if (child == 0) {
    while (std::clock() < CLOCKS_PER_SEC / 10) {
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  say(stat, "cpu  5010 0 5000 0 0 0 0 0"); // what it took, and it was ours
  CHECK(w.end_window().other_load == 0);
  pass(2e6);
  const double before_ns = w.now_ns();
  CHECK(w.end_window().other_load == 0);
  const bool is_over = w.window_is_over();
  if (w.now_ns() - before_ns < p.window_ns) CHECK_FALSE(is_over); // others may have had the core
}

TEST_CASE("what the kernel does not report counts as quiet") {
  parameters p;
  p.window_ns = 1e6;
  host_monitor w(0, p, {"/nowhere", "/nowhere"});
  double least_waiting = 1; // others may have the core for most of a slice
  for (int slice = 0; slice < 100 && least_waiting >= 1; ++slice) {
    w.begin_slice();
    for (const double until = w.now_ns() + 2e6; w.now_ns() < until;) {
    }
    least_waiting = std::min(least_waiting, w.end_slice().waiting);
  }
  CHECK(least_waiting < 1);
  CHECK(w.end_window().other_load == 0);
}
