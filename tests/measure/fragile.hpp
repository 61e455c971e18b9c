// SPDX-License-Identifier: Apache-2.0
// Runs the benchmark program whose library fails (programs/fragile_bench.cpp): to its end, or next
// to the test, which then sends it signals.
#pragma once

#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace benanza::test {

inline const std::string fragile_bench = BENANZA_FRAGILE_BINARY;

/// Runs it with settings like "FRAGILE_LAYERS=2" and options.
inline outcome fragile(const std::string& settings, const std::string& options) {
  return shell("env " + settings + " " + fragile_bench + " --benchmark_min_time=0.002 " + options);
}

/// A program of its own next to the test.
class running {
public:
  /// Its standard output and error go to `out` and `err` of the folder.
  running(const scratch_folder& s, std::vector<std::string> settings,
          std::vector<std::string> options, rlim_t longest_file = RLIM_INFINITY,
          const std::string& program = fragile_bench)
      : folder_(s) {
    const std::string out = s / "out", err = s / "err";
    std::fflush(nullptr); // or the child writes it once more
    pid_ = fork();
    if (pid_ != 0) return;
    for (const auto& [file, to] : {std::pair{&out, STDOUT_FILENO}, {&err, STDERR_FILENO}})
      if (std::freopen(file->c_str(), "w", to == STDOUT_FILENO ? stdout : stderr) == nullptr)
        _exit(126);
    if (longest_file != RLIM_INFINITY) {
      const rlimit limit{longest_file, longest_file};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    setenv(last_cache_variable, told_last_cache, 1);
    for (std::string& setting : settings)
      putenv(setting.data());
    options.insert(options.begin(), program);
    std::vector<char*> words;
    for (std::string& o : options)
      words.push_back(o.data());
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running() {
    if (pid_ > 0) signal(SIGKILL), end();
  }

  void signal(int number) const { kill(pid_, number); }

  /// Its exit status; 128 and the signal that ended it.
  int end() {
    int ended = 0;
    waitpid(pid_, &ended, 0);
    pid_ = -1;
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  }

  /// The processes that it started.
  std::vector<pid_t> children() const {
    const std::string p = std::to_string(pid_);
    std::istringstream in(text_of("/proc/" + p + "/task/" + p + "/children"));
    std::vector<pid_t> out;
    for (pid_t child; in >> child;)
      out.push_back(child);
    return out;
  }

  std::string out() const { return text_of(folder_ / "out"); }
  std::string err() const { return text_of(folder_ / "err"); }

private:
  const scratch_folder& folder_;
  pid_t pid_ = -1;
};

/// Waits until `done` holds, at most a minute; what it held in the end.
inline bool eventually(const auto& done) {
  for (int i = 0; i < 30'000 && !done(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return done();
}

/// What became of each case of a result, by "layer algorithm state": a time or a reason.
inline std::map<std::string, std::string> rows(const std::string& text) {
  std::map<std::string, std::string> out;
  const auto whole = nlohmann::json::parse(text);
  for (const auto& b : whole.at("benchmarks")) {
    const std::string name = b.at("key").get<std::string>() + ' ' +
                             b.at("algorithm").get<std::string>() + ' ' +
                             b.at("state").get<std::string>();
    if (out.contains(name)) throw std::runtime_error("twice: " + name);
    out[name] = b.contains("error_message") ? b["error_message"].get<std::string>()
                                            : std::to_string(b.at("median_ns").get<int>());
  }
  return out;
}

inline long lines_in(const std::string& file) {
  const std::string text = text_of(file);
  return std::count(text.begin(), text.end(), '\n');
}

} // namespace benanza::test
