#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program in a chroot that has no /proc: it is sampled, its functions have names, and status knows
# its path and its arguments, found on its own stack.
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
for library in $(ldd "$targets/truth" "$agent" | awk '$2 == "=>" { print $3 } $1 ~ /^\// && $1 !~ /:$/ { print $1 }' | sort -u); do
  install -D "$library" "$root$library"
done
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
started+=("$(cat "$B/fleetprofd.pid")")
target() { status --format json | json "[t['$1'] for t in d['targets'] if t['service'] == 'truth'][0]"; }
FLEETPROF_SOCKET=/state/fleetprofd.sock FLEETPROF_HZ=199 LD_PRELOAD=/lib/libfleetprof.so \
  chroot "$root" /bin/truth 3 "two words" last >"$W/out" 2>"$W/err" &
program=$!
until_true 5 eval 'target pid >/dev/null 2>&1' || fail "a program without /proc is unknown"
[ "$(target argv)" = "/bin/truth 3 two words last" ] || fail "its arguments: $(target argv)"
[ "$(target argv_found)" = verified ] || fail "its arguments are $(target argv_found)"
case $(target exe) in */bin/truth) ;; *) fail "its path: $(target exe)" ;; esac
wait $program || fail "it ended with $?"
until_true 15 books_are_closed board1 || fail "books $(books board1)"
named=$(profile '{service="truth"}' | json "sum(f['self'] for f in d['functions'] if f['name'] in ('alpha_sixty', 'beta_thirty', 'gamma_ten')) / d['total']")
/usr/bin/python3 -c "import sys; sys.exit($named < .9)" || fail "only $named in its three functions"
say "$named of the weight in its three functions"
