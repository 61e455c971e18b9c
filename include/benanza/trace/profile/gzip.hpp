// SPDX-License-Identifier: Apache-2.0
// What does a file hold that was compressed by gzip? Its text, as far as it goes; a file that would
// become longer than the limit is refused.
//
//   unpacked u = detail::unzipped(bytes, longest_profile, "model.pt.trace.json.gz");   u.text
#pragma once

#include "../../core/error.hpp"

#ifdef BENANZA_WITH_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace benanza::trace::detail {

struct unpacked {
  std::string text;
  bool whole = false; ///< the end was found, and its checksum is right
};

#ifdef BENANZA_WITH_ZLIB
inline unpacked unzipped(std::string_view bytes, std::size_t most, const std::string& source) {
  z_stream z{};
  if (inflateInit2(&z, 15 + 16) != Z_OK)
    throw error("the file cannot be unpacked", source, "unpack it with gunzip");
  struct release {
    z_stream* held;
    ~release() { inflateEnd(held); }
  } const at_end{&z};
  unpacked out;
  std::string part(std::size_t{1} << 18, '\0');
  int said = Z_OK;
  while (said == Z_OK && (!bytes.empty() || z.avail_in != 0 || z.avail_out == 0)) {
    if (z.avail_in == 0) {
      const std::size_t n = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
      // It is not written to.
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      z.avail_in = static_cast<uInt>(n);
      bytes.remove_prefix(n);
    }
    z.next_out = reinterpret_cast<Bytef*>(part.data());
    z.avail_out = static_cast<uInt>(part.size());
    said = inflate(&z, Z_NO_FLUSH);
    out.text.append(part, 0, part.size() - z.avail_out);
    if (out.text.size() > most)
      throw error("the file is longer than " + std::to_string(most >> 20) + " MiB when unpacked",
                  source, "profile fewer runs");
  }
  out.whole = said == Z_STREAM_END;
  return out;
}
#else
inline unpacked unzipped(std::string_view, std::size_t, const std::string& source) {
  throw error("the file is compressed, and this program was built without zlib", source,
              "unpack it with gunzip");
}
#endif

} // namespace benanza::trace::detail
