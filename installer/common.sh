# shellcheck shell=sh
# What the scripts of this folder share. Sourced with $here (this folder) and $root (the repository) set.

say() { printf '%s\n' "${0##*/}: $*" >&2; }

die() {
  say "$*"
  exit 1
}

# need COMMAND PACKAGE: fails with the package that holds what is missing.
need() {
  command -v "$1" >/dev/null 2>&1 || die "needs $1: install the package $2 (./bootstrap deps installs all)"
}

# The version of the project, as CMake has it.
project_version() { sed -n 's/^project(waggle VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt"; }

# build_programs DIR: both programs and the launcher; from a clean clone too.
build_programs() {
  if [ ! -f "$1/build.ninja" ]; then
    (cd "$root" && ./bootstrap deps) || exit 1
    cmake --preset release -S "$root" -B "$1" >/dev/null || exit 1
  fi
  say "building in $1"
  ${NINJA:-ninja} -C "$1" waggle waggle-trainer waggle-launcher >&2 || die "the build failed"
}

# A path that stands, whatever folder the caller is in.
absolute() {
  case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$PWD/$1" ;;
  esac
}
