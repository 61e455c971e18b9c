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

#include "limit_figures.hpp"

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
  explicit limit(std::string text);

  const std::string& text() const { return text_; }
  /// What the figure is compared with, as it was written: "<1.3".
  std::string bound() const { return text_.substr(text_.find_last_of("<>")); }
  const limit_figure& figure() const { return *figure_; }
  /// True for the models that it is about.
  bool is_about(const std::string& model) const;
  bool keeps(double value) const;
  /// A value for people; exact where it breaks the limit and would read like the limit's number.
  std::string shown(double value) const;

private:
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const;
  void compile();
  void read_number(std::string_view t);

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
void check_limits(const std::vector<limit>& limits, const std::vector<limit_answer>& all);

/// Each limit with each model that it is about.
std::vector<limit_answer> hold_to(const std::vector<limit>& limits,
                                  const std::vector<advice::advised>& models);

/// A line a limit, for people; empty: there are none.
std::string limit_lines(const std::vector<limit_answer>& all);

/// The broken limits in one line; empty: there are none.
std::string broken_limits(const std::vector<limit_answer>& all);

/// The limits that are kept by figures that rest on less than they should; empty: there are none.
std::string unsure_limits(const std::vector<limit_answer>& all);

} // namespace benanza::report
