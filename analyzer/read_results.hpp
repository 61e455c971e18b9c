// SPDX-License-Identifier: Apache-2.0
// Which run do the files of a command line hold together? Result files and stores are merged, and
// a layer that several models share has the samples of all; two runs of one model are refused,
// unless --merge asks for that.
#pragma once

#include "request.hpp"

#include <string>
#include <vector>

namespace benanza::analyzer {

/// Refuses a choice of a system where no file is a store.
void check_system(const std::vector<std::string>& files, const std::string& system);

/// The runs that some files hold: result files, stores (of which `system` chooses), and `in` where
/// one is called "-", or none is named.
std::vector<result::run> read_each(const std::vector<std::string>& files, const std::string& system,
                                   const std::string& model, std::istream& in);

/// The run that several are together.
result::run put_together(std::vector<result::run> runs, const request& asked);

/// The run that all files hold together; without files, standard input.
result::run read_all(const request& asked, std::istream& in);

/// Leaves the cases of the backends that were asked for, if any were. A plan is what benanza_bench
/// runs: no framework is in it.
void choose_backends(result::run& run, const request& asked);

/// Leaves the cases of the device that was asked for, or of the only one there is. For the page of
/// the machine its ceilings count too: of a device that was asked for, or where there is no layer.
void choose_device(result::run& run, const std::string& device, bool of_machine = false);

} // namespace benanza::analyzer
