// SPDX-License-Identifier: Apache-2.0
// How do figures and texts become small in the page's data? Numbers have five significant digits,
// what occurs again and again is written once, and the many figures of cases are letters.
//
//   texts known;   known.of("onednn") == known.of("onednn");   packed(1234.5) + dots({1300}, 1234,
//   8)
#pragma once

#include <benanza/bound/interval.hpp>
#include <benanza/core/printable.hpp>
#include <benanza/result/json.hpp>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::report::html {

/// A number with five significant digits, in as few letters as it takes.
result::ordered_json number(double v);

/// A figure with its interval.
result::ordered_json number(const bound::figure& f);

/// Texts by number.
class texts {
public:
  texts() { of(""); }

  std::size_t of(std::string_view text) {
    const auto [found, fresh] = places_.try_emplace(std::string(text), all_.size());
    if (fresh) all_.push_back(printable(text));
    return found->second;
  }
  const std::vector<std::string>& all() const { return all_; }

private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> all_;
};

/// Values of several parts by number.
class told_once {
public:
  std::size_t of(result::ordered_json value) {
    const auto [found, fresh] = places_.try_emplace(value.dump(), all_.size());
    if (fresh) all_.push_back(std::move(value));
    return found->second;
  }
  const result::ordered_json& all() const { return all_; }

private:
  std::unordered_map<std::string, std::size_t> places_;
  result::ordered_json all_ = result::ordered_json::array();
};

/// Letters that mean 0 to 63.
inline constexpr std::string_view letters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// A number of 0.01 or more in three letters, with four significant digits; "000": there is none.
/// Rounded to three digits, as the page shows it, it is what the number itself would be.
std::string packed(double v);

/// Samples as letters: first r, then for each of `most` samples, the least and the largest among
/// them, a p that says that it is least * e^((r / 16)^2 * p / 63); blanks where there are fewer.
std::string dots(std::vector<double> samples, double least, std::size_t most);

} // namespace benanza::report::html
