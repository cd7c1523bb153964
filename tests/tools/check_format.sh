#!/bin/sh
# Every source file is as .clang-format says.
set -eu
cd "$(dirname "$0")/../.."
if find app core tests ui -name '*.[ch]pp' -print0 | xargs -0 clang-format --dry-run -Werror; then
  echo "format: as .clang-format says"
  echo "1 passed, 0 failed, 0 skipped"
else
  echo "format: run clang-format -i on the files above"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
