#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that carries the agent is sampled by perf, from outside. If its events are disabled in
# mid-run, they are opened anew; where that is refused (the program has made itself undumpable) its
# timers start. The program is not disturbed, its total stays right, and status, batch and API give
# the reason.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
export FLEETPROF_SOCKET=$B/fleetprofd.sock FLEETPROF_HZ=199
row() { status --format json | json "[t['$1'] for t in d['targets'] if t['service'] == '$service'][0]"; }
says() { [ "$(status --format json 2>/dev/null | json "any($1 for t in d['targets'] if t['service'] == '$service')" 2>/dev/null)" = yes ]; }

# Disables every perf event of the supervisor, as any process can that may control the daemon.
revoke() {
  /usr/bin/python3 - "$(cat "$B/fleetprofd.pid")" <<'EOF'
import ctypes, fcntl, os, sys
SYS_pidfd_getfd, DISABLE = 438, 0x2401
keeper = int(sys.argv[1])
pidfd = os.pidfd_open(keeper)
off = 0
for name in os.listdir(f"/proc/{keeper}/fd"):
    if os.readlink(f"/proc/{keeper}/fd/{name}") != "anon_inode:[perf_event]": continue
    fd = ctypes.CDLL(None, use_errno=True).syscall(SYS_pidfd_getfd, pidfd, int(name), 0)
    if fd < 0: sys.exit(f"pidfd_getfd: {os.strerror(ctypes.get_errno())}")
    fcntl.ioctl(fd, DISABLE, 0)
    off += 1
sys.exit(0 if off > 0 else "no events to switch off")
EOF
}

# A program of two threads and a forked child; undumpable from its start on request. It prints its
# own and its child's CPU time, and the number of its interrupted waits.
cat >"$W/carrier.py" <<'EOF'
import ctypes, os, resource, sys, threading, time
if sys.argv[2] == "closed": ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
def burn():
    while not os.path.exists(sys.argv[1]):
        for _ in range(20000): pass
child = os.fork()
if child == 0:
    burn()
    sys.exit(0)
thread = threading.Thread(target=burn)
thread.start()
burn()
thread.join()
os.waitpid(child, 0)
spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(one.ru_utime + one.ru_stime for one in spent))
EOF
carry() { # carry SERVICE WAY
  service=$1
  LD_PRELOAD=$agent FLEETPROF_SERVICE=$service /usr/bin/python3 "$W/carrier.py" "$W/end-$service" "$2" >"$W/$service.out" 2>"$W/$service.err" &
  program=$!
  until_true 10 says "t['sampler'] == 'perf' and t['samples'] > 50" || fail "$service is not sampled by perf: $(status)"
  [ "$2" = closed ] || [ -z "$(grep ID: "/proc/$program/timers")" ] || fail "$service has timers beside perf"
}
ends() {
  touch "$W/end-$service"
  wait "$program" || fail "$service ended with $?"
  [ ! -s "$W/$service.err" ] || fail "$service wrote: $(cat "$W/$service.err")"
  until_true 10 is_whole || fail "$service spent $(cat "$W/$service.out") s: $(profile "{service=\"$service\"}" | json "[(f['name'], f['self'] / 1e9) for f in d['functions'][:4]], d['total'] / 1e9")"
  say "$service spent $(cat "$W/$service.out") s: $(profile "{service=\"$service\"}" | json "d['total'] / 1e9, [(f['name'], round(f['self_share'], 3)) for f in d['functions'] if f['name'] in ('[unsampled]', '[kernel]')]")"
}
total() { profile "{service=\"$service\"}" 2>/dev/null | json "d['total'] / 1e9" 2>/dev/null; }
is_whole() { is_all_of "$(total)" "$(cat "$W/$service.out")" .03 .05; }

carry opened-anew open
revoke || fail "the events cannot be switched off"
until_true 20 says "t['sampler'] == 'perf' and 'count no more' in t['why'] and t['samples'] > 50" || fail "the events were not opened anew: $(status)"
[ -z "$(grep ID: "/proc/$program/timers")" ] || fail "opened anew, and timers as well"
status | grep " opened-anew " | grep -q "perf: its events count no more" || fail "status does not say it in words: $(status)"
ends

if [ "$(id -u)" = 0 ]; then
  without "a program that is closed to the daemon" "root may look into every program: see the ordinary user's half"
else
  carry to-the-timer closed
  revoke || fail "the events cannot be switched off"
  until_true 20 says "t['sampler'] == 'timer' and t['samples'] > 50" || fail "no timers after perf: $(status --format json)"
  says "'its events count no more' in t['why'] and 'refuses' in t['why']" || fail "status does not say why: $(status)"
  [ "$(status --format json | json "len([t for t in d['targets'] if t['service'] == 'to-the-timer'])")" = 1 ] || fail "in two rows at once: $(status)"
  on_the_page() { [ "$(api boards | json "d['boards'][0]['sampler']")" = timer ]; }
  until_true 30 on_the_page || fail "the API says $(api boards)"
  ends
fi
books_are_closed board1 || until_true 10 books_are_closed board1 || fail "books $(books board1)"
