// SPDX-License-Identifier: Apache-2.0
#include "html_format.hpp"

#include "html.hpp"

namespace benanza::analyzer {

// The build writes them; empty: there was no such file.
std::string html_page();
std::string html_style();
std::string html_script();
std::string html_library();
std::string html_licence();

std::string html_format(const std::vector<report::input>& all) {
  const std::string page = html_page(), style = html_style(), script = html_script(),
                    library = html_library(), licence = html_licence();
  return report::html_report(
      all,
      {.page = page, .style = style, .script = script, .library = library, .licence = licence});
}

std::string html_format(const report::input& in) {
  return html_format(std::vector<report::input>{in});
}

} // namespace benanza::analyzer
