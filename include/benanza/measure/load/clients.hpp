// SPDX-License-Identifier: Apache-2.0
// When do clients that begin at once have their first answers of a model? Each is a process: this
// program once more. It has its libraries and the plan, and waits for the word. Then it gets the
// weights, reads them from the file (which is in the page cache) and packs them, or attaches to
// packed ones that all share; makes the kernels ready, and runs once. Its time is from the word to
// the answer. When all have answered each says what memory it holds: of what several map, its part.
//
//   client_round r = run_clients({.file = fd, .plan = 0, .shared = key}, 4);   r.answers_ns[3]
#pragma once

#include "../../machine/environment.hpp"
#include "../../machine/own_program.hpp"
#include "../../machine/shared_store.hpp"
#include "../chain/chain.hpp"
#include "../process/exit_reason.hpp"
#include "model_weights.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <memory>
#include <optional>
#include <spawn.h>
#include <sys/socket.h>

namespace benanza::measure::load {

inline constexpr const char* store_name = "benanza-bench";

/// What a client inherits.
struct client_link {
  static constexpr const char* variable = "BENANZA_CLIENT";
  int socket = -1, file = -1; ///< of the weights
  int plan = 0;               ///< which one of the command line's
  std::string shared{};       ///< the key of packed weights; empty: it has its own

  /// The link, if this process is a client.
  static std::optional<client_link> from_environment() {
    const char* const text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    client_link l;
    int key = 0;
    if (std::sscanf(text, "%d,%d,%d,%n", &l.socket, &l.file, &l.plan, &key) != 3 || key == 0)
      throw error("this variable is only for a client that the program starts itself", variable,
                  "unset it");
    l.shared = text + key;
    unsetenv(variable);
    return l;
  }
  std::string text() const {
    return std::string(variable) + '=' + std::to_string(socket) + ',' + std::to_string(file) + ',' +
           std::to_string(plan) + ',' + shared;
  }
};

namespace detail {
/// What a client says of its first answer.
struct client_answer {
  double ns = 0;
  std::uint64_t content = 0;
};

template <class T>
bool tell(int socket, const T& what) {
  return send(socket, &what, sizeof what, MSG_NOSIGNAL) == ssize_t{sizeof what};
}
template <class T>
bool hear(int socket, T& what) {
  ssize_t n = -1;
  do
    n = recv(socket, &what, sizeof what, MSG_WAITALL);
  while (n < 0 && errno == EINTR);
  return n == ssize_t{sizeof what};
}

/// The same in all processes.
inline double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Memory of this process, and its part of what it shares with others.
inline std::int64_t held_bytes() {
  std::ifstream in("/proc/self/smaps_rollup");
  std::int64_t kib = 0;
  for (std::string word; in >> word;)
    if (word == "Pss:" && in >> kib) return kib * 1024;
  throw error("the system does not say how much memory a process holds", "/proc/self/smaps_rollup");
}

/// What a client has before it begins: the algorithms of a plan's nodes, and their operands.
struct client_model : chain_givens {
  client_model(const result::plan& p, const library_list& libraries) {
    for (std::size_t i = 0; i < p.steps.size(); ++i) {
      operands.emplace_back();
      algorithms.emplace_back();
      const result::plan_step& s = p.steps[i];
      if (s.backend.empty()) continue;
      const op::layer& l = layer_at(p.graph, static_cast<int>(i));
      operands.back() = backend::make_operands(l, p.type);
      for (const auto& library : libraries)
        if (library->name() == s.backend)
          for (backend::algorithm& a : library->enumerate(l, p.type, {.threads = p.threads}))
            if (a.id == s.algorithm) algorithms.back() = std::move(a);
    }
  }
  /// Forgets the operands that are in the file of weights; reads them from there into fresh memory.
  void forget() {
    for (backend::operands& o : operands)
      for (backend::tensor& t : o.inputs)
        if (stays(t)) sizes_.push_back(std::exchange(t.bytes, {}).size());
    machine::page_store::get().release();
  }
  void read(int file) {
    std::int64_t at = 0;
    auto size = sizes_.begin();
    for (backend::operands& o : operands)
      for (backend::tensor& t : o.inputs)
        if (stays(t)) {
          t.bytes.resize(*size++);
          read_file(file, t.bytes, at);
          at += std::ssize(t.bytes);
        }
  }

private:
  std::vector<std::size_t> sizes_{};
};

/// A client, as the process that started it sees it.
class client_process {
public:
  explicit client_process(client_link what) {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) refuse(errno);
    socket_ = ends[0];
    what.socket = ends[1];
    std::vector<std::string> words = arguments(), variables{what.text()};
    variables.push_back(machine::detail::processors_text(machine::entered()));
    // Clients go where the system puts them, and leave the processors that they wait on to others.
    variables.insert(variables.end(), {"OMP_PROC_BIND=false", "OMP_WAIT_POLICY=passive"});
    for (char** v = environ; *v != nullptr; ++v)
      if (!std::string_view(*v).starts_with("OMP_PROC_BIND=") &&
          !std::string_view(*v).starts_with("OMP_WAIT_POLICY="))
        variables.emplace_back(*v);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int kept : {what.socket, what.file})
      posix_spawn_file_actions_adddup2(&actions, kept, kept); // not closed there
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    const int failed = posix_spawn(&pid_, machine::own_program(), &actions, nullptr,
                                   pointers(words).data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    close(what.socket);
    if (failed == 0) return;
    close(socket_);
    refuse(failed);
  }
  client_process(const client_process&) = delete;
  client_process& operator=(const client_process&) = delete;
  ~client_process() { end(); }

  template <class T>
  T answer() {
    T out{};
    if (!hear(socket_, out))
      throw error("a client has no answer: " + how_it_ended(end()), "", "see what it said before");
    return out;
  }
  template <class T>
  void ask(const T& what) {
    tell(socket_, what); // a client that does not hear it has no answer
  }

private:
  [[noreturn]] static void refuse(int why) {
    throw error("no client can be started: " + std::string(std::strerror(why)));
  }
  /// Those that this program was started with.
  static std::vector<std::string> arguments() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> out;
    for (std::string word; std::getline(in, word, '\0');)
      out.push_back(word);
    return out;
  }
  static std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> out;
    for (std::string& w : words)
      out.push_back(w.data());
    out.push_back(nullptr);
    return out;
  }
  int end() {
    if (socket_ >= 0) close(std::exchange(socket_, -1)); // then it ends
    int status = 0;
    if (pid_ > 0)
      while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
      }
    pid_ = -1;
    return status;
  }

  pid_t pid_ = -1;
  int socket_ = -1;
};
} // namespace detail

/// What a client does; returns the exit status.
inline int serve_client(const client_link& link, const result::plan& p,
                        const library_list& libraries) {
  machine::widen(machine::entered());
  const bool own = link.shared.empty();
  const machine::shared_store store(store_name);
  detail::client_model known(p, libraries);
  if (own) known.forget();
  parameters thresholds = usual_parameters;
  thresholds.stack_tries = 0; // only a process that measures tries places of the stack
  double began_ns = 0;
  if (!detail::tell(link.socket, 'r') || !detail::hear(link.socket, began_ns)) return 1;

  std::optional<machine::shared_object> object;
  if (own) {
    known.read(link.file);
  } else {
    object = store.attach(link.shared);
    if (!object) throw error("shared weights were taken away", link.shared);
    object->populate();
    known.packed = object->bytes().data();
  }
  chain model(p, libraries, thresholds, false, std::move(known));
  model.run(1);
  const double took_ns = detail::now_ns() - began_ns;

  std::vector<double> out;
  model.read(out);
  detail::tell(link.socket,
               detail::client_answer{took_ns, content_hash(std::as_bytes(std::span(out)))});
  model.forget_operands();
  out = {};
  machine::page_store::get().release();
  malloc_trim(0);
  char all_have_answered = 0;
  if (!detail::hear(link.socket, all_have_answered)) return 1;
  detail::tell(link.socket, detail::held_bytes());
  detail::hear(link.socket, all_have_answered); // others count what it shares with them
  return 0;
}

/// What clients came to that began at once.
struct client_round {
  std::vector<double> answers_ns{}; ///< the first one first
  std::int64_t held_bytes = 0;      ///< by all of them together
  std::uint64_t answer = 0;         ///< a hash of it; all have the same
};

inline client_round run_clients(const client_link& what, int count) {
  std::vector<std::unique_ptr<detail::client_process>> all;
  for (int i = 0; i < count; ++i)
    all.push_back(std::make_unique<detail::client_process>(what));
  for (const auto& c : all)
    c->answer<char>();
  const double now_ns = detail::now_ns();
  for (const auto& c : all)
    c->ask(now_ns);
  client_round out;
  for (const auto& c : all) {
    const auto a = c->answer<detail::client_answer>();
    if (!out.answers_ns.empty() && a.content != out.answer)
      throw error("clients answer the same question differently");
    out.answer = a.content;
    out.answers_ns.push_back(a.ns);
  }
  std::sort(out.answers_ns.begin(), out.answers_ns.end());
  for (const auto& c : all)
    c->ask('m');
  for (const auto& c : all)
    out.held_bytes += c->answer<std::int64_t>();
  return out;
}

/// Rounds of so many clients. A sample is the time until all have answered; its parts are the
/// clients, in the order of their answers; its weights are all the memory that they hold.
class clients_run final : public backend::prepared, public backend::in_parts {
public:
  /// `answer`: what all clients of a plan answer, once one has.
  clients_run(std::string way, client_link what, int count,
              std::shared_ptr<std::optional<std::uint64_t>> answer)
      : way_(std::move(way))
      , what_(std::move(what))
      , count_(count)
      , answer_(std::move(answer)) {}
  std::string ran() const override { return way_; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    double ns = 0;
    for (int i = 0; i < executions; ++i) {
      client_round r = run_clients(what_, count_);
      if (answer_->value_or(r.answer) != r.answer)
        throw error("clients with weights of their own and with shared ones answer differently");
      *answer_ = r.answer;
      held_bytes_ = std::max(held_bytes_, r.held_bytes);
      ns += r.answers_ns.back();
      rounds_.push_back(std::move(r.answers_ns));
    }
    return ns;
  }
  void read(std::vector<double>& out) const override { out.clear(); }
  std::int64_t weight_bytes() const override { return held_bytes_; }

  backend::in_parts* parts() override { return this; }
  void between_parts(backend::probe_between) override {}
  std::vector<timed_part> parts_of(const std::vector<double>& samples) const override {
    std::vector<timed_part> out;
    for (int i = 0; i < count_; ++i) {
      std::vector<double> its;
      for (const std::vector<double>& r : rounds_)
        if (std::find(samples.begin(), samples.end(), r.back()) != samples.end())
          its.push_back(r[static_cast<std::size_t>(i)]);
      if (its.empty()) return {};
      out.push_back({"client " + std::to_string(i + 1), result::median(std::move(its))});
    }
    return out;
  }

private:
  std::string way_;
  client_link what_;
  int count_;
  std::shared_ptr<std::optional<std::uint64_t>> answer_;
  std::vector<std::vector<double>> rounds_{};
  std::int64_t held_bytes_ = 0;
};

} // namespace benanza::measure::load
