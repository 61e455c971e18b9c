// SPDX-License-Identifier: Apache-2.0
// Do the figures of models keep the limits that were asked for? A limit is a figure, a comparison
// and a number with its unit; before it there may be an extended regular expression for the whole
// name of a model: `gap<1.3`, `resnet50.*prediction<60ms`, `^vgg16 coverage>=100%`. What is
// compared is the figure itself, not its interval. A figure that is not there breaks its limit, and
// one that rests on less than it should does not keep it for sure.
//
//   std::vector<limit_answer> all = hold_to(limits, advised);   check_limits(limits, all);
//   all[0].is == kept::no
#pragma once

#include "../advice/algorithm.hpp"
#include "limit_figures.hpp"
#include "warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <regex.h>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

/// A limit, as it was written.
class limit {
public:
  /// Refuses what is no limit, naming what it should be.
  explicit limit(std::string text)
      : text_(std::move(text)) {
    const std::size_t sign = text_.find_last_of("<>");
    if (sign == std::string::npos)
      refuse("a limit compares: it has <, <=, > or >=", "such as 'expected<60ms'");
    below_ = text_[sign] == '<';
    const bool equal = text_.substr(sign + 1).starts_with('=');
    or_equal_ = equal;
    const std::string_view right = trimmed(std::string_view(text_).substr(sign + 1 + equal));
    std::string_view left = trimmed(std::string_view(text_).substr(0, sign));
    const std::size_t word = left.find_last_not_of(letters) + 1; // 0 where there is nothing else
    figure_ = find_limit_figure(left.substr(word));
    if (figure_ == nullptr)
      refuse(left.substr(word).empty()
                 ? "a limit names a figure before its comparison"
                 : "there is no figure \"" + std::string(left.substr(word)) + '"',
             "there are " + names_of_limit_figures());
    pattern_text_ = trimmed(left.substr(0, word));
    if (pattern_text_.ends_with(':')) pattern_text_.pop_back();
    if (!pattern_text_.empty()) compile();
    read_number(right);
  }

  const std::string& text() const { return text_; }
  /// What the figure is compared with, as it was written: "<1.3".
  std::string bound() const { return text_.substr(text_.find_last_of("<>")); }
  const limit_figure& figure() const { return *figure_; }
  /// True for the models that it is about.
  bool is_about(const std::string& model) const {
    return !pattern_ || regexec(pattern_.get(), model.c_str(), 0, nullptr, 0) == 0;
  }
  bool keeps(double value) const {
    if (!std::isfinite(value)) return false;
    return below_ ? value < number_ || (or_equal_ && value == number_)
                  : value > number_ || (or_equal_ && value == number_);
  }
  /// A value for people; exact where it breaks the limit and would read like the limit's number.
  std::string shown(double value) const {
    const std::string out = shown_value(figure_->kind, value);
    return keeps(value) || out != shown_value(figure_->kind, number_)
               ? out
               : exact_value(figure_->kind, value);
  }

private:
  static constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

  static std::string_view trimmed(std::string_view t) {
    const std::size_t first = t.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return t.substr(first, t.find_last_not_of(' ') + 1 - first);
  }
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const {
    throw error(what, "--limit " + text_, remedy);
  }
  void compile() {
    auto made = std::make_unique<regex_t>();
    if (regcomp(made.get(), pattern_text_.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
      refuse("not a regular expression: \"" + pattern_text_ + '"',
             "write one for the names of models, or none for all of them");
    pattern_ = std::shared_ptr<regex_t>(made.release(), [](regex_t* r) {
      regfree(r);
      delete r;
    });
  }
  void read_number(std::string_view t) {
    const auto [end, bad] = std::from_chars(t.data(), t.data() + t.size(), number_);
    if (bad != std::errc{} || !std::isfinite(number_) || number_ < 0)
      refuse("what a figure is compared with is a number", "such as 60ms, 1.3, 95% or 20/s");
    const std::string_view unit =
        trimmed(std::string_view(end, static_cast<std::size_t>(t.data() + t.size() - end)));
    const std::optional<double> factor = factor_of(figure_->kind, unit);
    if (!factor)
      refuse(unit.empty()
                 ? std::string(figure_->kind == limit_kind::energy ? "an energy" : "a time") +
                       " has a unit"
                 : "\"" + std::string(unit) + "\" is no unit of " + std::string(figure_->name),
             "its units: " + std::string(units_of(figure_->kind)));
    number_ *= *factor;
  }

  std::string text_, pattern_text_{};
  const limit_figure* figure_ = nullptr;
  std::shared_ptr<regex_t> pattern_{};
  bool below_ = true, or_equal_ = false;
  double number_ = 0;
};

/// Is a limit kept? `unsure`: it would be, and the figure rests on less than it should.
enum class kept { yes, unsure, no };

/// The token of an answer, as reports write it.
constexpr std::string_view name(kept k) {
  return k == kept::yes ? "kept" : k == kept::unsure ? "unsure" : "broken";
}

/// A limit and one model that it is about.
struct limit_answer {
  std::string limit{}, model{}, type{};
  int threads = 1;
  std::size_t place = 0;         ///< of the model among those that were held to limits
  std::string bound{};           ///< the comparison and its number, as they were written: "<1.3"
  std::string figure{};          ///< its name; of a framework's also which
  std::optional<double> value{}; ///< ns, nJ, a share of 1, a factor, a number
  std::string shown{};           ///< the value for people; empty: there is none
  std::string_view unit{};       ///< of `value`: "ns", "nJ", "" or "1/s"
  kept is = kept::no;
  std::string why{}; ///< why there is no value, or why it is not sure
};

/// Refuses a limit that none of the answers is of.
inline void check_limits(const std::vector<limit>& limits, const std::vector<limit_answer>& all) {
  for (const limit& l : limits)
    if (std::none_of(all.begin(), all.end(),
                     [&](const limit_answer& a) { return a.limit == l.text(); }))
      throw error("no model that is reported has a name that this limit is about",
                  "--limit " + l.text(), "--models lists them; leave the name out to mean all");
}

/// Each limit with each model that it is about.
inline std::vector<limit_answer> hold_to(const std::vector<limit>& limits,
                                         const std::vector<advice::advised>& models) {
  std::vector<limit_answer> out;
  for (const limit& l : limits) {
    for (const advice::advised& a : models) {
      if (!l.is_about(a.model->graph->name)) continue;
      for (limit_value& v : l.figure().of(a)) {
        limit_answer one{.limit = l.text(),
                         .model = a.model->graph->name,
                         .type = std::string(name(a.model->type)),
                         .threads = a.model->threads,
                         .place = static_cast<std::size_t>(&a - models.data()),
                         .bound = l.bound(),
                         .figure =
                             std::string(l.figure().name) + (v.of.empty() ? "" : " of " + v.of),
                         .value = v.value,
                         .unit = unit_of(l.figure().kind),
                         .why = std::move(v.why)};
        // A framework's and a chain's run are what they are; all else rests on the layers.
        if (one.why.empty() && a.model->partial() && l.figure().name != "framework" &&
            l.figure().name != "run")
          one.why = "partial: " + lacks(*a.model);
        if (one.value) {
          one.shown = l.shown(*one.value);
          one.is = !l.keeps(*one.value) ? kept::no : one.why.empty() ? kept::yes : kept::unsure;
        }
        out.push_back(std::move(one));
      }
    }
  }
  return out;
}

/// A line a limit, for people; empty: there are none.
inline std::string limit_lines(const std::vector<limit_answer>& all) {
  if (all.empty()) return {};
  std::string out = "\nLimits\n";
  for (const limit_answer& a : all) {
    std::string text = fmt::format("{}: {} is {} by {} {} {}", printable(a.limit, 200), a.figure,
                                   a.shown.empty() ? "not there" : a.shown, printable(a.model, 200),
                                   a.type, counted(a.threads, "thread"));
    if (!a.why.empty()) text += ", " + printable(a.why);
    out += wrapped(a.is == kept::no       ? "  BROKEN  "
                   : a.is == kept::unsure ? "  unsure  "
                                          : "  kept    ",
                   text);
  }
  return out;
}

namespace detail {
/// How many are so, with an example, in one line; empty: none.
inline std::string limits_that_are(kept is, const std::vector<limit_answer>& all) {
  const auto are = [is](const limit_answer& a) { return a.is == is; };
  const auto n = std::count_if(all.begin(), all.end(), are);
  if (n == 0) return {};
  const limit_answer& first = *std::find_if(all.begin(), all.end(), are);
  return fmt::format("{} of {}, such as {} by {} ({}{}{})", n, counted(std::ssize(all), "limit"),
                     first.limit, first.model, first.shown,
                     first.shown.empty() ? ""
                     : first.why.empty() ? ""
                                         : ", ",
                     first.why);
}
} // namespace detail

/// The broken limits in one line; empty: there are none.
inline std::string broken_limits(const std::vector<limit_answer>& all) {
  return detail::limits_that_are(kept::no, all);
}

/// The limits that are kept by figures that rest on less than they should; empty: there are none.
inline std::string unsure_limits(const std::vector<limit_answer>& all) {
  const std::string them = detail::limits_that_are(kept::unsure, all);
  return them.empty() ? them : "unsure of " + printable(them);
}

} // namespace benanza::report
