// SPDX-License-Identifier: Apache-2.0
// How much of the machine does a library reach? Layers that are all arithmetic (a large matrix
// product, a 1x1 convolution over many channels) give the peak that real layers can come near; a
// layer of 16 elements gives the cost of a call. They are checked like any layer.
//
//   library_subject s({"matmul", 0}, op::parse("MatMul/..."), numeric::f32, 1, libraries, 1);
#pragma once

#include "../subjects/layer_subject.hpp"
#include "machine_subject.hpp"

namespace benanza::measure::ceilings {

/// A layer as a part of the machine.
class library_subject final : public machine_subject {
public:
  library_subject(const result::machine_key& what, const op::layer& l, numeric t, int on_threads,
                  const library_list& libraries, double share)
      : machine_subject(what, t, on_threads, share)
      , layer_(l, op::cost(l), t, on_threads, libraries) {
    flops = layer_.flops;
    direct_flops = layer_.direct_flops;
    bytes = layer_.bytes;
  }

  const op::layer& layer() const { return layer_.layer(); }
  void begin() override { layer_.begin(); }
  ready_case ready(const bench_case& c) override { return layer_.ready(c); }
  void end() override { layer_.end(); }

private:
  layer_subject layer_;
};

} // namespace benanza::measure::ceilings
