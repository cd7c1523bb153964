// SPDX-License-Identifier: MIT
#include "app/demo/task_files.hpp"

#include <cstdlib>

#include "core/base/file.hpp"
#include "core/base/text.hpp"

#include "app/demo/embedded_tasks.hpp"

namespace waggle::app::demo {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLeastBook = 1'000'000;  // bytes; shorter is not the whole book
constexpr char const* kFashionData = "/usr/share/datasets/fashion-mnist";

// Debian's bible program prints the text that its package holds.
Status print_book(fs::path const& path) {
  std::string const command = cat("bible -f gen1:1-rev22:21 > '", path.string(), "'");
  std::error_code ec;
  if (std::system(command.c_str()) == 0 && fs::file_size(path, ec) >= kLeastBook && !ec)
    return ok();
  return Error{Errc::not_found,
               "the text of the gpt task comes from Debian's package bible-kjv; install it "
               "(./bootstrap deps)"};
}

std::string_view task_text(bool text) {
  return text ? kBibleTask : kFashionTask;
}

}  // namespace

Result<task::Definition> demo_task(bool text) {
  return task::Definition::parse(task_text(text), "task.toml");
}

Result<TaskFiles> lay_out_task(bool text, fs::path const& folder) {
  std::error_code ec;
  fs::create_directories(folder, ec);
  TaskFiles task{folder / "task.toml", folder};
  WAGGLE_TRY_STATUS(write_file(task.toml, as_bytes(task_text(text)), FileMode::shared));
  if (text) {
    WAGGLE_TRY_STATUS(print_book(folder / "bible.txt"));
    return task;
  }
  task.data = kFashionData;
  if (!fs::exists(task.data, ec))
    return Error{Errc::not_found,
                 cat("the pictures of the demo, ",
                     kFashionData,
                     ", come from Debian's package dataset-fashion-mnist; install it (./bootstrap "
                     "deps)")};
  return task;
}

}  // namespace waggle::app::demo
