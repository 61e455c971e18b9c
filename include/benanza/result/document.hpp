// SPDX-License-Identifier: Apache-2.0
// How is a result read that is larger than the memory for its whole tree? As a stream: each case is
// handed over as soon as it ends, and forgotten; what is left is the rest of the document. What is
// no JSON, cut off, or nested deeper than any result of ours is refused with its place.
//
//   json rest = read_document(stream, "run.json", [](json&& one) { ... });   // rest["context"]
#pragma once

#include "../core/nesting.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <istream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::result {

using nlohmann::json;

namespace detail {
inline constexpr std::string_view write_again = "write it again with the program that wrote it";

/// The list of a document that is handed over entry by entry, and the list in an entry that may be
/// thinned out while it is read: so many are as good as all.
inline constexpr std::string_view entries_key = "benchmarks", samples_key = "samples_ns";
inline constexpr std::size_t most_samples = std::size_t{1} << 16;

/// Builds the tree of a document without the entries of "benchmarks".
template <class Take>
class document_builder final : public nlohmann::json_sax<json> {
public:
  /// `skipped` bytes of the stream were read before.
  document_builder(std::istream& in, std::size_t skipped, const std::string& source, Take& take)
      : in_(in)
      , skipped_(skipped)
      , source_(source)
      , take_(take) {}

  json document() { return std::move(document_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool v) override { return put(v); }
  bool number_integer(number_integer_t v) override { return put(v); }
  bool number_unsigned(number_unsigned_t v) override { return put(v); }
  bool number_float(number_float_t v, const string_t&) override { return put(v); }
  bool string(string_t& v) override { return put(std::move(v)); }
  bool binary(binary_t& v) override { return put(std::move(v)); }
  bool key(string_t& v) override {
    member_ = &(*open_.back())[v];
    name_ = std::move(v);
    return true;
  }
  bool start_object(std::size_t) override { return begin(json::object()); }
  bool start_array(std::size_t) override { return begin(json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& e) override {
    constexpr int out_of_range = 406; // the library's number for it
    if (e.id == out_of_range)
      throw error("the result holds a number that no computer can", source_, write_again);
    if (in_.bad()) throw error("the result cannot be read", source_);
    const std::string where = source_ + ", byte " + std::to_string(skipped_ + byte);
    if (in_.eof())
      throw error("the result is cut off", where, "run benanza_bench again until it ends");
    throw error("the result is not valid JSON", where, "give what benanza_bench wrote, unchanged");
  }

private:
  /// Puts a value in its place, and says where that is.
  json* place(json value) {
    if (open_.empty()) return &(document_ = std::move(value));
    if (among_entries()) return &(entry_ = std::move(value));
    if (!open_.back()->is_array()) return &(*member_ = std::move(value));
    open_.back()->push_back(std::move(value));
    return &open_.back()->back();
  }
  bool among_entries() const { return open_.size() == 2 && open_.back() == entries_; }

  bool put(json value) {
    if (!open_.empty() && open_.back() == samples_ && !stays()) return true;
    place(std::move(value));
    if (among_entries()) take_(std::move(entry_));
    return true;
  }
  bool begin(json value) {
    if (open_.size() == deepest_json) throw too_nested(source_);
    const bool member = !open_.empty() && open_.back()->is_object();
    open_.push_back(place(std::move(value)));
    if (!member || !open_.back()->is_array()) return true;
    if (open_.size() == 4 && open_[1] == entries_ && name_ == samples_key) {
      samples_ = open_.back();
      seen_ = 0;
      stride_ = 1;
    }
    if (open_.size() != 2 || name_ != entries_key) return true;
    if (std::exchange(entries_, open_.back()) != nullptr)
      throw error("the result has two lists \"" + std::string(entries_key) + "\"", source_,
                  "merge results by giving all files to benanza_analyze");
    return true;
  }
  bool end() {
    if (open_.back() == samples_) samples_ = nullptr;
    open_.pop_back();
    if (among_entries()) take_(std::move(entry_));
    return true;
  }

  /// Whether the next sample is one that stays; makes room for it.
  bool stays() {
    if (seen_++ % stride_ != 0) return false;
    if (samples_->size() < most_samples) return true;
    auto& all = samples_->get_ref<json::array_t&>();
    for (std::size_t i = 0; 2 * i < all.size(); ++i)
      all[i] = std::move(all[2 * i]);
    all.resize(all.size() / 2);
    stride_ *= 2;
    return true;
  }

  std::istream& in_;
  std::size_t skipped_;
  const std::string& source_;
  Take& take_;
  json document_{}, entry_{};
  std::vector<json*> open_{};     ///< arrays and objects that have not ended
  json* member_ = nullptr;        ///< that the next value is the value of
  std::string name_{};            ///< of that member
  const json* entries_ = nullptr; ///< "benchmarks" of the document
  json* samples_ = nullptr;       ///< the samples of the entry, while they are read
  std::size_t seen_ = 0, stride_ = 1;
};

/// Text in memory as a stream.
class text_buffer : public std::streambuf {
public:
  explicit text_buffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data()); // never written to
    setg(begin, begin, begin + text.size());
  }
};
} // namespace detail

/// The document that a stream holds, read to its end, less the entries of "benchmarks": each is
/// given to `take`. `source` is its name in messages.
template <class Take>
json read_document(std::istream& in, const std::string& source, Take&& take) {
  constexpr std::string_view spaces = " \t\r\n";
  constexpr auto end = std::istream::traits_type::eof();
  std::size_t skipped = 0;
  auto next = in.peek();
  for (; next != end && spaces.find(static_cast<char>(next)) != spaces.npos; next = in.peek()) {
    in.get();
    ++skipped;
  }
  if (in.bad()) throw error("the result cannot be read", source);
  if (next == end)
    throw error("the result is empty", source, "run benanza_bench --benchmark_format=json");
  detail::document_builder<Take> builder(in, skipped, source, take);
  json::sax_parse(in, &builder);
  return builder.document();
}

} // namespace benanza::result
