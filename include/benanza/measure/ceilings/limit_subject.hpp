// SPDX-License-Identifier: Apache-2.0
// How does something that moves bytes become a case of the machine? The code that knows it says its
// kind, its way and its bytes, makes it ready, and times it by its own clock: the host's code here,
// or the library of a device.
//
//   limit_subject s(limit);   group{s, {own_case(s, limit.way)}}
//   device_subject s(limit);   group{s, {s.only_case("cuda")}}
#pragma once

#include "machine_subject.hpp"

namespace benanza::measure::ceilings {

/// What moves bytes at most, on the host too.
using limit = backend::device_limit;

/// A limit as the subject of a group.
class limit_subject : public machine_subject {
public:
  explicit limit_subject(limit l)
      : machine_subject({l.kind, l.bytes}, numeric::f32, 1, 0.3)
      , limit_(std::move(l)) {
    bytes = limit_.moved_bytes;
  }

  ready_case ready(const bench_case&) override { return made_ready(limit_.make); }

protected:
  const std::string& way() const { return limit_.way; }

private:
  limit limit_;
};

/// A limit of a device.
class device_subject final : public limit_subject {
public:
  using limit_subject::limit_subject;

  bench_case only_case(std::string backend) const {
    bench_case c =
        machine_case(*this, std::move(backend),
                     {.id = way(), .equivalence = std::string(name(type)), .layouts = "plain"});
    c.on_device = true;
    return c;
  }
};

} // namespace benanza::measure::ceilings
