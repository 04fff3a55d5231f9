#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 68: with the kill-switch file set, the timers of all running programs, half of them root's and
# half an ordinary user's, are deleted with the CPU time of their next sample, and the programs run
# on. There are 100 programs; half of them burn in short steps, half a millisecond each 400, as most
# daemons do. (A sleeping program is not woken, which would end its poll with EINTR: its timer is
# deleted at its next sample.) The bound is in CPU time: two periods of it, and the tick by which
# the kernel checks timers. In a separate mount namespace: the file's folder is this machine's.
if [ -z "${TORTURE_INSIDE:-}" ]; then
  unshare -m true 2>/dev/null || { echo "not run: no mount namespace of its own (root is needed)"; exit 77; }
  TORTURE_INSIDE=1 exec unshare -m "$0"
fi
. "$(dirname "$0")/lib.sh"
mkdir "$W/etc" && cp -a /etc/. "$W/etc/" && mount --bind "$W/etc" /etc || fail "no /etc of its own"
count=100
bound_ms=$((2 * 1000 / 97 + 2 * 10)) # at 97 Hz
running=()
timers() { # one grep of all
  local files=("${running[@]/#//proc/}")
  cat "${files[@]/%//timers}" 2>/dev/null | grep -c ^ID
}
[ -e /proc/self/timers ] || not_run "this kernel has no /proc/PID/timers"
are_armed() { [ "$(timers)" = ${#running[@]} ]; }
# Ends those of the last ten that have no timer.
drop_unarmed() {
  local pid left=()
  for pid in "${running[@]}"; do
    if grep -qs ^ID "/proc/$pid/timers"; then
      left+=("$pid")
    else
      kill "$pid" && wait "$pid" 2>/dev/null
    fi
  done
  running=("${left[@]}")
}
# start COUNT COMMAND...: that many more programs, preloaded, of the board B; ten at once. An agent
# waits 200 ms for its daemon and then continues without a timer: on a busy machine another program
# replaces it.
start() {
  local how wanted=$((${#running[@]} + $1)) tries=0
  while [ ${#running[@]} -lt "$wanted" ]; do
    [ $((tries++)) -lt $((3 * count / 10)) ] || fail "only $(timers) timers of $wanted programs"
    for _ in $(seq $((wanted - ${#running[@]} < 10 ? wanted - ${#running[@]} : 10))); do
      [ $((${#running[@]} % 2)) = 0 ] && how="1 20.7" || how="0.25 400.7"
      "${@:2}" LD_PRELOAD="$agent" FLEETPROF_SAMPLER=timer FLEETPROF_HZ=97 FLEETPROF_SOCKET="$B/fleetprofd.sock" "$torture/duty" $how 600 >/dev/null 2>>"$W/err" &
      running+=($!)
      started+=($!)
    done
    until_true 5 are_armed || drop_unarmed
  done
}
board switch
boards=("$B")
start $((count / 2)) env
user_board user
boards+=("$B")
start $((count - count / 2)) setpriv --reuid="$ordinary" --regid="$ordinary" --clear-groups env
[ ${#running[@]} = $count ] && are_armed || fail "only $(timers) timers of $count programs"
mkdir -p /etc/fleetprof && touch /etc/fleetprof/disable
# CPU time of each program in milliseconds, a line each, as far as it has a timer.
spent_by_armed() {
  local pid
  for pid in "${running[@]}"; do
    ! grep -qs ^ID "/proc/$pid/timers" || awk -v pid="$pid" '{ print pid, $1 / 1e6 }' "/proc/$pid/schedstat"
  done
}
is_told() {
  for B in "${boards[@]}"; do
    [ "$(asked "all(t['state'] == 'off' for t in d['targets'])")" = yes ] || return 1
  done
}
until_true 10 is_told || fail "not all are off"
spent_by_armed >"$W/before"
# Prints the programs that have used that CPU time and still have a timer.
disobedient() {
  spent_by_armed | awk -v bound=$bound_ms 'NR == FNR { before[$1] = $2; next } ($1 in before) && $2 - before[$1] > bound { print }' "$W/before" -
}
# Where the machine is busy not everybody gets to his next sample.
all_are_gone() { [ "$(timers)" = 0 ]; }
until_true 60 all_are_gone || [ -z "$(disobedient)" ] || fail "$(disobedient | wc -l) programs have a timer after $bound_ms ms of CPU time"
say "$(timers) timers are left, of $(wc -l <"$W/before") that were there as all were told"
for pid in "${running[@]}"; do kill "$pid" || fail "a program has ended"; done
for pid in "${running[@]}"; do wait "$pid"; [ $? = 143 ] || fail "a program ended with $?"; done 2>/dev/null
[ ! -s "$W/err" ] || fail "stderr: $(head -n 3 "$W/err")"
