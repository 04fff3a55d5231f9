#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How well functions without call frame information are unwound: C is compiled for each CPU with the
# information, the scan ignores it, and both are compared at each instruction
# (tests/bench/unwind_scans.c).
#
#   tests/bench/unwind_scans.sh BUILD-DIR [SOURCE-DIR...]
#
# Each SOURCE-DIR is a folder of C that compiles by itself as a library (zlib, lua). Default: this
# project's readers of tables. Needs Debian's cross compilers and libc6-dev-*-cross; a CPU without a
# compiler is skipped; CPU=PREFIX selects one CPU (arm-linux-gnueabihf). On armhf it also uses
# clang's code, and a library with alternating files in ARM and Thumb instructions (-mboth).
#
# frames: the table made from the compilers' own information, .eh_frame or ARM's .debug_frame. It is
# the reference of the scans. This line compares it with binutils' reading of the same bytes
# (tests/tables_agree.py) at each row and 20 000 random places.
set -eu
cd "$(dirname "$0")/../.."
build=${1:?the build directory, for its tests/bench/unwind_scans}
shift
tree=$PWD
scans=$(realpath "$build/tests/bench/unwind_scans")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
views=$(realpath "$build/views")

# library OUT COMPILER-AND-OPTIONS... : links all sources of $sources as one shared library by
# $linker; -mboth alternates -mthumb and -marm.
library() {
  local out=$1 object mode=-marm
  shift
  mkdir -p "$work/objects"
  rm -f "$work"/objects/*
  for file in $sources; do
    object=$work/objects/$(basename "$file" .c).o
    [ $mode = -marm ] && mode=-mthumb || mode=-marm
    "${@/#-mboth/$mode}" -g1 -fPIC -w $includes -c "$file" -o "$object" 2>/dev/null || rm -f "$object"
  done
  "$linker" -shared -nostdlib -Wl,--allow-multiple-definition -o "$out" "$work"/objects/*.o
}

# measure MODE LABEL: of $work/full.so, with symbols and without
measure() {
  "${strip[@]}" -o "$work/bare.so" "$work/full.so"
  printf '%-6s %-62s symbols  %s\n' "$1" "$2" "$("$scans" "$1" "$work/full.so")"
  printf '%-6s %-62s stripped %s\n' "$1" "$2" "$("$scans" "$1" "$work/full.so" "$work/bare.so")"
}

# one_cpu PREFIX COMPILER OPTIONS... : COMPILER (words) with each of OPTIONS
one_cpu() {
  local prefix=$1 compiler=$2 options label
  [ "${CPU:-$prefix}" = "$prefix" ] || return 0
  command -v "$prefix-gcc" ${compiler%% *} >/dev/null || { echo "$prefix: no compiler"; return 0; }
  strip=("$prefix-strip") linker=$prefix-gcc
  shift 2
  for options in "$@"; do
    label="$name $prefix ${compiler%% *} $options"
    for level in -O2 -Os; do
      library "$work/full.so" $compiler $options $level
      measure scan "$label $level"
    done
    printf '%-6s %-62s %s\n' frames "$label -Os" "$(tests/tables_agree.py "$build/tests/bench/unwind_table" "$work/full.so" | sed 's/^[^:]*: //')"
    case $options in -mthumb | -marm | -mboth)
      library "$work/full.so" $compiler $options -O2 -funwind-tables
      measure exidx "$label -O2"
      ;;
    esac
  done
}

one_source() {
  one_cpu arm-linux-gnueabihf arm-linux-gnueabihf-gcc -mthumb -marm -mboth
  one_cpu arm-linux-gnueabihf "clang --target=arm-linux-gnueabihf -isystem /usr/arm-linux-gnueabihf/include" -mthumb -marm -mboth
  one_cpu mipsel-linux-gnu mipsel-linux-gnu-gcc -fasynchronous-unwind-tables
  one_cpu riscv64-linux-gnu riscv64-linux-gnu-gcc -fasynchronous-unwind-tables
  one_cpu aarch64-linux-gnu aarch64-linux-gnu-gcc -fasynchronous-unwind-tables
  one_cpu x86_64-linux-gnu x86_64-linux-gnu-gcc -fasynchronous-unwind-tables
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
