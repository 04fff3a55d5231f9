#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pairs of PC and link register on arm64 and armhf, of a program with known callers and call counts.
# The true part of each caller lies in the interval of its edge, measured and extrapolated. That
# must hold for at least 93 % of the functions with 100 samples and more, on each CPU. The rule that
# reads code resolves more than the rule that only uses the link register's side, less what the code
# refutes of the latter. The program has recursion, tail calls, and functions that work before and
# after a call.
#
# The same holds for a stripped program with an uploaded debug file: the board is asked for the
# code.
#
# ROUNDS (2) runs of SECONDS_EACH (60) on each CPU are judged once, together: stopping at the first
# good result would be biased. Of some 75 functions 5 may miss. 3 of 149 missed; at that rate more
# than 5 of 75 do in 1 of 250 runs. If intervals hold only 95 times of 100, that happens in 1 of 6.
. "$(dirname "$0")/lib.sh"
start_collector
seconds=${SECONDS_EACH:-60} rounds=${ROUNDS:-2}
# The whole hour: emulated programs are slow.
SINCE=60m

judge() { # SERVICE: compares its callers with its output
  /usr/bin/python3 "$root/tests/e2e/callers_told.py" "$ARCH $1" "http://127.0.0.1:$H" "{board=\"$ARCH\",service=\"$1\"}" \
    "$W/$ARCH/$1.truth" 100 >"$W/$ARCH/$1.told" || { cat "$W/$ARCH/$1.told"; fail "$ARCH: $1"; }
  grep -v ^told "$W/$ARCH/$1.told"
  local one of ladder side
  read -r _ one of ladder side < <(grep ^told "$W/$ARCH/$1.told")
  told=$((told + one)) functions=$((functions + of))
  [ "$of" -ge 20 ] || fail "$ARCH: only $of functions have enough samples to be judged"
  awk -v l="$ladder" -v s="$side" 'BEGIN { exit !(l > s) }' ||
    fail "$ARCH: the ladder resolves $ladder, the side of the link register alone $side that is not refuted"
}

is_looked_at() { [ "$(api callers --data-urlencode "match={board=\"$ARCH\",service=\"$1\"}" -d function=leaf_1 | json "d['lr']['by_unwind_row'] > 0")" = yes ]; }

# round SERVICE FLAGS...
round() {
  local service=$1
  shift
  compile "$service" "$@" "$root/tests/targets/mixed_callers.c"
  OPTIONS="-E FLEETPROF_COLLECT=pc-lr -E FLEETPROF_HZ=241" sampled "$service" "$W/$ARCH/$service" "$seconds" >"$W/$ARCH/$service.truth" ||
    fail "$ARCH: $service ended with $?"
  until_true 60 has_samples "$service" 4000 || fail "$ARCH: $(samples_of "$service") samples of $service"
  until_true 60 is_looked_at "$service" || fail "$ARCH: the code of $service is never looked at"
  judge "$service"
}

are_true() { [ $((told * 100)) -ge $((functions * 93)) ]; }

# Only code can resolve recursion: no pair that points out of a function is a call of itself.
resolves_recursion() {
  [ "$(api callers --data-urlencode "match={board=\"$ARCH\",service=\"stripped\"}" -d function=deep_9 |
    json "d['lr']['resolvable_share'] > .35 and d['lr']['code_not_seen'] == 0")" = yes ]
}

stripped() {
  local token id
  # A build with its own build-id: the board has already sent the other one.
  compile whole -falign-functions=32 "$root/tests/targets/mixed_callers.c"
  "$TRIPLET-objcopy" --only-keep-debug "$W/$ARCH/whole" "$W/$ARCH/whole.debug"
  "$TRIPLET-strip" -o "$W/$ARCH/stripped" "$W/$ARCH/whole"
  id=$(readelf -n "$W/$ARCH/stripped" | sed -n 's/.*Build ID: //p')
  token=$(fleetprof-collector token --data "$W/data" --role symbols)
  curl -sS -o "$W/put" -X PUT -H "Authorization: Bearer $token" --data-binary @"$W/$ARCH/whole.debug" "http://127.0.0.1:$H/api/v1/debug/$id"
  OPTIONS="-E FLEETPROF_COLLECT=pc-lr -E FLEETPROF_HZ=241" sampled stripped "$W/$ARCH/stripped" $((seconds / 4)) >/dev/null ||
    fail "$ARCH: stripped ended with $?"
  until_true 60 resolves_recursion || fail "$ARCH: of a stripped program recursion is not resolved"
}

# callers ARCH
callers() {
  told=0 functions=0
  for turn in $(seq "$rounds"); do round "calls$turn"; done
  say "$1: callers are told truly of $told of $functions functions"
  are_true || fail "$1: that is less than 93 in 100"
  stripped
  done_any=1
}

done_any=
for arch in ${1:-arm64 armhf}; do
  if cpu "$arch"; then callers "$arch"; fi
done
[ -n "$done_any" ] || fail "nothing could be run"
