#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How well functions are unwound that no call frame information tells of: C is compiled for each CPU
# with it, the scan looks away from it, and at each instruction both are compared
# (tests/bench/unwind_scans.c).
#
#   tests/bench/unwind_scans.sh BUILD-DIR [SOURCE-DIR...]
#
# Each SOURCE-DIR is a folder of C that compiles by itself as a library (zlib, lua); without one it
# is the readers of tables of this project.  Needs Debian's cross compilers; a CPU without one is
# passed over.
set -eu
cd "$(dirname "$0")/../.."
build=${1:?the build directory, for its tests/bench/unwind_scans}
shift
tree=$PWD
scans=$(realpath "$build/tests/bench/unwind_scans")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
views=$(realpath "$build/views")

# library OUT COMPILER-AND-OPTIONS... : all sources of $sources in one shared library
library() {
  local out=$1 object
  shift
  mkdir -p "$work/objects"
  rm -f "$work"/objects/*
  for file in $sources; do
    object=$work/objects/$(basename "$file" .c).o
    "$@" -g1 -fPIC -w $includes -c "$file" -o "$object" 2>/dev/null || rm -f "$object"
  done
  "$1" -shared -nostdlib -Wl,--allow-multiple-definition -o "$out" "$work"/objects/*.o
}

# measure MODE LABEL: of $work/full.so, with symbols and without
measure() {
  "${strip[@]}" -o "$work/bare.so" "$work/full.so"
  printf '%-6s %-62s symbols  %s\n' "$1" "$2" "$("$scans" "$1" "$work/full.so")"
  printf '%-6s %-62s stripped %s\n' "$1" "$2" "$("$scans" "$1" "$work/full.so" "$work/bare.so")"
}

one_cpu() {
  local prefix=$1 options
  command -v "$prefix-gcc" >/dev/null || { echo "$prefix: no compiler"; return 0; }
  strip=("$prefix-strip")
  shift
  for options in "$@"; do
    for level in -O2 -Os; do
      library "$work/full.so" "$prefix-gcc" $options $level
      measure scan "$name $prefix $options $level"
    done
    case $options in *-mthumb* | *-marm*)
      library "$work/full.so" "$prefix-gcc" $options -O2 -funwind-tables
      measure exidx "$name $prefix $options -O2"
      ;;
    esac
  done
}

one_source() {
  one_cpu arm-linux-gnueabihf -mthumb -marm
  one_cpu mipsel-linux-gnu -fasynchronous-unwind-tables
  one_cpu riscv64-linux-gnu -fasynchronous-unwind-tables
  one_cpu aarch64-linux-gnu -fasynchronous-unwind-tables
  one_cpu x86_64-linux-gnu -fasynchronous-unwind-tables
}

if [ $# = 0 ]; then
  name=tables
  sources=$(ls "$tree"/agent/tables/*.c "$tree"/common/buf.c)
  includes="-I$views/unwind -I$views/common -I$views/tables -D_GNU_SOURCE"
  one_source
fi
for directory; do
  name=$(basename "$directory")
  sources=$(ls "$directory"/*.c)
  includes="-I$directory"
  one_source
done
