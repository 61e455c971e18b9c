// SPDX-License-Identifier: Apache-2.0
// Which nodes replace one that calls a function? A function's nodes are put in order once; each
// call opens them in a scope of its own, which says which value of the model each of their names
// means, in which opsets they are written, and which attributes the caller gave. Only nodes whose
// attributes refer to the caller's are copied.
//
//   functions table(model, opsets);
//   if (const function* f = table.of(node)) f->steps.steps   // refuses one that is damaged
#pragma once

#include "handlers.hpp"
#include "order.hpp"

#include <google/protobuf/unknown_field_set.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::onnx::detail {

using opset_table = std::map<std::string_view, std::int64_t>;

inline void read_opsets(const auto& imports, opset_table& out) {
  for (const auto& i : imports)
    out[i.domain() == "ai.onnx" ? std::string_view{} : std::string_view(i.domain())] = i.version();
}

/// A function's nodes in order, and what its attributes are where the caller does not say.
struct function {
  const ::onnx::FunctionProto* text = nullptr;
  program steps{};
  opset_table opsets{};
  ::onnx::NodeProto defaults{}; ///< holds the attributes alone
};

/// The defaults of a function's attributes, which libonnx before 1.13 does not know of.
template <class Function>
::onnx::NodeProto attribute_defaults(const Function& f) {
  ::onnx::NodeProto out;
  if constexpr (requires { f.attribute_proto(); }) {
    *out.mutable_attribute() = f.attribute_proto();
  } else {
    constexpr int attribute_proto = 11;
    const auto& fields = f.unknown_fields();
    for (int i = 0; i < fields.field_count(); ++i) {
      const auto& field = fields.field(i);
      if (field.number() != attribute_proto ||
          field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
        continue;
      if (!out.add_attribute()->ParseFromString(field.length_delimited()))
        throw error("the attributes of the function " + in_quotes(f.name()) + " are damaged");
    }
  }
  return out;
}

inline function read_function(const ::onnx::FunctionProto& f, const opset_table& of_the_model) {
  const std::string where = "the function " + in_quotes(f.name());
  function out{.text = &f, .steps = order(f, where), .opsets = of_the_model};
  read_opsets(f.opset_import(), out.opsets);
  for (const std::string& name : f.output())
    if (out.steps.number_of(name) < 0)
      throw error("nothing produces its output " + in_quotes(name), where);
  out.defaults = attribute_defaults(f);
  check_nodes(std::array{out.defaults}, where, 0);
  return out;
}

/// The functions that a model brings, each read when it is called for the first time.
class functions {
public:
  /// `opsets` are the model's, which hold where a function names none.
  functions(const ::onnx::ModelProto& m, const opset_table& opsets)
      : opsets_(opsets) {
    for (const auto& f : m.functions())
      texts_.emplace(std::pair(domain_of(f), std::string_view(f.name())), &f);
  }

  /// The function that a node calls; nullptr: none. Refuses one that makes no sense.
  const function* of(const ::onnx::NodeProto& n) {
    const auto found = texts_.find(named(n));
    return found == texts_.end() ? nullptr : &read(*found->second);
  }
  /// The same for one that is elsewhere and outlives this table.
  const function& read(const ::onnx::FunctionProto& f) {
    if (const auto found = read_.find(&f); found != read_.end()) return found->second;
    return read_.emplace(&f, read_function(f, opsets_)).first->second;
  }

private:
  static std::string_view domain_of(const auto& named) {
    return named.domain() == "ai.onnx" ? std::string_view{} : std::string_view(named.domain());
  }
  static std::pair<std::string_view, std::string_view> named(const ::onnx::NodeProto& n) {
    return {domain_of(n), n.op_type()};
  }

  const opset_table& opsets_;
  std::map<std::pair<std::string_view, std::string_view>, const ::onnx::FunctionProto*> texts_{};
  std::unordered_map<const ::onnx::FunctionProto*, function> read_{};
};

using attribute_table = std::map<std::string_view, const ::onnx::AttributeProto*>;

/// A place where nodes are visited: which values their names mean, and what is given there.
struct scope {
  const program* steps = nullptr;
  const opset_table* opsets = nullptr;
  const scope* around = nullptr;               ///< the one it was opened in
  const ::onnx::FunctionProto* text = nullptr; ///< that it is the body of
  std::vector<int> values{};                   ///< for each name of `steps`; -1: left out
  attribute_table attributes{};                ///< that nodes in it may refer to
  std::string path{};                          ///< `block1/mlp/`, before the names of its nodes
  int depth = 0;

  int value_of(int name) const { return name < 0 ? -1 : values[static_cast<std::size_t>(name)]; }
};

inline constexpr int no_value = -2; ///< of a name in a scope: not given yet
inline constexpr std::size_t longest_path = 240;

/// The path of what is in the node of that name.
inline std::string path_in(const scope& around, std::string_view name) {
  return around.path.size() < longest_path ? around.path + printable(name, longest_name) + '/'
                                           : around.path;
}

inline constexpr int deepest_call = 64;

/// The node with the caller's attributes in place of those that refer to them; nothing: it has none
/// that do. An attribute that the caller does not give, and that has no default, is left out.
inline std::optional<::onnx::NodeProto> with_attributes_of(const scope& s,
                                                           const ::onnx::NodeProto& n) {
  bool any = false;
  for (const auto& a : n.attribute())
    any = any || !a.ref_attr_name().empty();
  if (!any) return std::nullopt;
  ::onnx::NodeProto out = n;
  out.clear_attribute();
  for (const auto& a : n.attribute()) {
    if (a.ref_attr_name().empty()) {
      *out.add_attribute() = a;
    } else if (const auto found = s.attributes.find(a.ref_attr_name());
               found != s.attributes.end()) {
      *out.add_attribute() = *found->second;
      out.mutable_attribute(out.attribute_size() - 1)->set_name(a.name());
    }
  }
  return out;
}

/// A scope in which `f` is opened for the call `n` that is in `around`. Refuses a function that is
/// being opened already.
inline scope scope_of_call(const ::onnx::NodeProto& n, const function& f, const scope& around) {
  const std::string name = in_quotes(f.text->name());
  for (const scope* s = &around; s != nullptr; s = s->around)
    if (s->text == f.text) throw error("the function " + name + " calls itself");
  if (n.output_size() == 0) throw error("it has no outputs");
  if (around.depth >= deepest_call)
    throw error("functions are nested more than " + std::to_string(deepest_call) + " deep");
  if (n.input_size() > f.text->input_size() || n.output_size() > f.text->output_size())
    throw error("the function " + name + " has " + std::to_string(f.text->input_size()) +
                " inputs and " + std::to_string(f.text->output_size()) + " outputs, its caller " +
                std::to_string(n.input_size()) + " and " + std::to_string(n.output_size()));
  scope s{.steps = &f.steps, .opsets = &f.opsets, .around = &around, .text = f.text};
  s.depth = around.depth + 1;
  for (const auto& a : f.defaults.attribute())
    s.attributes[a.name()] = &a;
  for (const auto& a : n.attribute())
    s.attributes[a.name()] = &a;
  return s;
}

} // namespace benanza::onnx::detail
