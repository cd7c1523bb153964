// SPDX-License-Identifier: MIT
// All of asio's out-of-line code, once. Everything else includes narrow asio headers.
// First: asio chooses its allocation by a macro that the standard library's headers define; where
// it is missing, memory taken with aligned_alloc elsewhere would be freed with delete here.
#include <cstdlib>

#include <asio/impl/src.hpp>
