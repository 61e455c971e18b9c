// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include "units.hpp"
#include "warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace benanza::report {

namespace {
constexpr std::string_view letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

std::string_view trimmed(std::string_view t) {
  const std::size_t first = t.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return t.substr(first, t.find_last_not_of(' ') + 1 - first);
}
} // namespace

limit::limit(std::string text)
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

bool limit::is_about(const std::string& model) const {
  return !pattern_ || regexec(pattern_.get(), model.c_str(), 0, nullptr, 0) == 0;
}

bool limit::keeps(double value) const {
  if (!std::isfinite(value)) return false;
  return below_ ? value < number_ || (or_equal_ && value == number_)
                : value > number_ || (or_equal_ && value == number_);
}

std::string limit::shown(double value) const {
  const std::string out = shown_value(figure_->kind, value);
  return keeps(value) || out != shown_value(figure_->kind, number_)
             ? out
             : exact_value(figure_->kind, value);
}

void limit::refuse(const std::string& what, const std::string& remedy) const {
  throw error(what, "--limit " + text_, remedy);
}

void limit::compile() {
  auto made = std::make_unique<regex_t>();
  if (regcomp(made.get(), pattern_text_.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    refuse("not a regular expression: \"" + pattern_text_ + '"',
           "write one for the names of models, or none for all of them");
  pattern_ = std::shared_ptr<regex_t>(made.release(), [](regex_t* r) {
    regfree(r);
    delete r;
  });
}

void limit::read_number(std::string_view t) {
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

void check_limits(const std::vector<limit>& limits, const std::vector<limit_answer>& all) {
  for (const limit& l : limits)
    if (std::none_of(all.begin(), all.end(),
                     [&](const limit_answer& a) { return a.limit == l.text(); }))
      throw error("no model that is reported has a name that this limit is about",
                  "--limit " + l.text(), "--models lists them; leave the name out to mean all");
}

std::vector<limit_answer> hold_to(const std::vector<limit>& limits,
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

std::string limit_lines(const std::vector<limit_answer>& all) {
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

namespace {
/// How many are so, with an example, in one line; empty: none.
std::string limits_that_are(kept is, const std::vector<limit_answer>& all) {
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
} // namespace

std::string broken_limits(const std::vector<limit_answer>& all) {
  return limits_that_are(kept::no, all);
}

std::string unsure_limits(const std::vector<limit_answer>& all) {
  const std::string them = limits_that_are(kept::unsure, all);
  return them.empty() ? them : "unsure of " + printable(them);
}

} // namespace benanza::report
