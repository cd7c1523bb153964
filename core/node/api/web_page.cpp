// SPDX-License-Identifier: MIT
#include "core/node/api/web_page.hpp"

#include "core/node/api/detail/embedded_page.hpp"

namespace waggle::node {
namespace {

constexpr WebFile kFiles[] = {
    {"/", "text/html; charset=utf-8", detail::kIndexHtml},
    {"/waggle.css", "text/css; charset=utf-8", detail::kWaggleCss},
    {"/waggle.js", "text/javascript; charset=utf-8", detail::kWaggleJs},
    {"/words.js", "text/javascript; charset=utf-8", detail::kWordsJs},
    {"/icon.svg", "image/svg+xml", detail::kIconSvg},
};

}  // namespace

WebFile const* web_file(std::string_view path) {
  for (auto const& file : kFiles)
    if (file.path == path) return &file;
  return nullptr;
}

}  // namespace waggle::node
