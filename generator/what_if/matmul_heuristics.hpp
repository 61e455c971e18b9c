// SPDX-License-Identifier: Apache-2.0
// How long does NVIDIA think that a product of matrices takes on a GPU that is not here? Its
// library nvMatmulHeuristics (nvidia-matmul-heuristics on PyPI) estimates that with a model of its
// own, for kernels that it proposes; neither a driver nor a GPU is needed. It is looked for when
// the program runs, and nothing needs it: the few functions that are used are declared here.
//
//   matmul_heuristics h(path);   h.aim("h100");
//   if (auto e = h.estimate_of({.m = 128, .n = 3072, .k = 768}, numeric::f16)) e->ns;
#pragma once

#include <benanza/backend/cublas/enumerate.hpp>
#include <benanza/core/error.hpp>

#include <dlfcn.h>
#include <glob.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::generator {

/// A time that the library estimates.
struct product_estimate {
  double ns = 0;
  double constant_ns = 0; ///< of it what every kernel has: "static latencies"
};

/// The library, loaded, and a GPU that it is asked about.
class matmul_heuristics {
public:
  static constexpr std::string_view file_name = "libnvMatmulHeuristics.so.0";
  static constexpr const char* variable = "BENANZA_MATMUL_HEURISTICS";
  static constexpr int kernels = 8; ///< it is asked to propose so many; the best counts

  /// Loads a file, or a name that the loader finds. Refuses what is not the library.
  explicit matmul_heuristics(const std::string& path)
      : path_(path) {
    std::error_code none;
    if (path.find('/') != std::string::npos && !std::filesystem::is_regular_file(path, none))
      throw error("there is no such file to load", path, remedy);
    void* loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) throw error(loader_error(), path, remedy);
    library_ = {loaded, [](void* l) { dlclose(l); }};
    find(version_major_, "nvMatmulHeuristicsGetVersionMajor");
    find(version_minor_, "nvMatmulHeuristicsGetVersionMinor");
    find(version_patch_, "nvMatmulHeuristicsGetVersionPatch");
    if (version_major_() != 0 || version_minor_() != 1)
      throw error("it is nvMatmulHeuristics " + version() + ", and 0.1 is understood", path,
                  remedy);
    find(create_, "nvMatmulHeuristicsCreate");
    find(destroy_, "nvMatmulHeuristicsDestroy");
    find(create_hardware_, "nvMatmulHeuristicsHardwareDescriptorCreate");
    find(destroy_hardware_, "nvMatmulHeuristicsHardwareDescriptorDestroy");
    find(set_gpu_, "nvMatmulHeuristicsHardwareDescriptorSetPredefinedGpu");
    find(create_backend_, "nvMatmulHeuristicsBackendCreate");
    find(destroy_backend_, "nvMatmulHeuristicsBackendDestroy");
    find(propose_, "nvMatmulHeuristicsGetGemmConfig");
    find(estimate_, "nvMatmulHeuristicsEstimateSiliconMetricEx");
    made(create_, destroy_, handle_);
    made(create_hardware_, destroy_hardware_, hardware_);
    void* backend = nullptr;
    if (create_backend_(&backend, generic) != success) throw failed();
    backend_ = {backend, [destroy = destroy_backend_](void* b) { (void)destroy(&b); }};
  }

  /// "0.1.0"
  std::string version() const {
    return std::to_string(version_major_()) + '.' + std::to_string(version_minor_()) + '.' +
           std::to_string(version_patch_());
  }
  const std::string& path() const { return path_; }

  /// Takes a GPU by its name in --target; false where the library has none of that name.
  bool aim(std::string_view target) {
    // The library takes an unknown number for an A100 without a word, so these alone are told it.
    static constexpr std::array<std::pair<std::string_view, int>, 8> gpus{{
        {"a10", 8003},
        {"a100", 8000},
        {"l4", 8903},
        {"l40s", 8902},
        {"h100", 9000},
        {"h200", 9003},
        {"b200", 10000},
        {"rtx5090", 12001},
    }};
    for (const auto& [name, number] : gpus)
      if (name == target) return set_gpu_(hardware_.get(), number) == success;
    return false;
  }

  /// The best of the kernels that it proposes for a product; nothing where it proposes none, or
  /// does not know the class of numbers.
  std::optional<product_estimate> estimate_of(const backend::cublas::product& p, numeric t) const {
    const char* precision = precision_of(t);
    constexpr auto most = std::int64_t{std::numeric_limits<std::uint32_t>::max()};
    if (precision == nullptr || std::max({p.m, p.n, p.k, p.batches}) > most) return std::nullopt;
    const auto whole = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
    const problem asked{whole(p.m), whole(p.n), whole(p.k), whole(p.batches),
                        static_cast<std::uint8_t>(2 * p.left_turned + p.right_turned)};
    std::array<kernel, kernels> proposed{};
    const unsigned count = propose_(handle_.get(), precision, 0, generic, &asked, proposed.data(),
                                    kernels, hardware_.get());
    std::optional<product_estimate> best;
    for (unsigned i = 0; i < count && i < kernels; ++i) {
      const auto ns = [&](int metric) {
        return 1e9 * estimate_(handle_.get(), precision, backend_.get(), &asked, &proposed[i],
                               metric, hardware_.get());
      };
      const double time = ns(runtime);
      if (time > 0 && (!best || time < best->ns)) best = {time, ns(static_latencies)};
    }
    return best;
  }

  /// Files in the usual places of Python's packages.
  static std::vector<std::string> installed_files() {
    std::vector<std::string> folders;
    for (const char* root : {"VIRTUAL_ENV", "CONDA_PREFIX"})
      if (const char* at = std::getenv(root)) folders.push_back(std::string(at) + "/lib");
    if (const char* home = std::getenv("HOME"))
      folders.push_back(std::string(home) + "/.local/lib");
    folders.insert(folders.end(), {"/usr/local/lib", "/usr/lib"});
    std::vector<std::string> out;
    for (const std::string& f : folders) {
      glob_t found{};
      const std::string pattern =
          f + "/python3*/*-packages/nvidia/nvMatmulHeuristics/lib/" + std::string(file_name);
      if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
        out.insert(out.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
      globfree(&found);
    }
    return out;
  }

private:
  // As the library's interface 0.1 has them.
  static constexpr int success = 1, generic = 0, runtime = 0, static_latencies = 8;
  struct problem {
    std::uint32_t m, n, k, batches;
    std::uint8_t layout; ///< rows first; 1: the right operand is turned, 2: the left
  };
  struct kernel {
    std::uint16_t tiles[9], split_k;
    std::uint8_t others[5];
  };
  using make = int(void**);
  using make_for = int(void**, int);

  static constexpr const char* remedy =
      "give the libnvMatmulHeuristics.so.0 of PyPI's nvidia-matmul-heuristics 0.1";

  /// Operands, sums and result, a letter each; or more letters, one each.
  static const char* precision_of(numeric t) {
    switch (t) {
    case numeric::f32: return "SSS";
    case numeric::tf32: return "SFS";
    case numeric::f16: return "HSH";
    case numeric::bf16: return "TST";
    case numeric::e4m3: return "QQTSQ"; // operands, what is added, sums, result
    default: return nullptr;            // it has no signed bytes
    }
  }

  static std::string loader_error() {
    const char* said = dlerror();
    return said == nullptr ? "it cannot be loaded" : said;
  }
  error failed() const { return error("the library did not start", path_, remedy); }

  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library_.get(), name));
    if (function == nullptr)
      throw error("it is not nvMatmulHeuristics: it has no function " + std::string(name), path_,
                  remedy);
  }
  void made(make* create, make* destroy, std::shared_ptr<void>& to) const {
    void* it = nullptr;
    if (create(&it) != success) throw failed();
    to = {it, [destroy](void* p) { (void)destroy(&p); }};
  }

  std::string path_;
  std::shared_ptr<void> library_{}, handle_{}, hardware_{}, backend_{}; // destroyed the last first
  unsigned (*version_major_)() = nullptr;
  unsigned (*version_minor_)() = nullptr;
  unsigned (*version_patch_)() = nullptr;
  make *create_ = nullptr, *destroy_ = nullptr;
  make *create_hardware_ = nullptr, *destroy_hardware_ = nullptr, *destroy_backend_ = nullptr;
  make_for* create_backend_ = nullptr;
  int (*set_gpu_)(void*, int) = nullptr;
  unsigned (*propose_)(void*, const char*, unsigned, int, const problem*, kernel*, unsigned,
                       void*) = nullptr;
  double (*estimate_)(void*, const char*, void*, const problem*, const kernel*, int,
                      void*) = nullptr;
};

/// What the library is, or why there is none.
struct found_heuristics {
  std::optional<matmul_heuristics> library{};
  std::string why_not{};
};

/// The library: a file that was given, or that a variable of the environment names, must be it;
/// else it is looked for where Python's packages are, and may be missing.
inline found_heuristics find_heuristics(const std::string& given) {
  const char* named = std::getenv(matmul_heuristics::variable);
  if (!given.empty()) return {matmul_heuristics(given)};
  if (named != nullptr && *named != '\0') return {matmul_heuristics(named)};
  found_heuristics out{.why_not = "nvidia-matmul-heuristics is not installed"};
  std::vector<std::string> places = matmul_heuristics::installed_files();
  places.insert(places.begin(), std::string(matmul_heuristics::file_name));
  for (const std::string& p : places) {
    try {
      out.library.emplace(p);
      return out;
    } catch (const error& e) {
      if (p.find('/') != std::string::npos) out.why_not = e.what();
    }
  }
  return out;
}

} // namespace benanza::generator
