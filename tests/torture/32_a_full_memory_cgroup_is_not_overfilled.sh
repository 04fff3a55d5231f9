#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 32: a program whose memory cgroup has just enough for it and the agent's own pages (64 KiB) is not
# killed: the ring, a megabyte, is charged to the daemon. As root and as an ordinary user.
. "$(dirname "$0")/lib.sh"
if [ -w /sys/fs/cgroup/memory ] && [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
  group=/sys/fs/cgroup/memory/fleetprof-torture-$$ limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes events=memory.oom_control
elif grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null && [ -w /sys/fs/cgroup ]; then
  group=/sys/fs/cgroup/fleetprof-torture-$$ limit=memory.max peak=memory.peak events=memory.events
else
  not_run "no memory cgroup that this user may make"
fi
mkdir "$group" 2>/dev/null || not_run "no memory cgroup can be made below ${group%/*}"
drop_group() { rmdir "$group" 2>/dev/null || { sleep .5; rmdir "$group"; }; }
trap 'drop_group; finish' EXIT
in_group() { bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$@"; }
# is_spared WHO: with a separate board, and the memory that WHO needs without the agent.
is_spared() {
  local who=$1 room kills before
  run_it() { in_group setpriv --reuid="$who" --regid="$who" --clear-groups env LD_PRELOAD="$agent" FLEETPROF_SOCKET="$B/fleetprofd.sock" "$@"; }
  echo -1 >"$group/$limit" 2>/dev/null || echo max >"$group/$limit"
  echo 0 >"$group/$peak" 2>/dev/null
  run_it FLEETPROF=0 "$torture/fp_lies" 5 >"$W/plain.out" || fail "uid $who: dormant: ended with $?"
  [ -r "$group/$peak" ] || not_run "the cgroup does not say its peak"
  room=$(($(cat "$group/$peak") + 65536))
  echo $room >"$group/$limit" || fail "the limit $room is refused"
  before=$(produced)
  run_it FLEETPROF_SAMPLER=timer FLEETPROF_HZ=997 "$torture/fp_lies" "$(pick 20 3000)" >"$W/run.out" 2>"$W/run.err" \
    || fail "uid $who: timer: ended with $? in a cgroup of $room bytes: $(cat "$W/run.err")"
  at_least 10 "$before" || fail "uid $who: it was not sampled"
  kills=$(awk '$1 == "oom_kill" { print $2 }' "$group/$events")
  [ "${kills:-0}" = 0 ] || fail "uid $who: $kills killed for want of memory"
  say "uid $who: a limit of $room bytes, nobody killed"
}
board cgroup
is_spared 0
user_board user
is_spared "$ordinary"
