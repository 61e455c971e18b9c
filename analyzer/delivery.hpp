// SPDX-License-Identifier: Apache-2.0
// How does an answer leave a program? To standard output or to a file, whole or not at all, in one
// of the formats that all answers of tables have.
//
//   deliver(std::cout, "", "md", answer);   deliver(std::cout, "tables/", "csv", answer);
#pragma once

#include "report/tables/page.hpp"

#include <ostream>
#include <string>
#include <string_view>

namespace benanza::analyzer {

/// Writes `text` to a stream. A reader that went away, as `head` does, is no failure.
void write_stream(std::ostream& out, const std::string& text, const std::string& name);

/// Writes `text` to a file whole or not at all; to what is no file, such as /dev/null, directly.
void write_file(const std::string& path, const std::string& text);

/// True for a name that is a folder, or says that it is one.
bool is_folder(const std::string& path);
void make_folder(const std::string& path);

/// Writes an answer to the file `output`, or to standard output where that is empty.
void deliver(std::ostream& out, const std::string& output, const std::string& format,
             const std::string& text);

/// What writes any answer that consists of tables.
inline constexpr std::string_view table_formats[] = {"text", "md", "json", "csv", "latex"};

/// The same of such an answer. As CSV several tables are a file each, in
/// a folder.
void deliver(std::ostream& out, const std::string& output, const std::string& format,
             const report::tables::chapter& answer);

} // namespace benanza::analyzer
