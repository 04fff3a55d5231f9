#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 40: a setuid program (AT_SECURE) gets no ring and its environment is not read. An undumpable
# program, or one that its user may execute but not read, runs as without the agent. The CPU time of
# each is in the total, whether or not the process is readable.
. "$(dirname "$0")/lib.sh"
HZ=5000
[ "$(id -u)" = 0 ] || not_run "only root can make a program that is setuid for another user"
user_board user
chmod 755 "$W"
cp "$torture/chain" "$W/setuid" && chmod 4755 "$W/setuid"
cp "$torture/fp_lies" "$W/unreadable" && chmod 711 "$W/unreadable"
for program in "$W/setuid" "$W/unreadable 20" "$torture/drops / $ordinary 100 hidden"; do
  as_user $program >"$W/plain.out" 2>"$W/plain.err"
  plain=$?
  for sampler in "${samplers[@]}"; do
    before=$(produced)
    as_user fleetprof run --state "$B" --flush-timeout 0s --sampler "$sampler" --hz $HZ -- $program >"$W/run.out" 2>"$W/run.err"
    [ $? = $plain ] || fail "$sampler: $program: another status than $plain"
    cmp -s "$W/plain.out" "$W/run.out" || fail "$sampler: $program: $(diff "$W/plain.out" "$W/run.out")"
    [ ! -s "$W/run.err" ] || fail "$sampler: $program: stderr: $(cat "$W/run.err")"
    sleep .3
    say "$sampler: ${program##*/}: $(($(produced) - before)) samples"
  done
done
# The total: both burn at least the requested time, and at most the cost of a start and an end more.
mkdir -m 755 "$W/user/files"
chown "$ordinary" "$W/user/files"
# is_billed SAMPLER MS COMMAND...
is_billed() {
  as=as_user to=$W/user/files recorded "$1" "${@:3}" >/dev/null 2>"$W/run.err"
  local total
  total=$(json "round(d['total'] / 1e6)" <"$W/table.json")
  say "$1: ${3##*/}: told $total ms of $2 ms and its start: $(table 3)"
  [ "$total" -ge $(($2 * 99 / 100)) ] && [ "$total" -le $(($2 * 101 / 100 + 60)) ] || fail "$1: ${3##*/}: told $total ms of $2 ms: $(table)"
}
for sampler in "${samplers[@]}"; do
  is_billed "$sampler" 720 "$W/unreadable" 40              # 9 lies in 2 threads
  is_billed "$sampler" 300 "$torture/drops" / $ordinary 100 hidden # 2 threads and a child
  CHAIN_MS=200 is_billed "$sampler" 400 "$W/setuid"        # 2 threads
done
# No ring: neither the agent nor a memfd of the daemon's is mapped in it, and it has no timer.
cp "$torture/sleepers" "$W/plain-sleepers"
cp "$torture/sleepers" "$W/setuid-sleepers" && chmod 4755 "$W/setuid-sleepers"
is_running() { target=$(pgrep -f "^$W/$1-sleepers" | head -n 1); [ -n "$target" ]; }
has_timer() { [ "$(timers_of "$target")" -gt 0 ]; }
as_user fleetprof run --state "$B" --flush-timeout 0s --sampler timer -- "$W/setuid-sleepers" 2 2 >/dev/null &
runner=$!
until_true 5 is_running setuid || fail "the setuid program does not run"
sleep .3
! grep -E 'memfd|libfleetprof' "/proc/$target/maps" || fail "a setuid program has a ring"
! has_timer || fail "a setuid program has timers"
wait $runner || fail "the setuid program ended with $?"
# The loader ignores our preload there, but obeys the system-wide list of preloads; then the agent
# itself must stay out. The program is setuid for the user whose daemon answers, so only the agent's
# own check keeps it out.
if unshare -m true 2>/dev/null; then
  mkdir "$W/etc" && cp -a /etc/. "$W/etc/" && echo "$agent" >"$W/etc/ld.so.preload"
  cp "$torture/sleepers" "$W/lent-sleepers" && chown "$ordinary" "$W/lent-sleepers" && chmod 4755 "$W/lent-sleepers"
  for kind in plain lent; do
    [ $kind = lent ] && user=0 || user=$ordinary
    unshare -m sh -c "mount --bind $W/etc /etc && exec setpriv --reuid=$user --regid=$user --clear-groups \
      env FLEETPROF_SAMPLER=timer FLEETPROF_SOCKET=$B/fleetprofd.sock $W/$kind-sleepers 2 2" >"$W/run.out" 2>"$W/run.err" &
    runner=$!
    until_true 5 is_running $kind || fail "$kind: the program does not run"
    sleep .3
    grep -q libfleetprof "/proc/$target/maps" || fail "$kind: /etc/ld.so.preload is not obeyed"
    if [ $kind = plain ]; then
      until_true 5 has_timer || fail "/etc/ld.so.preload: a plain program is not sampled"
    else
      ! grep memfd "/proc/$target/maps" && ! has_timer || fail "/etc/ld.so.preload: a setuid program is sampled"
    fi
    wait $runner || fail "$kind: the program ended with $?"
    [ ! -s "$W/run.err" ] || fail "$kind: stderr: $(cat "$W/run.err")"
  done
  say "/etc/ld.so.preload: a plain program is sampled, a setuid one is not"
else
  without "/etc/ld.so.preload" "no mount namespace of its own"
fi
# Started directly, with every variable that could mislead: no socket is even tried (no daemon would
# answer).
as_user env LD_PRELOAD="$agent" FLEETPROF_SOCKET="$B/fleetprofd.sock" "$W/setuid" >"$W/run.out" 2>"$W/run.err"
[ ! -s "$W/run.err" ] || fail "preloaded by hand: stderr: $(cat "$W/run.err")"
