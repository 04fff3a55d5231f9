#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A histogram and a recorder in files continue when their daemon ends, by SIGTERM or killed whole.
# The next daemon adopts them as they are: paused, or at the rate set by `ctl`. They are in its
# status, `ctl` pauses and resumes them, the kill switch deletes their timers and the files stop
# counting. Their counts are stored once, with no loss. A file with invalid content is left alone,
# and logged. As this user and as user nobody.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll taken
daemon() { fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s || fail "the daemon does not start"; }
kept() { find "$B/kept" -name "*.$1" 2>/dev/null; }
timers() { grep -c '^ID:' "/proc/$1/timers" 2>/dev/null; }
has_none() { [ "$(timers "$1")" = 0 ]; }
# counted FILE: the handler's own count of a histogram (agent/ring/histogram_format.h).
counted() { /usr/bin/python3 -c 'import struct, sys; print(struct.unpack_from("<Q", open(sys.argv[1], "rb").read(1 << 17), 4096 + (48 << 10) + 32)[0])' "$1"; }
state() { status --format json | json "' '.join(sorted(t['service'] + ':' + t['state'] for t in d['targets']))"; }
# In tens: a histogram's rate is a part of the rate drawn for it, near 99.
rates() { status --format json | json "' '.join(sorted('%s:%d:%s' % (t['service'], 10 * round(t['rate_hz'] / 10), t['rate_reason']) for t in d['targets']))"; }
are() { [ "$(state)" = "histogram:$1 recorder:$1" ]; }
grows() { [ "$(counted "$(kept hist)")" -gt "$before" ]; }
is_past() { before=$(counted "$(kept hist)"); until_true 20 grows; }

daemon
for mode in histogram recorder; do
  preloaded FLEETPROF_SERVICE=$mode FLEETPROF_COLLECT=$mode FLEETPROF_HZ=199 "$targets/spin" 600000
  declare $mode=$PRELOADED
done
if [ -z "$(kept hist)" ]; then
  without "what a next daemon takes on" "no file on this file system can be a histogram"
  exit 0
fi
# end HOW: the daemon.
end() {
  local first=$(cat "$B/fleetprofd.pid") and=$(worker)
  [ "$1" = TERM ] && kill "$first" || kill -9 "$first" "$and"
  until_true 10 is_gone "$first" && until_true 10 is_gone "$and" || fail "the daemon does not end"
  rm -f "$B/fleetprofd.pid"
}
fleetprof ctl rate 50 --state "$B" >/dev/null || fail "ctl sets no rate"
asked="histogram:50:ctl recorder:50:ctl"
[ "$(rates)" = "$asked" ] || fail "after ctl rate 50 the rates are $(rates)"
for how in TERM KILL; do
  old=$(kept hist)
  end $how
  has_timer $histogram && has_timer $recorder || fail "$how ends what goes on in files"
  is_past || fail "after $how the histogram counts no more"
  daemon
  until_true 20 are running || fail "after $how the next daemon has $(state)"
  [ "$(rates)" = "$asked" ] || fail "after $how the rates are $(rates)"
  [ "$(kept hist | wc -l) $(kept rec | wc -l)" = "1 1" ] && [ "$(kept hist)" != "$old" ] || fail "files: $(ls "$B/kept")"
done

fleetprof ctl pause --state "$B" >/dev/null || fail "ctl does not reach them"
until_true 20 has_none $histogram && until_true 20 has_none $recorder || fail "a pause leaves their timers"
are paused || fail "status says $(state)"
end TERM
daemon
until_true 20 are paused || fail "after a pause the next daemon has $(state)"
has_none $histogram && has_none $recorder || fail "a next daemon resumes what was paused"
fleetprof ctl resume --state "$B" >/dev/null || fail "no resume"
until_true 20 has_timer $histogram && until_true 20 has_timer $recorder || fail "no timers after the resume"
is_past || fail "the histogram counts no more after the resume"

touch "$B/disable"
until_true 20 has_none $histogram && until_true 20 has_none $recorder || fail "the kill switch leaves their timers: $(status)"
at_switch=$(counted "$(kept hist)")
sleep 1
[ "$(counted "$(kept hist)")" = "$at_switch" ] || fail "the file counts on after the kill switch"

cp "$(kept hist)" "$W/copy.hist"
kill $histogram $recorder
wait $histogram $recorder 2>/dev/null
answered() { profile "{service=\"$1\"}" 2>/dev/null | json "d['samples']" 2>/dev/null || echo 0; }
is_all_there() { [ -z "$(kept hist)$(kept rec)" ] && [ "$(answered histogram)" -ge "$at_switch" ] && [ "$(answered recorder)" -gt 0 ] && books_are_closed taken; }
until_true 30 is_all_there || fail "of $at_switch counted $(answered histogram) are in the answer, of the recorder $(answered recorder); books $(books taken), files $(ls "$B/kept")"
read -r produced stored dropped pending < <(books taken)
say "counted $at_switch, in the answer $(answered histogram); with the recorder's produced $produced, stored $stored, dropped $dropped"
[ "$(answered histogram)" = "$at_switch" ] || fail "$at_switch samples were counted, $(answered histogram) are in the answer"
[ "$dropped" = 0 ] && [ "$stored" = $((at_switch + $(answered recorder))) ] || fail "produced $produced stored $stored dropped $dropped"

# spoil NAME OFFSET FORMAT VALUE: a copy with other words, that this shell has open as its program would.
spoilt=0
spoil() {
  local file
  spoilt=$((spoilt + 1))
  file=$B/kept/$(tr -d - </proc/sys/kernel/random/boot_id)-$(printf %016x $spoilt).9.hist
  cp "$W/copy.hist" "$file"
  /usr/bin/python3 - "$file" "$@" <<'P'
import struct, sys
with open(sys.argv[1], "r+b") as file:
    if sys.argv[2] == "cut":
        file.truncate(int(sys.argv[3]))
    else:
        file.seek(int(sys.argv[3]))
        file.write(struct.pack(sys.argv[4], int(sys.argv[5])))
P
  exec {open}<>"$file"
}
kill "$(cat "$B/fleetprofd.pid")"
until_true 10 is_gone "$(cat "$B/fleetprofd.pid")" || fail "the daemon does not end"
rm -f "$B/disable"
spoil version 4 "<I" 99
spoil period 16 "<Q" 0
spoil unit 24 "<Q" 77
spoil signal 36 "<I" 9
spoil clock 44 "<I" 1
spoil control 56 "<I" 9
spoil rate $((4096 + 16)) "<I" 0
spoil pid $((4096 + 88)) "<i" -1
spoil bins $((4096 + 49152 + 8)) "<I" 4000000
spoil cut $((4096 + 49152 + 4096))
spoil cut 100
daemon
out_of_reach() { [ "$(grep -c "out of reach: " "$B/fleetprofd.log")" = $spoilt ]; }
until_true 10 out_of_reach || fail "of $spoilt spoilt files the log tells of $(grep -c "out of reach: " "$B/fleetprofd.log")"
[ -z "$(state)" ] || fail "a spoilt file is taken on: $(state)"
