// SPDX-License-Identifier: MIT
// All of asio's out-of-line code, once. Everything else includes narrow asio headers.
#include <asio/impl/src.hpp>
