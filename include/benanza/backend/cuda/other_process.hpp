// SPDX-License-Identifier: Apache-2.0
// How does memory of the GPU come to be in another process? This program is started again, with a
// socket that a variable of its environment names: before anything else that second process serves
// it, takes memory of the GPU, hands out what others open it by (IPC), and ends with the socket. A
// fork would not do: the GPU cannot be used behind one.
//
//   other_process other;   opened_memory m(other.take(1 << 20), 1 << 20);
#pragma once

#include "../../machine/own_program.hpp"
#include "device.hpp"

#include <cerrno>
#include <cstdlib>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace benanza::backend::cuda {

namespace detail {
inline constexpr const char* other_process_variable = "BENANZA_GPU_MEMORY_SOCKET";

/// What is asked of the second process: so many bytes of memory.
struct memory_request {
  std::int64_t bytes = 0;
};
struct memory_answer {
  cudaError_t error = cudaSuccess;
  cudaIpcMemHandle_t handle{};
};

template <class T>
bool send_whole(int socket, const T& what) {
  return send(socket, &what, sizeof what, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof what);
}
template <class T>
bool receive_whole(int socket, T& what) {
  ssize_t n = -1;
  do
    n = recv(socket, &what, sizeof what, MSG_WAITALL);
  while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(sizeof what);
}

/// The second process, until its socket is closed.
inline void serve_memory(int socket) {
  std::vector<void*> taken;
  for (memory_request asked; receive_whole(socket, asked);) {
    memory_answer out;
    void* p = nullptr;
    const auto bytes = static_cast<std::size_t>(asked.bytes);
    out.error = cudaMalloc(&p, bytes);
    if (out.error == cudaSuccess) {
      taken.push_back(p);
      out.error = cudaMemset(p, 1, bytes);
    }
    if (out.error == cudaSuccess) out.error = cudaDeviceSynchronize();
    if (out.error == cudaSuccess) out.error = cudaIpcGetMemHandle(&out.handle, p);
    cudaGetLastError();
    if (!send_whole(socket, out)) break;
  }
  for (void* const p : taken)
    cudaFree(p);
}

/// False in each process that goes on: the second one ends here.
inline const bool serves_another_process = [] {
  const char* const socket = std::getenv(other_process_variable);
  if (socket == nullptr) return false;
  serve_memory(std::atoi(socket));
  _exit(0);
}();
} // namespace detail

/// True where memory of the GPU can be opened by other processes.
inline bool has_ipc() {
  constexpr auto ipc_support =
      static_cast<cudaDeviceAttr>(125); // older headers have no name for it
  int value = 0;
  const cudaError_t e = cudaDeviceGetAttribute(&value, ipc_support, 0);
  cudaGetLastError();
  return e != cudaSuccess || value != 0; // older drivers do not say
}

class other_process {
public:
  other_process() {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) refuse(errno);
    socket_ = ends[0];
    std::string variable =
        std::string(detail::other_process_variable) + '=' + std::to_string(ends[1]);
    std::string name = "benanza_gpu_memory";
    std::vector<char*> variables{variable.data()}, arguments{name.data(), nullptr};
    for (char** v = environ; *v != nullptr; ++v)
      variables.push_back(*v);
    variables.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], ends[1]); // not closed there
    const int failed = posix_spawn(&pid_, machine::own_program(), &actions, nullptr,
                                   arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed != 0) {
      close(socket_);
      refuse(failed);
    }
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  ~other_process() {
    close(socket_); // then it ends
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  pid_t id() const { return pid_; }

  /// Has it take so many bytes more, each of them one; what they are opened by.
  cudaIpcMemHandle_t take(std::int64_t bytes) {
    const detail::memory_answer a = ask({bytes});
    check(a.error, "memory of another process");
    return a.handle;
  }

private:
  [[noreturn]] static void refuse(int why) {
    throw error("no second process: " + std::string(std::strerror(why)));
  }
  detail::memory_answer ask(const detail::memory_request& what) {
    detail::memory_answer out;
    if (!detail::send_whole(socket_, what) || !detail::receive_whole(socket_, out))
      throw error("the process that holds memory of the GPU for another one ended");
    return out;
  }

  pid_t pid_ = -1;
  int socket_ = -1;
};

/// Memory of another process, opened.
class opened_memory {
public:
  opened_memory(const cudaIpcMemHandle_t& handle, std::int64_t bytes)
      : bytes_(bytes) {
    check(cudaIpcOpenMemHandle(&data_, handle, cudaIpcMemLazyEnablePeerAccess),
          "memory of another process cannot be opened");
  }
  opened_memory(opened_memory&& o) noexcept
      : data_(std::exchange(o.data_, nullptr))
      , bytes_(o.bytes_) {}
  opened_memory& operator=(opened_memory&&) = delete;
  ~opened_memory() {
    if (data_ != nullptr) cudaIpcCloseMemHandle(data_);
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::int64_t bytes() const { return bytes_; }
  void fill(std::span<const std::byte> from) const { upload(data(), from); }
  /// Reads a word there: it can be used.
  void touch() const {
    std::byte word[4];
    download(data(), std::span(word, std::min<std::size_t>(4, static_cast<std::size_t>(bytes_))));
  }

private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

} // namespace benanza::backend::cuda
