#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# LD_PRELOAD alone: samples when a daemon runs, nothing at all when none does.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
mkdir "$W/empty"
export XDG_RUNTIME_DIR=$W/empty
quiet() { FLEETPROF_SOCKET=$1 strace -f -e trace=timer_create,rt_sigaction -o "$W/trace" env LD_PRELOAD="$agent" "$targets/truth" 0.2 >"$W/out" 2>"$W/err"; }
quiet "$W/empty/none.sock" || fail "without a daemon the program ended with $?"
[ ! -s "$W/err" ] || fail "without a daemon it wrote: $(cat "$W/err")"
! grep -q timer_create "$W/trace" || fail "without a daemon a timer was armed"
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
FLEETPROF_SOCKET="$B/fleetprofd.sock" LD_PRELOAD="$agent" "$targets/truth" 3 >"$W/out" 2>"$W/err" || fail "the program ended with $?"
[ ! -s "$W/err" ] || fail "it wrote: $(cat "$W/err")"
has_samples() { [ "$(profile '{service="truth"}' 2>/dev/null | json "d['samples']")" -ge 100 ]; }
until_true 15 has_samples || fail "too few samples: $(profile '{service="truth"}' | head -c 300)"
say "$(profile '{service="truth"}' | json "str(d['samples']) + ' samples'")"
FLEETPROF=0 FLEETPROF_SOCKET="$B/fleetprofd.sock" strace -f -e trace=timer_create -o "$W/trace" env LD_PRELOAD="$agent" "$targets/truth" 0.1 >/dev/null
! grep -q timer_create "$W/trace" || fail "FLEETPROF=0 does not switch it off"
# A runtime directory inherited through su or sudo -E: another user's listener there must get no
# data about root's programs.
if [ "$(id -u)" = 0 ] && [ ! -S /run/fleetprof/fleetprofd.sock ]; then
  chmod 711 "$W"
  mkdir -m 755 "$W/stranger" && chown "$ordinary" "$W/stranger"
  as_ordinary /usr/bin/python3 - "$W/stranger/fleetprof" >"$W/heard" 2>&1 <<'END' &
import os, signal, socket, sys
signal.alarm(60)  # ends it even if the script does not
os.mkdir(sys.argv[1], 0o755)
door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
door.bind(sys.argv[1] + "/fleetprofd.sock")
os.chmod(sys.argv[1] + "/fleetprofd.sock", 0o666)
door.listen(5)
print("listens", flush=True)
said = b""
while said != b"end":
    caller = door.accept()[0]
    print("was asked", flush=True)
    said = caller.recv(8)
END
  stranger=$!
  until_true 10 grep -q listens "$W/heard" || fail "the stranger does not listen: $(cat "$W/heard")"
  XDG_RUNTIME_DIR=$W/stranger LD_PRELOAD="$agent" "$targets/truth" 0.1 >/dev/null || fail "beside a stranger's daemon the program ended with $?"
  XDG_RUNTIME_DIR=$W/stranger fleetprof status >/dev/null 2>&1
  XDG_RUNTIME_DIR=$W/stranger fleetprof ctl pause --service truth >/dev/null 2>&1
  /usr/bin/python3 -c 'import socket, sys; door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); door.connect(sys.argv[1]); door.send(b"end")' "$W/stranger/fleetprof/fleetprofd.sock"
  wait $stranger
  until_true 10 grep -q asked "$W/heard" || fail "the stranger does not hear: $(cat "$W/heard")"
  [ "$(grep -c asked "$W/heard")" = 1 ] || fail "root's programs asked a stranger's daemon: $(cat "$W/heard")"
fi
