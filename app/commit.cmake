# Writes the commit that is being built into OUT, only when it changed. SOURCE may be no checkout: then it is unknown.
find_package(Git QUIET)
set(commit unknown)
if(Git_FOUND AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${head})
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE changed ERROR_QUIET)
    if(changed)
      string(APPEND commit " with changes")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[// SPDX-License-Identifier: MIT
#pragma once

namespace waggle::app {

inline constexpr char kCommit[] = "@commit@";

}  // namespace waggle::app
]] @ONLY)
