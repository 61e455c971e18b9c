// SPDX-License-Identifier: Apache-2.0
// A limit of a device as a case of the machine: the library that knows the device makes it ready
// and times it by its own clock.
//
//   device_subject s(limit);   group{s, {s.only_case("cuda")}}
#pragma once

#include "machine_subject.hpp"

namespace benanza::measure::ceilings {

class device_subject final : public machine_subject {
public:
  explicit device_subject(backend::device_limit limit)
      : machine_subject({limit.kind, limit.bytes}, numeric::f32, 1, 0.3)
      , limit_(std::move(limit)) {
    bytes = limit_.moved_bytes;
  }

  bench_case only_case(std::string backend) const {
    bench_case c = machine_case(
        *this, std::move(backend),
        {.id = limit_.way, .equivalence = std::string(name(type)), .layouts = "plain"});
    c.on_device = true;
    return c;
  }
  ready_case ready(const bench_case&) override { return made_ready(limit_.make); }

private:
  backend::device_limit limit_;
};

} // namespace benanza::measure::ceilings
