// SPDX-License-Identifier: Apache-2.0
// Is a value as a schema says? Of JSON Schema what the published schemas use; a keyword that is not
// known here is a fault, and does not pass in silence.
//
//   first_fault(schema, value) == "/models/0: \"threads\" is missing"
#pragma once

#include <benanza/result/json.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace benanza::test {

class schema {
public:
  using json = nlohmann::json;
  explicit schema(json root)
      : root_(std::move(root)) {}

  /// The first fault of a value, with its place; empty: there is none.
  std::string first_fault(const json& value) const { return fault(root_, value, ""); }

  const json& root() const { return root_; }

private:
  static bool is(const json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == value.type_name();
  }

  std::string fault(const json& rule, const json& value, const std::string& at) const {
    if (rule.is_boolean()) return rule.get<bool>() ? "" : at + ": nobody knows it";
    static const std::set<std::string> ignored{"description", "$schema", "title", "$defs", "$id"};
    for (const auto& [word, says] : rule.items()) {
      if (ignored.contains(word)) continue;
      if (const std::string found = word_fault(word, says, rule, value, at); !found.empty())
        return found;
    }
    return {};
  }

  std::string word_fault(const std::string& word, const json& says, const json& rule,
                         const json& value, const std::string& at) const {
    if (word == "$ref")
      return fault(root_.at(json::json_pointer(says.get<std::string>().substr(1))), value, at);
    if (word == "anyOf") {
      std::string first;
      for (const json& one : says) {
        const std::string found = fault(one, value, at);
        if (found.empty()) return {};
        if (first.empty()) first = found;
      }
      return first;
    }
    if (word == "type") {
      const auto fits = [&](const json& one) { return is(value, one.get<std::string>()); };
      const bool fine = says.is_array() ? std::any_of(says.begin(), says.end(), fits) : fits(says);
      return fine ? "" : at + ": " + value.type_name() + " where " + says.dump() + " belongs";
    }
    if (word == "enum")
      return std::find(says.begin(), says.end(), value) != says.end()
                 ? ""
                 : at + ": " + value.dump() + " is none of " + says.dump();
    if (word == "const")
      return value == says ? "" : at + ": " + value.dump() + " is not " + says.dump();
    if (word == "minimum")
      return !value.is_number() || value.get<double>() >= says.get<double>()
                 ? ""
                 : at + ": " + value.dump() + " is below " + says.dump();
    if (word == "exclusiveMinimum")
      return !value.is_number() || value.get<double>() > says.get<double>()
                 ? ""
                 : at + ": " + value.dump() + " is not above " + says.dump();
    if (word == "required") {
      if (value.is_object())
        for (const json& key : says)
          if (!value.contains(key.get<std::string>()))
            return at + ": " + key.dump() + " is missing";
      return {};
    }
    if (word == "properties") {
      if (value.is_object())
        for (const auto& [key, its] : value.items())
          if (says.contains(key))
            if (const std::string found = fault(says.at(key), its, at + '/' + key); !found.empty())
              return found;
      return {};
    }
    if (word == "additionalProperties") {
      if (value.is_object())
        for (const auto& [key, its] : value.items())
          if (!rule.contains("properties") || !rule.at("properties").contains(key))
            if (const std::string found = fault(says, its, at + '/' + key); !found.empty())
              return found;
      return {};
    }
    if (word == "items") {
      std::size_t n = 0;
      if (value.is_array())
        for (const json& one : value)
          if (const std::string found = fault(says, one, at + '/' + std::to_string(n++));
              !found.empty())
            return found;
      return {};
    }
    return at + ": the schema says \"" + word + "\", which the test does not know";
  }

  json root_;
};

} // namespace benanza::test
