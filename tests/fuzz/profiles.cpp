// SPDX-License-Identifier: Apache-2.0
// Files of frameworks' profilers.
#include "../trace/profile/profile_samples.hpp"
#include "mutate.hpp"

#include <benanza/core/printable.hpp>

namespace {
void take_profile(std::string_view bytes) {
  const benanza::trace::profile p = benanza::trace::read_profile(bytes, "profile");
  for (const benanza::trace::profiled_operator& o : p.operators)
    for (const double ns : o.ns)
      if (!(ns >= 0)) throw fuzz::finding("a time is none");
  for (const std::string& w : p.warnings)
    fuzz::check_shown(benanza::printable(w));
}

std::string spoil_profile(const std::string& text, fuzz::dice& d) {
  return text.starts_with("{") || text.starts_with("[") ? fuzz::spoil_json(text, d)
                                                        : fuzz::spoil(text, {}, d);
}

const fuzz::registration profile_target{
    {.name = "profiles",
     .take = take_profile,
     .samples = profile_text::samples,
     .words = {"\"cat\"", "\"Node\"", "\"ts\"", "\"dur\"", "\"traceEvents\"", "\"Layers\"",
               "<layer ", "onednn_verbose,", ",exec,", ";", "\x1e"},
     .change = spoil_profile}};
} // namespace
