// SPDX-License-Identifier: Apache-2.0
// cublasLt on the fake GPU: descriptors, a scripted list of algorithms, products. It takes what the
// documentation allows and no more: integers and FP8 with the first matrix transposed and the
// second not, an algorithm only with exactly the settings that it was proposed with. "!7" behind a
// scripted id is a setting that no attribute shows; "!255", that some bytes are never written.
#pragma once

#include "cublas.hpp"

#include <benanza/backend/cublas/lt_choice.hpp>

#include <cublasLt.h>

namespace fake {

using benanza::backend::cublas::id_of;
using benanza::backend::cublas::lt_choice;
using benanza::backend::cublas::lt_setting;

/// Attributes of a descriptor as they were set.
struct lt_attributes {
  std::map<int, std::vector<std::byte>> set{};

  template <class T>
  T get(int which, T otherwise) const {
    const auto found = set.find(which);
    if (found != set.end() && found->second.size() == sizeof(T))
      std::memcpy(&otherwise, found->second.data(), sizeof(T));
    return otherwise;
  }
  cublasStatus_t put(int which, const void* from, std::size_t bytes, std::size_t wanted) {
    if (from == nullptr || bytes != wanted) return CUBLAS_STATUS_INVALID_VALUE;
    const auto* const at = static_cast<const std::byte*>(from);
    set[which].assign(at, at + bytes);
    return CUBLAS_STATUS_SUCCESS;
  }
};
struct lt_matrix {
  cudaDataType_t type{};
  std::int64_t rows = 0, columns = 0, ld = 0;
  lt_attributes more{};
};
struct lt_operation {
  cublasComputeType_t compute{};
  cudaDataType_t scale{};
  lt_attributes more{};
};
struct lt_handle {};
struct lt_preference {
  lt_attributes more{};
};

struct lt_state {
  objects<lt_handle> handles{device::it().log, "cublaslt-handle"};
  objects<lt_operation> operations{device::it().log, "matmul-descriptor"};
  objects<lt_matrix> matrices{device::it().log, "matrix-layout"};
  objects<lt_preference> preferences{device::it().log, "matmul-preference"};

  static lt_state& it() {
    static auto* const one = new lt_state;
    return *one;
  }
};

/// What a cublasLtMatmulAlgo_t of the fake holds.
struct lt_algo {
  std::uint32_t magic = 0x7a17;
  cublasComputeType_t compute{};
  std::array<std::uint32_t, 9> settings{};
  std::uint32_t hidden = 0;

  lt_choice choice() const {
    lt_choice c;
    for (std::size_t i = 0; i < settings.size(); ++i)
      c.values[i] = settings[i];
    return c;
  }
  std::string name() const { return "lt " + std::to_string(settings[0]); }
  std::string id() const { return id_of(choice()); }
};
static_assert(sizeof(lt_algo) <= sizeof(cublasLtMatmulAlgo_t));

inline std::optional<lt_algo> read_algo(const cublasLtMatmulAlgo_t* from) {
  lt_algo a;
  if (from == nullptr) return std::nullopt;
  std::memcpy(static_cast<void*>(&a), from, sizeof a);
  return a.magic == lt_algo{}.magic ? std::optional(a) : std::nullopt;
}
inline void write_algo(const lt_algo& a, cublasLtMatmulAlgo_t* to) {
  *to = {};
  std::memcpy(to, &a, sizeof a);
}

/// Means bytes that hold whatever was there before.
inline constexpr std::uint32_t lt_unwritten = 255;

/// An algorithm that there is.
struct lt_offer {
  lt_choice choice{};
  std::uint32_t hidden = 0;

  bool operator==(const lt_offer&) const = default;
};
/// All of them: those of the script, or three.
inline const std::vector<lt_offer>& lt_algorithms() {
  static const std::vector<lt_offer> all = [] {
    std::vector<std::string> ids = device::it().rules.offered;
    if (ids.empty())
      ids = {"lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0",
             "lt:algo23_tile18_stages8_splitk4_red2_swz1_cust0_inner0_cluster0",
             "lt:algo66_tile39_stages35_splitk1_red0_swz0_cust3_inner1_cluster2"};
    std::vector<lt_offer> out;
    for (const std::string& id : ids) {
      const std::size_t end = std::min(id.find('!'), id.size());
      out.push_back({benanza::backend::cublas::parse_lt(id.substr(0, end)).value()});
      if (end < id.size())
        out.back().hidden = static_cast<std::uint32_t>(std::stoul(id.substr(end + 1)));
    }
    return out;
  }();
  return all;
}

/// A product as descriptors say it, with nothing in memory yet; nothing where they are refused.
inline std::optional<blas_product> lt_product(cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  lt_state& s = lt_state::it();
  const lt_operation* const o = s.operations.find(operation);
  if (o == nullptr) return std::nullopt;
  std::int64_t batches = -1;
  const auto matrix = [&](cublasLtMatrixLayout_t l, cublasOperation_t op) {
    const lt_matrix* const m = s.matrices.find(l);
    blas_matrix out;
    if (m == nullptr || !dtype_of(m->type)) return out;
    const std::int64_t its = m->more.get<std::int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1);
    if (batches >= 0 && batches != its) return out;
    batches = its;
    out = {nullptr,
           *dtype_of(m->type),
           m->rows,
           m->columns,
           m->ld,
           m->more.get<std::int64_t>(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0),
           op != CUBLAS_OP_N};
    return out;
  };
  const auto ta = o->more.get(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N),
             tb = o->more.get(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  blas_product p{.first = matrix(a, ta),
                 .second = matrix(b, tb),
                 .addend = matrix(c, CUBLAS_OP_N),
                 .result = matrix(d, CUBLAS_OP_N)};
  p.batches = batches;
  if (!p.valid() || !p.addend.valid(batches) || p.addend.rows != p.result.rows ||
      p.addend.columns != p.result.columns)
    return std::nullopt;

  using benanza::dtype;
  const dtype type = p.first.type;
  const bool eight_bits = type == dtype::s8 || type == dtype::e4m3;
  const auto compute = o->compute;
  const bool computes = type == dtype::s8    ? compute == CUBLAS_COMPUTE_32I
                        : type == dtype::f32 ? compute == CUBLAS_COMPUTE_32F ||
                                                   compute == CUBLAS_COMPUTE_32F_FAST_TF32
                                             : compute == CUBLAS_COMPUTE_32F;
  const dtype between = type == dtype::e4m3 ? dtype::bf16 : type;
  if (!computes || o->scale != CUDA_R_32F || p.second.type != type || p.result.type != type ||
      p.addend.type != between)
    return std::nullopt;
  const std::int64_t block = type == dtype::s8 ? 4 : 16;
  if (eight_bits && (!p.first.transposed || p.second.transposed || p.first.ld % block != 0 ||
                     p.second.ld % block != 0 || p.result.ld % block != 0))
    return std::nullopt;
  p.tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;

  p.first_scale = o->more.get<const void*>(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, nullptr);
  p.second_scale = o->more.get<const void*>(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, nullptr);
  p.result_scale = o->more.get<const void*>(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, nullptr);
  const bool is_fast = o->more.get(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{0}) != 0;
  if (type != dtype::e4m3 && (p.first_scale || p.second_scale || p.result_scale || is_fast))
    return std::nullopt;

  const int epilogue = o->more.get(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  const int known = CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_BIAS |
                    CUBLASLT_EPILOGUE_GELU;
  if ((epilogue & ~known) != 0 || ((epilogue & CUBLASLT_EPILOGUE_DEFAULT) != 0 && epilogue != 1))
    return std::nullopt;
  p.function = (epilogue & CUBLASLT_EPILOGUE_RELU) != 0   ? blas_function::relu
               : (epilogue & CUBLASLT_EPILOGUE_GELU) != 0 ? blas_function::gelu
                                                          : blas_function::none;
  if (p.function == blas_function::gelu && type == dtype::s8) return std::nullopt;
  if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) {
    p.bias = o->more.get<const void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr);
    const auto said = o->more.get<std::int32_t>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, -1);
    p.bias_type = type == dtype::s8 ? dtype::f32 : between;
    if (p.bias == nullptr ||
        (said >= 0 && dtype_of(static_cast<cudaDataType_t>(said)) != p.bias_type))
      return std::nullopt;
  }
  return p;
}

/// Bytes of workspace that an algorithm needs for a product.
inline std::int64_t lt_workspace(const lt_choice& c, const blas_product& p) {
  const std::int64_t parts = c[lt_setting::splitk];
  return parts > 1 ? parts * p.result.rows * p.result.columns * p.batches * 4 : 0;
}

/// True for an algorithm that is there, with just these settings.
inline bool is_offered(const lt_algo& a) {
  const auto& all = lt_algorithms();
  return std::find(all.begin(), all.end(), lt_offer{a.choice(), a.hidden}) != all.end() &&
         !device::it().rules.fails(a.name(), "unsupported", a.id());
}

inline std::size_t lt_width(int setting) {
  return setting < CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ? 4 : 2;
}
/// Where the attribute is in an id.
inline std::size_t lt_place(int attribute) {
  switch (attribute) {
  case CUBLASLT_ALGO_CONFIG_STAGES_ID: return 2;
  case CUBLASLT_ALGO_CONFIG_SPLITK_NUM: return 3;
  case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME: return 4;
  case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING: return 5;
  case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION: return 6;
  default: return static_cast<std::size_t>(attribute);
  }
}
inline std::size_t lt_operation_width(cublasLtMatmulDescAttributes_t which) {
  switch (which) {
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
  case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
  case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
  case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER: return sizeof(void*);
  case CUBLASLT_MATMUL_DESC_FAST_ACCUM: return 1;
  default: return 4;
  }
}
/// Answers a call, one at a time.
template <class F>
cublasStatus_t lt_answer(F&& f) {
  const std::lock_guard lock(device::it().mutex);
  return f(lt_state::it());
}
/// Drops one of the fake's objects.
template <class T>
cublasStatus_t lt_drop(objects<T>& from, const void* it) {
  return from.drop(it) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
} // namespace fake

// ---- handles and descriptors
// ---------------------------------------------------------------------
FAKE_GPU_API cublasStatus_t cublasLtCreate(cublasLtHandle_t* out) {
  return fake::lt_answer([out](fake::lt_state& s) {
    if (fake::device::it().lost() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    *out = reinterpret_cast<cublasLtHandle_t>(s.handles.make());
    return CUBLAS_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t h) {
  return fake::lt_answer([h](fake::lt_state& s) { return fake::lt_drop(s.handles, h); });
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* out,
                                                     cublasComputeType_t compute,
                                                     cudaDataType_t scale) {
  return fake::lt_answer([&](fake::lt_state& s) {
    *out = reinterpret_cast<cublasLtMatmulDesc_t>(s.operations.make({compute, scale}));
    return CUBLAS_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  return fake::lt_answer([d](fake::lt_state& s) { return fake::lt_drop(s.operations, d); });
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                                           cublasLtMatmulDescAttributes_t which,
                                                           const void* from, std::size_t bytes) {
  return fake::lt_answer([&](fake::lt_state& s) {
    fake::lt_operation* const it = s.operations.find(d);
    return it == nullptr ? CUBLAS_STATUS_INVALID_VALUE
                         : it->more.put(which, from, bytes, fake::lt_operation_width(which));
  });
}
FAKE_GPU_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* out,
                                                       cudaDataType type, std::uint64_t rows,
                                                       std::uint64_t columns, std::int64_t ld) {
  return fake::lt_answer([&](fake::lt_state& s) {
    *out = reinterpret_cast<cublasLtMatrixLayout_t>(s.matrices.make(
        {type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), ld}));
    return CUBLAS_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t m) {
  return fake::lt_answer([m](fake::lt_state& s) { return fake::lt_drop(s.matrices, m); });
}
FAKE_GPU_API cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t m,
                                                             cublasLtMatrixLayoutAttribute_t which,
                                                             const void* from, std::size_t bytes) {
  return fake::lt_answer([&](fake::lt_state& s) {
    fake::lt_matrix* const it = s.matrices.find(m);
    const std::size_t wanted = which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT ? 4 : 8;
    return it == nullptr ? CUBLAS_STATUS_INVALID_VALUE : it->more.put(which, from, bytes, wanted);
  });
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* out) {
  return fake::lt_answer([out](fake::lt_state& s) {
    *out = reinterpret_cast<cublasLtMatmulPreference_t>(s.preferences.make());
    return CUBLAS_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  return fake::lt_answer([p](fake::lt_state& s) { return fake::lt_drop(s.preferences, p); });
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t p, cublasLtMatmulPreferenceAttributes_t which, const void* from,
    std::size_t bytes) {
  return fake::lt_answer([&](fake::lt_state& s) {
    fake::lt_preference* const it = s.preferences.find(p);
    const std::size_t wanted = which == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK ? 4 : 8;
    return it == nullptr ? CUBLAS_STATUS_INVALID_VALUE : it->more.put(which, from, bytes, wanted);
  });
}

// ---- algorithms
// ----------------------------------------------------------------------------------
FAKE_GPU_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t h, cublasLtMatmulDesc_t o, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t wish, int most,
    cublasLtMatmulHeuristicResult_t results[], int* count) {
  return fake::lt_answer([&](fake::lt_state& s) {
    const fake::lt_preference* const wanted = s.preferences.find(wish);
    if (s.handles.find(h) == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (wanted == nullptr || most < 1) return CUBLAS_STATUS_INVALID_VALUE;
    *count = 0;
    const auto p = fake::lt_product(o, a, b, c, d);
    if (!p) return CUBLAS_STATUS_NOT_SUPPORTED;
    const auto limit = wanted->more.get<std::uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 0);
    const auto schemes = wanted->more.get<std::uint32_t>(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                         CUBLASLT_REDUCTION_SCHEME_MASK);
    for (const auto& [choice, hidden] : fake::lt_algorithms()) {
      if (*count == most) break;
      const auto scheme = static_cast<std::uint32_t>(choice[fake::lt_setting::reduction]);
      if (scheme != CUBLASLT_REDUCTION_SCHEME_NONE && (scheme & schemes) == 0) continue;
      const auto bytes = static_cast<std::uint64_t>(fake::lt_workspace(choice, *p));
      if (bytes > limit) continue;
      fake::lt_algo it{.compute = s.operations.find(o)->compute, .hidden = hidden};
      for (std::size_t i = 0; i < it.settings.size(); ++i)
        it.settings[i] = static_cast<std::uint32_t>(choice.values[i]);
      cublasLtMatmulHeuristicResult_t& r = results[(*count)++];
      const std::uint64_t unwritten = r.algo.data[7];
      r = {};
      fake::write_algo(it, &r.algo);
      if (hidden == fake::lt_unwritten) r.algo.data[7] = unwritten;
      r.workspaceSize = bytes;
      r.wavesCount = 0.5f;
    }
    if (*count < most) { // a place that it filled in, and says so
      results[*count] = {};
      results[(*count)++].state = CUBLAS_STATUS_NOT_SUPPORTED;
    }
    return CUBLAS_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t h, cublasComputeType_t compute,
                                                   cudaDataType_t scale, cudaDataType_t,
                                                   cudaDataType_t, cudaDataType_t, cudaDataType_t,
                                                   int id, cublasLtMatmulAlgo_t* out) {
  return fake::lt_answer([&](fake::lt_state& s) {
    if (s.handles.find(h) == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    for (const fake::lt_offer& there : fake::lt_algorithms())
      if (there.choice.values[0] == id) {
        fake::lt_algo it{.compute = compute};
        it.settings[0] = static_cast<std::uint32_t>(id);
        it.settings[3] = 1; // parts of k
        fake::write_algo(it, out);
        return CUBLAS_STATUS_SUCCESS;
      }
    return CUBLAS_STATUS_INVALID_VALUE;
  });
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t* algo, cublasLtMatmulAlgoConfigAttributes_t which, void* to,
    std::size_t bytes, std::size_t* written) {
  const auto it = fake::read_algo(algo);
  if (!it || to == nullptr || bytes != fake::lt_width(which)) return CUBLAS_STATUS_INVALID_VALUE;
  const std::uint32_t value = it->settings[fake::lt_place(which)];
  const auto narrow = static_cast<std::uint16_t>(value);
  std::memcpy(to, bytes == 4 ? static_cast<const void*>(&value) : &narrow, bytes);
  if (written != nullptr) *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(
    cublasLtMatmulAlgo_t* algo, cublasLtMatmulAlgoConfigAttributes_t which, const void* from,
    std::size_t bytes) {
  auto it = fake::read_algo(algo);
  if (!it || from == nullptr || bytes != fake::lt_width(which) || which == CUBLASLT_ALGO_CONFIG_ID)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::uint32_t value = 0;
  std::uint16_t narrow = 0;
  std::memcpy(bytes == 4 ? static_cast<void*>(&value) : &narrow, from, bytes);
  it->settings[fake::lt_place(which)] = bytes == 4 ? value : narrow;
  fake::write_algo(*it, algo);
  return CUBLAS_STATUS_SUCCESS;
}
/// Of f32 the last of the three algorithms has tensor cores whether asked for or not; with TF32 the
/// first has none.
FAKE_GPU_API cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(
    const cublasLtMatmulAlgo_t* algo, cublasLtMatmulAlgoCapAttributes_t which, void* to,
    std::size_t bytes, std::size_t* written) {
  const auto it = fake::read_algo(algo);
  if (!it || which != CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS || bytes != 8)
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool tensor_cores =
      it->compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? it->settings[0] != 21 : it->settings[0] == 66;
  const std::uint64_t flags =
      tensor_cores ? CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA : CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA;
  std::memcpy(to, &flags, sizeof flags);
  if (written != nullptr) *written = sizeof flags;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_GPU_API cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t h, cublasLtMatmulDesc_t o, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algo,
    cublasLtMatmulHeuristicResult_t* result) {
  return fake::lt_answer([&](fake::lt_state& s) {
    if (s.handles.find(h) == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    const auto it = fake::read_algo(algo);
    if (!it) return CUBLAS_STATUS_INVALID_VALUE;
    const auto p = fake::lt_product(o, a, b, c, d);
    if (!p || !fake::is_offered(*it)) return CUBLAS_STATUS_NOT_SUPPORTED;
    result->workspaceSize = static_cast<std::size_t>(fake::lt_workspace(it->choice(), *p));
    result->wavesCount = 0.5f;
    result->state = CUBLAS_STATUS_SUCCESS;
    return CUBLAS_STATUS_SUCCESS;
  });
}

// ---- products
// ------------------------------------------------------------------------------------
FAKE_GPU_API cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t h, cublasLtMatmulDesc_t o, const void* alpha, const void* a,
    cublasLtMatrixLayout_t ad, const void* b, cublasLtMatrixLayout_t bd, const void* beta,
    const void* c, cublasLtMatrixLayout_t cd, void* to, cublasLtMatrixLayout_t dd,
    const cublasLtMatmulAlgo_t* algo, void* workspace, std::size_t bytes, cudaStream_t on) {
  return fake::lt_answer([&](fake::lt_state& s) {
    if (s.handles.find(h) == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    const auto it = fake::read_algo(algo);
    auto p = fake::lt_product(o, ad, bd, cd, dd);
    if (!it || !p) return CUBLAS_STATUS_INVALID_VALUE;
    if (!fake::is_offered(*it)) return CUBLAS_STATUS_NOT_SUPPORTED;
    const std::int64_t needed = fake::lt_workspace(it->choice(), *p);
    if (static_cast<std::int64_t>(bytes) < needed ||
        (needed > 0 && fake::device::it().space.find(workspace, needed) == nullptr))
      return CUBLAS_STATUS_INVALID_VALUE;
    p->alpha = static_cast<double>(*static_cast<const float*>(alpha));
    p->beta = static_cast<double>(*static_cast<const float*>(beta));
    if (c == nullptr && (p->beta != 0 || p->addend.type == p->result.type))
      return CUBLAS_STATUS_INVALID_VALUE;
    for (const void* const scale : {p->first_scale, p->second_scale, p->result_scale})
      if (scale != nullptr && fake::device::it().space.find(scale, sizeof(float)) == nullptr)
        return CUBLAS_STATUS_INVALID_VALUE;
    p->first.at = a;
    p->second.at = b;
    p->addend.at = c;
    p->result.at = to;
    return fake::launch(on, it->name(), it->id(), *p);
  });
}
