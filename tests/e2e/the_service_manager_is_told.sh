#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Collector and daemon notify systemd when they are ready, alive, reloading and ending. systemd
# accepts their units, which start the installed programs and leave the daemon the privileges to
# name a function.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
units=$FLEETPROF_PREFIX/lib/systemd/system

# told PROGRAM...: checks the notifications in their order; the number of watchdog beats depends on
# the time.
told() {
  local reloads=$1 code=0
  shift
  mkdir "$W/manager"
  /usr/bin/python3 "$here/service_manager.py" "$W/manager" 1 "$reloads" "$@" >"$W/told" 2>"$W/told.err" || code=$?
  rm -r "$W/manager"
  [ $code = 0 ] || fail "$1 under a service manager exits $code: $(tail -n 5 "$W/told.err"; cat "$W/told")"
  TOLD=$(sed 's/=[0-9]*[0-9][0-9]$/=N/' "$W/told" | grep -v '^STATUS=' | uniq | paste -sd' ')
}
A=$(port) H=$(port)
told 1 fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "127.0.0.1:$H"
case $TOLD in
'READY=1 '*'RELOADING=1 MONOTONIC_USEC=N READY=1'*' WATCHDOG=1 STOPPING=1' | 'READY=1 '*'RELOADING=1 MONOTONIC_USEC=N READY=1 WATCHDOG=1 STOPPING=1') ;;
*) fail "the collector tells: $TOLD" ;;
esac
told 0 fleetprofd --foreground --state "$W/board-told"
[ "$TOLD" = 'READY=1 WATCHDOG=1 STOPPING=1' ] || fail "the daemon tells: $TOLD"
say "told: $TOLD"

# A daemon started in the background by a program sends no notifications for another service.
mkdir "$W/manager"
/usr/bin/python3 - "$W/manager/notify" fleetprofd --state "$W/board-silent" <<'END' || fail "a daemon in the background speaks for its starter's service"
import os, socket, subprocess, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
listener.settimeout(1)
subprocess.run(sys.argv[2:], env=dict(os.environ, NOTIFY_SOCKET=sys.argv[1]), check=True, timeout=20)
try:
    sys.exit("told: " + listener.recv(100).decode())
except socket.timeout:
    pass
END

# The units: only directives that systemd supports, and the installed paths.
for unit in fleetprofd fleetprof-collector; do
  cp "$units/$unit.service" "$W/$unit.service" || fail "no unit $unit"
  words=$(systemd-analyze verify --man=no "$W/$unit.service" 2>&1 | grep -F "$unit") && fail "systemd-analyze verify: $words"
  grep -q "^ExecStart=$(realpath "$FLEETPROF_PREFIX")/bin/$unit " "$W/$unit.service" || fail "$unit: $(grep ExecStart "$W/$unit.service")"
  score=$(systemd-analyze security --offline=yes "$W/$unit.service" 2>/dev/null | sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
  say "$unit: exposure $score of 10"
  awk -v score="${score:-10}" 'BEGIN { exit !(score < 5) }' || fail "$unit: exposure $score"
done
systemd-sysusers --dry-run "$FLEETPROF_PREFIX/lib/sysusers.d/fleetprof-collector.conf" >/dev/null 2>"$W/err" || fail "sysusers: $(cat "$W/err")"

# With the unit's rights and no others, the daemon samples, unwinds and names.
[ "$(id -u)" = 0 ] || { without capabilities "only root can give rights up"; exit 0; }
rights=$(sed -n 's/^CapabilityBoundingSet=//p' "$W/fleetprofd.service" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
start_collector
enroll confined
setpriv --no-new-privs --bounding-set "-all,$rights" --inh-caps -all \
  fleetprofd --foreground --system --allow confined --state "$B" --collector "127.0.0.1:$A" >>"$B/fleetprofd.log" 2>&1 &
started+=($!)
until_true 10 test -S "$B/fleetprofd.sock" || fail "no daemon: $(tail -n 3 "$B/fleetprofd.log")"
# Another user's program, with a name that no other test uses, in a private folder: its maps, memory
# and file cannot be read without those privileges.
mkdir -m 700 "$W/theirs" && cp "$targets/truth" "$W/theirs/confined" && chown -R nobody "$W/theirs" && chmod 711 "$W" || fail "no program of another user"
(cd / && exec setpriv --reuid nobody --regid nogroup --clear-groups "$W/theirs/confined" 2) >"$W/truth.log" || fail "truth ended with $?"
named() { profile '{service="confined"}' -d format=folded | grep -qE '(^|;)main;'; }
until_true 30 named || fail "no stacks with names: $(profile '{}' -d format=folded | head -n 5; tail -n 3 "$B/fleetprofd.log")"
