// SPDX-License-Identifier: Apache-2.0
// How does CUB, which comes with the CUDA toolkit, add up? Its collective functions of warps and
// blocks, in kernels that are written for each shape. Sums and means along the last dims:
// `cub_warp`, a warp for each row; `cub_block`, a block for each row (what CUB calls segmented);
// `cub_device`, many blocks for a row: they add up its parts, and a second kernel adds these.
// Running sums likewise: there each part begins with the sum before it.
//
//   for (const kernel& k : cub_sums_of(op::reduce{...}, dtype::f16)) k.name;   // "cub_warp"
#pragma once

#include "../../../op/cumulate.hpp"
#include "../../row_sums.hpp"
#include "number.hpp"

#include <algorithm>

namespace benanza::backend::cuda::source {

namespace detail {

/// Kernels of rows of equal length, one behind the other.
class cub_rows {
public:
  cub_rows(std::int64_t count, std::int64_t length, dtype type, arithmetic a)
      : count_(count)
      , length_(length)
      , items_(widest_access_bytes / size_bytes(type))
      , c_(counter::of(count * length))
      , a_(std::move(a)) {
    const std::int64_t tiles = (length + tile() - 1) / tile();
    if (count > most_rows_of_parts || tiles < least_tiles_of_parts) return;
    const std::int64_t wanted = std::clamp<std::int64_t>(tiles / 2, 2, most_parts / count);
    part_ = (tiles + wanted - 1) / wanted * tile();
    parts_ = (length + part_ - 1) / part_;
  }

  /// All that add up rows; `result` is what becomes of `sum`.
  std::vector<kernel> sums(const std::string& result) const {
    std::vector<kernel> out;
    if (length_ <= longest_of_a_warp) out.push_back(sum_by_warps(result));
    if (length_ >= shortest_of_a_block) out.push_back(sum_by_blocks(result));
    if (parts_ > 1) out.push_back(behind_parts(sum_of_parts(result)));
    return out;
  }
  /// All that write running sums, each without its own element where they are `exclusive`.
  std::vector<kernel> running_sums(bool exclusive) const {
    const std::string how = exclusive ? "ExclusiveSum" : "InclusiveSum";
    std::vector<kernel> out;
    if (length_ <= longest_of_a_warp) out.push_back(scan_by_warps(how));
    if (length_ >= shortest_of_a_block) out.push_back(scan_by_blocks(how, "cub_block"));
    if (parts_ > 1) out.push_back(behind_parts(scan_by_blocks(how, "cub_device")));
    return out;
  }

private:
  static constexpr std::int64_t longest_of_a_warp = 1024, shortest_of_a_block = 128;
  static constexpr std::int64_t most_rows_of_parts = 128, least_tiles_of_parts = 8,
                                most_parts = 1024;
  static constexpr std::int64_t warps = threads_of_a_block / 32;

  std::int64_t tile() const { return threads_of_a_block * items_; }
  std::string block_of(const std::string& what, const std::string& type,
                       const std::string& more = "") const {
    return "cub::" + what + '<' + type + ", " + std::to_string(threads_of_a_block) + more + '>';
  }
  /// Of a load or store: its items, and in which order threads have them.
  std::string moves(const char* what, const char* order) const {
    return block_of(std::string("Block") + what, a_.stored,
                    ", " + std::to_string(items_) + ", cub::BLOCK_" + order);
  }

  /// What a kernel does with the sums of parts.
  enum class part_use { none, write, read };

  kernel begun(const std::string& name, std::int64_t blocks, part_use parts, lines& out) const {
    for (const char* one : {"block/block_load", "block/block_reduce", "block/block_scan",
                            "block/block_store", "warp/warp_reduce", "warp/warp_scan"})
      out(one == std::string_view("block/block_load") ? "#ifdef __CUDACC__\n" : "",
          "#include <cub/", one, ".cuh>");
    out("#endif");
    write_preamble(c_, out);
    out(a_.functions);
    const bool writes = parts == part_use::write;
    out(kernel_head(name), "const ", a_.stored, "* __restrict__ x0, ", writes ? "const " : "",
        a_.stored, "* __restrict__ y",
        parts == part_use::none
            ? ") {"
            : (writes ? ", " : ", const ") + a_.computed + "* __restrict__ part_sums) {");
    return {.name = name, .blocks = blocks, .needs_cub = true};
  }
  static kernel ended(kernel k, lines& out) {
    out("}");
    k.text = out.text();
    return k;
  }
  /// What adds up or scans parts, behind the kernel that sums them.
  kernel behind_parts(kernel last) const {
    last.scratch_bytes = count_ * parts_ * 8;
    last.before = std::make_shared<const kernel>(part_sums());
    return last;
  }

  /// Which row each thread of a warp has.
  void write_warp(const char* collective, lines& out) const {
    out("  typedef cub::", collective, "<", a_.computed, "> collective;");
    out("  __shared__ collective::TempStorage room[", warps, "];");
    out("  const unsigned int warp = threadIdx.x / 32u, lane = threadIdx.x % 32u;");
    out("  const idx row = (idx)blockIdx.x * ", c_(warps), " + warp;");
    out("  const bool works = row < ", c_(count_), ";");
    out("  const idx first = row * ", c_(length_), ";");
  }
  std::int64_t blocks_of_warps() const { return (count_ + warps - 1) / warps; }

  kernel sum_by_warps(const std::string& result) const {
    lines out;
    const kernel k = begun("cub_warp", blocks_of_warps(), part_use::none, out);
    write_warp("WarpReduce", out);
    out("  ", a_.computed, " sum = 0;");
    out("  if (works)\n    for (idx j = lane; j < ", c_(length_), "; j += ", c_(32), ")");
    out("      sum += load(x0[first + j]);");
    out("  sum = collective(room[warp]).Sum(sum);");
    out("  if (works && lane == 0) y[row] = store(", result, ");");
    return ended(k, out);
  }
  kernel scan_by_warps(const std::string& how) const {
    lines out;
    const kernel k = begun("cub_warp", blocks_of_warps(), part_use::none, out);
    write_warp("WarpScan", out);
    out("  ", a_.computed, " before = 0;");
    out("  for (idx at = 0; at < ", c_(length_), "; at += ", c_(32), ") {");
    out("    const bool has = works && at + lane < ", c_(length_), ";");
    out("    ", a_.computed, " v = has ? load(x0[first + at + lane]) : 0, all;");
    out("    collective(room[warp]).", how, "(v, v, all);");
    out("    if (has) y[first + at + lane] = store(before + v);");
    out("    before += all;\n    __syncwarp();\n  }");
    return ended(k, out);
  }

  /// Reads the tile at `from + at`, of which `left` elements are there, into `items`.
  void write_load(const char* from, const std::string& left, lines& out) const {
    out("    ", a_.stored, " items[", items_, "];");
    const std::string load = std::string("loads(room.load).Load(") + from + " + at, items";
    if (length_ % tile() == 0) {
      out("    ", load, ");");
      return;
    }
    out("    if (", left, " >= ", c_(tile()), ") ", load, ");");
    out("    else ", load, ", (int)(", left, "), (", a_.stored, ")0);");
  }
  /// Adds up the elements from `begin` to `end` behind `from`, in the first thread's `sum`.
  void write_block_sum(const std::string& begin, const std::string& end, lines& out) const {
    out("  typedef ", moves("Load", length_ % items_ == 0 ? "LOAD_VECTORIZE" : "LOAD_STRIPED"),
        " loads;");
    out("  typedef ", block_of("BlockReduce", a_.computed), " reduces;");
    out("  __shared__ union { loads::TempStorage load; reduces::TempStorage reduce; } room;");
    out("  ", a_.computed, " sum = 0;");
    out("  for (idx at = ", begin, "; at < ", end, "; at += ", c_(tile()), ") {");
    write_load("from", end + " - at", out);
    out("#pragma unroll\n    for (int k = 0; k < ", items_, "; ++k) sum += load(items[k]);\n  }");
    out("  __syncthreads();\n  sum = reduces(room.reduce).Sum(sum);");
  }
  kernel sum_by_blocks(const std::string& result) const {
    lines out;
    const kernel k = begun("cub_block", count_, part_use::none, out);
    out("  const ", a_.stored, "* const from = x0 + (idx)blockIdx.x * ", c_(length_), ";");
    write_block_sum(c_(0), c_(length_), out);
    out("  if (threadIdx.x == 0) y[blockIdx.x] = store(", result, ");");
    return ended(k, out);
  }

  /// Which row and part a block has.
  void write_part(lines& out) const {
    out("  const idx row = blockIdx.x / ", c_(parts_), ", part = blockIdx.x % ", c_(parts_), ";");
    out("  const idx begin = part * ", c_(part_), ";");
    out("  const idx end = ", c_(length_), " - begin < ", c_(part_), " ? ", c_(length_),
        " : begin + ", c_(part_), ";");
    out("  const ", a_.stored, "* const from = x0 + row * ", c_(length_), ";");
  }
  kernel part_sums() const {
    lines out;
    const kernel k = begun("cub_parts", count_ * parts_, part_use::write, out);
    write_part(out);
    write_block_sum("begin", "end", out);
    out("  if (threadIdx.x == 0) part_sums[blockIdx.x] = sum;");
    return ended(k, out);
  }
  /// Adds up the first `count` parts of row `row`, in the first thread's `sum`.
  void write_sum_of_parts(const std::string& row, const std::string& count, lines& out) const {
    out("  ", a_.computed, " sum = 0;");
    out("  for (idx k = threadIdx.x; k < ", count, "; k += ", c_(threads_of_a_block), ")");
    out("    sum += part_sums[", row, " * ", c_(parts_), " + k];");
    out("  sum = reduces(room.reduce).Sum(sum);");
  }
  kernel sum_of_parts(const std::string& result) const {
    lines out;
    const kernel k = begun("cub_device", count_, part_use::read, out);
    out("  typedef ", block_of("BlockReduce", a_.computed), " reduces;");
    out("  __shared__ struct { reduces::TempStorage reduce; } room;");
    write_sum_of_parts("(idx)blockIdx.x", c_(parts_), out);
    out("  if (threadIdx.x == 0) y[blockIdx.x] = store(", result, ");");
    return ended(k, out);
  }

  kernel scan_by_blocks(const std::string& how, const std::string& name) const {
    const bool in_parts = name == "cub_device";
    lines out;
    const kernel k = begun(name, in_parts ? count_ * parts_ : count_,
                           in_parts ? part_use::read : part_use::none, out);
    out("  typedef ", moves("Load", "LOAD_WARP_TRANSPOSE"), " loads;");
    out("  typedef ", moves("Store", "STORE_WARP_TRANSPOSE"), " stores;");
    out("  typedef ", block_of("BlockScan", a_.computed), " scans;");
    if (in_parts) out("  typedef ", block_of("BlockReduce", a_.computed), " reduces;");
    out("  __shared__ union {\n    loads::TempStorage load; stores::TempStorage store; "
        "scans::TempStorage scan;",
        in_parts ? " reduces::TempStorage reduce;" : "", "\n  } room;");
    if (in_parts) {
      write_part(out);
      out("  __shared__ ", a_.computed, " earlier;");
      write_sum_of_parts("row", "part", out);
      out("  if (threadIdx.x == 0) earlier = sum;\n  __syncthreads();");
      out("  ", a_.computed, " before = earlier;");
    } else {
      out("  const idx row = blockIdx.x;\n  const idx begin = 0, end = ", c_(length_), ";");
      out("  const ", a_.stored, "* const from = x0 + row * ", c_(length_), ";");
      out("  ", a_.computed, " before = 0;");
    }
    out("  ", a_.stored, "* const to = y + row * ", c_(length_), ";");
    out("  for (idx at = begin; at < end; at += ", c_(tile()), ") {");
    write_load("from", "end - at", out);
    out("    ", a_.computed, " v[", items_, "], all;");
    out("#pragma unroll\n    for (int k = 0; k < ", items_, "; ++k) v[k] = load(items[k]);");
    out("    __syncthreads();\n    scans(room.scan).", how, "(v, v, all);");
    out("#pragma unroll\n    for (int k = 0; k < ", items_,
        "; ++k) items[k] = store(before + v[k]);");
    out("    before += all;\n    __syncthreads();");
    const std::string store = "stores(room.store).Store(to + at, items";
    if (length_ % tile() == 0) {
      out("    ", store, ");");
    } else {
      out("    if (end - at >= ", c_(tile()), ") ", store, ");");
      out("    else ", store, ", (int)(end - at));");
    }
    out("    __syncthreads();\n  }");
    return ended(k, out);
  }

  std::int64_t count_, length_, items_;
  std::int64_t part_ = 0, parts_ = 1; ///< elements of a part of a row, and how many there are
  counter c_;
  arithmetic a_;
};

/// Those of sums along the last dims; none of others.
inline std::vector<kernel> cub_sums(const std::optional<row_sums>& sums, bool mean, dtype type,
                                    double scale) {
  const auto a = arithmetic_of(type, scale);
  if (!a || !sums || sums->inner != 1) return {};
  const std::string n =
      a->whole ? std::to_string(sums->reduced) : literal(static_cast<double>(sums->reduced), *a);
  return cub_rows(sums->outer, sums->reduced, type, *a).sums(mean ? "sum / " + n : "sum");
}
} // namespace detail

/// CUB's ways to a reduction.
inline std::vector<kernel> cub_sums_of(const op::reduce& l, dtype type, double scale) {
  return detail::cub_sums(row_sums_of(l), l.function == op::reduction::mean, type, scale);
}
/// And to a global average.
inline std::vector<kernel> cub_sums_of(const op::pool& l, dtype type, double scale) {
  return detail::cub_sums(row_sums_of(l), true, type, scale);
}
/// And to running sums, from the front along the last axis.
inline std::vector<kernel> cub_sums_of(const op::cumulate& l, dtype type, double scale) {
  const auto a = arithmetic_of(type, scale);
  if (!a || l.product || l.reverse || elements(l.input, l.axis + 1, l.input.size) != 1) return {};
  const std::int64_t length = l.input[l.axis];
  return detail::cub_rows(elements(l.input) / length, length, type, *a).running_sums(l.exclusive);
}

} // namespace benanza::backend::cuda::source
