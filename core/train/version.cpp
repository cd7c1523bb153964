// SPDX-License-Identifier: MIT
#include "core/train/version.hpp"

#include <ATen/Context.h>
#include <torch/version.h>

namespace waggle::train {

std::string torch_version() {
  std::string text = TORCH_VERSION;
  if (at::hasCUDA()) text += " with CUDA";
  return text;
}

}  // namespace waggle::train
