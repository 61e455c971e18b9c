// SPDX-License-Identifier: Apache-2.0
// How does a plan become a chain? Node by node: its layer's algorithm is made ready, tensors in
// another layout than it wants are reordered first, and its result gets room. Activations share
// memory as in a framework: what is read no more makes room; scratch memory is one for all.
//
//   built_chain c = chain_builder(plan, libraries).build();   c.steps[0].execute(c.storage);
#pragma once

#include "../../core/text.hpp"
#include "../../op/kinds.hpp"
#include "../../result/plan.hpp"
#include "../subjects/layer_subject.hpp"
#include "../subjects/memory_need.hpp"
#include "lanes.hpp"
#include "operands.hpp"
#include "plan_words.hpp"
#include "step.hpp"
#include "unpack.hpp"

#include <algorithm>
#include <optional>

namespace benanza::measure {

/// What runs, in order, and the memory that it runs in.
struct built_chain {
  activation_storage storage{};
  std::vector<chain_step> steps{};
  std::shared_ptr<backend::device_space> device{}; ///< on which it runs; null: on the processor
  lane_plan lanes{};                               ///< of the steps; empty: all on one
  tensor_place result{};                           ///< of the last node
  std::vector<tensor_place> inputs{}; ///< what the caller gives, in the order of its readers
  std::int64_t scratch_bytes = 0;
};

/// What is there before a chain is built.
struct chain_givens {
  std::vector<backend::operands> operands{};    ///< of each node's layer; empty: they are made
  std::vector<backend::algorithm> algorithms{}; ///< of each node; empty: libraries are asked
  /// The weights of all steps as their algorithms want them, each on a line of 64 bytes; null: they
  /// are packed.
  const std::byte* packed = nullptr;
};

/// Bytes of a step's weights, packed, up to the next line.
inline std::int64_t slot_bytes(const backend::prepared& p) {
  constexpr std::int64_t line = 64;
  return (p.weight_bytes() + line - 1) / line * line;
}

/// Builds one chain.
class chain_builder {
public:
  /// `side_by_side`: steps that do not wait for each other run on several of the device's queues.
  chain_builder(const result::plan& p, const library_list& libraries,
                const parameters& thresholds = usual_parameters, bool side_by_side = false,
                chain_givens given = {})
      : plan_(p)
      , libraries_(libraries)
      , parameters_(thresholds)
      , side_by_side_(side_by_side)
      , given_(std::move(given))
      , limits_(index_limits(p.graph, p.type))
      , places_(p.graph, out_.storage) {}
  chain_builder(const chain_builder&) = delete;
  chain_builder& operator=(const chain_builder&) = delete;

  /// Refuses a plan that cannot run, and names the node. Called once.
  built_chain build() {
    choose_device();
    if (side_by_side_) storage_.keep_apart();
    check_memory();
    for (std::size_t i = 0; i < plan_.graph.nodes.size(); ++i)
      add(static_cast<int>(i));
    for (const chain_step& step : out_.steps)
      if (step.run)
        out_.scratch_bytes = std::max(out_.scratch_bytes, step.places().scratch_bytes());
    if (side_by_side_) choose_lanes();
    std::vector<int> scratch; // one a lane
    for (int lane = 0; lane < std::max(1, count_of(out_.lanes)); ++lane)
      scratch.push_back(storage_.keep(out_.scratch_bytes));
    storage_.allocate(out_.device.get());
    for (std::size_t i = 0; i < out_.steps.size(); ++i) {
      chain_step& step = out_.steps[i];
      const int lane = out_.lanes.empty() ? 0 : out_.lanes[i].lane;
      step.connect(storage_);
      if (step.run)
        step.places().connect_scratch(storage_.at(scratch[static_cast<std::size_t>(lane)]));
    }
    out_.result = places_.last();
    return std::move(out_);
  }

private:
  const op::layer& layer_of(int node) const { return layer_at(plan_.graph, node); }
  std::string where(int node) const { return node_place(plan_.graph, node); }

  bool on_device() const { return out_.device != nullptr; }

  void choose_lanes() {
    std::vector<rooms_used> used;
    for (const chain_step& step : out_.steps) {
      rooms_used& its = used.emplace_back(rooms_used{.reads = {}, .writes = step.writes.room});
      for (const auto& [operand, place] : step.reads)
        its.reads.push_back(place.room);
    }
    out_.lanes = lanes_of(used);
  }

  /// All layers run on the processor, or all on one device.
  void choose_device() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const std::string& name = plan_.steps[i].backend;
      if (name.empty()) continue;
      backend::device_library* const its = library_named(name, static_cast<int>(i)).own_devices();
      if (its != nullptr && !on_device()) out_.device = its->make_space();
      if ((its != nullptr) != on_device() || (on_device() && host_before(i)))
        throw error("a chain runs on the CPU or on a device, not on both: " + name,
                    where(static_cast<int>(i)), "write the plan with --device cpu or --device gpu");
    }
  }
  /// True if a node before `i` runs on the processor.
  bool host_before(std::size_t i) const {
    for (std::size_t k = 0; k < i; ++k)
      if (const std::string& name = plan_.steps[k].backend;
          !name.empty() && !library_named(name, static_cast<int>(k)).on_device())
        return true;
    return false;
  }

  /// Of an algorithm that is ready to run, in the host's memory.
  double host_bytes(const op::layer& l, const backend::algorithm& a = {}) const {
    return on_device() ? 0 : prepared_bytes(l, plan_.type, a);
  }

  /// What is known beforehand: operands and result of every layer, and those that are no
  /// activations once more for checks.
  void check_memory() const {
    double sum = 0;
    for (const model::node& n : plan_.graph.nodes) {
      if (n.layer == model::no_layer) continue;
      const op::layer& l = plan_.graph.layers[static_cast<std::size_t>(n.layer)];
      if (op::is_view(l)) continue;
      sum += host_bytes(l);
      for (const backend::tensor& t : backend::describe_operands(l, plan_.type).inputs)
        if (!flows(t)) sum += detail::bytes_of(t.dims, t.type);
    }
    machine::check_memory(sum, plan_.graph.name, "generate the model with a smaller --batch");
  }

  static bool flows(const backend::tensor& t) {
    return t.part != backend::role::vector && t.part != backend::role::weights;
  }

  void add(int i) {
    const model::node& n = plan_.graph.nodes[static_cast<std::size_t>(i)];
    const op::layer& l = layer_of(i);
    const result::plan_step& s = plan_.steps[static_cast<std::size_t>(i)];
    const std::vector<model::operand> listed = model::known_operands(n);
    if (const auto* v = op::as<op::view>(l)) return add_view(i, *v, s, listed);

    chain_step step;
    step.node = i;
    machine::check_memory(bytes_of_operands(l, plan_.type) + host_bytes(l), where(i));
    step.values = operands_of(l, listed, i);
    if (const std::int64_t limit = limits_[static_cast<std::size_t>(i)];
        limit > 0 && op::visit(detail::hands_on{0}, l))
      for (backend::tensor& t : step.values.inputs)
        bring_inside(t, limit);
    std::vector<std::pair<std::size_t, model::operand>> flowing;
    for (std::size_t k = 0; k < listed.size(); ++k)
      if (const auto at = operand_index(l, k, listed.size(), step.values.inputs.size())) {
        backend::tensor& t = step.values.inputs[*at];
        if (listed[k].node == model::constant)
          choose_constant(l, t);
        else if (flows(t))
          flowing.emplace_back(*at, listed[k]);
      }

    const backend::algorithm a =
        given_.algorithms.empty() ? find(l, s, i) : given_.algorithms[static_cast<std::size_t>(i)];
    step.run = prepare(l, s.backend, a, step.values, i);
    const std::vector<layout> wanted = layouts(s.operand_layouts, i);
    std::size_t activation = 0;
    for (const auto& [at, o] : flowing) {
      backend::tensor& t = step.values.inputs[at];
      const layout its = wanted[std::min(activation++, wanted.size() - 1)];
      step.reads.emplace_back(static_cast<int>(at),
                              aligned(as_read(source(i, at, o, t), o, t.dims, t.type, its, i), i));
      t.bytes = {}; // what is really read comes from there
    }
    read_overwritten_constant(step, wanted.back(), i);
    step.writes = {.dims = op::output(l),
                   .type = backend::result_type(l, plan_.type),
                   .lies = layouts(s.result_layout, i)[0]};
    take_room(step, i);
    put_results(i, l, step.values.parts, step.writes);
    steps_.push_back(std::move(step));
    places_.release(i);
  }

  /// A view that changes dims looks at a tensor as ONNX has it, and so does one of which the plan
  /// does not say the layout.
  void add_view(int i, const op::view& v, const result::plan_step& s,
                const std::vector<model::operand>& listed) {
    if (listed.empty()) throw error("a view has no operand", where(i), plan_again);
    const bool plain = !(v.input == v.result) || s.operand_layouts.empty();
    const layout its = plain ? layout::plain : layouts(s.operand_layouts, i)[0];
    backend::operands given =
        listed[0].node >= 0 ? backend::operands{} : backend::make_operands(v, plan_.type);
    for (backend::tensor& t : given.inputs)
      bring_inside(t, limits_[static_cast<std::size_t>(i)]);
    const tensor_place from =
        source(i, 0, listed[0], given.inputs.empty() ? backend::tensor{} : given.inputs[0]);
    tensor_place p = as_read(from, listed[0], v.input, v.casts() ? v.element : from.type, its, i);
    p.dims = v.result;
    if (v.casts()) p.type = v.to;
    p.lies = plain ? layout::plain : layouts(s.result_layout, i)[0];
    places_.put({i, 0}, p);
  }

  /// The operands of a node's layer; the parts of a Concat have the dims of what it joins, those of
  /// a Split the ones that their readers want.
  backend::operands operands_of(const op::layer& l, const std::vector<model::operand>& listed,
                                int node) {
    const auto* c = op::as<op::concat>(l);
    if (c == nullptr) {
      backend::operands made = given_.operands.empty()
                                   ? backend::make_operands(l, plan_.type)
                                   : std::move(given_.operands[static_cast<std::size_t>(node)]);
      if (op::is<op::split>(l)) made.parts = split_lengths(plan_.graph, node, plan_.type);
      return made;
    }
    std::vector<std::int64_t> lengths;
    for (const model::operand& o : listed) {
      const tensor_place* p = o.node >= 0 ? places_.find({o.node, o.output}) : nullptr;
      const std::int64_t side = elements(c->whole) / std::max<std::int64_t>(1, c->whole[c->axis]);
      lengths.push_back(p == nullptr ? 0 : elements(p->dims) / std::max<std::int64_t>(1, side));
    }
    auto made = concat_operands(*c, plan_.type, lengths);
    if (!made || std::ssize(lengths) != c->parts)
      throw error("the parts of a Concat do not add up to the whole", where(node), plan_again);
    return std::move(*made);
  }

  backend::library& library_named(const std::string& name, int node) const {
    for (const auto& l : libraries_)
      if (l->name() == name) return *l;
    throw error("this program has no backend \"" + name + "\"", where(node),
                "write the plan from a result of this program, or build it with that backend");
  }

  backend::algorithm find(const op::layer& l, const result::plan_step& s, int node) const {
    for (backend::algorithm& a :
         library_named(s.backend, node).enumerate(l, plan_.type, {.threads = plan_.threads}))
      if (a.id == s.algorithm) return a;
    throw error("backend " + s.backend + " does not offer \"" + s.algorithm + "\" here",
                where(node), "write the plan from a result of this machine");
  }

  std::unique_ptr<backend::prepared> prepare(const op::layer& l, const std::string& backend,
                                             const backend::algorithm& a,
                                             const backend::operands& values, int node) {
    machine::check_memory(host_bytes(l, a), where(node));
    std::unique_ptr<backend::prepared> made;
    try {
      made = library_named(backend, node)
                 .prepare(l, plan_.type, a, values,
                          {.threads = plan_.threads, .packed = given_.packed});
    } catch (const backend::device_lost&) {
      throw;
    } catch (const error& e) {
      throw error(e.what(), where(node), measure_again(layer_of(node)));
    }
    if (made->ran() != a.id)
      throw error("the library ran " + made->ran() + " in place of " + a.id, where(node),
                  measure_again(layer_of(node)));
    if (made->chain() == nullptr)
      throw error("algorithm \"" + a.id + "\" cannot stand in a chain", where(node),
                  "measure the CPU alone, and write the plan from that result");
    choose_stack_place(*made, parameters_);
    if (given_.packed != nullptr) given_.packed += slot_bytes(*made);
    return made;
  }

  std::vector<layout> layouts(std::string_view text, int node) const {
    std::vector<layout> out;
    for (const std::string_view word : split_at(text, ",")) {
      const auto l = parse_layout(word);
      if (!l)
        throw error("no layout is called \"" + std::string(word) + "\"", where(node), plan_again);
      out.push_back(*l);
    }
    return out;
  }

  /// Where an operand is. An input of the model is made, with the values of `as`, where it is read
  /// first.
  tensor_place source(int node, std::size_t k, const model::operand& o, const backend::tensor& as) {
    const tensor_id id =
        o.node >= 0 ? tensor_id{o.node, o.output} : tensor_id{-1 - node, static_cast<int>(k)};
    if (const tensor_place* known = places_.find(id)) return *known;
    if (o.node >= 0) throw error("a node reads a result that is not made", where(node), plan_again);
    tensor_place p{.dims = as.dims, .type = as.type};
    // What another part of the model makes comes as that has left it.
    const std::string& given = plan_.steps[static_cast<std::size_t>(node)].given_layout;
    if (o.output == model::made_elsewhere && !given.empty() && !packed_in_bytes(p.type))
      p.lies = layouts(given, node)[0];
    p.room = storage_.hold(pack(as.bytes, p.lies, p.dims, p.type));
    places_.put(id, p);
    out_.inputs.push_back(p);
    return p;
  }

  /// What operand `o` of a node is to it: of those dims, in layout `its`.
  tensor_place as_read(tensor_place from, const model::operand& o, const shape& dims, dtype type,
                       layout its, int node) {
    const op::layer* made_by = o.node >= 0 ? &layer_of(o.node) : nullptr;
    const bool converts = from.type != type && holds_reals(from.type) && holds_reals(type);
    if (!may_read(made_by, layer_of(node), from.dims, dims) || (from.type != type && !converts))
      throw error("it reads a tensor of other dims or another type than its layer has: " +
                      dims_text(from.dims) + ' ' + std::string(name(from.type)) + " for " +
                      dims_text(dims) + ' ' + std::string(name(type)),
                  where(node), plan_again);
    if (converts) from = in_type(in_layout(from, layout::plain, node), type, node);
    if (!(from.dims == dims)) {
      from = in_layout(from, layout::plain, node);
      from.lies = layout::plain;
      from.dims = dims;
    }
    return in_layout(from, its, node);
  }

  /// The tensor in layout `its`: itself, or a copy that a reorder makes, once for all who want it.
  tensor_place in_layout(const tensor_place& from, layout its, int node) {
    if (same_memory(from.lies, its, from.dims)) return from;
    const dtype element = from.type == source_of(plan_.type) ? dtype::real : from.type;
    tensor_place to = from;
    to.lies = its;
    return copied(from, to, op::reorder{from.dims, from.lies, its, element}, node);
  }

  /// The tensor in another type of reals. A model that casts between two of them goes on in the
  /// second, a chain in the one that it is run in.
  tensor_place in_type(const tensor_place& from, dtype type, int node) {
    const auto named = [&](dtype t) { return t == source_of(plan_.type) ? dtype::real : t; };
    tensor_place to = from;
    to.type = type;
    return copied(from, to, op::cast{from.dims, named(from.type), named(type)}, node);
  }
  static constexpr bool holds_reals(dtype t) {
    return t == dtype::f64 || t == dtype::f32 || t == dtype::f16 || t == dtype::bf16;
  }

  /// What the layer `l` makes of `from`, once for all who want it.
  tensor_place copied(const tensor_place& from, const tensor_place& to, const op::layer& l,
                      int node) {
    if (const tensor_place* known = places_.copy(from, to.lies, to.type)) return *known;
    chain_step step;
    step.values = backend::make_operands(l, plan_.type);
    for (const auto& library : libraries_)
      if (library->on_device() == on_device())
        for (const backend::algorithm& a :
             library->enumerate(l, plan_.type, {.threads = plan_.threads}))
          if (!step.run)
            step.run = library->prepare(l, plan_.type, a, step.values, {.threads = plan_.threads});
    if (!step.run || step.run->chain() == nullptr)
      throw error("no backend does this between layers: " + op::name(l), where(node), plan_again);
    choose_stack_place(*step.run, parameters_);
    step.values = {};
    step.reads.emplace_back(0, from);
    step.writes = to;
    step.writes.offset = 0;
    step.writes.room = storage_.take(step.places().result_bytes());
    const tensor_place made = step.writes;
    steps_.push_back(std::move(step));
    places_.put_copy(from, made, node);
    return made;
  }

  /// The tensor where a device's libraries may read it: they want the parts of a Split at whole
  /// multiples of so many bytes.
  tensor_place aligned(const tensor_place& from, int node) {
    constexpr std::int64_t alignment = 256;
    if (!on_device() || from.offset % alignment == 0) return from;
    if (const tensor_place* known = places_.copy(from, from.lies, from.type)) return *known;
    tensor_place to = from;
    to.offset = 0;
    chain_step copy{.reads = {{0, from}}};
    copy.copied_bytes = bytes_of(from.type, elements(from.dims));
    to.room = storage_.take(copy.copied_bytes);
    copy.writes = to;
    steps_.push_back(std::move(copy));
    places_.put_copy(from, to, node);
    return to;
  }

  /// A constant that the algorithm writes over has to be brought there again for every run.
  void read_overwritten_constant(chain_step& step, layout its, int node) {
    const int over = step.places().overwritten();
    const auto same = [over](const auto& r) { return r.first == over; };
    if (over < 0 || std::any_of(step.reads.begin(), step.reads.end(), same)) return;
    const backend::tensor& t = step.values.inputs[static_cast<std::size_t>(over)];
    const tensor_place held{.dims = t.dims, .type = t.type, .room = storage_.hold(t.bytes)};
    step.reads.emplace_back(over, in_layout(held, its, node));
  }

  /// Room for a result: new, or that of the operand that the algorithm writes over, if no other
  /// node and no other operand reads it any more.
  void take_room(chain_step& step, int node) {
    const int over = step.places().overwritten();
    for (const auto& read : step.reads) {
      if (read.first != over) continue;
      const tensor_place& place = read.second;
      const auto readers = std::count_if(step.reads.begin(), step.reads.end(), [&](const auto& r) {
        return r.second.room == place.room;
      });
      if (place.offset == 0 && !storage_.held(place.room) && readers == 1 &&
          !places_.is_read_behind(place, node)) {
        step.writes.room = place.room;
        places_.forget_copies(place.room);
        return;
      }
      step.writes.room = storage_.take(step.places().result_bytes());
      chain_step copy{.reads = {{0, place}}, .writes = step.writes};
      copy.copied_bytes = step.places().result_bytes();
      steps_.push_back(std::move(copy));
      return;
    }
    step.writes.room = storage_.take(step.places().result_bytes());
  }

  /// Several results of a layer, as well as the parts of a Split, are one after the other from
  /// where its first result begins.
  void put_results(int node, const op::layer& l, const std::vector<std::int64_t>& lengths,
                   const tensor_place& whole) {
    const auto* s = op::as<op::split>(l);
    if (s == nullptr) {
      int k = 0;
      for (const tensor_place& p : places_of_results(l, plan_.type, whole))
        places_.put({node, k++}, p);
      return;
    }
    std::int64_t offset = 0;
    for (std::int64_t k = 0; k < s->parts; ++k) {
      tensor_place part = whole;
      part.dims = op::part_of(s->whole, s->axis, s->parts, k);
      if (!lengths.empty()) part.dims[s->axis] = lengths[static_cast<std::size_t>(k)];
      part.offset = offset;
      offset += bytes_of(part.type, elements(part.dims));
      places_.put({node, static_cast<int>(k)}, part);
    }
  }

  const result::plan& plan_;
  const library_list& libraries_;
  const parameters& parameters_;
  bool side_by_side_;
  chain_givens given_;
  std::vector<std::int64_t> limits_; ///< of results that are read as indices
  built_chain out_{};
  activation_storage& storage_ = out_.storage;
  std::vector<chain_step>& steps_ = out_.steps;
  tensor_places places_;
};

} // namespace benanza::measure
