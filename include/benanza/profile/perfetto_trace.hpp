// SPDX-License-Identifier: Apache-2.0
// How is a timeline written for Perfetto? In its own format, a sequence of packets of Protocol
// Buffers: times in whole ns, and an order of processes and tracks that its page keeps. A packet
// describes each process and each track (a thread of it), then one begins each slice and one ends
// it, by their times. A run is a sequence of packets of its own: its clock begins with it.
//
//   std::string bytes = perfetto_trace(timeline(runs));   // a file that ui.perfetto.dev opens
#pragma once

#include "../core/protobuf_writer.hpp"
#include "timeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::profile {

namespace detail {
/// The numbers of the fields that are written, by message, as perfetto_trace.proto has them.
namespace perfetto {
namespace trace {
inline constexpr int packet = 1;
}
namespace packet {
inline constexpr int timestamp = 8, sequence_id = 10, track_event = 11, sequence_flags = 13,
                     track_descriptor = 60, first_packet_on_sequence = 87;
inline constexpr int state_cleared = 1; // of the flags
} // namespace packet
namespace track {
inline constexpr int uuid = 1, process = 3, thread = 4, parent_uuid = 5, order_rank = 12,
                     process_ordering = 19, thread_ordering = 20;
inline constexpr int explicit_order = 1;
} // namespace track
namespace process {
inline constexpr int pid = 1, name = 6;
}
namespace thread {
inline constexpr int pid = 1, tid = 2, name = 5;
}
namespace event {
inline constexpr int annotations = 4, type = 9, track_uuid = 11, categories = 22, name = 23;
inline constexpr int slice_begin = 1, slice_end = 2; // of the types
} // namespace event
namespace annotation {
inline constexpr int real = 5, text = 6, name = 10;
}
} // namespace perfetto

/// The uuid of a process or a thread is its number: no two have the same.
inline std::uint64_t id(int pid_or_tid) {
  return static_cast<std::uint64_t>(pid_or_tid);
}

inline std::uint64_t whole_ns(double ns) {
  return static_cast<std::uint64_t>(std::llround(ns));
}

inline protobuf_message annotation(std::string_view name) {
  protobuf_message out;
  out.text(perfetto::annotation::name, name);
  return out;
}

inline protobuf_message begin_of(const timeline_slice& s, int tid) {
  namespace field = perfetto::event;
  namespace value = perfetto::annotation;
  protobuf_message out;
  out.number(field::type, field::slice_begin)
      .number(field::track_uuid, id(tid))
      .text(field::categories, s.category())
      .text(field::name, s.name)
      .message(field::annotations, annotation("ns").real(value::real, s.measured_ns));
  if (!s.kind.empty())
    out.message(field::annotations, annotation("kind").text(value::text, s.kind));
  if (!s.told.empty())
    out.message(field::annotations, annotation("told").text(value::text, s.told));
  if (s.ambiguous)
    out.message(field::annotations, annotation("parent").text(value::text, "ambiguous"));
  return out;
}

inline protobuf_message end_of(int tid) {
  namespace field = perfetto::event;
  protobuf_message out;
  out.number(field::type, field::slice_end).number(field::track_uuid, id(tid));
  return out;
}

/// A begin or an end, and when.
using timed_event = std::pair<std::uint64_t, protobuf_message>;

/// Those of a track by their times: what is within a slice ends before it does.
inline void add_events(std::vector<timed_event>& to, const timeline_track& t) {
  std::vector<std::uint64_t> open; // when the slices end that have begun
  const auto close_until = [&](std::uint64_t at) {
    for (; !open.empty() && open.back() <= at; open.pop_back())
      to.emplace_back(open.back(), end_of(t.tid));
  };
  for (const timeline_slice& s : t.slices) {
    const std::uint64_t begin = whole_ns(s.begin_ns);
    close_until(begin);
    to.emplace_back(begin, begin_of(s, t.tid));
    const std::uint64_t end = std::max(whole_ns(s.end_ns()), begin);
    open.push_back(open.empty() ? end : std::min(end, open.back()));
  }
  close_until(UINT64_MAX);
}

/// One sequence of packets.
class packets {
public:
  packets(protobuf_message& out, int sequence)
      : out_(out)
      , sequence_(sequence) {}

  void describe(const protobuf_message& track) {
    protobuf_message packet;
    add(packet.message(perfetto::packet::track_descriptor, track));
  }
  void happens(const timed_event& e) {
    protobuf_message packet;
    add(packet.number(perfetto::packet::timestamp, e.first)
            .message(perfetto::packet::track_event, e.second));
  }

private:
  void add(protobuf_message& packet) {
    namespace field = perfetto::packet;
    packet.number(field::sequence_id, id(sequence_));
    if (std::exchange(first_, false))
      packet.number(field::first_packet_on_sequence, 1)
          .number(field::sequence_flags, field::state_cleared);
    out_.message(perfetto::trace::packet, packet);
  }
  protobuf_message& out_;
  int sequence_;
  bool first_ = true;
};

/// What says that processes and threads are in the order of their ranks.
inline protobuf_message root_track() {
  namespace field = perfetto::track;
  protobuf_message out;
  out.number(field::uuid, 0)
      .number(field::process_ordering, field::explicit_order)
      .number(field::thread_ordering, field::explicit_order);
  return out;
}

inline protobuf_message process_track(const timeline_process& p) {
  namespace field = perfetto::track;
  protobuf_message process, out;
  process.number(perfetto::process::pid, id(p.pid)).text(perfetto::process::name, p.name);
  out.number(field::uuid, id(p.pid))
      .message(field::process, process)
      .number(field::order_rank, id(p.pid));
  return out;
}

inline protobuf_message thread_track(const timeline_process& p, const timeline_track& t) {
  namespace field = perfetto::track;
  protobuf_message thread, out;
  thread.number(perfetto::thread::pid, id(p.pid))
      .number(perfetto::thread::tid, id(t.tid))
      .text(perfetto::thread::name, t.name);
  out.number(field::uuid, id(t.tid))
      .number(field::parent_uuid, id(p.pid))
      .message(field::thread, thread)
      .number(field::order_rank, id(t.tid));
  return out;
}
} // namespace detail

/// The file.
inline std::string perfetto_trace(const std::vector<timeline_process>& processes) {
  protobuf_message out;
  detail::packets(out, 1).describe(detail::root_track());
  for (const timeline_process& p : processes) {
    detail::packets run(out, p.pid + 1);
    run.describe(detail::process_track(p));
    std::vector<detail::timed_event> events;
    for (const timeline_track& t : p.tracks) {
      run.describe(detail::thread_track(p, t));
      detail::add_events(events, t);
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const detail::timed_event& a, const detail::timed_event& b) {
                       return a.first < b.first;
                     });
    for (const detail::timed_event& e : events)
      run.happens(e);
  }
  return std::move(out).bytes();
}

} // namespace benanza::profile
