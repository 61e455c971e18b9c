// SPDX-License-Identifier: Apache-2.0
// Which memory of the GPU do algorithms of one layer share? Operands: two that want one in the same
// strides and type read the same copy. Results and scratch: one buffer each, as large as the
// largest that an algorithm wants, because they run one after the other. Nothing is kept longer
// than an algorithm uses it.
//
//   group_memory m;   auto y = m.results(4096);   y->data()
//   auto x = m.operand({tensor.bytes.data(), as}, [&] { return spread(tensor, as); });
#pragma once

#include "device.hpp"
#include "placement.hpp"

#include <bit>
#include <map>
#include <memory>
#include <vector>

namespace benanza::backend::cuda {

/// A buffer that grows; its content is lost then, and its address changes.
class growing_memory {
public:
  void reserve(std::int64_t bytes) {
    if (bytes <= it_.bytes()) return;
    const std::int64_t before = it_.bytes();
    ++moves_;
    user = nullptr;
    it_ = memory(); // both at once may not fit
    try {
      it_ = memory(bytes);
    } catch (...) {
      it_ = memory(before);
      throw;
    }
  }
  std::byte* data() const { return it_.data(); }
  std::int64_t bytes() const { return it_.bytes(); }
  /// How often it has moved.
  int moves() const { return moves_; }

  const void* user = nullptr; ///< who filled it last

private:
  memory it_{};
  int moves_ = 0;
};

/// Which bytes an operand becomes: those of `values`, or what is computed from them in way `part`,
/// placed and scaled.
struct operand_use {
  const void* values = nullptr;
  stored as{};
  double factor = 1;
  int part = 0;
};

class group_memory {
public:
  /// The operand in the GPU's memory; made unless another algorithm has it.
  template <class Make>
  std::shared_ptr<const memory> operand(const operand_use& use, const Make& make) {
    std::weak_ptr<const memory>& known = operands_[key_of(use)];
    std::shared_ptr<const memory> it = known.lock();
    if (it) return it;
    const tensor_bytes bytes = make();
    auto made = std::make_shared<memory>(std::ssize(bytes));
    made->upload(bytes);
    known = made;
    forget_unused();
    return made;
  }
  /// At least so many bytes for a result.
  std::shared_ptr<growing_memory> results(std::int64_t bytes) { return grown(results_, bytes); }
  /// At least so many bytes that an execution may leave anything in.
  std::shared_ptr<growing_memory> scratch(std::int64_t bytes) { return grown(scratch_, bytes); }
  /// At least so many bytes for copies of operands.
  std::shared_ptr<growing_memory> copies(std::int64_t bytes) { return grown(copies_, bytes); }

private:
  using key = std::vector<std::int64_t>;
  static key key_of(const operand_use& u) {
    key k{std::bit_cast<std::int64_t>(u.values), u.part, std::bit_cast<std::int64_t>(u.factor),
          static_cast<std::int64_t>(u.as.type), u.as.elements};
    for (int d = 0; d < u.as.dims.size; ++d) {
      if (u.as.dims[d] == 1) continue; // one library says them, and another one does not
      k.push_back(u.as.dims[d]);
      k.push_back(u.as.strides[d]);
    }
    return k;
  }
  static std::shared_ptr<growing_memory> grown(std::weak_ptr<growing_memory>& known,
                                               std::int64_t bytes) {
    auto it = known.lock();
    if (!it) known = it = std::make_shared<growing_memory>();
    it->reserve(bytes);
    return it;
  }
  void forget_unused() {
    std::erase_if(operands_, [](const auto& o) { return o.second.expired(); });
  }

  std::map<key, std::weak_ptr<const memory>> operands_{};
  std::weak_ptr<growing_memory> results_{}, scratch_{}, copies_{};
};

} // namespace benanza::backend::cuda
