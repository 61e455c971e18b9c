// SPDX-License-Identifier: Apache-2.0
#include "escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace benanza::report::escape {

namespace {
/// Is this byte of a Markdown text markup where it is? Of a list only at the beginning, and of an
/// address only what makes it one.
bool is_markdown(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  if (std::string_view("\\`*_{}[]#~|$^!").find(text[at]) != std::string_view::npos) return true;
  if (text[at] == ':') return text.substr(at).starts_with("://");
  if (text[at] == '.' && before.size() >= 3 && (before.back() | 0x20) == 'w') return true;
  const char next = at + 1 < text.size() ? text[at + 1] : ' ';
  const bool beginning = before.find_first_not_of("0123456789 ") == std::string_view::npos;
  return beginning && (next == ' ' || next == text[at]) &&
         std::string_view("+-=.)").find(text[at]) != std::string_view::npos;
}
} // namespace

std::string xml(std::string_view text) {
  return each(text, [](char c) -> std::string_view {
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return {};
    }
  });
}

std::string latex(std::string_view text) {
  std::string out;
  const std::string shown = benanza::printable(text);
  for (std::size_t i = 0; i < shown.size();) {
    const char c = shown[i];
    const std::size_t n = benanza::detail::utf8_length(std::string_view(shown).substr(i));
    if (n > 1) {
      unsigned code = static_cast<unsigned char>(c) & (0xffU >> (n + 1));
      for (std::size_t k = 1; k < n; ++k)
        code = code << 6 | (static_cast<unsigned char>(shown[i + k]) & 0x3fU);
      out += fmt::format("U+{:04X}", code);
      i += n;
      continue;
    }
    ++i;
    switch (c) {
    case '\\': out += "\\textbackslash{}"; break;
    case '^': out += "\\textasciicircum{}"; break;
    case '~': out += "\\textasciitilde{}"; break;
    case '<': out += "\\textless{}"; break;
    case '>': out += "\\textgreater{}"; break;
    case '|': out += "\\textbar{}"; break;
    case '"': out += "{\\char34}"; break;
    case '-': out += "{-}\\allowbreak{}"; break; // two of them are no dash
    case '?':
    case '!':
    case '\'':
    case '`':
    case ',': (out += '{') += c, out += '}'; break; // some pairs of them are one character
    case '{':
    case '}':
    case '$':
    case '&':
    case '#':
    case '%': (out += '\\') += c; break;
    case '_': out += "\\_\\allowbreak{}"; break;
    case '/':
    case ':':
    case '=':
    case '@': (out += c) += "\\allowbreak{}"; break;
    case '[':
    case ']':
    case '*': (out += '{') += c, out += '}'; break; // behind a line's end they would be arguments
    default: out += c;
    }
  }
  return out;
}

std::string dot(std::string_view text) {
  return each(text, [](char c) -> std::string_view {
    return c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '&' ? "&amp;" : std::string_view();
  });
}

std::string csv(std::string_view text) {
  std::string out =
      each(text, [](char c) -> std::string_view { return c == '"' ? "\"\"" : std::string_view(); });
  const std::size_t first = out.find_first_not_of(' ');
  const bool formula = first != std::string::npos &&
                       std::string_view("=+-@|%").find(out[first]) != std::string::npos;
  return (formula ? "\"'" : "\"") + out + '"';
}

std::string markdown(std::string_view text) {
  std::string out;
  const std::string shown = benanza::printable(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    if (c == '<' || c == '>' || c == '&') {
      out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;";
      continue;
    }
    if (is_markdown(shown, i)) out += '\\';
    out += c;
    if (c == '@') out += "<!-- -->"; // else it may call a user
  }
  return out;
}

std::string markdown_code(std::string_view text, bool in_table) {
  const std::string inner = each(text, [in_table](char c) -> std::string_view {
    return in_table && c == '|' ? "\\|" : std::string_view();
  });
  std::size_t run = 0, longest = 0;
  for (const char c : inner)
    longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  if (inner.find_first_not_of(' ') == std::string::npos) return "–";
  const std::string fence(longest + 1, '`');
  const bool apart =
      inner.front() == '`' || inner.back() == '`' || (inner.front() == ' ' && inner.back() == ' ');
  return fence + (apart ? " " : "") + inner + (apart ? " " : "") + fence;
}

} // namespace benanza::report::escape
