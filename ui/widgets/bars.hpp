// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "core/node/snapshot.hpp"

#include "ui/frame.hpp"

namespace waggle::ui {

/// Samples by span of time as bars, `height` units high with the times below; what a bar is stands
/// under the pointer. Cost: O(spans).
void bars(Frame const& frame, char const* id, std::span<node::SpanView const> spans, float height);

}  // namespace waggle::ui
