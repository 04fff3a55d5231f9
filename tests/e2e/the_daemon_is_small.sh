#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The daemon's own memory (RssAnon of keeper and worker together) stays within 3 MiB while it ships, and it
# holds none of its starter's descriptors.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
run --hz 499 -- "$targets/truth" 6 >/dev/null &
program=$!
memory() { awk '/RssAnon|VmRSS/ { printf "%s %d kB ", $1, $2 } ' "/proc/$1/status"; }
sleep 2
keeper=$(cat "$B/fleetprofd.pid")
most=0
for _ in 1 2 3 4; do
  anon=$(awk '/RssAnon/ { sum += $2 } END { print sum }' "/proc/$keeper/status" "/proc/$(worker)/status")
  [ "$anon" -gt "$most" ] && most=$anon
  sleep 0.5
done
say "keeper $(memory "$keeper")worker $(memory "$(worker)")"
ls -l "/proc/$keeper/fd" "/proc/$(worker)/fd" | grep -E "$W/(truth|collector)|pipe:.*stdout" && fail "it holds its starter's descriptors"
wait $program
say "together at most $most kB of RssAnon"
[ "$most" -le 3072 ] || fail "RssAnon $most kB, over 3072"
