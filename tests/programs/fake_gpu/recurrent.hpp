// SPDX-License-Identifier: Apache-2.0
// cuDNN's recurrent layers on the fake GPU, from its documentation's equations. Weights are in an
// order of the fake's own, last gate first with a gap between, so that a program that does not ask
// for the places computes nonsense. It has two of the four algorithms.
#pragma once

#include "legacy.hpp"

namespace fake {

/// What was set in a descriptor.
struct rnn_settings {
  cudnnRNNAlgo_t algorithm{};
  cudnnRNNMode_t cell{};
  bool bias = false;
  std::int64_t directions = 1, inputs = 0, hidden = 0;
  benanza::dtype type{};

  std::int64_t gates() const { return cell == CUDNN_LSTM ? 4 : cell == CUDNN_GRU ? 3 : 1; }
  std::int64_t width() const { return benanza::size_bytes(type); }
  /// Bytes of one direction's matrices and biases; a gap of 32 behind each.
  std::int64_t matrix_bytes(std::int64_t number) const {
    return hidden * (number < gates() ? inputs : hidden) * width() + 32;
  }
  std::int64_t bias_bytes() const { return bias ? hidden * width() + 32 : 0; }
  std::int64_t direction_bytes() const {
    std::int64_t sum = 2 * gates() * bias_bytes();
    for (std::int64_t n = 0; n < 2 * gates(); ++n)
      sum += matrix_bytes(n);
    return sum;
  }
  std::int64_t bytes() const { return directions * direction_bytes(); }
  /// Where matrix `number` of a direction begins; its bias follows it.
  std::int64_t place(std::int64_t direction, std::int64_t number) const {
    std::int64_t at = direction * direction_bytes();
    for (std::int64_t n = 2 * gates() - 1; n > number; --n)
      at += matrix_bytes(n) + bias_bytes();
    return at;
  }
};

inline std::map<cudnnRNNDescriptor_t, rnn_settings>& rnn_known() {
  static auto* const all = new std::map<cudnnRNNDescriptor_t, rnn_settings>;
  return *all;
}

/// A sequence's elements: step, sequence of the batch, number.
inline facts rnn_sequence(cudnnRNNDataDescriptor_t d, std::vector<int>& lengths) {
  cudnnDataType_t type{};
  cudnnRNNDataLayout_t order{};
  int steps = 0, batch = 0, width = 0;
  double fill = 0; // of any type
  cudnnGetRNNDataDescriptor(d, &type, &order, &steps, &batch, &width, 0, nullptr, &fill);
  lengths.resize(static_cast<std::size_t>(batch));
  if (cudnnGetRNNDataDescriptor(d, &type, &order, &steps, &batch, &width, batch, lengths.data(),
                                &fill) != CUDNN_STATUS_SUCCESS)
    throw not_understood("a sequence");
  facts f{.size = {steps, batch, width}, .type = type_of(type)};
  if (order == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED)
    f.strides = {std::int64_t{batch} * width, width, 1};
  else if (order == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED)
    f.strides = {width, std::int64_t{steps} * width, 1};
  else
    throw not_understood("a packed sequence");
  return f;
}

/// One step of one sequence in one direction: `w(gate, j, k)` and `r` are the matrices.
template <class Sum>
void rnn_step(const rnn_settings& s, const Sum& from_input, const Sum& from_state,
              std::vector<double>& h, std::vector<double>& c) {
  const std::vector<double> before = h;
  for (std::int64_t j = 0; j < s.hidden; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const auto both = [&](std::int64_t gate) { return from_input(gate, j) + from_state(gate, j); };
    if (s.cell == CUDNN_LSTM) {
      c[at] = logistic(both(1)) * c[at] + logistic(both(0)) * std::tanh(both(2));
      h[at] = logistic(both(3)) * std::tanh(c[at]);
    } else if (s.cell == CUDNN_GRU) {
      const double update = logistic(both(1));
      const double fresh = std::tanh(from_input(2, j) + logistic(both(0)) * from_state(2, j));
      h[at] = (1 - update) * fresh + update * before[at];
    } else {
      h[at] = s.cell == CUDNN_RNN_RELU ? std::max(both(0), 0.0) : std::tanh(both(0));
    }
  }
}
} // namespace fake

FAKE_GPU_API cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t, cudnnHandle_t h,
                                                     float dropout, void*, std::size_t,
                                                     unsigned long long) {
  return fake::cudnn_state::it().handles.find(h) != nullptr && dropout == 0
             ? CUDNN_STATUS_SUCCESS
             : fake::refuse(CUDNN_STATUS_BAD_PARAM, "a dropout");
}
FAKE_GPU_API cudnnStatus_t cudnnSetRNNDescriptor_v8(
    cudnnRNNDescriptor_t d, cudnnRNNAlgo_t algorithm, cudnnRNNMode_t cell, cudnnRNNBiasMode_t bias,
    cudnnDirectionMode_t way, cudnnRNNInputMode_t input, cudnnDataType_t type, cudnnDataType_t sums,
    cudnnMathType_t, std::int32_t inputs, std::int32_t hidden, std::int32_t projected,
    std::int32_t layers, cudnnDropoutDescriptor_t, std::uint32_t flags) {
  const std::string name = "rnn " + std::to_string(algorithm);
  if (algorithm > CUDNN_RNN_ALGO_PERSIST_STATIC ||
      fake::device::it().rules.fails("call " + name, "unsupported"))
    return fake::refuse(CUDNN_STATUS_NOT_SUPPORTED, name + " is not there");
  if (input != CUDNN_LINEAR_INPUT || projected != hidden || layers != 1 ||
      flags != CUDNN_RNN_PADDED_IO_ENABLED || (sums == CUDNN_DATA_HALF && type != sums) ||
      (bias != CUDNN_RNN_NO_BIAS && bias != CUDNN_RNN_DOUBLE_BIAS))
    return fake::refuse(CUDNN_STATUS_BAD_PARAM, "settings of a recurrent layer");
  fake::rnn_known()[d] = {.algorithm = algorithm,
                          .cell = cell,
                          .bias = bias == CUDNN_RNN_DOUBLE_BIAS,
                          .directions = way == CUDNN_BIDIRECTIONAL ? 2 : 1,
                          .inputs = inputs,
                          .hidden = hidden,
                          .type = fake::type_of(type)};
  return CUDNN_STATUS_SUCCESS;
}
FAKE_GPU_API cudnnStatus_t cudnnBuildRNNDynamic(cudnnHandle_t, cudnnRNNDescriptor_t, int) {
  return fake::refuse(CUDNN_STATUS_NOT_SUPPORTED, "nothing is compiled");
}
FAKE_GPU_API cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t,
                                                     cudnnForwardMode_t mode,
                                                     cudnnRNNDataDescriptor_t, std::size_t* work,
                                                     std::size_t* reserve) {
  *work = static_cast<std::size_t>(fake::device::it().rules.workspace_bytes);
  *reserve = mode == CUDNN_FWD_MODE_INFERENCE ? 0 : *work;
  return CUDNN_STATUS_SUCCESS;
}
FAKE_GPU_API cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t d,
                                                      std::size_t* bytes) {
  return fake::understand([&] {
    *bytes = static_cast<std::size_t>(fake::rnn_known().at(d).bytes());
    return CUDNN_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, cudnnRNNDescriptor_t d,
                                                   std::int32_t direction, std::size_t bytes,
                                                   const void* base, std::int32_t number,
                                                   cudnnTensorDescriptor_t matrix, void** matrix_at,
                                                   cudnnTensorDescriptor_t bias, void** bias_at) {
  return fake::understand([&]() -> cudnnStatus_t {
    const fake::rnn_settings& s = fake::rnn_known().at(d);
    if (static_cast<std::int64_t>(bytes) != s.bytes() || direction >= s.directions ||
        number >= 2 * s.gates())
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "no such weights");
    std::byte* const there =
        static_cast<std::byte*>(const_cast<void*>(base)) + s.place(direction, number);
    const int wide = static_cast<int>(number < s.gates() ? s.inputs : s.hidden);
    const int sizes[] = {1, static_cast<int>(s.hidden), wide}, steps[] = {sizes[1] * wide, wide, 1};
    const int vector[] = {1, sizes[1], 1}, vector_steps[] = {sizes[1], 1, 1};
    const auto type = s.type == benanza::dtype::f32   ? CUDNN_DATA_FLOAT
                      : s.type == benanza::dtype::f16 ? CUDNN_DATA_HALF
                                                      : CUDNN_DATA_BFLOAT16;
    cudnnSetTensorNdDescriptor(matrix, type, 3, sizes, steps);
    *matrix_at = there;
    *bias_at = nullptr;
    if (!s.bias) return CUDNN_STATUS_SUCCESS;
    cudnnSetTensorNdDescriptor(bias, type, 3, vector, vector_steps);
    *bias_at = there + s.matrix_bytes(number);
    return CUDNN_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cudnnStatus_t cudnnRNNForward(cudnnHandle_t h, cudnnRNNDescriptor_t d,
                                           cudnnForwardMode_t, const std::int32_t* device_lengths,
                                           cudnnRNNDataDescriptor_t xd, const void* x,
                                           cudnnRNNDataDescriptor_t yd, void* y,
                                           cudnnTensorDescriptor_t hd, const void* hx, void* hy,
                                           cudnnTensorDescriptor_t cd, const void* cx, void* cy,
                                           std::size_t weight_bytes, const void* weights,
                                           std::size_t work_bytes, void* work, std::size_t, void*) {
  return fake::understand([&]() -> cudnnStatus_t {
    fake::device& on = fake::device::it();
    const std::lock_guard lock(on.mutex);
    const fake::handle_state* const handle = fake::cudnn_state::it().handles.find(h);
    const fake::rnn_settings s = fake::rnn_known().at(d);
    const std::string name = "call rnn " + std::to_string(s.algorithm);
    if (handle == nullptr) return fake::refuse(CUDNN_STATUS_BAD_PARAM, "no such handle");
    if (on.lost() != cudaSuccess) return fake::refuse(CUDNN_STATUS_EXECUTION_FAILED, "no device");
    if (!fake::holds_workspace(work, work_bytes,
                               static_cast<std::size_t>(on.rules.workspace_bytes)))
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
    std::vector<int> lengths, same;
    const fake::facts from = fake::rnn_sequence(xd, lengths), to = fake::rnn_sequence(yd, same),
                      state = fake::legacy_tensor(hd);
    if (lengths != same || to.size[2] != s.directions * s.hidden || from.size[2] != s.inputs ||
        from.type != s.type || static_cast<std::int64_t>(weight_bytes) != s.bytes() ||
        state.size != fake::dims{s.directions, from.size[1], s.hidden} ||
        fake::legacy_tensor(cd).size != state.size)
      throw fake::not_understood("sizes of a recurrent layer");
    for (const int one : lengths)
      if (one != from.size[0]) throw fake::not_understood("sequences of other lengths");
    auto e = std::make_shared<fake::execution>();
    e->name = name;
    e->reads = {{x, from.bytes()},
                {weights, s.bytes()},
                {device_lengths, static_cast<std::int64_t>(4 * lengths.size())}};
    for (const void* one : {hx, cx})
      if (one != nullptr) e->reads.push_back({one, state.bytes()});
    e->writes = {y, to.bytes()};
    for (void* one : {hy, cy})
      if (one != nullptr) e->writes_too.push_back({one, state.bytes()});
    e->compute = [=, wrong = on.rules.fails(name, "wrong")](fake::memory& m) {
      const auto lens = reinterpret_cast<const std::int32_t*>(
          m.contents(device_lengths, static_cast<std::int64_t>(4 * lengths.size())));
      for (std::size_t i = 0; i < lengths.size(); ++i)
        if (lens[i] != lengths[i]) throw fake::not_understood("lengths on the device differ");
      const fake::dense in = fake::load(from, m.contents(x, from.bytes()));
      const std::byte* const all = m.contents(weights, s.bytes());
      fake::dense out(to.size), states(state.size), cells(state.size);
      if (hx != nullptr) states = fake::load(state, m.contents(hx, state.bytes()));
      if (cx != nullptr) cells = fake::load(state, m.contents(cx, state.bytes()));
      const std::int64_t steps = from.size[0], batch = from.size[1], gates = s.gates();
      for (std::int64_t way = 0; way < s.directions; ++way) {
        const auto number = [&](std::int64_t n, std::int64_t i, bool of_bias) {
          return benanza::backend::load(
              s.type, all + s.place(way, n) + (of_bias ? s.matrix_bytes(n) : 0), i);
        };
        for (std::int64_t b = 0; b < batch; ++b) {
          const auto first = static_cast<std::ptrdiff_t>((way * batch + b) * s.hidden);
          std::vector<double> hidden(states.at.begin() + first,
                                     states.at.begin() + first + s.hidden),
              cell(cells.at.begin() + first, cells.at.begin() + first + s.hidden);
          for (std::int64_t i = 0; i < steps; ++i) {
            const std::int64_t t = way == 1 ? steps - 1 - i : i;
            const std::vector<double> before = hidden;
            using sum = std::function<double(std::int64_t, std::int64_t)>;
            const sum from_input = [&](std::int64_t gate, std::int64_t j) {
              double v = s.bias ? number(gate, j, true) : 0;
              for (std::int64_t k = 0; k < s.inputs; ++k)
                v += number(gate, j * s.inputs + k, false) * in[(t * batch + b) * s.inputs + k];
              return v;
            };
            const sum from_state = [&](std::int64_t gate, std::int64_t j) {
              double v = s.bias ? number(gates + gate, j, true) : 0;
              for (std::int64_t k = 0; k < s.hidden; ++k)
                v += number(gates + gate, j * s.hidden + k, false) *
                     before[static_cast<std::size_t>(k)];
              return v;
            };
            fake::rnn_step(s, from_input, from_state, hidden, cell);
            std::copy(hidden.begin(), hidden.end(),
                      out.at.begin() + ((t * batch + b) * s.directions + way) * s.hidden);
          }
          std::copy(hidden.begin(), hidden.end(), states.at.begin() + first);
          std::copy(cell.begin(), cell.end(), cells.at.begin() + first);
        }
      }
      if (wrong) fake::spoil(out);
      fake::store(to, out, m.contents(y, to.bytes()));
      if (hy != nullptr) fake::store(state, states, m.contents(hy, state.bytes()));
      if (cy != nullptr) fake::store(state, cells, m.contents(cy, state.bytes()));
    };
    const cudaError_t put =
        on.put(handle->stream, [&on, e = std::shared_ptr<const fake::execution>(std::move(e))](
                                   const fake::stream& at) { on.run(e, at); });
    return put == cudaSuccess ? CUDNN_STATUS_SUCCESS
                              : fake::refuse(CUDNN_STATUS_EXECUTION_FAILED, "no such stream");
  });
}
