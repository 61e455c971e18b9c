// SPDX-License-Identifier: Apache-2.0
// cuDNN's functions that need a device. Descriptors, heuristics and engines stay the real
// library's, which can do all that for a GPU that is only described; the fake has the handles,
// turns them into descriptions, makes the plans that the real library would have to compile for a
// driver, and executes.
#pragma once

#include "plan.hpp"
#include "runtime.hpp"

#include <benanza/backend/cudnn/engine.hpp>

#include <cudnn.h>
#include <dlfcn.h>
#include <sched.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace fake {

/// The real function behind one of ours.
template <class F>
F* real_function(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "fake GPU: there is no real %s\n", name);
    std::abort();
  }
  return reinterpret_cast<F*>(found);
}
#define FAKE_GPU_REAL(name)                                                                        \
  ([] {                                                                                            \
    static auto* const found_ = ::fake::real_function<decltype(::name)>(#name);                    \
    return found_;                                                                                 \
  }())

struct handle_state {
  cudaStream_t stream = nullptr;
};

/// What of cuDNN the fake has: handles, bags, the reason of its own last refusal.
struct cudnn_state {
  objects<handle_state> handles{device::it().log, "cudnn-handle"};
  bag_list bags{};
  bool started = false; ///< a handle was made: there is a device

  static cudnn_state& it() {
    static auto* const one = new cudnn_state;
    return *one;
  }
  static std::string& reason() {
    static thread_local std::string text;
    return text;
  }
};

inline cudnnStatus_t refuse(cudnnStatus_t s, std::string why) {
  cudnn_state::reason() = std::move(why);
  return s;
}
/// What the real library said, whose reason counts from now on.
inline cudnnStatus_t said(cudnnStatus_t s) {
  if (s != CUDNN_STATUS_SUCCESS) cudnn_state::reason().clear();
  return s;
}
/// Answers a call; what the fake does not understand is refused with its reason.
template <class F>
cudnnStatus_t understand(F&& f) {
  try {
    return f();
  } catch (const std::exception& e) {
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, std::string("the fake GPU: ") + e.what());
  }
}

/// The GPU's description as the library takes it.
inline const std::string& device_text() {
  static const std::string text = benanza::backend::cudnn::device_json(device::it().facts);
  return text;
}
inline cudnnStatus_t set_text(cudnnBackendDescriptor_t d) {
  const std::string& text = device_text();
  return FAKE_GPU_REAL(cudnnBackendSetAttribute)(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                                 CUDNN_TYPE_CHAR, std::ssize(text) + 1,
                                                 text.c_str());
}
/// One description that all plans of handles share.
inline cudnnBackendDescriptor_t description() {
  static const cudnnBackendDescriptor_t it = [] {
    cudnnBackendDescriptor_t d = nullptr;
    FAKE_GPU_REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &d);
    set_text(d);
    FAKE_GPU_REAL(cudnnBackendFinalize)(d);
    return d;
  }();
  return it;
}

/// Reads values of the real library's descriptors.
template <class T>
std::vector<T> real_values(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, std::int64_t most) {
  std::vector<T> out(static_cast<std::size_t>(most));
  std::int64_t count = 0;
  if (FAKE_GPU_REAL(cudnnBackendGetAttribute)(d, name, type, most, &count, out.data()) !=
      CUDNN_STATUS_SUCCESS)
    count = 0;
  out.resize(static_cast<std::size_t>(std::min(count, most)));
  return out;
}
/// Children of one of the real library's descriptors, freed at the end.
class real_children {
public:
  real_children(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                cudnnBackendDescriptorType_t type, std::int64_t most)
      : made_(static_cast<std::size_t>(most)) {
    for (auto& m : made_)
      FAKE_GPU_REAL(cudnnBackendCreateDescriptor)(type, &m);
    std::int64_t count = 0;
    if (FAKE_GPU_REAL(cudnnBackendGetAttribute)(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most,
                                                &count, made_.data()) == CUDNN_STATUS_SUCCESS)
      filled_.assign(made_.begin(), made_.begin() + std::min(count, most));
  }
  real_children(const real_children&) = delete;
  real_children& operator=(const real_children&) = delete;
  ~real_children() {
    for (const auto m : made_)
      FAKE_GPU_REAL(cudnnBackendDestroyDescriptor)(m);
  }
  const std::vector<cudnnBackendDescriptor_t>& all() const { return filled_; }

private:
  std::vector<cudnnBackendDescriptor_t> made_, filled_{};
};

inline engine engine_of(const bag& configuration) {
  const real_children engines(configuration.real, CUDNN_ATTR_ENGINECFG_ENGINE,
                              CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (engines.all().empty()) throw not_understood("a configuration without an engine");
  const auto number = real_values<std::int64_t>(engines.all()[0], CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                                                CUDNN_TYPE_INT64, 1);
  const auto notes = real_values<cudnnBackendBehaviorNote_t>(
      engines.all()[0], CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
      CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  benanza::backend::cudnn::engine_choice choice{.engine = number.at(0)};
  const real_children knobs(configuration.real, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                            CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS);
  for (const auto k : knobs.all())
    choice.knobs.emplace_back(
        static_cast<int>(real_values<cudnnBackendKnobType_t>(k, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                                                             CUDNN_TYPE_KNOB_TYPE, 1)
                             .at(0)),
        real_values<std::int64_t>(k, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1).at(0));
  std::sort(choice.knobs.begin(), choice.knobs.end());
  return {.index = choice.engine,
          .id = benanza::backend::cudnn::id_of(choice),
          .compiled_at_run_time =
              std::find(notes.begin(), notes.end(), CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) !=
              notes.end()};
}

/// Makes a plan: by the real library, or here where it would have to compile for a driver.
inline cudnnStatus_t finalize_plan(bag& b) {
  const script& rules = device::it().rules;
  const engine e = engine_of(b.child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
  if (rules.fails(e.name(), "unsupported", e.id))
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, e.id + " is scripted not to be supported");
  const bool by_handle = b.has(CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
  if (by_handle && rules.fails(e.name(), "refuses-handle", e.id))
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, e.id + " is scripted to take no handle");
  if (!by_handle) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(rules.build_ns));
    const std::lock_guard lock(device::it().mutex);
    ++device::it().log.made["plan without handle"];
    ++device::it().log.freed["plan without handle"];
    std::int64_t& most = device::it().log.plan_processors;
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0)
      most = std::max(most, std::int64_t{CPU_COUNT(&mine)});
  }
  std::int64_t workspace = rules.workspace_bytes;
  b.made_by_fake = e.compiled_at_run_time && cudnn_state::it().started;
  if (!b.made_by_fake) {
    if (const auto s = said(FAKE_GPU_REAL(cudnnBackendFinalize)(b.real)); s != CUDNN_STATUS_SUCCESS)
      return s;
    workspace = real_values<std::int64_t>(b.real, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                          CUDNN_TYPE_INT64, 1)
                    .at(0);
  }
  // Plans of configurations that a heuristic gave are only looked at; they hold no graph of ours.
  if (b.child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).has(CUDNN_ATTR_ENGINECFG_ENGINE))
    b.execution = make_plan(b, e, workspace);
  b.finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

/// Attributes of a plan that only the fake made.
inline cudnnStatus_t plan_attribute(const bag& b, cudnnBackendAttributeName_t name,
                                    std::int64_t most, std::int64_t* count, void* to) {
  std::int64_t counted = 1;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && most > 0)
    std::memcpy(to, &b.execution->workspace_bytes, sizeof(std::int64_t));
  else if (name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG && most > 0) {
    const auto child = cudnn_state::it().bags.find(*static_cast<cudnnBackendDescriptor_t*>(to));
    if (!child) return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that nobody made");
    child->stands_for = b.children(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).at(0);
  } else {
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "an attribute that the fake GPU's plans lack");
  }
  *(count != nullptr ? count : &counted) = 1;
  return CUDNN_STATUS_SUCCESS;
}

/// Adds what a script lets an engine say of itself to what the real library says.
inline void add_notes(cudnnBackendDescriptor_t engine, std::int64_t most, std::int64_t* count,
                      void* to) {
  const auto number =
      real_values<std::int64_t>(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1);
  if (number.empty() || count == nullptr || to == nullptr ||
      !device::it().rules.fails("engine " + std::to_string(number[0]), "winograd"))
    return;
  for (const auto note : {CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6})
    if (*count < most) static_cast<cudnnBackendNumericalNote_t*>(to)[(*count)++] = note;
}

} // namespace fake

// ---- handles
// -------------------------------------------------------------------------------------
FAKE_GPU_API cudnnStatus_t cudnnCreate(cudnnHandle_t* out) {
  fake::device& d = fake::device::it();
  if (d.lost() != cudaSuccess) return fake::refuse(CUDNN_STATUS_NOT_INITIALIZED, "no device");
  // Without something called libcuda the real library lists no engine that it must compile.
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr)
    dlopen(BENANZA_CUDA_LIBRARIES "/stubs/libcuda.so", RTLD_NOW | RTLD_GLOBAL);
  fake::cudnn_state::it().started = true;
  *out = reinterpret_cast<cudnnHandle_t>(fake::cudnn_state::it().handles.make());
  return CUDNN_STATUS_SUCCESS;
}
FAKE_GPU_API cudnnStatus_t cudnnDestroy(cudnnHandle_t h) {
  return fake::cudnn_state::it().handles.drop(h) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
FAKE_GPU_API cudnnStatus_t cudnnSetStream(cudnnHandle_t h, cudaStream_t s) {
  fake::handle_state* const it = fake::cudnn_state::it().handles.find(h);
  if (it == nullptr || fake::device::it().stream_of(s) == nullptr) return CUDNN_STATUS_BAD_PARAM;
  it->stream = s;
  return CUDNN_STATUS_SUCCESS;
}
FAKE_GPU_API cudnnStatus_t cudnnGetStream(cudnnHandle_t h, cudaStream_t* s) {
  const fake::handle_state* const it = fake::cudnn_state::it().handles.find(h);
  if (it == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *s = it->stream;
  return CUDNN_STATUS_SUCCESS;
}
FAKE_GPU_API void cudnnGetLastErrorString(char* text, std::size_t size) {
  const std::string& own = fake::cudnn_state::reason();
  if (own.empty()) return FAKE_GPU_REAL(cudnnGetLastErrorString)(text, size);
  if (size > 0) std::snprintf(text, size, "%s", own.c_str());
}

// ---- descriptors
// ---------------------------------------------------------------------------------
FAKE_GPU_API cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                        cudnnBackendDescriptor_t* out) {
  const auto s = fake::said(FAKE_GPU_REAL(cudnnBackendCreateDescriptor)(type, out));
  if (s != CUDNN_STATUS_SUCCESS) return s;
  auto b = std::make_shared<fake::bag>();
  b->type = type;
  b->real = *out;
  b->destroy = [](cudnnBackendDescriptor_t d) { FAKE_GPU_REAL(cudnnBackendDestroyDescriptor)(d); };
  fake::cudnn_state::it().bags.add(std::move(b));
  const std::lock_guard lock(fake::device::it().mutex);
  ++fake::device::it().log.made["descriptor"];
  return s;
}
FAKE_GPU_API cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d) {
  if (!fake::cudnn_state::it().bags.drop(d))
    return fake::said(FAKE_GPU_REAL(cudnnBackendDestroyDescriptor)(d));
  const std::lock_guard lock(fake::device::it().mutex);
  ++fake::device::it().log.freed["descriptor"];
  return CUDNN_STATUS_SUCCESS;
}
FAKE_GPU_API cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d,
                                                    cudnnBackendAttributeName_t name,
                                                    cudnnBackendAttributeType_t type,
                                                    std::int64_t count, const void* values) {
  auto* const real = FAKE_GPU_REAL(cudnnBackendSetAttribute);
  fake::cudnn_state& state = fake::cudnn_state::it();
  const auto b = state.bags.find(d);
  if (!b) return fake::said(real(d, name, type, count, values));
  cudnnStatus_t s = CUDNN_STATUS_SUCCESS;
  std::vector<cudnnBackendDescriptor_t> children;
  if (type == CUDNN_TYPE_HANDLE) {
    if (state.handles.find(*static_cast<const cudnnHandle_t*>(values)) == nullptr)
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "a handle that is none");
    if (name == CUDNN_ATTR_DEVICEPROP_HANDLE) s = fake::said(fake::set_text(d));
    if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE) {
      const cudnnBackendDescriptor_t described = fake::description();
      s = fake::said(real(d, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                          &described));
    }
  } else if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    children.assign(static_cast<const cudnnBackendDescriptor_t*>(values),
                    static_cast<const cudnnBackendDescriptor_t*>(values) + count);
    std::vector<cudnnBackendDescriptor_t> really = children;
    for (auto& c : really)
      if (const auto known = state.bags.find(c); known && known->stands_for)
        c = known->stands_for->real;
    s = fake::said(real(d, name, type, count, really.data()));
  } else {
    s = fake::said(real(d, name, type, count, values));
  }
  if (s != CUDNN_STATUS_SUCCESS) return s;
  fake::bag::attribute& a = b->attributes[name];
  a = {};
  for (const auto c : children)
    a.children.push_back(state.bags.find(c));
  static constexpr std::size_t width[] = {8, 4, 1, 8, 4, 8, 8}; // of the first types
  const auto kind = static_cast<std::size_t>(type);
  const std::size_t each = kind < std::size(width)                 ? width[kind]
                           : type == CUDNN_TYPE_BACKEND_DESCRIPTOR ? 8
                           : type == CUDNN_TYPE_CHAR               ? 1
                           : type == CUDNN_TYPE_FRACTION           ? sizeof(cudnnFraction_t)
                                                                   : 4;
  const auto* const bytes = static_cast<const std::byte*>(values);
  a.bytes.assign(bytes, bytes + static_cast<std::size_t>(count) * each);
  return s;
}
FAKE_GPU_API cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d) {
  const auto b = fake::cudnn_state::it().bags.find(d);
  if (b && b->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    if (fake::device::it().lost() != cudaSuccess)
      return fake::refuse(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER, "its code cannot be loaded");
    return fake::understand([&] { return fake::finalize_plan(*b); });
  }
  const auto s = fake::said(FAKE_GPU_REAL(cudnnBackendFinalize)(d));
  if (b) b->finalized = s == CUDNN_STATUS_SUCCESS;
  return s;
}
FAKE_GPU_API cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const d,
                                                    cudnnBackendAttributeName_t name,
                                                    cudnnBackendAttributeType_t type,
                                                    std::int64_t most, std::int64_t* count,
                                                    void* to) {
  const auto b = fake::cudnn_state::it().bags.find(d);
  if (b && b->made_by_fake) return fake::plan_attribute(*b, name, most, count, to);
  const cudnnBackendDescriptor_t real = b && b->stands_for ? b->stands_for->real : d;
  const auto s =
      fake::said(FAKE_GPU_REAL(cudnnBackendGetAttribute)(real, name, type, most, count, to));
  if (s == CUDNN_STATUS_SUCCESS && name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)
    fake::add_notes(real, most, count, to);
  return s;
}

// ---- execution
// -----------------------------------------------------------------------------------
FAKE_GPU_API cudnnStatus_t cudnnBackendExecute(cudnnHandle_t h, cudnnBackendDescriptor_t plan,
                                               cudnnBackendDescriptor_t pack) {
  return fake::understand([&]() -> cudnnStatus_t {
    fake::device& d = fake::device::it();
    const std::lock_guard lock(d.mutex);
    fake::cudnn_state& state = fake::cudnn_state::it();
    const fake::handle_state* const on = state.handles.find(h);
    const auto p = state.bags.find(plan), v = state.bags.find(pack);
    if (on == nullptr || !p || !v) return fake::refuse(CUDNN_STATUS_BAD_PARAM, "no such thing");
    if (!p->finalized || !v->finalized)
      return fake::refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a descriptor is not finalized");
    if (!p->execution) throw fake::not_understood("a plan of a configuration that it gave itself");
    const std::string name = p->execution->engine.name();
    if (d.lost() != cudaSuccess) return fake::refuse(CUDNN_STATUS_EXECUTION_FAILED, "no device");
    if (d.rules.fails(name, "refuses-to-run", p->execution->engine.id))
      return fake::refuse(CUDNN_STATUS_EXECUTION_FAILED, name + " is scripted not to run");
    if (p->execution->workspace_bytes > 0 &&
        d.space.find(v->one<const void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr),
                     p->execution->workspace_bytes) == nullptr)
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
    if (d.rules.fails(name, "no-capture", p->execution->engine.id)) d.spoils_capture();
    const auto e = fake::to_execution(p->execution, *v);
    const cudaError_t put = d.put(on->stream, [&d, e](const fake::stream& s) { d.run(e, s); });
    return put == cudaSuccess ? CUDNN_STATUS_SUCCESS
                              : fake::refuse(CUDNN_STATUS_EXECUTION_FAILED, "no such stream");
  });
}
