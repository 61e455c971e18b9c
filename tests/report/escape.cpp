// SPDX-License-Identifier: Apache-2.0
// Does text of strangers stay text in every format?
#include "analyzer/report/escape.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace test_of_escape {
namespace {
namespace escape = benanza::report::escape;

/// Markup, formulas, commands and escape sequences of every format.
constexpr std::string_view strange[] = {
    "<b>&\"'", "=1+1",    "@user",         "\x1b[31m\n\t\x07", "\\end{document}", "%$#_^~{}|",
    "`a``b`",  "]]>&lt;", "\"];x->y[x=\"", "\\N\\G",           "\u202e\ufeff",    "\xff\xfe"};
} // namespace

TEST_CASE("escape: each format's own marks") {
  CHECK(escape::xml("<b a='1'>&\"") == "&lt;b a=&#39;1&#39;&gt;&amp;&quot;");
  CHECK(escape::dot("\\N \"a\" &lt;") == "\\\\N \\\"a\\\" &amp;lt;");
  CHECK(escape::csv("a,\"b\"") == "\"a,\"\"b\"\"\"");
  for (const std::string formula : {"=1+1", "+1", "-1", "@x", "  =1", "|x", "%x"})
    CHECK(escape::csv(formula) == "\"'" + formula + '"');
  CHECK(escape::csv("1-1") == "\"1-1\"");
  CHECK(escape::latex("a_b\\%") == "a\\_\\allowbreak{}b\\textbackslash{}\\%");
  CHECK(escape::latex("\u00e9\u65e5\U0001f600") == "U+00E9U+65E5U+1F600");
  CHECK(escape::markdown("a <b> `c` [d](e) x_y") == "a &lt;b&gt; \\`c\\` \\[d\\](e) x\\_y");
  CHECK(escape::markdown("1. x - y. http://z www.z") == "1\\. x - y. http\\://z www\\.z");
  CHECK(escape::markdown("@user") == "@<!-- -->user");
  CHECK(escape::markdown_code("a|b") == "`a|b`");
  CHECK(escape::markdown_code("a|b", true) == "`a\\|b`");
  CHECK(escape::markdown_code("`a``b`") == "``` `a``b` ```");
  CHECK(escape::markdown_code("") != "``");
}

TEST_CASE("escape: nothing steers a terminal or ends a line") {
  for (const std::string_view text : strange)
    for (const std::string& shown :
         {escape::xml(text), escape::dot(text), escape::csv(text), escape::latex(text),
          escape::markdown(text), escape::markdown_code(text, true)}) {
      CAPTURE(shown);
      CHECK(benanza::printable(shown) == shown);
    }
}

} // namespace test_of_escape
