#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs of arm64 and armhf that lld has linked, whose code does not begin at a page of the file, sampled by CPU-time
# timers under qemu's user mode emulation: the shares of two functions, and on arm64 the callers in stacks, are the program's own.
# As stacks, pairs and histogram; in one piece, with pages of 4 KiB and 64 KiB, and in a library.
. "$(dirname "$0")/lib.sh"
lld=$(command -v ld.lld) || { echo "not run: ld.lld is not installed"; exit 77; }
# A cross compiler looks for linkers beside its own.
mkdir "$W/linkers" && ln -s "$lld" "$W/linkers/ld.lld"
with_lld=("-B$W/linkers" -fuse-ld=lld)
start_collector
source=$root/tests/targets/layout.c

# told SERVICE MODE: upper's part of the time of both is what the program printed; and of stacks its callers.
told() {
  local truth upper lower n callers=-
  truth=$(OPTIONS="-E FLEETPROF_COLLECT=$2" sampled "$1" "$W/$ARCH/layout" 5) || fail "$ARCH: $1 ended with $?"
  until_true 60 has_samples "$1" 150 || fail "$ARCH: $1: $(samples_of "$1") samples"
  n=$(samples_of "$1") upper=$(self_share "$1" upper) lower=$(self_share "$1" lower)
  awk -v u="$upper" -v l="$lower" -v t="$truth" -v n="$n" 'BEGIN { b = u + l; d = u / (b ? b : 1) - t; if (d < 0) d = -d
    exit !(b > .8 && d < 5 * sqrt(t * (1 - t) / n) + .02) }' || fail "$ARCH: $1: of $n samples upper has $upper and lower $lower, truly $truth of both"
  # The stacks of this program end early on armhf, whichever linker made it.
  [ "$2" != stacks ] || [ "$ARCH" = armhf ] || callers=$(from_caller "$1" upper outer)
  [ "$callers" = - ] || between "$callers" .9 1 || fail "$ARCH: $1: of upper's samples $callers have outer as their caller: $(profile "{board=\"$ARCH\",service=\"$1\"}" -d format=folded | head -n 3)"
  say "$ARCH: $1: $n samples, upper $upper and lower $lower, truly $truth of both; called by outer: $callers"
}

for arch in arm64 armhf; do
  [ -z "${1:-}" ] || [ "$1" = $arch ] || continue
  cpu $arch || continue
  compile layout "${with_lld[@]}" "$source"
  for mode in stacks pc-lr histogram; do told "lld-$mode" $mode; done
  for bytes in 4096 65536; do
    compile layout "${with_lld[@]}" -no-pie "-Wl,-z,max-page-size=$bytes" "$source"
    told "lld-$bytes" stacks
  done
  compile liblayout.so -fPIC -shared -DIN_LIBRARY "${with_lld[@]}" "$source"
  compile layout -DIN_PROGRAM "$source" "-L$W/$ARCH" -llayout "-Wl,-rpath,$W/$ARCH"
  told lld-library stacks
done
