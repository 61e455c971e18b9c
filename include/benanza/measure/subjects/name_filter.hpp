// SPDX-License-Identifier: Apache-2.0
// Which cases does --benchmark_filter select? Those whose name an extended regular expression
// matches; a leading '-' turns it round, as in Google Benchmark.
//
//   const name_filter selected("^Conv.*7x7");   selected("Conv/1x3x224x224-64x7x7-s2-p3/f32/...")
#pragma once

#include "../../core/error.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <regex.h>
#include <string>
#include <string_view>

namespace benanza::measure {

/// What --benchmark_filter selects: an extended regular expression, turned round by a leading '-'.
class name_filter {
public:
  explicit name_filter(std::string text) {
    if (text.empty() || text == "all") return;
    if (text.front() == '-') {
      inverted_ = true;
      text.erase(0, 1);
    }
    auto compiled = std::make_unique<regex_t>();
    if (regcomp(compiled.get(), text.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
      throw error("not a regular expression: \"" + text + "\"", "--benchmark_filter");
    pattern_.reset(compiled.release());
    // What a name must begin with, as far as it is plain: "^Conv.*7x7" wants "Conv".
    if (inverted_ || text.front() != '^' || text.find('|') != std::string::npos) return;
    beginning_ = text.substr(1, text.find_first_of(".[]{}()*+?\\^$", 1) - 1);
    const std::size_t behind = 1 + beginning_.size();
    if (!beginning_.empty() && behind < text.size() && std::strchr("*?{", text[behind]) != nullptr)
      beginning_.pop_back(); // its last letter may be missing
  }
  bool operator()(const std::string& name) const {
    return !pattern_ || (regexec(pattern_.get(), name.c_str(), 0, nullptr, 0) == 0) != inverted_;
  }
  /// False if no name that begins so can be selected.
  bool may_select(std::string_view start) const {
    const std::size_t both = std::min(start.size(), beginning_.size());
    return start.substr(0, both) == std::string_view(beginning_).substr(0, both);
  }

private:
  struct release {
    void operator()(regex_t* r) const {
      regfree(r);
      delete r;
    }
  };
  bool inverted_ = false;
  std::string beginning_{};
  std::unique_ptr<regex_t, release> pattern_;
};

} // namespace benanza::measure
