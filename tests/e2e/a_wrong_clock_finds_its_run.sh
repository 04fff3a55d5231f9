#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a board whose wall clock is in 1991, or twenty years ahead, `run` ends with a link to that
# run's samples, by the collector's time. status and doctor show the clock's error, and check
# certificates by the collector's time; setting the clock during a run moves nothing.
. "$(dirname "$0")/lib.sh"
export DISPLAY=:0
start_collector
off() { env LD_PRELOAD="$(dirname "$targets")/torture/targets/other_clocks.so" OTHER_WALL="$W/wall$shift" "$@"; }
for shift in -1100000000 630720000; do
  /usr/bin/python3 -c 'import struct, sys; open(sys.argv[1], "wb").write(struct.pack("=q", int(sys.argv[2]) * 10**9))' "$W/wall$shift" "$shift"
done
[ "$(shift=-1100000000 off date +%Y)" -lt 2000 ] || fail "the clock is not shifted"
for shift in -1100000000 630720000; do
  enroll "board$shift"
  off fleetprofd --foreground --state "$B" --collector "127.0.0.1:$A" >"$W/daemon$shift.log" 2>&1 &
  daemon=$!
  started+=($daemon)
  is_connected() { [ "$(status --format json 2>/dev/null | json "d['uplink']['connected'] and d['uplink']['is_time_known']" 2>/dev/null)" = yes ]; }
  until_true 40 is_connected || fail "$shift: it does not connect: $(status)"
  off fleetprof run --state "$B" --verbose --hz 499 -- "$targets/truth" 1 2>"$W/said" >/dev/null || fail "$shift: a run ended with $?"
  url=$(grep -o 'http://[^ ]*$' "$W/said") || fail "$shift: no link: $(cat "$W/said")"
  count=$(sed -n 's/^fleetprof: \([0-9]*\) samples.*/\1/p' "$W/said")
  got=$(curl -fs "http://127.0.0.1:$H/api/v1/profile?${url#*view=profile&}" | json "d['samples']") || fail "$shift: no answer behind $url"
  say "$shift s: $count samples said, $got behind the link"
  [ "${count:-0}" -gt 0 ] && [ "$got" -ge "$count" ] && [ "$got" -le $((count + 5)) ] || fail "$shift: $got samples at $url, and $count were said"
  side=behind
  [ "$shift" -lt 0 ] || side='ahead of'
  off fleetprof status --state "$B" | grep -qE "this board's clock is [0-9]+ days $side the collector's" || fail "$shift: status: $(off fleetprof status --state "$B")"
  off fleetprof doctor --state "$B" >"$W/doctor"
  grep -qE "^WARN  clock +20[2-9].* by the collector; this board's is [0-9]+ days" "$W/doctor" || fail "$shift: doctor: $(grep -A 1 clock "$W/doctor")"
  grep -qE "^PASS  certificate +valid for another" "$W/doctor" || fail "$shift: the certificate is judged by the wrong clock: $(grep -A 1 certificate "$W/doctor")"
  [ "$(off fleetprof status --state "$B" --format json | json "abs(d['started_walltime_ns'] / 1e9 - $(date +%s)) < 600 and d['uptime_s'] < 600")" = yes ] || fail "$shift: when it was started: $(status --format json | json "d['started_walltime_ns'], d['uptime_s']")"
  kill $daemon
  wait $daemon || :
done
