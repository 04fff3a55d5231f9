#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program in a chroot without /proc: it is sampled, its functions have names, and status has its
# path and arguments, found on its own stack.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { echo "needs root for chroot"; exit 77; }
start_collector
enroll board1
root=$W/root
mkdir -p "$root/state"
rm -rf "$root/state"
mv "$B" "$root/state"
B=$root/state
install -D "$targets/truth" "$root/bin/truth"
install -D "$agent" "$root/lib/libfleetprof.so"
install -D "$targets/libearly.so" "$root/lib/libearly.so"
for library in $(ldd "$targets/truth" "$agent" | awk '$2 == "=>" { print $3 } $1 ~ /^\// && $1 !~ /:$/ { print $1 }' | sort -u); do
  install -D "$library" "$root$library"
done
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
started+=("$(cat "$B/fleetprofd.pid")")
target() { status --format json | json "[t['$2'] for t in d['targets'] if t['pid'] == $1][0]"; }

cat >"$W/begin.py" <<'P'
import ctypes, os, sys
os.chroot(sys.argv[1])
os.chdir("/")
os.environ["LD_PRELOAD"] = sys.argv[2]
words = [os.fsencode(word) for word in sys.argv[3:]]
ctypes.CDLL(None).execv(b"/bin/truth", (ctypes.c_char_p * (len(words) + 1))(*words, None))
P
# begin PRELOADED WORD...: truth in the chroot, with these words as its argv; sets $program.
begin() {
  FLEETPROF_SOCKET=/state/fleetprofd.sock FLEETPROF_HZ=199 /usr/bin/python3 "$W/begin.py" "$root" "$@" >"$W/out" 2>"$W/err" &
  program=$!
  until_true 5 eval 'target $program pid >/dev/null 2>&1' || fail "a program without /proc is unknown: $*"
}
# known ARGUMENTS: those of the program, beyond doubt.
known() {
  [ "$(target $program argv)" = "$1" ] || fail "its arguments: $(target $program argv), not $1"
  [ "$(target $program argv_found)" = verified ] || fail "its arguments are $(target $program argv_found)"
  case $(target $program exe) in */bin/truth) ;; *) fail "its path: $(target $program exe)" ;; esac
}

begin /lib/libfleetprof.so:/lib/libearly.so /bin/truth 1 moved
grep -qx renamed "/proc/$program/comm" || fail "the environment was not moved before us"
known "/bin/truth 1 moved"
wait $program || fail "it ended with $?"
begin /lib/libfleetprof.so
known ""
kill $program
begin /lib/libfleetprof.so /bin/truth 3 "two words" last
known "/bin/truth 3 two words last"
wait $program || fail "it ended with $?"
until_true 15 books_are_closed board1 || fail "books $(books board1)"
profile '{service="truth"}' -d limit=1000 >"$W/truth.json"
named=$(share_of_user alpha_sixty beta_thirty gamma_ten <"$W/truth.json")
[ "$(has_user_part .5 <"$W/truth.json")" = yes ] || fail "hardly any sample: $(head -c 600 "$W/truth.json")"
/usr/bin/python3 -c "import sys; sys.exit($named < .95)" || fail "only $named in its three functions"
say "$named of its own code's time in its three functions"
