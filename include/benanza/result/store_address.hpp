// SPDX-License-Identifier: Apache-2.0
// Is a store a file or on a server? An address begins with postgresql:// (or postgres://). Messages
// show the server and the database alone: no password, no user, no parameter.
//
//   is_address("postgresql://me:secret@db/results")   // true
//   shown("postgresql://me:secret@db/results")        // "postgresql://db/results"
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::result::store {

namespace detail {
constexpr std::string_view schemes[] = {"postgresql://", "postgres://"};

constexpr bool is_plain(char c, std::string_view more) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         more.find(c) != std::string_view::npos;
}
constexpr bool all_plain(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text, [&](char c) { return is_plain(c, more); });
}

/// True if each % is before two digits that are no zero byte: libpq shows what it cannot
/// decode.
constexpr bool is_encoded(std::string_view text) {
  const auto hex = [](char c) { return is_plain(c, "") && (c <= '9' || (c | 32) <= 'f'); };
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1))
    if (i + 2 >= text.size() || !hex(text[i + 1]) || !hex(text[i + 2]) ||
        text.substr(i + 1, 2) == "00")
      return false;
  return true;
}

/// True for `name=value`, with nothing in it that has a meaning elsewhere in an address.
constexpr bool is_parameter(std::string_view text) {
  const std::size_t at = text.find('=');
  return at != 0 && at != std::string_view::npos && all_plain(text.substr(0, at), "_") &&
         all_plain(text.substr(at + 1), "-_.~%+:,*!$'()/");
}

/// Hosts with their ports: names, addresses, sockets' folders as %2F...
constexpr bool are_hosts(std::string_view text) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    const std::size_t bracket = one.rfind(']');
    const std::size_t colon = one.find(':', bracket == std::string_view::npos ? 0 : bracket);
    const std::string_view host = one.substr(0, colon);
    if (!all_plain(host, host.starts_with('[') ? "[]:.%-" : "-._%")) return false;
    if (colon != std::string_view::npos &&
        !std::ranges::all_of(one.substr(colon + 1), [](char c) { return c >= '0' && c <= '9'; }))
      return false;
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return true;
}
} // namespace detail

/// True if a store of this name is on a server, or was meant to be: such a text may hold a
/// password, and is no file's name.
inline bool is_address(std::string_view name) {
  std::string small(name); // all of it: a password may be far behind
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return small.starts_with("postgresql:") || small.starts_with("postgres:") ||
         small.find("password=") != std::string::npos;
}

/// The server and the database of an address; nothing where it is not clear which of its parts are
/// which, and so which are secret.
inline std::optional<std::string> server_of(std::string_view address) {
  const bool ours = std::ranges::any_of(detail::schemes,
                                        [&](std::string_view s) { return address.starts_with(s); });
  if (!ours || !detail::is_encoded(address)) return std::nullopt;
  std::string_view rest = address.substr(address.find("//") + 2);
  std::string_view parameters;
  if (const std::size_t at = rest.find('?'); at != std::string_view::npos) {
    parameters = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  while (!parameters.empty()) {
    const std::string_view one = parameters.substr(0, parameters.find('&'));
    if (!detail::is_parameter(one)) return std::nullopt;
    parameters.remove_prefix(std::min(parameters.size(), one.size() + 1));
  }
  const std::size_t user = rest.find('@');
  if (user != std::string_view::npos) {
    if (!detail::all_plain(rest.substr(0, user), "-_.~%+:,*!$'()&=;")) return std::nullopt;
    rest.remove_prefix(user + 1);
  }
  const std::string_view hosts = rest.substr(0, rest.find('/'));
  const std::string_view database = rest.substr(std::min(rest.size(), hosts.size() + 1));
  if (!detail::are_hosts(hosts) || !detail::all_plain(database, "-_.~%+")) return std::nullopt;
  std::string out = "postgresql://";
  out.append(hosts).append("/").append(database);
  return out;
}

/// The name of a store as it may be shown and kept.
inline std::string shown(const std::string& name) {
  return is_address(name) ? server_of(name).value_or("postgresql://...") : name;
}

} // namespace benanza::result::store
