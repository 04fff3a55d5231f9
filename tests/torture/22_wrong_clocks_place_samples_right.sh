#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board boots in 1970, ten years ahead, an hour back, after an hour of sleep, and its clock is set
# by a day in mid-run: five boots, each restarting the clocks since boot (time namespaces), most of
# them without a collector. The next boots deliver the spool, and every sample is placed in the
# minute in which it was taken. The collector is reached with each of these clocks, and no sample is
# lost except where a busy machine does not drain a ring in time.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] && unshare -T --boottime 1000 true 2>/dev/null || not_run "no time namespace of its own (root and Linux 5.6 are needed)"
start_collector
enroll edge
hour=3600 day=86400 year=31556952
ns_before=$(date +%s)
clocks=$(dirname "$torture")/targets/other_clocks.so

set_wall() { /usr/bin/python3 -c 'import struct, sys; open(sys.argv[1], "r+b" if len(sys.argv) > 3 else "wb").write(struct.pack("=q", int(float(sys.argv[2]) * 1e9)))' "$W/wall" "$@"; }
# boot SERVICE WALL SLEPT COMMAND...: one boot of the board, WALL seconds off, after SLEPT seconds
# of sleep; COMMAND runs in it, with the daemon.
boot() {
  local service=$1 uptime
  uptime=$(cut -d. -f1 /proc/uptime)
  set_wall "$2"
  cat /proc/sys/kernel/random/uuid >"$W/boot"
  SERVICE=$service unshare -T --monotonic $((2 - uptime)) --boottime $((2 - uptime + $3)) bash -c '
    OTHER_WALL=$W/wall OTHER_BOOT=$W/boot LD_PRELOAD=$clocks fleetprofd --state "$B" --collector "127.0.0.1:$A" || exit 1
    "$@"
    code=$?
    pid=$(cat "$B/fleetprofd.pid")
    kill "$pid"
    for i in {1..100}; do kill -0 "$pid" 2>/dev/null || exit $code; sleep 0.1; done
    exit 99' boot "${@:4}" || fail "boot $service: ended with $?: $(tail -n 2 "$B/fleetprofd.log")"
}
sampled_run() {
  date +%s.%N >"$W/$SERVICE.from"
  fleetprof run --state "$B" --collector "127.0.0.1:$A" --service "$SERVICE" --flush-timeout "${1:-0s}" -- "$targets/truth" 1 >/dev/null
  local code=$?
  date +%s.%N >"$W/$SERVICE.to"
  return $code
}
is_connected() { fleetprof status --state "$B" --format json 2>/dev/null | json "d['uplink']['state'] == 'connected'" | grep -q yes; }
connected_run() { until_true 20 is_connected && sampled_run 10s; }
heard_then_alone() { # gets the time, and only then samples, while no collector is up
  until_true 20 is_connected || return 1
  kill -KILL "$COLLECTOR"
  sampled_run
}
set_in_mid_run() {
  sampled_run &
  sleep 0.5
  set_wall $((2 * day)) again
  wait $!
}
export W B A H COLLECTOR clocks targets day
export -f sampled_run connected_run heard_then_alone is_connected until_true json set_in_mid_run set_wall

epoch=$((100 - ns_before))
boot heard $epoch $hour heard_then_alone # and had slept for an hour
stop_collector
boot behind -$hour 0 sampled_run # never gets the time
boot never $epoch 0 sampled_run
boot set_ahead $day 0 set_in_mid_run
collector_up
boot ahead $((10 * year)) 0 connected_run # delivers all
all=(heard behind never set_ahead ahead)
until_true 20 books_are_closed edge || fail "the books do not close: $(books edge)"
read -r produced stored dropped pending < <(books edge)
[ "$(lost_beside_full_rings edge)" = 0 ] && [ "$produced" = $((stored + dropped)) ] || fail "samples were lost: $(books edge) $(api loss)"

# samples SERVICE FROM TO
samples() { api profile --data-urlencode "match={service=\"$1\"}" -d "from=$2" -d "to=$3" -d limit=1 | json "d['samples']"; }
minute() { /usr/bin/python3 -c 'import sys; print(f"{float(open(sys.argv[1]).read()) + float(sys.argv[2]):.3f}")' "$W/$1" "$2"; }
for service in "${all[@]}"; do
  taken=$(samples $service -400d $(($(date +%s) + day)))
  placed=$(samples $service "$(minute $service.from -30)" "$(minute $service.to 30)")
  [ "$taken" -gt 20 ] || fail "$service: $taken samples"
  [ "$placed" = "$taken" ] || fail "$service: $placed of $taken samples are where they were taken; boots: $(cat "$B/boots"); $(api series --data-urlencode "match={service=\"$service\"}" -d by=service -d step=60 -d from=-2d -d to=now | head -c 600)"
  say "$service: $placed of $taken samples in their minute"
done
[ "$(api boards | json "d['boards'][0]['clock']")" = estimated ] || fail "the board's clock counts as $(api boards | json "d['boards'][0]['clock']")"
