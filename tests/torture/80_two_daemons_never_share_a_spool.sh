#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A second daemon on a spool in use is rejected, and the first continues; a daemon's remains after a
# power cut (its pid, its socket, its counters, and no process) block no new daemon.
. "$(dirname "$0")/lib.sh"
start_collector
enroll one
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
first=$(cat "$B/fleetprofd.pid")
fleetprofd --state "$B" --collector "127.0.0.1:$A" >"$W/second" 2>&1 && [ "$(cat "$B/fleetprofd.pid")" != "$first" ] &&
  fail "a second daemon runs on the same state"
kill -0 "$first" || fail "the first daemon is gone: $(cat "$W/second")"
# Another state that has the same spool by a link.
mkdir -m 700 "$W/board-two"
cp "$B"/board.* "$B"/ca.pem "$W/board-two/"
[ ! -e "$B/collector" ] || cp "$B/collector" "$W/board-two/"
ln -s "$B/spool" "$W/board-two/spool"
timeout 10 fleetprofd --foreground --state "$W/board-two" --collector "127.0.0.1:$A" >"$W/third" 2>&1
[ $? != 0 ] || fail "a daemon began on a spool that another has: $(tail -n 3 "$W/third")"
grep -q 'spool.*cannot be opened.*busy' "$W/third" || fail "it does not say why: $(tail -n 3 "$W/third")"
run --hz 199 -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
until_true 20 books_are_closed one || fail "the first daemon's books do not close: $(books one)"
# The power cut: nothing cleans up, and the content of /run remains, as on a disk.
kill -9 "$first" "$(worker)"
cp -a "$B" "$W/after"
[ -f "$W/after/fleetprofd.pid" ] || fail "nothing stale is left to try"
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "a dead daemon's leavings keep the next one out: $(tail -n 3 "$B/fleetprofd.log")"
[ "$(cat "$B/fleetprofd.pid")" != "$first" ] || fail "the pid is the dead one's"
run --hz 199 -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
until_true 20 books_are_closed one || fail "the books do not close: $(books one)"
say "refused: $(grep -o 'spool.*' "$W/third" | head -n 1)"
