// SPDX-License-Identifier: Apache-2.0
// How is a trace of hundreds of MiB read? ONNX Runtime and PyTorch write Chrome's events, the first
// as an array, the second as the "traceEvents" of an object. They are handed on one after the
// other, and are not kept; of their arguments only those that are asked for are made.
//
//   trace_parse p = read_trace_events(text, {"op_name"}, [](trace_event& e) { use(e.name); });
//   p.cut_off   // the text ends within an event
#pragma once

#include "values.hpp"

#include <functional>
#include <initializer_list>

namespace benanza::trace {

/// One event. Its parts are those of the next one when it was handed on.
struct trace_event {
  std::string category, name, phase, pid, tid;
  std::optional<double> ts, dur; ///< in us
  std::vector<std::pair<std::string_view, nlohmann::json>> arguments;

  /// An argument that was asked for; null: the event has none of that name.
  const nlohmann::json* argument(std::string_view key) const {
    for (const auto& [k, v] : arguments)
      if (k == key) return &v;
    return nullptr;
  }
  std::string text(std::string_view key) const {
    const nlohmann::json* j = argument(key);
    return j == nullptr ? std::string() : detail::text_of(*j);
  }
  void clear() {
    for (std::string* s : {&category, &name, &phase, &pid, &tid})
      s->clear();
    ts.reset();
    dur.reset();
    arguments.clear();
  }
};

/// How far the text was read.
struct trace_parse {
  std::size_t events = 0;
  bool whole = false;     ///< all of it is JSON
  bool cut_off = false;   ///< it ends before the JSON does
  bool too_deep = false;  ///< nested deeper than anything sensible
  std::size_t bad_at = 0; ///< the byte that is none of JSON
};

namespace detail {

/// Makes a value of what a parser says of it.
class value_builder {
public:
  bool open() const { return root_ != nullptr; }
  void begin(json& root) {
    root_ = &root;
    *root_ = nullptr;
    levels_.clear();
  }
  void key(std::string& k) { key_ = std::move(k); }
  /// A value, or the beginning of an array or an object.
  void add(json&& v) {
    const bool structured = v.is_structured();
    json* at = root_;
    if (levels_.empty())
      *root_ = std::move(v);
    else if (levels_.back()->is_array())
      at = &levels_.back()->emplace_back(std::move(v));
    else
      at = &((*levels_.back())[key_] = std::move(v));
    if (structured)
      levels_.push_back(at);
    else if (levels_.empty())
      root_ = nullptr;
  }
  void end() {
    levels_.pop_back();
    if (levels_.empty()) root_ = nullptr;
  }

private:
  json* root_ = nullptr;
  std::vector<json*> levels_;
  std::string key_;
};

/// What nlohmann's parser says becomes events.
class trace_handler final : public nlohmann::json_sax<json> {
public:
  using take_event = std::function<void(trace_event&)>;

  trace_handler(std::vector<std::string_view> wanted, take_event take)
      : wanted_(std::move(wanted))
      , take_(std::move(take)) {}

  trace_parse result;

  bool null() override { return value(json(nullptr)); }
  bool boolean(bool v) override { return value(json(v)); }
  bool number_integer(number_integer_t v) override { return number(v); }
  bool number_unsigned(number_unsigned_t v) override { return number(v); }
  bool number_float(number_float_t v, const string_t&) override { return number(v); }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& v) override {
    if (builder_.open()) {
      builder_.add(json(std::move(v)));
    } else if (in_event()) {
      if (std::string* to = text_field())
        to->swap(v);
      else if (std::optional<double>* at = time_field())
        *at = number_in_text(v);
    }
    return true;
  }
  bool start_object(std::size_t) override { return start(json::object()); }
  bool start_array(std::size_t) override { return start(json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(string_t& k) override {
    if (builder_.open()) {
      builder_.key(k);
    } else if (in_event()) {
      field_ = field_of(k);
    } else if (in_arguments()) {
      for (const std::string_view w : wanted_)
        if (k == w) {
          event_.arguments.emplace_back(w, nullptr);
          builder_.begin(event_.arguments.back().second);
        }
    } else if (level_ == 1) {
      is_events_ = k == "traceEvents";
    }
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const json::exception&) override {
    result.bad_at = at;
    return false;
  }

private:
  enum class field { other, cat, name, ph, pid, tid, ts, dur, args };

  static field field_of(std::string_view k) {
    if (k == "cat") return field::cat;
    if (k == "name") return field::name;
    if (k == "ph") return field::ph;
    if (k == "pid") return field::pid;
    if (k == "tid") return field::tid;
    if (k == "ts") return field::ts;
    if (k == "dur") return field::dur;
    return k == "args" ? field::args : field::other;
  }
  bool in_event() const { return events_level_ != 0 && level_ == events_level_ + 1; }
  bool in_arguments() const {
    return events_level_ != 0 && level_ == events_level_ + 2 && field_ == field::args;
  }
  std::string* text_field() {
    switch (field_) {
    case field::cat: return &event_.category;
    case field::name: return &event_.name;
    case field::ph: return &event_.phase;
    case field::pid: return &event_.pid;
    case field::tid: return &event_.tid;
    default: return nullptr;
    }
  }
  std::optional<double>* time_field() {
    return field_ == field::ts ? &event_.ts : field_ == field::dur ? &event_.dur : nullptr;
  }

  bool value(json&& v) {
    if (builder_.open()) builder_.add(std::move(v));
    return true;
  }
  template <class Number>
  bool number(Number v) {
    if (builder_.open()) {
      builder_.add(json(v));
    } else if (in_event()) {
      if (std::optional<double>* at = time_field())
        *at = static_cast<double>(v);
      else if (field_ == field::pid || field_ == field::tid)
        *text_field() = std::to_string(v);
    }
    return true;
  }
  bool start(json&& empty) {
    const bool array = empty.is_array();
    if (++level_ > deepest_json) {
      result.too_deep = true;
      return false;
    }
    if (builder_.open()) {
      builder_.add(std::move(empty));
    } else if (events_level_ == 0) {
      if (array && (level_ == 1 || (level_ == 2 && is_events_))) events_level_ = level_;
    } else if (in_event()) {
      event_.clear();
      field_ = field::other;
      object_ = !array;
    }
    return true;
  }
  bool end() {
    if (builder_.open()) {
      builder_.end();
    } else if (in_event() && object_) {
      ++result.events;
      take_(event_);
    } else if (level_ == events_level_) {
      events_level_ = 0;
    }
    --level_;
    return true;
  }

  std::vector<std::string_view> wanted_;
  take_event take_;
  trace_event event_;
  value_builder builder_;
  field field_ = field::other;
  std::size_t level_ = 0, events_level_ = 0;
  bool is_events_ = false, object_ = false;
};

/// Says to a handler what a parser would say of a value that was parsed already.
inline bool say(const json& j, trace_handler& to, std::size_t level = 0) {
  if (level > deepest_json) return false;
  switch (j.type()) {
  case json::value_t::object:
    if (!to.start_object(j.size())) return false;
    for (const auto& [k, v] : j.items()) {
      std::string copy = k;
      if (!to.key(copy) || !say(v, to, level + 1)) return false;
    }
    return to.end_object();
  case json::value_t::array:
    if (!to.start_array(j.size())) return false;
    for (const json& v : j)
      if (!say(v, to, level + 1)) return false;
    return to.end_array();
  case json::value_t::string: {
    std::string copy = j.get_ref<const std::string&>();
    return to.string(copy);
  }
  case json::value_t::boolean: return to.boolean(j.get<bool>());
  case json::value_t::number_integer: return to.number_integer(j.get<std::int64_t>());
  case json::value_t::number_unsigned: return to.number_unsigned(j.get<std::uint64_t>());
  case json::value_t::number_float: return to.number_float(j.get<double>(), {});
  default: return to.null();
  }
}
} // namespace detail

/// Hands each event of a text on; what follows a place that is no JSON is not read.
inline trace_parse read_trace_events(std::string_view text, std::vector<std::string_view> wanted,
                                     detail::trace_handler::take_event take) {
  detail::trace_handler handler(std::move(wanted), std::move(take));
  handler.result.whole = nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  handler.result.cut_off =
      !handler.result.whole && !handler.result.too_deep && handler.result.bad_at >= text.size();
  return handler.result;
}

/// The same of a value that was parsed already.
inline trace_parse say_trace_events(const nlohmann::json& value,
                                    std::vector<std::string_view> wanted,
                                    detail::trace_handler::take_event take) {
  detail::trace_handler handler(std::move(wanted), std::move(take));
  handler.result.whole = detail::say(value, handler);
  return handler.result;
}

namespace detail {

/// The text with the names of events escaped, which old versions write as they are: what is between
/// `"name": "` and `", "<next key>"` is one. `count`: how many were no JSON.
inline std::string mended_names(std::string_view text, std::string_view next_key,
                                std::size_t& count) {
  const auto skip = [&](std::size_t at, char wanted) { // behind blanks and that character
    while (at < text.size() && is_blank(text[at]))
      ++at;
    return at < text.size() && text[at] == wanted ? at + 1 : text.npos;
  };
  const auto next_begins = [&](std::size_t at) { // `, "args"`
    at = skip(at, ',');
    if (at != text.npos) at = skip(at, '"');
    return at != text.npos && text.substr(at).starts_with(next_key) &&
           text.substr(at + next_key.size()).starts_with('"');
  };
  constexpr std::string_view key = "\"name\"";
  constexpr std::size_t longest_name = 4096;
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  std::size_t kept = 0; // what is in `out`
  for (std::size_t at = 0; (at = text.find(key, at)) != text.npos;) {
    at += key.size();
    std::size_t from = skip(at, ':');
    if (from != text.npos) from = skip(from, '"');
    if (from == text.npos) continue;
    std::size_t to = text.find('"', from);
    while (to != text.npos && to - from < longest_name && !next_begins(to + 1))
      to = text.find('"', to + 1);
    if (to == text.npos || to - from >= longest_name) continue;
    const std::string_view name = text.substr(from, to - from);
    const std::string escaped =
        json(std::string(name)).dump(-1, ' ', false, json::error_handler_t::replace);
    const std::string_view inner = std::string_view(escaped).substr(1, escaped.size() - 2);
    count += inner != name;
    out.append(text.substr(kept, from - kept)).append(inner);
    kept = at = to;
  }
  return out.append(text.substr(kept));
}

/// Reads a text by a `Runs`, which takes events; what is no JSON is mended where that helps.
template <class Runs>
Runs read_trace(std::string_view text, std::string_view next_key, const std::string& source,
                std::vector<std::string>& warnings) {
  const auto refuse_deep = [&](const trace_parse& p) {
    if (p.too_deep)
      throw error("the JSON is nested deeper than " + std::to_string(deepest_json) + " levels",
                  source, "give what the framework's profiler wrote, unchanged");
  };
  Runs runs;
  const auto into = [&](trace_event& e) { runs.take(e); };
  trace_parse parse = read_trace_events(text, Runs::wanted(), into);
  refuse_deep(parse);
  if (!parse.whole && !parse.cut_off) {
    std::size_t mended = 0;
    const std::string better = mended_names(text, next_key, mended);
    if (mended != 0) {
      Runs first = std::exchange(runs, Runs());
      const trace_parse again = read_trace_events(better, Runs::wanted(), into);
      refuse_deep(again);
      if (again.events > parse.events) {
        parse = again;
        warnings.push_back(
            "the JSON is not valid: " + counted(mended, "name that was", "names that were") +
            " written unescaped mended");
      } else {
        runs = std::move(first);
      }
    }
  }
  if (parse.cut_off)
    warnings.push_back("the file is cut off: what follows its last whole event is missing");
  else if (!parse.whole)
    warnings.push_back("the JSON is not valid at byte " + std::to_string(parse.bad_at) +
                       ": what follows is left out");
  return runs;
}
} // namespace detail

} // namespace benanza::trace
