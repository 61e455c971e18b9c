// SPDX-License-Identifier: Apache-2.0
// A benchmark program whose library fails in every way there is, for tests of what survives. The
// environment scripts it: FRAGILE_LAYERS says how many layers there are, FRAGILE_ALGORITHMS names
// what the library offers for each, FRAGILE_LACKS an operator that it has nothing for, FRAGILE_LOG
// is a file that gets a line whenever an algorithm is prepared, and FRAGILE_PAUSE the milliseconds
// that this takes. FRAGILE_AHEAD is how preparing for all of them at once fails. FRAGILE_LISTING is
// how listing fails, for the layer FRAGILE_LISTED or for all. FRAGILE_CACHE are the bytes of the
// last cache that it is to fill. An algorithm does what it is called: "crash", "abort", "hang" ...;
// behind an '@' is the stage in which it does so.
#include "../measure/fake_library.hpp"

#include <benanza/bench/option_values.hpp>
#include <benanza/bench/run.hpp>
#include <benanza/op/registry.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <thread>

namespace {
using namespace benanza;

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

/// A worker hides its standard output behind its standard error.
bool in_worker() {
  struct stat out {
  }, err{};
  return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
         out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

/// What memory is asked for and never given back.
std::vector<std::vector<char>>& hoard() {
  static std::vector<std::vector<char>> all;
  return all;
}

void fail_as(const std::string& what) {
  if (what == "crash") raise(SIGSEGV);
  if (what == "divide") raise(SIGFPE);
  if (what == "abort") std::abort();
  if (what == "killed") raise(SIGKILL);
  if (what == "exit") std::exit(3);
  if (what == "throw") throw error("the library refuses");
  if (what == "talk") std::puts("the library talks");
  if (what == "glutton")
    for (;;)
      hoard().emplace_back().reserve(std::size_t{16} << 20); // of addresses: quicker than of pages
  if (what == "hang")
    for (;;)
      std::this_thread::sleep_for(std::chrono::seconds(1));
}

class fragile_prepared final : public test::fake_prepared {
public:
  fragile_prepared(const test::script& s, const op::layer& l, numeric t, const backend::operands& o,
                   test::fake_log& log)
      : fake_prepared(s, l, t, o, log)
      , id_(s.algorithm.id) {}
  ~fragile_prepared() override { at("free"); }
  void run(int n) override {
    if (runs_++ == 0) at("check");
    fake_prepared::run(n);
  }
  double time(int n) override {
    at("time");
    return fake_prepared::time(n);
  }

private:
  void at(const std::string& stage) const {
    const std::size_t mark = id_.find('@');
    if (mark != std::string::npos && id_.substr(mark + 1) == stage) fail_as(id_.substr(0, mark));
  }
  std::string id_;
  int runs_ = 0;
};

class fragile_library final : public backend::library {
public:
  std::string_view name() const override { return "fragile"; }
  std::map<std::string, std::string> facts() const override {
    return {{"version", setting("FRAGILE_VERSION", "1")}};
  }
  std::vector<backend::algorithm> enumerate(const op::layer& l, numeric t,
                                            const backend::setting&) override {
    std::vector<backend::algorithm> out;
    if (t != numeric::f32 || op::family(l) == setting("FRAGILE_LACKS", "")) return out;
    if (const std::string one = setting("FRAGILE_LISTED", ""); one.empty() || one == op::name(l))
      fail_as(setting("FRAGILE_LISTING", ""));
    if (in_worker()) fail_as(setting("FRAGILE_WORKER_LISTING", ""));
    for (const std::string& id : bench::words(setting("FRAGILE_ALGORITHMS", "good,better")))
      out.push_back({.id = id, .index = static_cast<int>(out.size()), .equivalence = "f32"});
    return out;
  }
  void prepare_ahead(const op::layer&, numeric, std::span<const backend::algorithm>) override {
    fail_as(setting("FRAGILE_AHEAD", ""));
  }
  std::unique_ptr<backend::prepared> prepare(const op::layer& l, numeric t,
                                             const backend::algorithm& a,
                                             const backend::operands& o,
                                             const backend::setting&) override {
    if (const std::string log = setting("FRAGILE_LOG", ""); !log.empty())
      std::ofstream(log, std::ios::app) << op::name(l) << ' ' << a.id << '\n';
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::atoi(setting("FRAGILE_PAUSE", "0").c_str())));
    if (a.id.find('@') == std::string::npos) fail_as(a.id);
    if (a.id == "lose") lost_ = true;
    if (lost_) throw backend::device_lost("nobody answers");
    // Spoils what is prepared after it.
    if (a.id == "spoiler") spoiled_ = true;
    if (a.id == "victim" && spoiled_) fail_as("crash");
    return std::make_unique<fragile_prepared>(
        test::script{.algorithm = a, .ns = a.id == "better" ? 3000.0 : 4000.0}, l, t, o, log_);
  }

private:
  test::fake_log log_;
  bool spoiled_ = false, lost_ = false;
};

const backend::registration<fragile_library> registered{"fragile"};
} // namespace

int main(int argc, char** argv) {
  const int layers = std::atoi(setting("FRAGILE_LAYERS", "2").c_str());
  for (int i = 0; i < layers; ++i) {
    const op::layer l =
        op::parse(i % 2 == 0 ? "Relu/1x4x5x" + std::to_string(i + 5)
                             : "Conv/1x4x5x" + std::to_string(i + 5) + "-4x3x3-s1-p1");
    op::registered_layers().push_back({i, l, op::cost(l)});
  }
  // A small cache: with a large one half of such a program's time goes to clearing memory.
  const std::string cache = std::string("0,0,") + setting("FRAGILE_CACHE", "4194304");
  setenv("BENANZA_LAST_CACHE", cache.c_str(), 1);
  // Only the library is tested here, and not the machine, unless a filter says so.
  std::vector<char*> words(argv, argv + argc);
  std::string layers_only = "--benchmark_filter=-^machine/";
  words.insert(words.begin() + 1, layers_only.data());
  words.push_back(nullptr);
  return bench::run(argc + 1, words.data());
}
