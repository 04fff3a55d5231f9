#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 48: a thousand short processes a second, each of them registered by the daemon. All end normally;
# afterwards no target, ring, descriptor, mapping or file of theirs is left, the memory is flat, and
# the counters are exact.
. "$(dirname "$0")/lib.sh"
RATE=1000
seconds=$(pick 4 150)
start_collector
enroll lives
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "no daemon"
keeper=$(cat "$B/fleetprofd.pid")
# Possible remains of a target, in supervisor and worker, and in the state folder.
descriptors() { ls "/proc/$keeper/fd" "/proc/$(worker)/fd" | grep -c '^[0-9]'; }
mappings() { cat "/proc/$keeper/maps" "/proc/$(worker)/maps" | grep -cE 'memfd:|perf_event'; }
files() { find "$B" | grep -vcE '/(spool|tables)(/|$)'; }
rss() { awk '/RssAnon/ { sum += $2 } END { print sum }' "/proc/$keeper/status" "/proc/$(worker)/status"; }
left() { echo "$(asked "len(d['targets'])") $(descriptors) $(mappings) $(files)"; }
all_is_given_back() { # BEFORE, as printed by `left`
  local -a then=($1) now
  read -ra now < <(left)
  for n in 0 1 2 3; do [ "${now[n]}" -le "${then[n]}" ] || return 1; done
}
# storm SAMPLER SECONDS: its rate in $rate.
storm() {
  fleetprof run --state "$B" --flush-timeout 0s --sampler "$1" --hz $HZ -- "$torture/short_lives" "$2" $RATE >"$W/run.out" 2>"$W/run.err" || fail "$1: $(cat "$W/run.out" "$W/run.err")"
  [ ! -s "$W/run.err" ] || fail "$1: stderr: $(head -n 3 "$W/run.err")"
  rate=$(sed -n 's/.* \([0-9]*\) a second$/\1/p' "$W/run.out")
}
"$torture/short_lives" 1 $RATE >"$W/plain" || fail "without us: $(cat "$W/plain")"
say "without us: $(cat "$W/plain")"
is_calm() { [ "$(asked "len(d['targets'])")" = 0 ]; }
for sampler in "${samplers[@]}"; do
  storm "$sampler" 1 # a daemon creates its lasting files now
  until_true 30 is_calm || fail "$sampler: targets stay: $(asked "d['targets']" | head -c 500)"
  before=$(left) memory=$(rss) had=$(produced)
  storm "$sampler" "$seconds"
  until_true 30 all_is_given_back "$before" || fail "$sampler: targets, descriptors, mappings, files were $before, are $(left): $(ls -l "/proc/$(worker)/fd" | tail -n 5)"
  books_are_exact || fail "$sampler: the books: $(asked "d['loss']")"
  grown=$(($(rss) - memory))
  say "$sampler: $(cat "$W/run.out"); $(($(produced) - had)) samples; RssAnon of both $memory KiB before, $grown more; targets, descriptors, mappings, files: $(left)"
  [ $grown -le 1024 ] || fail "$sampler: keeper and worker grew by $grown KiB from $memory"
  [ "$rate" -ge $((RATE * 95 / 100)) ] || without "$RATE processes a second by $sampler" "this machine gave $rate now, and without us: $(cat "$W/plain")"
done
until_true 60 books_are_closed lives || fail "the books do not close: $(books lives)"
read -r produced had lost pending < <(books lives)
answered=$(SINCE=2h profile '{board="lives"}' | json "d['samples']")
[ "$answered" = "$had" ] || fail "the answer holds $answered samples of $had stored"
say "produced $produced = stored $had + dropped $lost ($(lost)), in the answer $answered"
