// SPDX-License-Identifier: Apache-2.0
// Which dims do a model's inputs have? Those of the file, with numbers in place of its symbols: the
// batch (dim 0, and wherever its symbol is), named symbols, whole shapes. A symbol without a number
// is refused by name. A number of the file is changed only for a batch that was asked for.
//
//   input_dims d = dims_of_inputs(model, {.batch = 8, .dims = {{"sequence", 128}}}, "bert.onnx");
//   d.shapes.at("input_ids")   // {8, 128}
#pragma once

#include "check.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace benanza::onnx {

inline constexpr std::int64_t largest_batch = 65536;

/// What becomes of a result whose size depends on what the model reads: nothing behind it is
/// resolved, the model is refused, or it is as large as it can be.
enum class data_dependent { stop, refuse, largest };

/// What the caller says about a model's inputs.
struct options {
  /// Empty: the model's own where its first dims are numbers, else 1.
  std::optional<std::int64_t> batch{};
  std::map<std::string, std::int64_t> dims{}; ///< values of symbolic dims
  /// Dims of whole inputs, these win; and of values that only a run of the model decides.
  std::map<std::string, shape> shapes{};
  /// How often loops run, by name, where only a run of the model would show it.
  std::map<std::string, std::int64_t> loops{};
  data_dependent sizes = data_dependent::stop;
  /// Sizes that depend on what the model reads, by the name of the node that decides them.
  std::map<std::string, std::int64_t> known_sizes{};
  std::string name{}; ///< what the model is called; empty: as its file
  /// Nodes and values that all bodies may have together, each as often as it is opened.
  std::size_t most_opened = 500'000;
};

/// The dims of all inputs, and what was changed to get them.
struct input_dims {
  std::map<std::string, shape, std::less<>> shapes{};
  std::map<std::string, std::int64_t, std::less<>> symbols{}; ///< numbers put in for symbols
  std::int64_t batch = 1;                 ///< dim 0 of the first input, where that is a batch
  std::int64_t old_batch = 1;             ///< the batch that constants in the file may still say
  bool fixed_dim_changed = false;         ///< so what the file says of other values is stale
  bool has_batch = false;                 ///< some input has a batch dim
  std::vector<std::string> changed{};     ///< dims of the file, but ones, that the batch replaced
  std::vector<std::string> assumptions{}; ///< what was taken for the batch without being called so
};

namespace detail {
/// True for the names that exporters give a batch dim.
inline bool names_batch(std::string_view symbol) {
  std::string s(symbol);
  for (char& c : s)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s == "n" || s == "b" || s.find("batch") != std::string::npos;
}

/// The number of a symbol, or of a sum of symbols and numbers such as "past + 1"; -1: not known, or
/// too large. `unknown` gets the terms that are not known.
inline std::int64_t value_of(std::string_view symbol,
                             const std::map<std::string, std::int64_t, std::less<>>& known,
                             std::set<std::string, std::less<>>* unknown = nullptr) {
  if (const auto found = known.find(symbol); found != known.end()) return found->second;
  std::int64_t sum = 0;
  bool whole = true;
  for (std::size_t from = 0; from <= symbol.size();) {
    const std::size_t to = std::min(symbol.find('+', from), symbol.size());
    std::string_view term = symbol.substr(from, to - from);
    while (!term.empty() && term.front() == ' ')
      term.remove_prefix(1);
    while (!term.empty() && term.back() == ' ')
      term.remove_suffix(1);
    std::int64_t n = -1;
    if (const auto found = known.find(term); found != known.end()) {
      n = found->second;
    } else {
      const auto [end, bad] = std::from_chars(term.data(), term.data() + term.size(), n);
      if (bad != std::errc{} || end != term.data() + term.size()) {
        if (unknown != nullptr) unknown->emplace(term);
        whole = false;
        n = 0;
      }
    }
    if (n < 0 || n > dim_limit || sum > dim_limit) {
      if (unknown != nullptr) unknown->emplace(symbol);
      return -1;
    }
    sum += n;
    from = to + 1;
  }
  return whole ? sum : -1;
}

class input_reader {
public:
  input_reader(const ::onnx::ModelProto& m, const options& o, std::string_view where)
      : model_(m)
      , options_(o)
      , where_(where) {
    out_.batch = o.batch.value_or(1);
  }

  input_dims run() {
    if (out_.batch < 1 || out_.batch > largest_batch)
      throw error("a batch must be from 1 to " + std::to_string(largest_batch) + ", not " +
                      std::to_string(out_.batch),
                  where_);
    for (const auto& [symbol, n] : options_.dims)
      if (n < 1 && names_batch(symbol)) throw error("a batch must be 1 or more", where_);
    find_inputs();
    for (const ::onnx::ValueInfoProto* i : inputs_)
      if (const auto given = options_.shapes.find(i->name()); given != options_.shapes.end())
        take(i->name(), given->second, dims(*i));
    find_batch();
    for (const ::onnx::ValueInfoProto* i : inputs_)
      if (!options_.shapes.contains(i->name())) read(*i);
    if (!missing_.empty() || !nameless_.empty()) refuse_missing();
    return std::move(out_);
  }

private:
  using dim = ::onnx::TensorShapeProto::Dimension;

  static const ::onnx::TensorShapeProto* dims(const ::onnx::ValueInfoProto& i) {
    if (!i.type().has_tensor_type() || !i.type().tensor_type().has_shape()) return nullptr;
    return &i.type().tensor_type().shape();
  }
  static bool fixed(const dim& d) { return d.has_dim_value() && d.dim_value() > 0; }
  static std::string_view symbol(const dim& d) {
    return d.has_dim_value() ? std::string_view{} : std::string_view(d.dim_param());
  }

  void find_inputs() {
    std::set<std::string_view> constants;
    for (const auto& t : model_.graph().initializer())
      constants.insert(t.name());
    for (const auto& i : model_.graph().input())
      if (!constants.contains(i.name())) inputs_.push_back(&i);
    out_.symbols.insert(options_.dims.begin(), options_.dims.end());
  }

  /// The batch is the symbol that is called so; where none is, dim 0 of every input.
  void find_batch() {
    bool symbolic = false, named = false;
    for (const auto* i : inputs_)
      if (const auto* s = dims(*i))
        for (const dim& d : s->dim())
          if (names_batch(symbol(d))) {
            const auto [at, fresh] = out_.symbols.emplace(symbol(d), asked());
            if (!named) out_.batch = at->second;
            named = true;
          }
    for (const auto* i : inputs_) {
      const auto* s = dims(*i);
      if (s == nullptr || s->dim_size() == 0 || options_.shapes.contains(i->name())) continue;
      const dim& first = s->dim(0);
      if (fixed(first)) continue;
      symbolic = true;
      if (named || symbol(first).empty()) continue;
      if (out_.symbols.emplace(symbol(first), asked()).second) {
        const std::string word(symbol(first).substr(0, 80));
        out_.assumptions.push_back("dim 0 of the input " + in_quotes(i->name()) + ", " +
                                   in_quotes(word) + ", is taken for the batch, " +
                                   std::to_string(asked()) + "; --dim " + word + "=N sets it");
      }
    }
    out_.has_batch = symbolic || named;
    if (!out_.has_batch) find_fixed_batch();
  }

  /// Where dim 0 of every input is a number, the file's or a given one: the batch that was asked
  /// for takes the place of what the first input says in the file. If none is, the batch is the
  /// number in which all inputs agree.
  void find_fixed_batch() {
    std::set<std::int64_t> numbers;
    for (const auto* i : inputs_) {
      const auto* s = dims(*i);
      if (s == nullptr || s->dim_size() < 2) continue;
      const auto given = options_.shapes.find(i->name());
      if (given != options_.shapes.end()) numbers.insert(given->second[0]);
      if (!fixed(s->dim(0))) continue;
      if (given == options_.shapes.end()) numbers.insert(s->dim(0).dim_value());
      if (!out_.has_batch) fixed_batch_ = out_.old_batch = s->dim(0).dim_value();
      out_.has_batch = true;
    }
    if (!options_.batch && numbers.size() == 1 && *numbers.begin() <= largest_batch)
      out_.batch = *numbers.begin();
    if (!options_.batch && options_.shapes.empty())
      out_.old_batch = out_.batch; // nothing is replaced
  }

  std::int64_t asked() const { return options_.batch.value_or(1); }

  void read(const ::onnx::ValueInfoProto& input) {
    const auto* s = dims(input);
    if (s == nullptr) return; // a sequence, or a tensor of any rank: what reads it will say so
    shape out;
    if (s->dim_size() > 8)
      throw error("the input " + in_quotes(input.name()) + " has more than 8 dims", where_);
    for (int i = 0; i < s->dim_size(); ++i) {
      const dim& d = s->dim(i);
      if (fixed(d)) {
        out.push(d.dim_value());
        if (i == 0 && s->dim_size() > 1 && d.dim_value() == fixed_batch_) change(input.name(), out);
      } else if (symbol(d).empty()) {
        if (i != 0) nameless_[input.name()] = guess(*s);
        out.push(asked());
      } else {
        out.push(value_of(symbol(d), out_.symbols, &missing_));
        if (missing_.contains(symbol(d)))
          stands_.try_emplace(std::string(symbol(d)),
                              in_quotes(input.name()) + ", dim " + std::to_string(i));
      }
    }
    keep(input.name(), out);
  }

  /// The batch that was asked for in place of the file's number.
  void change(const std::string& name, shape& dims) {
    if (!options_.batch || *options_.batch == fixed_batch_) return;
    dims[0] = *options_.batch;
    out_.fixed_dim_changed = true;
    if (fixed_batch_ == 1) return; // of one image, as it was asked for
    out_.changed.push_back("dim 0 of the input " + in_quotes(name) + " is " +
                           std::to_string(fixed_batch_) + " in the file and " +
                           std::to_string(dims[0]) + " here, as --batch says");
  }

  void take(const std::string& name, const shape& given, const ::onnx::TensorShapeProto* s) {
    if (s != nullptr && s->dim_size() != given.size)
      throw error("the input " + in_quotes(name) + " has " + std::to_string(s->dim_size()) +
                      " dims, " + std::to_string(given.size) + " were given",
                  where_);
    for (int i = 0; i < given.size && s != nullptr; ++i) {
      if (fixed(s->dim(i)) && s->dim(i).dim_value() != given[i]) out_.fixed_dim_changed = true;
      if (!symbol(s->dim(i)).empty()) out_.symbols.emplace(symbol(s->dim(i)), given[i]);
    }
    keep(name, given);
  }

  void keep(const std::string& name, const shape& dims) {
    try {
      if (missing_.empty() && nameless_.empty()) (void)(check_dims(dims), benanza::elements(dims));
    } catch (const error& e) {
      throw error("the input " + in_quotes(name) + " is too large: " + e.what(), where_);
    }
    out_.shapes[name] = dims;
  }

  std::string guess(const ::onnx::TensorShapeProto& s) const {
    std::string out;
    for (int i = 0; i < s.dim_size(); ++i)
      out += (i == 0 ? "" : "x") + (fixed(s.dim(i)) ? std::to_string(s.dim(i).dim_value())
                                    : i == 0        ? std::to_string(asked())
                                                    : std::string("N"));
    return out;
  }

  [[noreturn]] void refuse_missing() const {
    std::string names, remedy = "set";
    const auto name = [&](const std::string& text) { names += (names.empty() ? "" : ", ") + text; };
    for (std::string_view m : missing_) {
      const auto at = stands_.find(m);
      name(in_quotes(m) + (at == stands_.end() ? "" : " (of " + at->second + ')'));
      const std::string word(m.substr(0, 80));
      remedy +=
          " --dim " + (word.find(' ') == std::string::npos ? word + "=N" : "'" + word + "=N'");
    }
    for (const auto& [input, dims] : nameless_) {
      name("of the input " + in_quotes(input));
      remedy += " --shape " + input.substr(0, 80) + '=' + dims;
    }
    throw error("the model's inputs have dims without a number: " + names, where_, remedy);
  }

  const ::onnx::ModelProto& model_;
  const options& options_;
  std::string_view where_;
  std::vector<const ::onnx::ValueInfoProto*> inputs_{};
  std::int64_t fixed_batch_ = -1;
  std::set<std::string, std::less<>> missing_{};             ///< symbols
  std::map<std::string, std::string, std::less<>> stands_{}; ///< where a symbol does first
  std::map<std::string, std::string>
      nameless_{}; ///< inputs with other open dims, and what to write
  input_dims out_{};
};
/// "; it has: a, b" of what a model has by that kind of name.
template <class Names>
std::string names_listed(const Names& names) {
  constexpr std::size_t most = 8;
  std::string out;
  std::size_t said = 0;
  for (const std::string& n : names)
    if (said++ < most) out += (out.empty() ? "; it has: " : ", ") + n;
  if (said > most) out += " and " + std::to_string(said - most) + " more";
  return out.empty() ? "; it has none" : out;
}
} // namespace detail

/// What the options say of symbols and values that the model does not have. Old files list weights
/// among their inputs: `all` has the others.
inline std::vector<std::string> unused_options(const ::onnx::ModelProto& m, const input_dims& all,
                                               const options& o) {
  std::set<std::string, std::less<>> symbols, inputs;
  for (const auto& [name, dims] : all.shapes)
    inputs.insert(name);
  for (const auto& i : m.graph().input())
    for (const auto& d : i.type().tensor_type().shape().dim()) {
      if (d.dim_param().empty()) continue;
      symbols.insert(d.dim_param());
      (void)detail::value_of(d.dim_param(), {}, &symbols); // the terms of a sum
    }
  std::set<std::string_view> made;
  for (const auto& n : m.graph().node())
    made.insert(n.output().begin(), n.output().end());
  std::vector<std::string> out;
  for (const auto& [symbol, asked] : o.dims)
    if (!symbols.contains(symbol))
      out.push_back("--dim " + symbol + ": the model has no such symbol" +
                    detail::names_listed(symbols));
  for (const auto& [name, asked] : o.shapes)
    if (!inputs.contains(name) && !made.contains(name))
      out.push_back("--shape " + name + ": the model has no such input" +
                    detail::names_listed(inputs));
  return out;
}

/// The dims of all inputs of a model under the caller's options.
inline input_dims dims_of_inputs(const ::onnx::ModelProto& m, const options& o,
                                 std::string_view where) {
  return detail::input_reader(m, o, where).run();
}

} // namespace benanza::onnx
