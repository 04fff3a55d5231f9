#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The daemon's own memory (RssAnon of supervisor and worker together) is at most 2 MiB idle
# (connected, no target) and 5 MiB with 20 targets, by perf and by timer. A target pays at most 64
# KiB beside its ring, and the daemon inherits no descriptors.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
is_connected() { [ "$(status --format json | json "d['uplink']['connected']")" = yes ]; }
until_true 10 is_connected || fail "no uplink: $(status)"
keeper=$(cat "$B/fleetprofd.pid")
memory() { awk '/RssAnon|VmRSS/ { printf "%s %d kB ", $1, $2 } ' "/proc/$1/status"; }
together() { awk '/RssAnon/ { sum += $2 } END { print sum }' "/proc/$keeper/status" "/proc/$(worker)/status"; }

sleep 2
idle=$(together)
say "idle: keeper $(memory "$keeper")worker $(memory "$(worker)")"
[ "$idle" -le 2048 ] || fail "idle: $idle kB of RssAnon, over 2048"
ls -l "/proc/$keeper/fd" "/proc/$(worker)/fd" | grep -E "$W/(truth|collector)|pipe:.*stdout" && fail "it holds its starter's descriptors"

# Twenty programs with some depth and a library or two; the most of a window and its batch.
work='import time, json, re
end = time.time() + 12
while time.time() < end:
    json.dumps(json.loads("[1, {\"a\": 2}]" * 1)); re.sub("a", "b", "banana" * 50); time.sleep(0.02)'
for sampler in perf timer; do
  programs=()
  for i in $(seq 20); do
    run --sampler $sampler --service "$sampler-$i" -- /usr/bin/python3 -c "$work" &
    programs+=($!)
  done
  most=0 count=0
  for _ in $(seq 18); do
    now=$(together)
    [ "$now" -gt "$most" ] && most=$now
    now=$(status --format json | json "len([t for t in d['targets'] if t['service'].startswith('$sampler')])")
    [ "$now" -gt "$count" ] && count=$now
    sleep 0.5
  done
  for program in "${programs[@]}"; do wait "$program" || fail "a program ended with $?"; done
  say "$sampler: at most $most kB with $count targets"
  [ "$count" = 20 ] || fail "only $count targets: $(status)"
  [ "$most" -le 5120 ] || fail "$most kB of RssAnon with 20 targets by $sampler, over 5120"
done
say "idle again: $(together) kB"

# The agent's memory in a program: private memory, without the ring, of six simultaneous programs,
# as on a board. Pages of files mapped by a single program would count as private.
private() { awk '/^Private_(Clean|Dirty)/ { sum += $2 } /^[0-9a-f]+-/ { ring = /fleetprof-ring/ } ring && /^Private_/ { sum -= $2 } END { print sum }' "/proc/$1/smaps"; }
sleeper() { pgrep -P "$(pgrep -P "$1" -x fleetprof || echo "$1")" -x sleep || echo "$1"; }
sleeps() { [ "$(cat "/proc/$(sleeper "$1")/comm")" = sleep ]; }
# six COMMAND...: the private memory of each, the least first
six() {
  local programs=() program
  for _ in 1 2 3 4 5 6; do "$@" & programs+=($!); done
  for program in "${programs[@]}"; do until_true 10 sleeps "$program" || fail "$*: it does not run"; done
  sleep 1 # all have started, and touched their memory
  for program in "${programs[@]}"; do private "$(sleeper "$program")"; done | sort -n | xargs
  for program in "${programs[@]}"; do kill "$(sleeper "$program")" && wait "$program"; done 2>/dev/null
}
read -r plain _ < <(six sleep 60)
loaded=$(six run --sampler timer --service sleeper -- sleep 60)
say "private memory of a program: $plain kB alone, $loaded kB with the agent"
[ $((${loaded##* } - plain)) -le 64 ] || fail "the agent takes $((${loaded##* } - plain)) kB of private memory, over 64"
