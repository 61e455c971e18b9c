// SPDX-License-Identifier: Apache-2.0
// What does an operation graph of cuDNN compute? Its operations one after the other in f64, as soon
// as their inputs are known; only what has memory is rounded to its type. Written from the
// library's documentation alone: it is a second opinion on how graphs are written, besides the
// reference.
//
//   interpreter run(graph_bag);   run.tensors();   run(values);   // ids -> numbers, in and out
#pragma once

#include "convolution.hpp"
#include "pointwise.hpp"

#include <optional>
#include <set>

namespace fake {

/// Numbers of tensors by their ids.
using values = std::map<std::int64_t, dense>;

namespace detail {

/// Where an index of a tensor falls in another of the same rank whose dims are its own or one.
inline std::int64_t broadcast(const dims& at, const dims& size) {
  std::int64_t place = 0;
  for (std::size_t i = 0; i < size.size(); ++i)
    place = place * size[i] + (size[i] == 1 ? 0 : at[i]);
  return place;
}
inline void check_broadcast(const dims& whole, const dims& part) {
  bool fits = whole.size() == part.size();
  for (std::size_t i = 0; fits && i < whole.size(); ++i)
    fits = part[i] == 1 || part[i] == whole[i];
  if (!fits) throw not_understood("dims that do not broadcast");
}

/// `x` reduced over the dims in which `y`, which gives the dims, has one.
inline dense reduce(const dense& x, dense y, cudnnReduceTensorOp_t what) {
  if (what == CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS) throw not_understood("a product without zeros");
  check_broadcast(x.size, y.size);
  std::vector<bool> begun(y.at.size(), false);
  each_index(x.size, [&](const dims& at, std::int64_t i) {
    const std::int64_t to = broadcast(at, y.size);
    const double value = what == CUDNN_REDUCE_TENSOR_AMAX || what == CUDNN_REDUCE_TENSOR_NORM1
                             ? std::fabs(x[i])
                         : what == CUDNN_REDUCE_TENSOR_NORM2 ? x[i] * x[i]
                                                             : x[i];
    if (!begun[static_cast<std::size_t>(to)]) {
      y[to] = value;
      begun[static_cast<std::size_t>(to)] = true;
    } else if (what == CUDNN_REDUCE_TENSOR_MIN) {
      y[to] = std::min(y[to], value);
    } else if (what == CUDNN_REDUCE_TENSOR_MAX || what == CUDNN_REDUCE_TENSOR_AMAX) {
      y[to] = std::max(y[to], value);
    } else if (what == CUDNN_REDUCE_TENSOR_MUL) {
      y[to] *= value;
    } else {
      y[to] += value;
    }
  });
  const double share = static_cast<double>(y.at.size()) / static_cast<double>(x.at.size());
  for (double& value : y.at) {
    if (what == CUDNN_REDUCE_TENSOR_AVG) value *= share;
    if (what == CUDNN_REDUCE_TENSOR_NORM2) value = std::sqrt(value);
  }
  return y;
}

inline double fraction(const cudnnFraction_t& f) {
  return static_cast<double>(f.numerator) / static_cast<double>(f.denominator);
}
} // namespace detail

class interpreter {
public:
  /// The graph of an operation graph's descriptor, which must live as long.
  explicit interpreter(const bag& graph) {
    for (const auto& op : graph.children(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
      operation o{op.get()};
      for (const auto& [name, a] : op->attributes)
        for (const auto& c : a.children)
          if (c && c->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
            const facts f = facts_of(*c);
            tensors_.emplace(f.id, f);
            if (name == result_of(op->type))
              o.writes = f.id;
            else
              o.reads.insert(f.id);
          }
      written_.insert(o.writes);
      operations_.push_back(std::move(o));
    }
  }

  /// All tensors by their ids.
  const std::map<std::int64_t, facts>& tensors() const { return tensors_; }
  bool writes(std::int64_t id) const { return written_.contains(id); }

  /// Computes the tensors that operations write from those that are there. What is not a result is
  /// given up when its last reader has it: all scores of attention are gigabytes.
  void operator()(values& v) const {
    std::vector<const operation*> left;
    for (const operation& o : operations_)
      left.push_back(&o);
    while (!left.empty()) {
      const auto next = std::find_if(left.begin(), left.end(), [&v](const operation* o) {
        return std::all_of(o->reads.begin(), o->reads.end(),
                           [&v](std::int64_t id) { return v.contains(id); });
      });
      if (next == left.end()) throw not_understood("a graph with a circle, or without inputs");
      const operation& o = **next;
      left.erase(next);
      v[o.writes] = compute(*o.what, v);
      std::erase_if(v, [&](const auto& known) {
        const bool is_result = writes(known.first) && !tensors_.at(known.first).is_virtual;
        return !is_result && std::none_of(left.begin(), left.end(), [&](const operation* later) {
          return later->reads.contains(known.first);
        });
      });
    }
  }

private:
  struct operation {
    const bag* what;
    std::set<std::int64_t> reads{};
    std::int64_t writes = 0;
  };

  static cudnnBackendAttributeName_t result_of(cudnnBackendDescriptorType_t t) {
    switch (t) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW;
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return CUDNN_ATTR_OPERATION_POINTWISE_YDESC;
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return CUDNN_ATTR_OPERATION_MATMUL_CDESC;
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return CUDNN_ATTR_OPERATION_REDUCTION_YDESC;
    case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:
      return CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC;
    case CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR: return CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC;
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
      return CUDNN_ATTR_OPERATION_NORM_FWD_YDESC;
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR: return CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC;
    default: throw not_understood("operation " + std::to_string(t));
    }
  }

  /// The numbers of the tensor that is an operation's `name`.
  static const dense& of(const bag& op, cudnnBackendAttributeName_t name, const values& v) {
    return v.at(op.child(name).one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0));
  }
  static const dense* maybe(const bag& op, cudnnBackendAttributeName_t name, const values& v) {
    return op.has(name) ? &of(op, name, v) : nullptr;
  }
  static dims result_dims(const bag& op) {
    return op.child(result_of(op.type)).numbers(CUDNN_ATTR_TENSOR_DIMENSIONS);
  }
  static dense empty_result(const bag& op) { return dense(result_dims(op)); }

  static dense compute(const bag& op, const values& v) {
    switch (op.type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: return convolution(op, v);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: return transposed(op, v);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: return by_weights(op, v);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return elementwise(op, v);
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return matmul(op, v);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return reduction(op, v);
    case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR: return resample(op, v);
    case CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR: return concat(op, v);
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR: return norm(op, v);
    default: return attention(op, v);
    }
  }

  /// Refuses factors that are computed with nowhere.
  static void check_factor(const bag& op, cudnnBackendAttributeName_t name, double wanted) {
    if (op.real_number(name, wanted) != wanted) throw not_understood("a factor");
  }

  static dense convolution(const bag& op, const values& v) {
    check_factor(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1);
    check_factor(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0);
    return detail::convolve(
        of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, v),
        of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, v), empty_result(op),
        detail::window_of(op.child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC)));
  }

  static dense transposed(const bag& op, const values& v) {
    check_factor(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1);
    check_factor(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0);
    return detail::scatter(
        of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, v),
        of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, v), empty_result(op),
        detail::window_of(op.child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC)));
  }

  static dense by_weights(const bag& op, const values& v) {
    check_factor(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1);
    check_factor(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 0);
    return detail::gradient(
        of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, v),
        of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, v), empty_result(op),
        detail::window_of(op.child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC)));
  }

  static dense elementwise(const bag& op, const values& v) {
    check_factor(op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
    check_factor(op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
    const bag& how = op.child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const pointwise_settings settings(how);
    const auto mode = how.one(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_IDENTITY);
    const dense* const operands[] = {maybe(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, v),
                                     maybe(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, v),
                                     maybe(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, v)};
    const auto axis =
        static_cast<std::size_t>(how.one<std::int64_t>(CUDNN_ATTR_POINTWISE_AXIS, -1));
    dense y = empty_result(op);
    for (const dense* d : operands)
      if (d != nullptr) detail::check_broadcast(y.size, d->size);
    bool whole[3] = {};
    for (std::size_t k = 0; k < 3; ++k)
      whole[k] = operands[k] != nullptr && operands[k]->size == y.size;
    each_index(y.size, [&](const dims& at, std::int64_t i) {
      double in[3] = {0, 0, 0};
      for (std::size_t k = 0; k < 3; ++k)
        if (operands[k] != nullptr)
          in[k] = (*operands[k])[whole[k] ? i : detail::broadcast(at, operands[k]->size)];
      if (mode == CUDNN_POINTWISE_GEN_INDEX)
        y[i] = static_cast<double>(at.at(axis));
      else
        y[i] = pointwise(settings, mode, in[0], in[1], in[2]);
    });
    return y;
  }

  static dense matmul(const bag& op, const values& v) {
    return product_of(of(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, v),
                      of(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, v), result_dims(op), false);
  }
  /// a b, or a times the transpose of b; stacks of matrices of this size. Consecutive matrices
  /// share those of an operand that has fewer.
  static dense product_of(const dense& a, const dense& b, const dims& size, bool transpose_b) {
    const std::size_t rank = size.size();
    const std::int64_t terms = a.size[rank - 1];
    for (std::size_t d = 0; d + 2 < rank; ++d)
      if (size[d] % a.size[d] != 0 || size[d] % b.size[d] != 0)
        throw not_understood("stacks of matrices that do not broadcast");
    const std::int64_t m = size[rank - 2], n = size[rank - 1];
    std::vector<std::int64_t> settings{transpose_b};
    for (const dims* d : {&a.size, &b.size, &size})
      settings.insert(settings.end(), d->begin(), d->end());
    return cached().result({bytes(a.at), bytes(b.at)}, settings, [&] {
      dense c(size);
      const dims stacks(c.size.begin(), c.size.end() - 2);
      std::vector<double> turned(static_cast<std::size_t>(n * terms));
      each_index(stacks, [&](const dims& at, std::int64_t i) {
        std::int64_t from_a = 0, from_b = 0;
        for (std::size_t d = 0; d < at.size(); ++d) {
          from_a = from_a * a.size[d] + at[d] / (c.size[d] / a.size[d]);
          from_b = from_b * b.size[d] + at[d] / (c.size[d] / b.size[d]);
        }
        const double* second = b.at.data() + from_b * n * terms;
        if (transpose_b) {
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t l = 0; l < terms; ++l)
              turned[static_cast<std::size_t>(l * n + j)] = second[j * terms + l];
          second = turned.data();
        }
        multiply(a.at.data() + from_a * m * terms, second, c.at.data() + i * m * n, m, n, terms);
      });
      return c;
    });
  }

  static dense reduction(const bag& op, const values& v) {
    return detail::reduce(of(op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, v), empty_result(op),
                          op.child(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                              .one(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_REDUCE_TENSOR_ADD));
  }

  static dense resample(const bag& op, const values& v) {
    const bag& how = op.child(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC);
    const auto mode = how.one(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_RESAMPLE_NEAREST);
    const auto pre = how.all<cudnnFraction_t>(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS),
               strides = how.all<cudnnFraction_t>(CUDNN_ATTR_RESAMPLE_STRIDES),
               taps = how.all<cudnnFraction_t>(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS);
    const dense& x = of(op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, v);
    dense y = empty_result(op);
    const dims in = detail::spatial(x.size), out = detail::spatial(y.size);
    const bool blends = mode == CUDNN_RESAMPLE_BILINEAR, nearest = mode == CUDNN_RESAMPLE_NEAREST;
    dims window;
    for (const cudnnFraction_t& t : taps)
      window.push_back(blends ? 2 : nearest ? 1 : t.numerator / t.denominator);
    const std::int64_t planes = x.size[0] * x.size[1], ins = product(in), outs = product(out);
    each_index(out, [&](const dims& o, std::int64_t number) {
      std::vector<std::pair<std::int64_t, double>> seen; // places and their weights
      each_index(window, [&](const dims& k, std::int64_t) {
        std::int64_t place = 0;
        double weight = 1;
        for (std::size_t d = 0; d < in.size(); ++d) {
          const double begin =
              static_cast<double>(o[d]) * detail::fraction(strides[d]) - detail::fraction(pre[d]);
          const double whole = std::floor(begin + 1e-9);
          std::int64_t i = static_cast<std::int64_t>(whole) + k[d];
          if (blends) {
            weight *= k[d] == 0 ? 1 - (begin - whole) : begin - whole;
            i = std::clamp<std::int64_t>(i, 0, in[d] - 1);
          }
          if (i < 0 || i >= in[d]) return;
          place = place * in[d] + i;
        }
        seen.emplace_back(place, weight);
      });
      const double count = static_cast<double>(
          mode == CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING ? product(window) : std::ssize(seen));
      for (std::int64_t p = 0; p < planes; ++p) {
        double most = -std::numeric_limits<double>::infinity(), sum = 0;
        for (const auto& [place, weight] : seen) {
          most = std::max(most, x[p * ins + place]);
          sum += weight * x[p * ins + place];
        }
        y[p * outs + number] = mode == CUDNN_RESAMPLE_MAXPOOL ? most
                               : blends || nearest            ? sum
                                                              : sum / count;
      }
    });
    return y;
  }

  static dense concat(const bag& op, const values& v) {
    const auto axis =
        static_cast<std::size_t>(op.one<std::int64_t>(CUDNN_ATTR_OPERATION_CONCAT_AXIS, 0));
    dense y = empty_result(op);
    std::int64_t first = 0;
    for (const auto& part : op.children(CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS)) {
      const dense& x = v.at(part->one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0));
      each_index(x.size, [&](dims at, std::int64_t i) {
        at[axis] += first;
        y[detail::broadcast(at, y.size)] = x[i];
      });
      first += x.size[axis];
    }
    return y;
  }

  /// Statistics are given, or taken over the dims in which the scale has its extent (layers) or in
  /// which it has none behind the channels (instances).
  static dense norm(const bag& op, const values& v) {
    const auto mode = op.one(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_BATCH_NORM);
    const dense &x = of(op, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, v),
                &scale = of(op, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, v);
    const dense *bias = maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, v),
                *mean = maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, v),
                *inverse = maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, v),
                *epsilon = maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, v);
    dense own_mean, own_inverse;
    if (mode == CUDNN_LAYER_NORM || mode == CUDNN_RMS_NORM || mode == CUDNN_INSTANCE_NORM) {
      dims rows = x.size;
      for (std::size_t d = 0; d < rows.size(); ++d)
        if (mode == CUDNN_INSTANCE_NORM ? d >= 2 : scale.size[d] == x.size[d] && d > 0) rows[d] = 1;
      own_mean = own_inverse = dense(rows);
      const double share =
          static_cast<double>(own_mean.at.size()) / static_cast<double>(x.at.size());
      if (mode != CUDNN_RMS_NORM)
        each_index(x.size, [&](const dims& at, std::int64_t i) {
          own_mean[detail::broadcast(at, rows)] += x[i] * share;
        });
      each_index(x.size, [&](const dims& at, std::int64_t i) {
        const double off = x[i] - own_mean[detail::broadcast(at, rows)];
        own_inverse[detail::broadcast(at, rows)] += off * off * share;
      });
      for (double& d : own_inverse.at)
        d = 1 / std::sqrt(d + (epsilon != nullptr ? (*epsilon)[0] : 0));
      mean = &own_mean;
      inverse = &own_inverse;
    } else if (mode != CUDNN_BATCH_NORM || mean == nullptr || inverse == nullptr) {
      throw not_understood("a normalization of mode " + std::to_string(mode));
    }
    dense y = empty_result(op);
    each_index(y.size, [&](const dims& at, std::int64_t i) {
      y[i] = (x[i] - (*mean)[detail::broadcast(at, mean->size)]) *
             (*inverse)[detail::broadcast(at, inverse->size)] *
             scale[detail::broadcast(at, scale.size)];
      if (bias != nullptr) y[i] += (*bias)[detail::broadcast(at, bias->size)];
    });
    return y;
  }

  static dense attention(const bag& op, const values& v) {
    for (const auto unknown :
         {CUDNN_ATTR_OPERATION_SDPA_FWD_BLOCK_MASK_DESC, CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC,
          CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC,
          CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC,
          CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC})
      if (op.has(unknown)) throw not_understood("an attention with " + std::to_string(unknown));
    const dense &q = of(op, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, v),
                &k = of(op, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, v);
    const dense* const scale = maybe(op, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, v);
    const dense* const lengths = maybe(op, CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, v);
    dense p = product_of(q, k, {q.size[0], q.size[1], q.size[2], k.size[2]}, true);
    const std::int64_t all = p.size[3];
    for (std::int64_t row = 0; row < std::ssize(p.at); row += all) {
      const std::int64_t columns =
          lengths == nullptr
              ? all
              : static_cast<std::int64_t>((*lengths)[row / (all * p.size[1] * p.size[2])]);
      for (std::int64_t i = row + columns; i < row + all; ++i)
        p[i] = 0;
      double most = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t i = row; i < row + columns; ++i) {
        if (scale != nullptr) p[i] *= (*scale)[0];
        most = std::max(most, p[i]);
      }
      for (std::int64_t i = row; i < row + columns; ++i)
        sum += p[i] = std::exp(p[i] - most);
      for (std::int64_t i = row; i < row + columns; ++i)
        p[i] /= sum;
    }
    return product_of(p, of(op, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, v), result_dims(op), false);
  }

  std::vector<operation> operations_{};
  std::map<std::int64_t, facts> tensors_{};
  std::set<std::int64_t> written_{};
};

} // namespace fake
