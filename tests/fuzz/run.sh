#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every fuzz program of a build, one a core, for an equal share of the time: run.sh [seconds [build folder]].
# Seeds come from corpus/NAME/, finds stay in the build folder. One line a target; a crash prints the
# end of libFuzzer's report and where its input lies, and the exit status is 1.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
total=${1:-90}
build=${2:-$root/build/fuzz}

shopt -s nullglob
programs=("$build"/fuzz/*_fuzz)
if [ ${#programs[@]} -eq 0 ]; then
  echo "no fuzz programs in $build/fuzz: cmake --preset fuzz && cmake --build --preset fuzz"
  exit 1
fi
cores=$(nproc)
share=$((total * cores / ${#programs[@]}))
[ "$share" -ge 1 ] || share=1

# fuzz PROGRAM: one target for its share; prints its line, and more if it crashed.
fuzz() {
  local program=$1 name finds log verdict=ok
  name=$(basename "$program" _fuzz)
  finds=$build/fuzz/corpus/$name
  log=$build/fuzz/$name.log
  mkdir -p "$finds"
  local folders=("$finds")
  [ -d "$root/tests/fuzz/corpus/$name" ] && folders+=("$root/tests/fuzz/corpus/$name")
  "$program" "${folders[@]}" -max_total_time="$share" -timeout=10 -rss_limit_mb=2048 \
    -malloc_limit_mb=512 -print_final_stats=1 -artifact_prefix="$build/fuzz/$name-" >"$log" 2>&1 || verdict=CRASHED
  {
    awk -v name="$name" -v verdict="$verdict" '
      /stat::number_of_executed_units/ { runs = $2 }
      /stat::average_exec_per_sec/ { rate = $2 }
      END { printf "%-24s %-8s %10d runs %8d exec/s\n", name, verdict, runs, rate }' "$log"
    [ "$verdict" = ok ] || { tail -n 40 "$log" && echo; }
  } >"$log.line"
  cat "$log.line"
}
export -f fuzz
export root build share

# One target a core.
lines=$(printf '%s\0' "${programs[@]}" | xargs -0 -n 1 -P "$cores" bash -c 'fuzz "$1"' _ | tee /dev/stderr)
passed=$(grep -cE '^[a-z_0-9]+ +ok +[0-9]+ runs ' <<<"$lines")
failed=$((${#programs[@]} - passed))
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
