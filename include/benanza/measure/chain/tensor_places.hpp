// SPDX-License-Identifier: Apache-2.0
// Where is each tensor of a chain stored, and until when? A result has a room of its own until its
// last reader has run; views of it are in the same room. Copies in other layouts have rooms too,
// and are made once for all who want them. A view knows the elements under other dims: the same
// room may hold one tensor under several.
//
//   tensor_places p(graph, storage);   p.put({3, 0}, place);   p.find({3, 0})   p.release(5);
#pragma once

#include "../../backend/operands.hpp"
#include "../../core/layout.hpp"
#include "../../model/operands.hpp"
#include "storage.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::measure {

/// Where a result of a node, or an input of the model, is stored.
struct tensor_place {
  shape dims{};
  dtype type = dtype::f32;
  layout lies = layout::plain;
  int room = -1; ///< number in storage
  std::int64_t offset = 0;
};

/// The places of all results of a layer whose first is at `first`.
inline std::vector<tensor_place> places_of_results(const op::layer& l, numeric t,
                                                   const tensor_place& first) {
  std::vector<tensor_place> out;
  for (const backend::placed_result& r : backend::results_of(l, t)) {
    out.push_back(first);
    if (r.first == 0) continue;
    out.back() = {.dims = r.dims, .type = r.type, .room = first.room};
    out.back().offset = first.offset + r.offset;
  }
  return out;
}

/// Node and output; what the caller gives to operand k of node n is {-1 - n, k}.
using tensor_id = std::pair<int, int>;

/// The tensors of a chain while it is laid out.
class tensor_places {
public:
  tensor_places(const model::graph& g, activation_storage& storage)
      : storage_(storage) {
    for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i)
      for (const model::operand& o : model::known_operands(g.nodes[static_cast<std::size_t>(i)]))
        if (o.node >= 0) last_reader_[{o.node, o.output}] = i;
  }

  /// Null: it is not made yet.
  const tensor_place* find(const tensor_id& id) const {
    const auto found = tensors_.find(id);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  void put(const tensor_id& id, const tensor_place& p) { tensors_[id] = p; }
  /// The first one that the last node makes.
  const tensor_place& last() const { return tensors_.at({tensors_.rbegin()->first.first, 0}); }

  /// A copy of `from` in another layout or type; null: there is none.
  const tensor_place* copy(const tensor_place& from, layout its, dtype type) const {
    const auto found = copies_.find(key(from, its, type));
    return found == copies_.end() ? nullptr : &found->second;
  }
  /// Notes a copy, which lives as long as what it is a copy of.
  void put_copy(const tensor_place& from, const tensor_place& made, int node) {
    copies_.emplace(key(from, made.lies, made.type), made);
    temporary_.emplace_back(last_use(from, node), made.room);
  }

  /// True if a node behind `node` reads what is in the same room.
  bool is_read_behind(const tensor_place& p, int node) const { return last_use(p, node) > node; }

  /// From now on the room holds another tensor: copies from it and in it are forgotten.
  void forget_copies(int room) {
    std::erase_if(copies_, [room](const auto& c) {
      return std::get<0>(c.first) == room || c.second.room == room;
    });
  }

  /// Gives back the rooms that no node behind `node` reads from.
  void release(int node) {
    std::map<int, int> last; // by room
    for (const auto& [id, t] : tensors_) {
      const auto at = last_reader_.find(id);
      const bool result = id.first >= 0 && at == last_reader_.end();
      const int used = result                     ? std::numeric_limits<int>::max()
                       : at == last_reader_.end() ? node
                                                  : at->second;
      auto& l = last[t.room];
      l = std::max(l, used);
    }
    for (const auto& [until, room] : temporary_)
      last[room] = std::max(last[room], until);
    for (const auto& [room, until] : last)
      if (until <= node && storage_.release(room)) forget_copies(room);
  }

private:
  using copy_key = std::tuple<int, std::int64_t, std::vector<std::int64_t>, layout, dtype>;
  static copy_key key(const tensor_place& from, layout its, dtype type) {
    return {from.room, from.offset, {from.dims.begin(), from.dims.end()}, its, type};
  }

  int last_use(const tensor_place& p, int node) const {
    int last = node;
    for (const auto& [until, room] : temporary_)
      if (room == p.room) last = std::max(last, until);
    for (const auto& [id, t] : tensors_)
      if (t.room == p.room)
        if (const auto at = last_reader_.find(id); at != last_reader_.end())
          last = std::max(last, at->second);
    return last;
  }

  activation_storage& storage_;
  std::map<tensor_id, tensor_place> tensors_{};
  std::map<tensor_id, int> last_reader_{};
  std::map<copy_key, tensor_place> copies_{};
  std::vector<std::pair<int, int>> temporary_{}; ///< last reader and room of a copy
};

} // namespace benanza::measure
