#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The kernel removes perf events from a process that gains privileges by an exec, or whose file its
# user may execute but not read. status reports that, and all its CPU time is in the answer, by
# either sampler. The same holds if a new worker cannot map the perf ring.
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" != 0 ]; then
  without "programs with other rights" "only root can make a program that is setuid for another user"
  exit 77
fi
chmod 711 "$W"
mkdir "$W/links"
for kind in plain unreadable privileged; do cp "$targets/links" "$W/links/$kind"; done
cp "$targets/links_static" "$W/links/static"
chmod 711 "$W/links/unreadable"
chmod 4755 "$W/links/privileged"
mkdir -m 0700 "$W/home"
chown "$ordinary:$ordinary" "$W/home"
user() { as_ordinary env HOME="$W/home" TMPDIR="$W/home" "$@"; }
is_whole() { is_all_of "$(json "d['total'] / 1e9" <"$1")" "$2" .01 .01; }

for sampler in perf timer; do
  for chain in "unreadable unreadable unreadable" "plain privileged plain" "plain static privileged unreadable plain"; do
    links=()
    for link in $chain; do links+=("$W/links/$link"); done
    user fleetprof run --output "$W/home/chain.fp" --sampler $sampler --hz 199 -- "${links[@]}" >"$W/out" 2>"$W/err" || fail "$sampler: $chain ended with $?"
    [ ! -s "$W/err" ] || fail "$sampler: $chain wrote: $(cat "$W/err")"
    user fleetprof report --format json "$W/home/chain.fp" >"$W/chain.json" || fail "report of $chain"
    is_whole "$W/chain.json" "$(cat "$W/out")" || fail "$sampler: $chain: $(json "d['total'] / 1e9" <"$W/chain.json") s of $(cat "$W/out"): $(head -c 600 "$W/chain.json")"
    say "$sampler: $chain: $(json "d['total'] / 1e9, [(f['name'], round(f['self_share'], 2)) for f in d['functions'][:2]]" <"$W/chain.json") of $(cat "$W/out") s"
  done
done

# status meanwhile.
start_collector
enroll board1
chown -R "$ordinary:$ordinary" "$B"
B_user() { user fleetprof "$1" --state "$B" "${@:2}"; }
row() { [ "$(B_user status --format json 2>/dev/null | json "any($1 for t in d['targets'] if t['service'] == '$service')" 2>/dev/null)" = yes ]; }
service=links
many=()
for _ in 1 2 3 4 5 6 7 8 9 10; do many+=("$W/links/privileged"); done
B_user run --sampler perf --service links --collector "127.0.0.1:$A" -- "$W/links/plain" "${many[@]}" >"$W/out" &
program=$!
until_true 10 row "t['sampler'] == 'none' and not t['ended'] and 'the kernel took its events away' in t['why']" || fail "status: $(B_user status)"
B_user status | grep " links " | grep -q "not sampled any more: perf: the kernel took its events away" || fail "not in words: $(B_user status)"
wait $program || fail "the program ended with $?"
answer() { profile '{service="links"}' >"$W/links.json" 2>/dev/null && is_whole "$W/links.json" "$(cat "$W/out")"; }
until_true 10 answer || fail "links: $(json "d['total'] / 1e9" <"$W/links.json") s of $(cat "$W/out")"

# A worker is killed, and the next cannot map the ring: a program that carries the agent continues
# by timer; of another only the CPU time is known.
stop() { kill "$(cat "$B/fleetprofd.pid")" && until_true 15 is_gone "$(cat "$B/fleetprofd.pid")"; }
stop || fail "the daemon does not end"
enroll board2
LD_PRELOAD=$targets/libno_remap.so NO_REMAP=$W/flag \
  fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
by_root() { [ "$(status --format json 2>/dev/null | json "any($1 for t in d['targets'] if t['service'] == '$service')" 2>/dev/null)" = yes ]; }
SPENT=1 FLEETPROF_SOCKET=$B/fleetprofd.sock FLEETPROF_SERVICE=carrier LD_PRELOAD=$agent "$targets/dodger" plain 14 >"$W/carrier" &
carrier=$!
SPENT=1 run --sampler perf --service bare -- "$targets/dodger" plain 14 >"$W/bare" &
bare=$!
service=carrier && until_true 10 by_root "t['sampler'] == 'perf' and t['samples'] > 20" || fail "carrier: $(status)"
service=bare && until_true 10 by_root "t['sampler'] == 'perf' and t['samples'] > 20" || fail "bare: $(status)"
touch "$W/flag"
kill -9 "$(worker)" || fail "no worker to kill"
words="mapping a perf ring again: Cannot allocate memory"
until_true 15 by_root "t['sampler'] == 'none' and '$words' in t['why']" || fail "bare: $(status)"
service=carrier
until_true 20 by_root "t['sampler'] == 'timer' and '$words' in t['why'] and t['samples'] > 50" || fail "carrier: $(status)"
for service in carrier bare; do
  wait "${!service}" || fail "$service ended with $?"
  spent=$(tail -n 1 "$W/$service")
  # The killed worker's open window is lost, and counted; nothing is counted twice.
  answer() { profile "{service=\"$service\"}" >"$W/$service.json" 2>/dev/null && [ "$(json "0.4 * $spent < d['total'] / 1e9 < 1.01 * $spent + 0.02 + $(stolen_since)" <"$W/$service.json")" = yes ]; }
  until_true 10 answer || fail "$service: $(json "d['total'] / 1e9" <"$W/$service.json") s of $spent"
  say "$service: $(json "d['total'] / 1e9, [(f['name'], round(f['self_share'], 2)) for f in d['functions'][:2]]" <"$W/$service.json") of $spent s"
done
until_true 10 books_are_closed board2 || fail "books $(books board2)"
