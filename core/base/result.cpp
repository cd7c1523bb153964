// SPDX-License-Identifier: MIT
#include "core/base/result.hpp"

namespace waggle {

std::string_view name(Errc code) noexcept {
  switch (code) {
    case Errc::timeout:
      return "timeout";
    case Errc::closed:
      return "closed";
    case Errc::refused:
      return "refused";
    case Errc::malformed:
      return "malformed";
    case Errc::bad_signature:
      return "bad_signature";
    case Errc::not_found:
      return "not_found";
    case Errc::too_large:
      return "too_large";
    case Errc::cancelled:
      return "cancelled";
    case Errc::io:
      return "io";
    case Errc::invalid:
      return "invalid";
  }
  return "unknown";
}

}  // namespace waggle
