// SPDX-License-Identifier: Apache-2.0
// NVRTC and what the CUDA runtime does with its code, on the fake GPU: texts become shared objects
// of the host (host_kernel.hpp), are loaded, and run on the contents of the fake's memory. Copies
// between places of the GPU's memory are executions as well. The script knows them as "kernel v4"
// and "call memcpy". Kernels that measure the GPU itself (source/probes.hpp) are the fake's own:
// they compute nothing, and no compiler is needed for them.
#pragma once

#include "host_kernel.hpp"
#include "rotation.hpp"
#include "runtime.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <tuple>

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#define FAKE_GPU_HAS_NVRTC 1
#endif

namespace fake {

struct kernel_library;
/// One kernel of a library; handles point here.
struct kernel_state {
  using launched = std::tuple<unsigned, unsigned, std::vector<std::vector<std::byte>>>;

  std::string name{};
  std::shared_ptr<host_kernels> code{};
  /// By blocks, threads, and the numbers among the arguments.
  std::map<launched, std::shared_ptr<rotation>> launches{};
};
struct kernel_library {
  std::map<std::string, std::unique_ptr<kernel_state>> kernels{};
  std::shared_ptr<host_kernels> code{};
  std::string only{}; ///< name of the kernel that it has
};
struct program_state {
  std::string text{}, log{};
  std::vector<char> code{};
  bool portable = false; ///< compiled for no real GPU
};

/// What of kernels the fake has.
struct kernels_state {
  objects<kernel_library> libraries{device::it().log, "kernel-library"};
  objects<program_state> programs{device::it().log, "nvrtc-program"};
  std::map<const void*, kernel_state*> live{};

  static kernels_state& it() {
    static auto* const one = new kernels_state;
    return *one;
  }
};

/// The name of the only kernel of a text.
inline std::string kernel_name_in(const std::string& text) {
  const std::size_t global = text.find("__global__ void");
  if (global == std::string::npos) return {};
  const std::size_t bounds = text.find("__launch_bounds__(", global);
  std::size_t at = bounds == std::string::npos ? global + 15 : text.find(')', bounds) + 1;
  at = text.find_first_not_of(' ', at);
  return text.substr(at, text.find('(', at) - at);
}

/// Code of the fake: what it is, how long, the kernel's name, and a shared object.
struct code_head {
  char magic[8] = {'f', 'a', 'k', 'e', 'c', 'o', 'd', 'e'};
  std::uint64_t bytes = 0;
  char name[48] = {};
};

/// Bytes from a pointer to the end of its block; -1 where there is none.
inline std::int64_t bytes_behind(const void* p) {
  const block* const b = device::it().space.find(p, 0);
  return b == nullptr ? -1
                      : b->bytes - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) -
                                                             b->address);
}

/// Calls `f` with each address of the GPU that is in an argument.
template <class F>
void each_address(std::vector<std::byte>& argument, F&& f) {
  for (std::size_t at = 0; at + sizeof(void*) <= argument.size(); at += sizeof(void*)) {
    void* p = nullptr;
    std::memcpy(&p, argument.data() + at, sizeof p);
    if (p == nullptr || bytes_behind(p) < 0) continue;
    p = f(p);
    std::memcpy(argument.data() + at, &p, sizeof p);
  }
}

/// Kernels that every process has, and that are not worth a run of the compiler.
inline bool is_own(const std::string& name) {
  static const std::set<std::string> all{"sm_stamp", "read_all", "nothing", "busy", "chase"};
  return all.contains(name);
}
/// What one of these does when its turn comes; nothing: it is none of them.
inline work own_kernel(device& d, const std::string& name, unsigned blocks, void** arguments) {
  const auto argument = [&](std::size_t i) {
    void* p = nullptr;
    std::memcpy(&p, arguments[i], sizeof p);
    return p;
  };
  if (name == "nothing")
    return [&d](const stream&) {
      d.pass_gap();
      d.pass(d.rules.cost("kernel nothing", {}));
    };
  if (name == "busy") { // a step takes a nanosecond
    unsigned steps = 0;
    std::memcpy(&steps, arguments[0], sizeof steps);
    return [&d, steps](const stream&) {
      d.pass_gap();
      d.pass(d.rules.cost("kernel busy", {}) + steps);
    };
  }
  if (name == "sm_stamp") {
    struct stamp {
      unsigned long long ns, cycles, sm;
    };
    return [&d, blocks, to = static_cast<stamp*>(argument(0))](const stream&) {
      const auto first = static_cast<unsigned long long>(d.next_multiprocessor());
      for (unsigned b = 0; b < blocks; ++b)
        to[b] = {static_cast<unsigned long long>(d.timer()),
                 static_cast<unsigned long long>(d.cycles()), first + b};
    };
  }
  const extent all{argument(0), bytes_behind(argument(0))};
  return [&d, all, name](const stream&) {
    d.pass_gap();
    d.pass(d.rules.cost("kernel " + name, {}));
    if (!d.is_pinned(all.address)) d.read(all, "kernel " + name);
  };
}

/// A launch: its arguments are copied now, where its tensors end is known when it is executed.
class kernel_launch {
public:
  kernel_launch(kernel_state& k, unsigned blocks, unsigned threads, void** arguments) {
    auto e = std::make_shared<execution>();
    e->name = "kernel " + k.name;
    e->id = "kernel:" + k.name;
    std::vector<std::vector<std::byte>> values, numbers;
    for (std::size_t i = 0; const auto& p : k.code->parameters(0)) {
      const auto* const from = static_cast<const std::byte*>(arguments[i++]);
      values.emplace_back(from, from + p.bytes);
      numbers.push_back(values.back());
      each_address(numbers.back(), [&](void* address) {
        const extent whole{address, bytes_behind(address)};
        if (p.pointer && p.writes && e->writes.address != nullptr)
          e->writes_too.push_back(whole);
        else if (p.pointer && p.writes)
          e->writes = whole;
        else
          e->reads.push_back(whole);
        places_[block_of(whole)].push_back(whole.begin());
        return nullptr;
      });
    }
    auto& known = k.launches[{blocks, threads, std::move(numbers)}];
    if (!known) known = std::make_shared<rotation>();
    kind_ = known;
    kind_->see(places_);
    const bool wrong = device::it().rules.fails(e->name, "wrong");
    e->compute = [code = k.code, values, blocks, threads, wrong, self = e.get(),
                  kind = kind_](memory& m) {
      const auto place = [&m](const extent& x) {
        return std::span(m.contents(x.address, x.bytes), static_cast<std::size_t>(x.bytes));
      };
      const std::vector<extent> written = self->all_written();
      const auto has_end = [&kind](const extent& x) { return kind->knows(block_of(x)); };
      const bool ends = std::all_of(written.begin(), written.end(), has_end) &&
                        std::all_of(self->reads.begin(), self->reads.end(), has_end);
      last_results now;
      if (ends)
        for (const extent& x : self->reads)
          now.see(place(x).data(), x.bytes);
      const auto fits = [](const std::vector<std::byte>& was, const extent& x) {
        return std::ssize(was) == x.bytes;
      };
      if (ends && kind->last.of_the_same(now) &&
          std::equal(kind->last.made.begin(), kind->last.made.end(), written.begin(), fits)) {
        for (std::size_t i = 0; i < written.size(); ++i)
          std::copy(kind->last.made[i].begin(), kind->last.made[i].end(),
                    place(written[i]).begin());
        return;
      }
      auto here = values;
      std::vector<void*> at;
      for (auto& v : here) {
        each_address(v, [&m](void* p) { return m.contents(p, bytes_behind(p)); });
        at.push_back(v.data());
      }
      if (!code->launch(0, blocks, threads, at.data())) device::it().lose(cudaErrorIllegalAddress);
      if (wrong) place(written[0])[0] ^= std::byte{0x40};
      if (!ends) return;
      for (const extent& x : written)
        now.made.emplace_back(place(x).begin(), place(x).end());
      kind->last = std::move(now);
    };
    made_ = std::move(e);
  }

  std::shared_ptr<const execution> now() const {
    shorten(made_->writes);
    for (auto* const all : {&made_->reads, &made_->writes_too})
      for (extent& x : *all)
        shorten(x);
    return made_;
  }

private:
  static std::int64_t block_of(const extent& x) {
    const block* const b = device::it().space.find(x.address, 0);
    return b == nullptr ? 0 : b->number;
  }
  void shorten(extent& x) const {
    const auto its = places_.find(block_of(x));
    if (its == places_.end() || !kind_->knows(its->first)) return;
    const std::uintptr_t first = *std::min_element(its->second.begin(), its->second.end());
    std::uintptr_t end = std::min(x.end(), kind_->end_of(its->first, first));
    for (const std::uintptr_t next : its->second)
      if (next > x.begin()) end = std::min(end, next);
    x.bytes = static_cast<std::int64_t>(end - x.begin());
  }

  rotation::places places_{};
  std::shared_ptr<rotation> kind_{};
  std::shared_ptr<execution> made_{};
};

/// A copy of `planes` of `rows` of `width` bytes, as an execution.
struct copied {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t width = 0, rows = 1, planes = 1;
  std::size_t to_pitch = 0, from_pitch = 0, to_plane = 0, from_plane = 0;
};
inline cudaError_t put_copy(device& d, const copied& c, cudaStream_t s) {
  auto e = std::make_shared<execution>();
  e->name = "call memcpy";
  e->id = "memcpy";
  e->is_copy = c.rows * c.planes == 1;
  const auto whole = [&c](std::size_t pitch, std::size_t plane) {
    return static_cast<std::int64_t>((c.planes - 1) * plane + (c.rows - 1) * pitch + c.width);
  };
  e->reads = {{c.from, whole(c.from_pitch, c.from_plane)}};
  e->writes = {c.to, whole(c.to_pitch, c.to_plane)};
  e->compute = [c, reads = e->reads[0], writes = e->writes,
                wrong = d.rules.fails(e->name, "wrong")](memory& m) {
    std::byte* const to = m.contents(writes.address, writes.bytes);
    const std::byte* const from = m.contents(reads.address, reads.bytes);
    for (std::size_t z = 0; z < c.planes; ++z)
      for (std::size_t y = 0; y < c.rows; ++y)
        std::memcpy(to + z * c.to_plane + y * c.to_pitch,
                    from + z * c.from_plane + y * c.from_pitch, c.width);
    if (wrong) *to ^= std::byte{0x40};
  };
  return d.put(s, [&d, e = std::shared_ptr<const execution>(std::move(e))](const stream& on) {
    d.run(e, on);
  });
}

} // namespace fake

// ---- copies between places of the GPU's memory ------------------------------------------------
FAKE_GPU_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                         cudaMemcpyKind kind, cudaStream_t s) {
  return fake::answer([&](fake::device& d) {
    if (kind == cudaMemcpyDeviceToDevice)
      return fake::put_copy(d,
                            {.to = static_cast<std::byte*>(to),
                             .from = static_cast<const std::byte*>(from),
                             .width = bytes},
                            s);
    return d.put(s, [&d, to, from, bytes, kind](const fake::stream&) {
      if (d.copy(to, from, static_cast<std::int64_t>(bytes), kind) != cudaSuccess)
        d.lose(cudaErrorIllegalAddress);
    });
  });
}
FAKE_GPU_API cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int,
                                             std::size_t bytes, cudaStream_t s) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s);
}
FAKE_GPU_API cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                           std::size_t from_pitch, std::size_t width,
                                           std::size_t rows, cudaMemcpyKind kind, cudaStream_t s) {
  return fake::answer([&](fake::device& d) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost)
      return d.put(s, [=, &d](const fake::stream&) {
        auto* const into = static_cast<std::byte*>(to);
        const auto* const out_of = static_cast<const std::byte*>(from);
        for (std::size_t row = 0; row < rows; ++row)
          if (d.copy(into + row * to_pitch, out_of + row * from_pitch,
                     static_cast<std::int64_t>(width), kind) != cudaSuccess)
            return d.lose(cudaErrorIllegalAddress);
      });
    if (kind != cudaMemcpyDeviceToDevice) return cudaErrorNotSupported;
    return fake::put_copy(d,
                          {.to = static_cast<std::byte*>(to),
                           .from = static_cast<const std::byte*>(from),
                           .width = width,
                           .rows = rows,
                           .to_pitch = to_pitch,
                           .from_pitch = from_pitch},
                          s);
  });
}
FAKE_GPU_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t s) {
  return fake::answer([&](fake::device& d) {
    if (p->kind != cudaMemcpyDeviceToDevice || p->srcArray != nullptr || p->dstArray != nullptr)
      return cudaErrorNotSupported;
    const cudaPitchedPtr &from = p->srcPtr, &to = p->dstPtr;
    if (p->extent.width > to.pitch || p->extent.width > from.pitch)
      return cudaErrorInvalidPitchValue;
    if (p->extent.height > to.ysize || p->extent.height > from.ysize) return cudaErrorInvalidValue;
    return fake::put_copy(d,
                          {.to = static_cast<std::byte*>(to.ptr),
                           .from = static_cast<const std::byte*>(from.ptr),
                           .width = p->extent.width,
                           .rows = p->extent.height,
                           .planes = p->extent.depth,
                           .to_pitch = to.pitch,
                           .from_pitch = from.pitch,
                           .to_plane = to.pitch * to.ysize,
                           .from_plane = from.pitch * from.ysize},
                          s);
  });
}

// ---- kernels ------------------------------------------------------------------------------------
FAKE_GPU_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* out, const void* code, cudaJitOption*,
                                             void**, unsigned, cudaLibraryOption*, void**,
                                             unsigned) {
  return fake::answer_at_once([&](fake::device&) {
    fake::code_head head;
    if (std::memcmp(code, head.magic, sizeof head.magic) != 0) return cudaErrorInvalidKernelImage;
    std::memcpy(&head, code, sizeof head);
    fake::kernel_library made;
    if (!fake::is_own(head.name)) try {
        made.code = std::make_shared<fake::host_kernels>(
            std::span(static_cast<const char*>(code) + sizeof head, head.bytes));
      } catch (const fake::not_compiled&) {
        return cudaErrorInvalidKernelImage;
      }
    made.only = head.name;
    *out = fake::handle<cudaLibrary_t>(fake::kernels_state::it().libraries.make(std::move(made)));
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* out, cudaLibrary_t l,
                                              const char* name) {
  return fake::answer([&](fake::device&) {
    auto& state = fake::kernels_state::it();
    fake::kernel_library* const from = state.libraries.find(l);
    if (from == nullptr) return cudaErrorInvalidResourceHandle;
    if (from->only != name) return cudaErrorSymbolNotFound;
    auto& k = from->kernels[name];
    if (!k)
      k = std::make_unique<fake::kernel_state>(
          fake::kernel_state{.name = name, .code = from->code});
    state.live[k.get()] = k.get();
    *out = fake::handle<cudaKernel_t>(k.get());
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaLibraryUnload(cudaLibrary_t l) {
  return fake::answer_at_once([&](fake::device&) {
    auto& state = fake::kernels_state::it();
    fake::kernel_library* const it = state.libraries.find(l);
    if (it == nullptr) return cudaErrorInvalidResourceHandle;
    for (const auto& [name, k] : it->kernels)
      state.live.erase(k.get());
    state.libraries.drop(l);
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaLaunchKernel(const void* f, dim3 blocks, dim3 threads,
                                          void** arguments, std::size_t shared, cudaStream_t s) {
  return fake::answer([&](fake::device& d) {
    const auto& live = fake::kernels_state::it().live;
    const auto found = live.find(f);
    if (found == live.end()) return cudaErrorInvalidDeviceFunction;
    fake::kernel_state& k = *found->second;
    if (blocks.x < 1 || threads.x < 1 || threads.x > 1024 || blocks.y * blocks.z != 1 ||
        threads.y * threads.z != 1 || shared != 0)
      return cudaErrorInvalidConfiguration;
    if (d.rules.fails("kernel " + k.name, "refuses-to-run")) return cudaErrorLaunchOutOfResources;
    if (fake::is_own(k.name)) return d.put(s, fake::own_kernel(d, k.name, blocks.x, arguments));
    return d.put(s, [&d, l = fake::kernel_launch(k, blocks.x, threads.x, arguments)](
                        const fake::stream& on) { d.run(l.now(), on); });
  });
}

#ifdef FAKE_GPU_HAS_NVRTC
// ---- NVRTC --------------------------------------------------------------------------------------
FAKE_GPU_API nvrtcResult nvrtcCreateProgram(nvrtcProgram* out, const char* text, const char*, int,
                                            const char* const*, const char* const*) {
  const std::lock_guard lock(fake::device::it().mutex);
  *out = fake::handle<nvrtcProgram>(fake::kernels_state::it().programs.make({.text = text}));
  return NVRTC_SUCCESS;
}
FAKE_GPU_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram* p) {
  const std::lock_guard lock(fake::device::it().mutex);
  return fake::kernels_state::it().programs.drop(*p) ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_PROGRAM;
}
FAKE_GPU_API nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(fake::device::it().rules.architectures.size());
  return NVRTC_SUCCESS;
}
FAKE_GPU_API nvrtcResult nvrtcGetSupportedArchs(int* to) {
  std::ranges::copy(fake::device::it().rules.architectures, to);
  return NVRTC_SUCCESS;
}
FAKE_GPU_API nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int count,
                                             const char* const* options) {
  const std::lock_guard lock(fake::device::it().mutex);
  fake::program_state* const it = fake::kernels_state::it().programs.find(p);
  if (it == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  fake::code_head head;
  const std::string name = fake::kernel_name_in(it->text);
  if (fake::device::it().rules.fails("kernel " + name, "unsupported") ||
      name.size() >= sizeof head.name) {
    it->log = "kernel " + name + " is scripted not to be compiled";
    return NVRTC_ERROR_COMPILATION;
  }
  for (const std::string_view option : std::span(options, static_cast<std::size_t>(count)))
    it->portable = it->portable || option.starts_with("--gpu-architecture=compute_");
  try {
    const std::vector<char> object =
        fake::is_own(name) ? std::vector<char>{} : fake::build({{it->text, name}});
    head.bytes = object.size();
    std::memcpy(head.name, name.c_str(), name.size());
    const auto* const bytes = reinterpret_cast<const char*>(&head);
    it->code.assign(bytes, bytes + sizeof head);
    it->code.insert(it->code.end(), object.begin(), object.end());
  } catch (const fake::not_compiled& e) {
    it->log = e.what();
    return NVRTC_ERROR_COMPILATION;
  }
  return NVRTC_SUCCESS;
}
FAKE_GPU_API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, std::size_t* size) {
  const fake::program_state* const it = fake::kernels_state::it().programs.find(p);
  if (it == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  *size = it->log.size() + 1;
  return NVRTC_SUCCESS;
}
FAKE_GPU_API nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char* to) {
  const fake::program_state* const it = fake::kernels_state::it().programs.find(p);
  if (it == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(to, it->log.c_str(), it->log.size() + 1);
  return NVRTC_SUCCESS;
}
namespace fake {
/// The code of a program, if it was compiled to that kind.
inline nvrtcResult give_size(nvrtcProgram p, bool portable, std::size_t* size) {
  const program_state* const it = kernels_state::it().programs.find(p);
  if (it == nullptr || it->portable != portable) return NVRTC_ERROR_INVALID_PROGRAM;
  *size = it->code.size();
  return NVRTC_SUCCESS;
}
inline nvrtcResult give_code(nvrtcProgram p, bool portable, char* to) {
  const program_state* const it = kernels_state::it().programs.find(p);
  if (it == nullptr || it->portable != portable) return NVRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(to, it->code.data(), it->code.size());
  return NVRTC_SUCCESS;
}
} // namespace fake
FAKE_GPU_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, std::size_t* size) {
  return fake::give_size(p, false, size);
}
FAKE_GPU_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char* to) {
  return fake::give_code(p, false, to);
}
FAKE_GPU_API nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, std::size_t* size) {
  return fake::give_size(p, true, size);
}
FAKE_GPU_API nvrtcResult nvrtcGetPTX(nvrtcProgram p, char* to) {
  return fake::give_code(p, true, to);
}
#endif
