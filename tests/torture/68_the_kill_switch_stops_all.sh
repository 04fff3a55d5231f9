#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 68: with the kill-switch file set, the timers of all running programs, half of them root's and half an ordinary
# user's (8; 10 a CPU in the long form, which is as many as can run at once; not the 100 of a bigger machine), are
# gone within 10 s, and the programs run on.  Half of them burn in short steps, half seldom, with hundreds of
# milliseconds between two samples, as most daemons do.  (A program that sleeps is not woken for it, which would end its poll
# with EINTR: its timers, which cannot expire, go with its next instructions.)  In a mount namespace of its own: the
# file's folder is this machine's.
if [ -z "${TORTURE_INSIDE:-}" ]; then
  unshare -m true 2>/dev/null || { echo "not run: no mount namespace of its own (root is needed)"; exit 77; }
  TORTURE_INSIDE=1 exec unshare -m "$0"
fi
. "$(dirname "$0")/lib.sh"
mkdir "$W/etc" && cp -a /etc/. "$W/etc/" && mount --bind "$W/etc" /etc || fail "no /etc of its own"
count=$(pick 8 $((10 * $(nproc)))) # in all 40 % of each CPU: what the machine can run at once
[ "$count" -ge 100 ] || without "100 programs" "$count are run on $(nproc) CPUs"
running=()
# start COUNT COMMAND...: that many programs, preloaded, of the board B.
start() {
  local how
  for which in $(seq "$1"); do
    [ $((which % 2)) = 0 ] && how="4 20.7" || how="2 400.7"
    "${@:2}" LD_PRELOAD="$agent" FLEETPROF_SAMPLER=timer FLEETPROF_SOCKET="$B/fleetprofd.sock" "$torture/duty" $how 600 >/dev/null 2>>"$W/err" &
    running+=($!)
    started+=($!)
  done
}
board switch
start $((count / 2)) env
user_board user
start $((count - count / 2)) setpriv --reuid="$ordinary" --regid="$ordinary" --clear-groups env
timers() { # one grep of all
  local files=("${running[@]/#//proc/}")
  cat "${files[@]/%//timers}" 2>/dev/null | grep -c ^ID
}
are_armed() { [ "$(timers)" -ge "$count" ]; }
[ -e /proc/self/timers ] || not_run "this kernel has no /proc/PID/timers"
until_true 8 are_armed || fail "only $(timers) timers of $count programs"
say "$(timers) timers of $count programs"
mkdir -p /etc/fleetprof && touch /etc/fleetprof/disable
are_gone() { [ "$(timers)" = 0 ]; }
until_true 10 are_gone || fail "$(timers) timers are left after 10 s"
for pid in "${running[@]}"; do kill "$pid" || fail "a program has ended"; done
for pid in "${running[@]}"; do wait "$pid"; [ $? = 143 ] || fail "a program ended with $?"; done 2>/dev/null
[ ! -s "$W/err" ] || fail "stderr: $(head -n 3 "$W/err")"
