#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The agent of arm64, armhf, mipsel and riscv64 in a program with known shares, sampled by CPU-time
# timers under qemu's user mode emulation. The shares of three functions are right, no sample is
# lost, and the program's result is unchanged. The handler's object code calls no external function.
#
#   arm64     signed return addresses (-mbranch-protection=standard): callers have names, no address
#             keeps a signature
#   armhf     Thumb and ARM code in one program
. "$(dirname "$0")/lib.sh"
start_collector
say_all() { say "$ARCH: $*"; }

# shares FLAGS...: checks 60/30/10 % within the error of some hundred samples.
shares() {
  compile truth "$@" "$root/tests/targets/truth.c"
  sampled truth "$W/$ARCH/truth" 6 >"$W/$ARCH/out" || fail "$ARCH: the program ended with $?"
  until_true 40 has_samples truth 300 || fail "$ARCH: $(samples_of truth) samples"
  read -r a b c _ <"$W/$ARCH/out"
  local shown=() n=$(samples_of truth)
  for pair in "alpha_sixty $a" "beta_thirty $b" "gamma_ten $c"; do
    read -r name true_share <<<"$pair"
    share=$(self_share truth "$name")
    shown+=("$name $share of $true_share")
    # four standard deviations, plus libc's part of the time
    awk -v x="$share" -v t="$true_share" -v n="$n" 'BEGIN { d = x - t; if (d < 0) d = -d; exit !(d < 4 * sqrt(t * (1 - t) / n) + .02) }' ||
      fail "$ARCH: $name has $share of the samples, truly $true_share"
  done
  say_all "$n samples: ${shown[*]}"
}

# first_caller SERVICE CALLERS LEAST FLAGS...: the frame above leaf's is one of CALLERS.
first_caller() {
  local service=$1 callers=$2 least=$3
  shift 3
  compile "$service" "$@" "$here/targets/callers.c"
  sampled "$service" "$W/$ARCH/$service" 3 || fail "$ARCH: $service ended with $?"
  until_true 40 has_samples "$service" 150 || fail "$ARCH: $service: $(samples_of "$service") samples"
  local share
  share=$(from_caller "$service" leaf "$callers")
  say_all "$service: leaf is called by $callers in $share of its samples"
  between "$share" "$least" 1 || {
    profile "{board=\"$ARCH\",service=\"$service\"}" -d format=folded | head -n 5
    fail "$ARCH: $service: only $share of leaf's samples have $callers as their caller"
  }
}

no_signatures() { # SERVICE: of the frames none lies beyond 47 bits
  profile "{board=\"$ARCH\",service=\"$1\"}" -d format=folded | grep -oE '0x[0-9a-f]{13,}' | grep -v '^0x0000' && fail "$ARCH: $1 has signed addresses"
  return 0
}

wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }
only=${1:-}
if wanted arm64 && cpu arm64; then
  handler_is_free
  shares -fno-omit-frame-pointer -mbranch-protection=standard
  # A leaf has no frame of its own: along frame pointers alone its caller is left out.
  first_caller signed 'middle|outer' .95 -mbranch-protection=standard -fno-omit-frame-pointer
  no_signatures signed
  no_signatures truth
fi
if wanted armhf && cpu armhf; then
  handler_is_free
  shares -mthumb
  first_caller thumb middle .9 -mthumb
  first_caller arm middle .9 -marm
fi
if wanted mipsel && cpu mipsel; then
  handler_is_free
  shares
  first_caller callers middle .9
fi
if wanted riscv64 && cpu riscv64; then
  handler_is_free
  shares -fno-omit-frame-pointer
  first_caller callers middle .9
fi
