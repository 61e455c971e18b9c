// SPDX-License-Identifier: Apache-2.0
// Is this C++20? An older language is refused in one message, before pages of others: there is no
// file of the name that is included then, and that ends a compilation.
#pragma once

#if __cplusplus < 202002L
#error "Benanza needs C++20: compile with -std=c++20"
#include "C++20"
#endif
