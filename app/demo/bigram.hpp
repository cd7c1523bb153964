// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/bytes.hpp"

namespace waggle::app::demo {

/// What a table of byte pairs knows of a text: fitted (with add-one smoothing over the bytes that
/// occur) to the part before the last `held_out` of the text, measured on that last part, in nats a
/// byte. The mark that a language model has to beat.
[[nodiscard]] double bigram_loss(ByteView text, double held_out) noexcept;

}  // namespace waggle::app::demo
