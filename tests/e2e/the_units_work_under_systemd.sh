#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The units in a machine booted by a real systemd: both become active, and the board's daemon
# enrols, samples and names an ordinary user's program within its sandbox. It is restarted on
# request, after a kill of its worker or supervisor, and when it hangs and systemd's watchdog fires.
# Every sample is accounted for.
. "$(dirname "$0")/lib.sh"
not_run() { echo "not run: $*"; exit 77; }
[ "$(id -u)" = 0 ] || not_run "only root can boot a machine in namespaces"
unshare -m -p -u -i -n -C --fork true 2>/dev/null || not_run "no namespaces of processes, mounts and control groups can be made here"
mkdir "$W/cgroup" && mount -t cgroup2 cgroup2 "$W/cgroup" 2>/dev/null || not_run "control groups (version 2) cannot be mounted here"

# The installed files, at the paths of an installation, and the targets of systemd's own that they
# depend on.
units=$W/units own="$W/cgroup/fleetprof-units.$$"
mkdir -p "$units" "$own" || not_run "no control group can be made here"
for target in basic sysinit shutdown umount final paths sockets slices timers network network-online; do
  cp "/lib/systemd/system/$target.target" "$units"
done
for unit in fleetprof-collector fleetprofd; do
  sed "s|^ExecStart=.*/bin/|ExecStart=/usr/local/bin/|" "$FLEETPROF_PREFIX/lib/systemd/system/$unit.service" >"$units/$unit.service"
  mkdir "$units/$unit.service.d"
  printf '[Service]\nStandardError=append:/var/log/%s.log\nWatchdogSec=3\nTimeoutAbortSec=2\n' $unit >"$units/$unit.service.d/test.conf"
  sed 's|^ExecStart=.*|ExecStart=/usr/bin/python3 /machine/units/clock.py|; s/^Type=.*/Type=oneshot/; /^Restart=/d; /^WatchdogSec=/d' \
    "$units/$unit.service" >"$units/$unit-clock.service"
  sed -i "/^\[Service\]/aStandardError=append:/var/log/$unit-clock.log" "$units/$unit-clock.service"
done
cat >"$units/clock.py" <<'END'
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
assert libc.adjtimex(ctypes.create_string_buffer(1024)) >= 0, "adjtimex: errno %d" % ctypes.get_errno()
try:
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    raise SystemExit("the clock can be set")
except PermissionError:
    pass
END
(
  echo "$BASHPID" >"$own/cgroup.procs" &&
    exec unshare -m -p -u -i -n -C --fork --kill-child "$(dirname "$0")/systemd_machine.sh" "$units"
) >"$W/boot.log" 2>&1 &
holder=$!
started+=($holder)
first() { pgrep -P $holder -x systemd >/dev/null; }
until_true 10 first || { is_gone $holder && not_run "no machine can be made here: $(tail -n 1 "$W/boot.log")"; fail "systemd does not start: $(cat "$W/boot.log")"; }
init=$(pgrep -P $holder)
clear_up() { # before lib.sh's own: processes in the machine end with its first process
  local code=$?
  [ $code = 0 ] || for unit in fleetprof-collector fleetprofd; do inside systemctl status -n 0 $unit; inside tail -n 5 /var/log/$unit.log; done
  kill -9 "$init" 2>/dev/null
  until_true 10 is_gone $holder
  find "$own" -depth -type d -exec rmdir {} + 2>/dev/null
  (exit $code)
  finish
}
trap clear_up EXIT
inside() { nsenter -t "$init" -m -p -u -i -n -C --root /usr/bin/env -i -C / PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
shown() { inside systemctl show -P "$2" "$1" 2>/dev/null; } # shown UNIT PROPERTY
is_up() { inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; }
is_active() { [ "$(shown "$1" ActiveState)" = active ]; }
is_anew() { # is_anew UNIT OLD: of one moment, as a unit that falls is still active when asked first, and has no process when asked next
  local seen
  seen=$(inside systemctl show -p ActiveState -p MainPID "$1") || return 1
  grep -qx ActiveState=active <<<"$seen" && ! grep -qxE "MainPID=(0|$2)" <<<"$seen"
}
until_true 20 is_up || fail "the machine does not come up: $(inside systemctl is-system-running 2>&1)"
say "$(inside systemctl --version | head -n 1) is process 1 of its machine"

inside systemd-sysusers /usr/local/lib/sysusers.d/fleetprof-collector.conf || fail "no user for the collector"
inside systemctl start fleetprof-collector || fail "the collector does not start"
is_active fleetprof-collector || fail "the collector is $(shown fleetprof-collector ActiveState)"
[ "$(inside ps -o user:32= -p "$(shown fleetprof-collector MainPID)")" = fleetprof-collector ] || fail "the collector runs as another user"
inside sh -c 'umask 077; runuser -u fleetprof-collector -- fleetprof-collector token --data /var/lib/fleetprof-collector --board machine >/run/token
  fleetprof enroll --collector 127.0.0.1:7443 --token-file /run/token' || fail "the machine is not enrolled"
inside systemctl start fleetprofd || fail "the daemon does not start"
keeper=$(shown fleetprofd MainPID)
[ "$(inside cat /proc/"$keeper"/comm)" = fleetprofd ] || fail "process $keeper is not the daemon"

# An ordinary user's program in a folder of his, by the daemon for all.
inside sh -c "mkdir -m 700 /tmp/theirs && cp /usr/local/bin/truth /tmp/theirs && chown -R nobody /tmp/theirs" || fail "no program of another user"
theirs() { inside sh -c "cd / && exec setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/tmp/theirs $*"; }
sampled() { # sampled SERVICE: whether a run of it is stored and named
  theirs fleetprof run -v --service "$1" --hz 499 -- /tmp/theirs/truth 1 >"$W/run" 2>&1 || fail "run ends with $?: $(cat "$W/run")"
  grep -qE '[0-9]{2,} samples by (perf|timer), stored by the collector' "$W/run" || fail "run: $(cat "$W/run")"
  inside fleetprof query "$1" -f folded | grep -q ';alpha_sixty' || fail "no names: $(inside fleetprof query "$1")"
}
sampled before
inside fleetprof status >"$W/status" || fail "status ends with $?"
grep -q '^  uplink    127.0.0.1:7443: connected' "$W/status" || fail "status: $(cat "$W/status")"
inside fleetprof doctor >"$W/doctor" || fail "doctor ends with $?: $(cat "$W/doctor")"

# Watchdog beats, repeatedly, from both.
for unit in fleetprof-collector fleetprofd; do
  beat=$(shown $unit WatchdogTimestampMonotonic)
  has_beaten() { [ "$(shown $unit WatchdogTimestampMonotonic)" -gt "$beat" ]; }
  until_true 5 has_beaten || fail "$unit says nothing to the watchdog"
done
inside systemctl reload fleetprof-collector && is_active fleetprof-collector || fail "the collector does not reload"

# A worker that dies is the keeper's to start again, and none of systemd's business.
inside kill -9 "$(inside pgrep -P "$keeper")"
sampled worker
[ "$(shown fleetprofd MainPID)" = "$keeper" ] && [ "$(shown fleetprofd NRestarts)" = 0 ] || fail "systemd restarts a daemon whose worker was killed"
inside systemctl restart fleetprofd && is_anew fleetprofd "$keeper" || fail "the daemon is not restarted"
sampled restart
keeper=$(shown fleetprofd MainPID)
inside kill -9 "$keeper"
until_true 15 is_anew fleetprofd "$keeper" || fail "a daemon that was killed is $(shown fleetprofd ActiveState)"
[ "$(shown fleetprofd NRestarts)" = 1 ] || fail "restarted $(shown fleetprofd NRestarts) times"
sampled killed
for unit in fleetprofd fleetprof-collector; do
  main=$(shown $unit MainPID)
  inside kill -STOP "$main"
  until_true 20 is_anew $unit "$main" || fail "$unit stands still and is $(shown $unit ActiveState), $(shown $unit Result)"
done
is_connected() { inside fleetprof status 2>/dev/null | grep -q '^  uplink    127.0.0.1:7443: connected'; }
until_true 30 is_connected || fail "the board does not find the collector again: $(inside fleetprof status 2>&1)"
sampled still
inside curl -fsS http://127.0.0.1:7480/api/v1/loss >"$W/loss" || fail "no account of what was lost"
books=$(json "'%d %d %s' % (d['produced'], d['stored'], {k: v for k, v in d['dropped'].items() if v})" <"$W/loss")
say "produced, stored, dropped: $books"
json "d['produced'] == d['stored'] + sum(d['dropped'].values())" <"$W/loss" | grep -qx yes || fail "the books are not closed: $books"

# The whole board, as configured in a file of /etc/fleetprof.
if ! grep -q '^  perf      available' "$W/status"; then
  without "the whole board" "the kernel refuses perf events here"
else
  inside sh -c "echo 'system = yes' >/etc/fleetprof/fleetprofd.conf" && inside systemctl restart fleetprofd || fail "the daemon does not restart for the whole board"
  theirs /tmp/theirs/truth 2 >"$W/truth.log" || fail "truth ended with $?"
  is_named() { inside fleetprof query truth -f folded 2>/dev/null | grep -q ';alpha_sixty'; }
  until_true 30 is_named || fail "the whole board has no name: $(inside fleetprof query truth)"
fi

# Sandboxes that hold and do not hinder.
for unit in fleetprofd fleetprof-collector; do
  main=$(shown $unit MainPID)
  inside grep -qE '^Seccomp:[[:space:]]2' "/proc/$main/status" && inside grep -qE '^NoNewPrivs:[[:space:]]1' "/proc/$main/status" || fail "$unit has no walls"
  ! inside grep -iE 'not permitted|permission denied|read-only file' /var/log/$unit.log || fail "$unit hits its walls"
  inside systemctl stop $unit && [ "$(shown $unit Result)" = success ] || fail "$unit does not stop: $(shown $unit Result)"
done
# A program in each sandbox can read whether NTP keeps the clock, and cannot set the clock.
for unit in fleetprofd fleetprof-collector; do
  inside systemctl start $unit-clock || fail "$unit cannot read its clock's state, or can set the clock: $(inside tail -n 3 /var/log/$unit-clock.log)"
done
say "active, enrolled, sampling, watched, restarted three ways and stopped"
