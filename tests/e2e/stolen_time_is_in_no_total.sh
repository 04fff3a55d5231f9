#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The clock of perf events continues while a hypervisor runs other machines; getrusage does not. The
# total of a run by perf equals getrusage: within 1 % on this machine, whatever is stolen. The same
# holds with a simulated steal of a fifth of all busy time (steal_clock): the events then count 25 %
# more than the bill. A window's last samples cannot pay for steal found afterwards, so the total
# may be 4 % above there. For ended children /proc truncates two ticks of the parent's figure: 20
# ms.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"

is_the_bill() { # is_the_bill NAME MOST-ABOVE [VARIABLE=VALUE]
  local total
  env ${3:+"$3"} fleetprof run --state "$W/state" --output "$W/$1.fleetprof" --sampler perf ${rate[@]+"${rate[@]}"} -- \
    "$targets/spender" "$kind" "$seconds" >"$W/$1.ns" 2>"$W/$1.err" || { cat "$W/$1.err"; fail "$1 ended with $?"; }
  total=$(fleetprof report --format json "$W/$1.fleetprof" | json "d['total']") || fail "$1: no report"
  say "$1: the total is $((total / 1000)) us, getrusage says $(($(cat "$W/$1.ns") / 1000))"
  awk -v total="$total" -v bill="$(cat "$W/$1.ns")" -v most="$2" -v spare="$spare" \
    'BEGIN { exit !(total >= bill * 0.99 && total <= bill * (1 + most) + spare) }' || fail "$1: the total is not the bill"
}

thief=$targets/libsteal_clock.so
[ -e "$thief" ] || fail "no $thief"
for kind in spin sleep threads forks; do
  rate=() seconds=2 spare=3e6 # exec and the loader, which getrusage has
  is_the_bill "$kind" .01
  [ "$kind" != forks ] || seconds=4 spare=23e6
  is_the_bill "$kind-stolen" .04 LD_PRELOAD="$thief"
  rate=(--hz 99)
  is_the_bill "$kind-stolen-99" .04 LD_PRELOAD="$thief"
done
