// SPDX-License-Identifier: Apache-2.0
// How does the supervisor hold a worker process? It starts this program again with the processors
// and settings that the run itself was started with, reads its answers and its board, and knows how
// it ended. Whatever becomes of the supervisor, the kernel takes the worker along.
//
//   worker_process w(argv, environment);   w.ask(message);   w.wait(answer, 120, stop)
#pragma once

#include "../../machine/environment.hpp"
#include "../../machine/own_program.hpp"
#include "../process/exit_reason.hpp"
#include "../sampling/parameters.hpp"
#include "worker.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace benanza::measure {

/// How many seconds a step of a case of so many flops may take, while a device runs it or on the
/// host. To prepare a case is the host's work in either case.
inline double patience_s(std::int64_t flops, bool device_runs, const parameters& p) {
  return device_runs
             ? p.device_silence_s + static_cast<double>(flops) / p.device_silence_flops_per_s
             : p.silence_s + static_cast<double>(flops) / p.silence_flops_per_s;
}

/// The same for a step of a group. Weights are loaded by the host, also for a device.
inline double patience_s(const subject& s, bool device_runs, const parameters& p) {
  return patience_s(s.flops, device_runs && s.loaded_bytes == 0, p) +
         static_cast<double>(s.loaded_bytes) / p.silence_loaded_bytes_per_s;
}

/// One worker process, from its start to its end.
class worker_process {
public:
  enum class news { answer, died, hung, stopped };

  worker_process(char** argv, const machine::environment& e) {
    int ends[2] = {-1, -1};
    const int memory = memfd_create("benanza_board", 0);
    if (memory < 0 || ftruncate(memory, sizeof(stage_board)) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
      throw error(std::string(no_worker_error) + " made: " + std::strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    void* shared =
        mmap(nullptr, sizeof(stage_board), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (shared == MAP_FAILED)
      throw error(std::string(no_worker_error) + " made: " + std::strerror(errno));
    board_ = new (shared) stage_board;
    socket_ = ends[0];
    start(argv, e, ends[1], memory);
    close(ends[1]);
    close(memory);
  }
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;
  ~worker_process() {
    shutdown(socket_, SHUT_RDWR);
    if (doing() == stage::waiting) end_in_peace();
    end();
    munmap(board_, sizeof(stage_board));
    close(socket_);
  }

  /// Asks for work; `wait` says what became of it.
  void ask(const nlohmann::json& message) { wire::send_line(socket_, message); }

  /// Waits for an answer, for the worker's end, for a silence of as many seconds as `patience_s`
  /// says of what the worker is doing (in which it notes no new step), or for `stop`.
  news wait(nlohmann::json& answer, const std::function<double()>& patience_s,
            const std::atomic<bool>& stop) {
    using clock = std::chrono::steady_clock;
    std::uint64_t last_note = board_->notes;
    double silent_s = 0;
    auto before = clock::now();
    while (!stop) {
      const double most_silent_s = patience_s();
      const int look_ms = static_cast<int>(std::clamp(250 * most_silent_s, 10.0, 500.0));
      if (const auto line = lines_.next()) {
        answer = nlohmann::json::parse(*line);
        return news::answer;
      }
      pollfd p{.fd = socket_, .events = POLLIN, .revents = 0};
      const int ready = poll(&p, 1, look_ms);
      const auto now = clock::now();
      // Time in which the machine sleeps or Ctrl-Z holds the run is no silence.
      silent_s += std::min(std::chrono::duration<double>(now - before).count(), 3e-3 * look_ms);
      before = now;
      // A process that the worker started may keep the socket open beyond its end.
      if (ready > 0 ? !lines_.fill(socket_) : ended()) {
        end_in_peace();
        return news::died;
      }
      if (ready > 0 || board_->notes != last_note) silent_s = 0;
      last_note = board_->notes;
      if (silent_s > most_silent_s) {
        end();
        return news::hung;
      }
    }
    return news::stopped;
  }

  /// The last that the worker noted.
  stage doing() const { return board_->doing; }
  int on_case() const { return board_->on_case; }
  /// How it ended, in words.
  std::string reason() const { return how_it_ended(status_); }

private:
  void start(char** argv, const machine::environment& e, int socket, int memory) {
    // Between fork and exec only what a signal handler may do: everything is made before.
    std::vector<std::string> variables{machine::detail::processors_text(e),
                                       std::string(worker_link::variable) + "=" +
                                           std::to_string(socket) + "," + std::to_string(memory)};
    std::vector<char*> all;
    for (char** v = environ; *v != nullptr; ++v)
      all.push_back(*v);
    for (std::string& v : variables)
      all.push_back(v.data());
    all.push_back(nullptr);
    const char* const program = machine::own_program();
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw error(std::string(no_worker_error) + " started: " + std::strerror(errno));
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    // Ctrl-C reaches the whole terminal; the supervisor decides. If memory runs out, the worker is
    // the one to go, and a crash shall not fill the disk.
    for (int s : {SIGINT, SIGTERM, SIGHUP})
      std::signal(s, SIG_IGN);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (const int f = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); f >= 0) {
      [[maybe_unused]] const auto n = write(f, "1000", 4);
      close(f);
    }
    dup2(STDERR_FILENO, STDOUT_FILENO);
    machine::widen(e);
    execve(program, argv, all.data());
    _exit(127);
  }

  bool ended() {
    if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
  }

  void end_in_peace() {
    for (int i = 0; i < 2000 && !ended(); ++i)
      usleep(1'000);
    end();
  }

  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

  pid_t pid_ = -1;
  int socket_ = -1, status_ = 0;
  stage_board* board_ = nullptr;
  wire::line_reader lines_;
};

} // namespace benanza::measure
