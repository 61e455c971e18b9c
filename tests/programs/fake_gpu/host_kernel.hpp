// SPDX-License-Identifier: Apache-2.0
// Kernels run by the host: the very text that a GPU would get is compiled by the host's compiler
// (`c++`, with traps for undefined behaviour and misaligned access) and executed thread by thread.
// Threads of blocks that wait for each other are contexts that are switched at each barrier. An
// access to memory that is not there, or a trap, ends the launch and is reported.
//
//   host_kernels k(build({{text, "v4"}}));   k.launch(0, blocks, threads, arguments);   // true:
//   ran
#pragma once

#include <benanza/backend/number.hpp>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

namespace fake {

/// A kernel's text, and the name of its function.
struct kernel_text {
  std::string text{}, name{};
};

/// What the compiler said where it failed.
class not_compiled : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// No header of C++ is among what it includes: those take longer than all the rest.
inline constexpr const char* host_prelude = R"(
#include <math.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
struct benanza_place { unsigned x, y, z; };
struct benanza_state {
  benanza_place thread, block, threads, blocks;
  void (*wait)();
  float (*from_half)(unsigned short);
  unsigned short (*to_half)(float);
};
static benanza_state benanza_here;
extern "C" benanza_state* benanza_state_of() { return &benanza_here; }
#define threadIdx benanza_here.thread
#define blockIdx benanza_here.block
#define blockDim benanza_here.threads
#define gridDim benanza_here.blocks
#define __syncthreads() benanza_here.wait()
#define __syncwarp() benanza_here.wait()
template <class T> struct benanza_kind { static const int value = 0; };
template <class T> struct benanza_kind<T*> { static const int value = 2; };
template <class T> struct benanza_kind<const T*> { static const int value = 1; };
template <int... I> struct benanza_numbers {};
template <int n, int... I> struct benanza_below : benanza_below<n - 1, n - 1, I...> {};
template <int... I> struct benanza_below<0, I...> { typedef benanza_numbers<I...> all; };
template <class... A, int... I>
void benanza_call(void (*f)(A...), void** a, benanza_numbers<I...>) { f(*(A*)a[I]...); }
template <class... A> void benanza_call(void (*f)(A...), void** a) {
  benanza_call(f, a, typename benanza_below<sizeof...(A)>::all());
}
template <class... A> int benanza_describe(void (*)(A...), unsigned long* bytes, int* kinds) {
  int n = 0;
  ((bytes[n] = sizeof(A), kinds[n] = benanza_kind<A>::value, ++n), ...);
  return n;
}
)";

inline constexpr const char* host_half = R"(
static inline float from_half(unsigned short h) { return benanza_here.from_half(h); }
static inline unsigned short to_half(float f) { return benanza_here.to_half(f); }
)";

/// Tiles of a warp (cuda/source/tile_row.hpp): its first thread has all of each.
inline constexpr const char* host_tiles_before = "#include <benanza/backend/tile_sums.hpp>\n";
inline constexpr const char* host_tiles = R"(
static inline float from_brain(unsigned short h) {
  const unsigned int word = (unsigned int)h << 16;
  float f;
  memcpy(&f, &word, sizeof f);
  return f;
}
template <float number(unsigned short)> struct benanza_tile {
  benanza::backend::tiles::tile all;
};
typedef benanza_tile<from_half> half_tile;
typedef benanza_tile<from_brain> brain_tile;
struct float_tile { benanza::backend::tiles::tile all; };
template <float number(unsigned short)>
void load_left(benanza_tile<number>& t, const unsigned short* from, unsigned int row) {
  if (threadIdx.x % 32 != 0) return;
  for (unsigned int i = 0; i < 16; ++i)
    for (unsigned int j = 0; j < 16; ++j) t.all.at[i][j] = number(from[i * row + j]);
}
template <class Tile>
void load_right(Tile& t, const unsigned short* from, unsigned int row) {
  load_left(t, from, row);
}
static inline void clear_tile(float_tile& t) { t.all = {}; }
template <class Tile> void add_product(float_tile& c, const Tile& a, const Tile& b) {
  if (threadIdx.x % 32 == 0) benanza::backend::tiles::plain_products::add(a.all, b.all, c.all);
}
static inline void keep_tile(float* to, const float_tile& t) {
  if (threadIdx.x % 32 == 0) memcpy(to, t.all.at, sizeof t.all.at);
}
)";

/// CUB's collective functions (cuda/source/cub.hpp): every thread leaves what it has, and takes
/// what it wants when all have.
inline constexpr const char* host_cub = R"(
namespace cub {
enum { BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_WARP_TRANSPOSE,
       BLOCK_STORE_WARP_TRANSPOSE };
template <class T, int threads> struct benanza_collective {
  struct TempStorage { T at[threads]; };
  TempStorage& room;
  unsigned int self() const { return threadIdx.x % threads; }
  explicit benanza_collective(TempStorage& r) : room(r) {}
  T before_and_all(T v, T& all) {
    room.at[self()] = v;
    benanza_here.wait();
    T sum = 0;
    all = 0;
    for (unsigned int i = 0; i < threads; ++i) {
      if (i < self()) sum += room.at[i];
      all += room.at[i];
    }
    benanza_here.wait();
    return sum;
  }
  T Sum(T v) {
    T all;
    before_and_all(v, all);
    return self() == 0 ? all : T(-12345); // others must not use it
  }
  void ExclusiveSum(T v, T& out, T& all) { out = before_and_all(v, all); }
  void InclusiveSum(T v, T& out, T& all) { out = before_and_all(v, all) + v; }
  template <int n> void ExclusiveSum(T (&v)[n], T (&out)[n], T& all) { scan(v, out, all, 0); }
  template <int n> void InclusiveSum(T (&v)[n], T (&out)[n], T& all) { scan(v, out, all, 1); }
  template <int n> void scan(T (&v)[n], T (&out)[n], T& all, T with) {
    T mine = 0;
    for (T x : v) mine += x;
    T sum = before_and_all(mine, all);
    for (int i = 0; i < n; ++i) {
      const T x = v[i];
      out[i] = sum + with * x;
      sum += x;
    }
  }
};
template <class T, int threads> using BlockReduce = benanza_collective<T, threads>;
template <class T, int threads> using BlockScan = benanza_collective<T, threads>;
template <class T> using WarpReduce = benanza_collective<T, 32>;
template <class T> using WarpScan = benanza_collective<T, 32>;
template <class T, int threads, int items, int way> struct BlockLoad {
  struct TempStorage {};
  explicit BlockLoad(TempStorage&) {}
  static unsigned int place(int i) {
    return way == BLOCK_LOAD_STRIPED ? i * threads + threadIdx.x : threadIdx.x * items + i;
  }
  void Load(const T* from, T (&to)[items]) {
    if (way == BLOCK_LOAD_VECTORIZE && (unsigned long)from % (items * sizeof(T)) != 0)
      __builtin_trap();
    for (int i = 0; i < items; ++i) to[i] = from[place(i)];
  }
  void Load(const T* from, T (&to)[items], int valid, T other) {
    for (int i = 0; i < items; ++i) to[i] = place(i) < (unsigned int)valid ? from[place(i)] : other;
  }
};
template <class T, int threads, int items, int way> struct BlockStore {
  struct TempStorage {};
  explicit BlockStore(TempStorage&) {}
  void Store(T* to, T (&from)[items], int valid = threads * items) {
    for (int i = 0; i < items; ++i)
      if (threadIdx.x * items + i < (unsigned int)valid) to[threadIdx.x * items + i] = from[i];
  }
};
}
)";

struct host_place {
  unsigned x, y, z;
};
struct host_state {
  host_place thread, block, threads, blocks;
  void (*wait)();
  float (*from_half)(unsigned short);
  unsigned short (*to_half)(float);
};
} // namespace detail

/// True where kernels can be compiled on this machine.
inline bool has_compiler() {
  static const bool has = std::system("env -u LD_PRELOAD c++ --version > /dev/null 2>&1") == 0;
  return has;
}

/// A shared object with all of these kernels.
inline std::vector<char> build(const std::vector<kernel_text>& kernels) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "benanza_kernels_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw not_compiled("no temporary folder");
  struct remover {
    std::string folder;
    ~remover() {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    }
  } const at_end{folder};
  {
    std::ofstream out(folder + "/kernels.cpp");
    const auto any_has = [&kernels](std::string_view what) {
      return std::any_of(kernels.begin(), kernels.end(), [what](const kernel_text& k) {
        return k.text.find(what) != std::string::npos;
      });
    };
    const bool tiles = any_has("float_tile");
    if (tiles) out << detail::host_tiles_before;
    out << detail::host_prelude;
    if (tiles || any_has("from_half")) out << detail::host_half;
    if (tiles) out << "#include <string.h>\n" << detail::host_tiles;
    if (any_has("cub::")) out << detail::host_cub;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const kernel_text& k = kernels[i];
      const std::string n = std::to_string(i), name = "n" + n + "::kernel" + n;
      out << "#define " << k.name << " kernel" << n << "\nnamespace n" << n << " {\n"
          << k.text << "}\n#undef " << k.name << "\nextern \"C\" void call" << n
          << "(void** a) { benanza_call(" << name << ", a); }\nextern \"C\" int describe" << n
          << "(unsigned long* b, int* k) { return benanza_describe(" << name
          << ", b, k); }\nextern \"C\" int waits" << n << "() { return "
          << (k.text.find("__sync") != std::string::npos ||
              k.text.find("cub::") != std::string::npos)
          << "; }\n";
    }
  }
  const std::string command =
      "env -u LD_PRELOAD c++ -std=c++20 -O1 -w -fPIC -shared -fno-strict-aliasing "
      "-D_GLIBCXX_INCLUDE_NEXT_C_HEADERS " // math.h is that of C
      "-fsanitize=undefined -fsanitize-undefined-trap-on-error -I" BENANZA_INCLUDE_FOLDER " " +
      folder + "/kernels.cpp -o " + folder + "/kernels.so 2>&1";
  std::string said;
  std::FILE* const compiler = popen(command.c_str(), "r");
  if (compiler == nullptr) throw not_compiled("no shell");
  char part[512];
  while (const std::size_t n = std::fread(part, 1, sizeof part, compiler))
    said.append(part, n);
  if (pclose(compiler) != 0) throw not_compiled(said);
  std::ifstream in(folder + "/kernels.so", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Kernels that were built, loaded.
class host_kernels {
public:
  struct parameter {
    std::size_t bytes = 0;
    bool pointer = false, writes = false;
  };

  explicit host_kernels(std::span<const char> object) {
    // Under a name of its own: what is loaded once may stay, and be found again by its name.
    std::string path = (std::filesystem::temp_directory_path() / "benanza_kernel_XXXXXX").string();
    const int file = mkstemp(path.data());
    if (file < 0) throw not_compiled("no temporary file");
    if (write(file, object.data(), object.size()) == std::ssize(object))
      library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    close(file);
    unlink(path.c_str());
    if (library_ == nullptr) throw not_compiled("code that cannot be loaded");
    here_ = function<detail::host_state*()>("benanza_state_of")();
    using benanza::backend::f16_format;
    here_->from_half = [](unsigned short h) { return static_cast<float>(f16_format.decode(h)); };
    here_->to_half = [](float f) {
      return static_cast<unsigned short>(f16_format.encode(static_cast<double>(f)));
    };
  }
  host_kernels(const host_kernels&) = delete;
  host_kernels& operator=(const host_kernels&) = delete;
  ~host_kernels() { dlclose(library_); }

  /// The parameters of kernel number `k`.
  std::vector<parameter> parameters(std::size_t k) const {
    unsigned long bytes[64] = {};
    int kinds[64] = {};
    const int n = function<int(unsigned long*, int*)>("describe" + std::to_string(k))(bytes, kinds);
    std::vector<parameter> out;
    for (int i = 0; i < n; ++i)
      out.push_back({bytes[i], kinds[i] != 0, kinds[i] == 2});
    return out;
  }

  /// Runs all threads of all blocks; false if one did what it must not.
  bool launch(std::size_t k, unsigned blocks, unsigned threads, void** arguments) {
    call_ = function<void(void**)>("call" + std::to_string(k));
    arguments_ = arguments;
    const bool waits = function<int()>("waits" + std::to_string(k))() != 0;
    here_->threads = {threads, 1, 1};
    here_->blocks = {blocks, 1, 1};
    here_->wait = [] { active_->fibers_[active_->current_].leave(active_->main_); };
    active_ = this;
    const fault_guard guarded;
    if (sigsetjmp(fault_guard::back, 1) != 0) return false;
    for (unsigned b = 0; b < blocks; ++b) {
      here_->block = {b, 0, 0};
      if (waits) {
        run_together(threads);
        continue;
      }
      for (unsigned t = 0; t < threads; ++t) {
        here_->thread = {t, 0, 0};
        call_(arguments_);
      }
    }
    return true;
  }

private:
  /// Catches what a kernel does to memory that is not there, while it lives.
  struct fault_guard {
    inline static thread_local sigjmp_buf back;
    static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGILL};
    using action = struct sigaction;
    action before[std::size(signals)]{};

    fault_guard() {
      action caught{};
      caught.sa_handler = [](int) { siglongjmp(back, 1); };
      for (std::size_t i = 0; i < std::size(signals); ++i)
        sigaction(signals[i], &caught, &before[i]);
    }
    fault_guard(const fault_guard&) = delete;
    fault_guard& operator=(const fault_guard&) = delete;
    ~fault_guard() {
      for (std::size_t i = 0; i < std::size(signals); ++i)
        sigaction(signals[i], &before[i], nullptr);
    }
  };
  /// A place in a thread that is left and come back to. Changing the mask of signals each time
  /// would take a hundred times as long, which is why swapcontext is only used to begin; the
  /// sanitizers do not know other ways.
  struct context {
    ucontext_t at{};
    bool begun = false;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    void leave(context& to) {
      swapcontext(&at, &to.at);
    }
#else
    jmp_buf left{};
    void leave(context& to) {
      if (_setjmp(left) != 0) return;
      begun = true;
      if (to.begun) _longjmp(to.left, 1);
      setcontext(&to.at);
    }
#endif
  };
  struct fiber : context {
    std::vector<char> stack = std::vector<char>(std::size_t{1} << 16);
    bool done = false;
  };

  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(dlsym(library_, name.c_str()));
  }

  void run_together(unsigned threads) {
    fibers_.resize(threads);
    for (fiber& f : fibers_) {
      f.done = f.begun = false;
      getcontext(&f.at);
      f.at.uc_stack.ss_sp = f.stack.data();
      f.at.uc_stack.ss_size = f.stack.size();
      f.at.uc_link = nullptr; // it says itself where it goes
      makecontext(
          &f.at,
          [] {
            active_->call_(active_->arguments_);
            fiber& self = active_->fibers_[active_->current_];
            self.done = true;
            self.leave(active_->main_);
          },
          0);
    }
    for (bool left = true; left;) {
      left = false;
      for (current_ = 0; current_ < threads; ++current_) {
        if (fibers_[current_].done) continue;
        here_->thread = {current_, 0, 0};
        main_.leave(fibers_[current_]);
        left = left || !fibers_[current_].done;
      }
    }
  }

  inline static thread_local host_kernels* active_ = nullptr;
  void* library_ = nullptr;
  detail::host_state* here_ = nullptr;
  void (*call_)(void**) = nullptr;
  void** arguments_ = nullptr;
  std::vector<fiber> fibers_{};
  unsigned current_ = 0;
  context main_{};
};

} // namespace fake
