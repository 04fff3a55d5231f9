#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program with known shares and callers, as laid out by GNU ld, gold, lld and mold: code not at a
# page of the file, larger pages, static, in a library of another linker, or far from the rest. By
# perf and by timer, as stacks, pairs, histogram and recorder: shares, callers and names are right
# in each.
#
# The short form has some layouts of each kind. TORTURE_LONG=1: all linkers, kinds, page sizes,
# samplers and modes.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")" && pwd)/../targets/layout.c
cd "$W" || fail "no folder"
is_long() { [ -n "${TORTURE_LONG:-}" ]; }
declare -A program=([ld]=ld.bfd [gold]=ld.gold [lld]=ld.lld [mold]=mold) name=([ld]=bfd [gold]=gold [lld]=lld [mold]=mold)
parts=$FLEETPROF_PREFIX/lib/fleetprof
carries="$parts/libfleetprof.a -Wl,@$parts/libfleetprof.link -pthread" # nothing can be preloaded into a static program
declare -A kinds=([pie]=-pie [no-pie]="-fno-pie -no-pie" [static]="-fno-pie -static $carries" [static-pie]="-static-pie $carries"
  [far]="-fno-pie -no-pie -Wl,--section-start=.far_part=0x9000000"
  [farther]="-fno-pie -no-pie -Wl,--section-start=.far_part=0x70000480")
checked=0
for linker in ld gold lld mold; do
  command -v "${program[$linker]}" >/dev/null || { without "$linker" "${program[$linker]} is not installed"; program[$linker]=; }
done

# link LINKER KIND [FLAG]...: makes ./layout, or prints why that is impossible. KIND library/LINKER:
# all but main is in a library of that linker.
link() {
  local linker=$1 kind=$2 other=${2#library/} flags
  shift 2
  [ -n "${program[$linker]}" ] || return 1
  if [ "$other" != "$kind" ]; then
    [ -n "${program[$other]}" ] || return 1
    gcc -O2 -fPIC -shared -DIN_LIBRARY -fuse-ld="${name[$other]}" "$@" -o liblayout.so "$source" 2>why &&
      gcc -O2 -DIN_PROGRAM -fuse-ld="${name[$linker]}" "$@" -o layout "$source" -L. -llayout "-Wl,-rpath,$W" 2>why
  else
    read -ra flags <<<"${kinds[$kind]}"
    gcc -O2 -fuse-ld="${name[$linker]}" -o layout "$source" "${flags[@]}" "$@" 2>why
  fi || { without "$linker $kind $*" "it does not link: $(head -n 1 why | cut -c 1-120)"; return 1; }
  ./layout 0.01 >/dev/null 2>why || { without "$linker $kind $*" "it does not run by itself: $(head -n 1 why)"; return 1; }
}

# From the folded stacks of the input: the part of upper in the time of both; the part of both with
# their callers, LEADING; and the part of both in the weight of all samples.
cat >told.awk <<'AWK'
/^\[(kernel|unsampled)\] [0-9]+$/ { next }
{
  weight = $NF; all += weight; stack = ";" $0; sub(/ [0-9]+$/, "", stack)
  if (stack !~ /;(upper|lower)$/) next
  both += weight
  if (stack ~ /;upper$/) upper += weight
  if (stack ~ leading) right += weight
}
END { printf "%.4f %.4f %.4f\n", both ? upper / both : 0, both ? right / both : 0, all ? both / all : 0 }
AWK
is_right() { # TRUTH UPPER RIGHT BOTH SAMPLES: five standard deviations of a share, and 2 points
  awk -v t="$1" -v u="$2" -v r="$3" -v b="$4" -v n="$5" 'BEGIN { d = u - t; if (d < 0) d = -d
    exit !(n >= 100 && d < 5 * sqrt(t * (1 - t) / n) + .02 && r >= .9 && b >= .9) }'
}
# told WHAT SAMPLER MODE: checks that for ./layout. Each run makes new tables, and on a busy machine
# they may be late, so one of three runs must succeed.
told() {
  local leading try truth upper right both samples seconds=.5
  [ "$2" = perf ] || seconds=.9 # a sample a tick
  case $3 in
  stacks) leading=';main;outer;(upper|lower)$' ;;
  pc-lr) leading=';outer;(upper|lower)$' ;;
  *) leading=';(upper|lower)$' ;;
  esac
  for try in 1 2 3; do
    rm -f layout.fp
    truth=$(fleetprof run --sampler "$2" --collect "$3" --hz 997 --output layout.fp -- ./layout $seconds) || fail "$*: it ended with $?"
    samples=$(fleetprof report layout.fp --format json | json "d['samples']")
    read -r upper right both < <(fleetprof report layout.fp --format folded | awk -v leading="$leading" -f told.awk)
    is_right "$truth" "$upper" "$right" "$both" "${samples:-0}" && break
    [ $try -lt 3 ] || fail "$*: upper has $upper of both, truly $truth; $right of both have their callers; both have $both of $samples samples: $(fleetprof report layout.fp --format folded | sort -k 2 -n -r -t ' ' | head -n 3 | cut -c 1-200)"
  done
  checked=$((checked + 1))
  say "$*: upper has $upper of both, truly $truth; $right have their callers"
}
# layout SAMPLER:MODE[,SAMPLER:MODE]... LINKER KIND [FLAG]...
layout() {
  local how
  link "${@:2}" || return 0
  for how in ${1//,/ }; do told "${*:2}" "${how%:*}" "${how#*:}"; done
}

if is_long; then
  all=perf:stacks,perf:pc-lr,timer:stacks,timer:pc-lr,timer:histogram,timer:recorder
  for linker in ld gold lld mold; do
    for flags in "" -Wl,-z,separate-code -Wl,-z,noseparate-code -Wl,-z,max-page-size=65536 -Wl,-z,max-page-size=2097152; do
      for kind in pie no-pie static static-pie; do layout $all $linker $kind $flags; done
    done
    for kind in library/ld library/gold library/lld library/mold far farther; do
      layout $all $linker $kind
      layout $all $linker $kind -Wl,-z,max-page-size=65536
    done
  done
else
  layout perf:stacks,timer:stacks ld pie
  layout perf:stacks,timer:stacks,timer:pc-lr,timer:histogram,timer:recorder lld pie
  layout perf:pc-lr,timer:stacks mold no-pie -Wl,-z,max-page-size=65536
  layout perf:stacks,timer:histogram lld static -Wl,-z,max-page-size=2097152
  layout timer:stacks,timer:recorder mold static-pie
  layout perf:stacks,timer:stacks ld library/lld
  layout timer:histogram gold library/mold -Wl,-z,max-page-size=65536
  layout perf:stacks,timer:stacks,timer:pc-lr ld far
fi
[ $checked -gt 0 ] || { echo "not run: no linker"; exit 77; }
