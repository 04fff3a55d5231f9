#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Program, worker and supervisor get SIGKILL at once, some windows after the start: the histogram
# remains as a file. `fleetprof report` shows all its counts. The next daemon ships the unshipped
# counts once: produced, stored and the answer then equal the handler's count, for this boot and
# another. As this user and as user nobody.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector

daemon() { fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s || fail "the daemon does not start"; }
left() { find "$B/kept" -name '*.hist' 2>/dev/null; }
# The handler's own count (agent/ring/histogram_format.h).
counted() { /usr/bin/python3 -c 'import struct, sys; print(struct.unpack_from("<Q", open(sys.argv[1], "rb").read(1 << 17), 4096 + (48 << 10) + 32)[0])' "$1"; }
stored() { [ "$(books "$1" | cut -d" " -f2)" -gt 0 ] 2>/dev/null; }
# start NAME: sets program, supervisor, worker; the collector has its first window, a later one is
# open.
start() {
  FLEETPROF_SOCKET="$B/fleetprofd.sock" FLEETPROF_SERVICE=$1 FLEETPROF_COLLECT=histogram FLEETPROF_HZ=499 \
    LD_PRELOAD="$agent" "$targets/truth" 60 >/dev/null &
  program=$!
  until_true 20 stored "$1" || fail "no window of $1 reaches the collector"
  sleep .6
  keeper=$(cat "$B/fleetprofd.pid")
  worker=$(worker)
}
# The worker is stopped without an announced batch (histogram_journal.run). If the machine goes down
# with an announced batch, whether it was sent is unknown, and it is not sent again.
is_between() {
  kill -STOP "$worker"
  [ "$(/usr/bin/python3 -c 'import struct, sys; print(struct.unpack_from("<Q", open(sys.argv[1], "rb").read()[-(32 << 10):])[0])' "$(left)")" = 0 ] && return
  kill -CONT "$worker"
  return 1
}
kill_all() {
  kill -STOP $program
  spent=$(awk '{ print $14 + $15 }' "/proc/$program/stat") # as measured by its timers: user time alone is less
  kill -9 $program "$keeper" "$worker"
  wait $program 2>/dev/null
  until_true 5 is_gone "$keeper" && until_true 5 is_gone "$worker" || fail "the daemon did not die"
  rm -f "$B/fleetprofd.pid"
}
is_shipped() { [ -z "$(left)" ] && books_are_closed "$1" && [ "$(books "$1" | cut -d' ' -f1)" -ge "$2" ]; }
# check NAME SAMPLES SHIPPED: SHIPPED of SAMPLES were stored before the next daemon
check() {
  local produced stored dropped pending answered
  until_true 20 is_shipped "$1" "$2" || fail "$1: nothing was shipped: $(books "$1"), $(left), $(status; ls -lR "$B"; tail -n 30 "$W/collector.log")"
  read -r produced stored dropped pending < <(books "$1")
  answered=$(profile "{service=\"$1\"}" | json "d['samples']")
  say "$1: counted $2, stored $3 before the kill, then $stored; produced $produced, lost $dropped, in the answer $answered"
  [ "$stored" = "$2" ] && [ "$answered" = "$2" ] || fail "$1: $2 counted, $stored stored, $answered in the answer"
  [ "$produced" = "$2" ] && [ "$dropped" = 0 ] || fail "$1: the books say $produced produced and $dropped lost of $2"
}

enroll killed
daemon
start killed
if [ -z "$(left)" ]; then
  status --format json | json "d['targets'][0]['why']" | grep -q "not in a file: the file system" ||
    fail "no file, and no word of why: $(status)"
  without "what outlives a daemon" "no file on this file system can be a histogram"
  kill $program
  exit 0
fi
[ "$(stat -c %a "$(left)")" = 600 ] || fail "the file has the mode $(stat -c %a "$(left)")"
has_more_than_is_shipped() { [ "$(counted "$(left)")" -gt "$(books killed | cut -d' ' -f2)" ]; }
until_true 10 has_more_than_is_shipped || fail "all is shipped at once: $(books killed)"
kill_all
samples=$(counted "$(left)")
shipped=$(books killed | cut -d' ' -f2)
[ "$shipped" -lt "$samples" ] || fail "$shipped of $samples samples are stored: nothing is left to ship"
fleetprof report "$(left)" --format json >"$W/report.json" || fail "report does not read the file"
/usr/bin/python3 - "$W/report.json" "$samples" "$spent" "$(getconf CLK_TCK)" <<'P' || fail "the report is off"
import json, sys
top, samples, spent = json.load(open(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]) / int(sys.argv[4])
print(f"  report: {top['samples']} of {samples} samples, {top['total'] / 1e9:.3f} s of {spent:.2f} s spent")
sys.exit(not (top["samples"] == samples and abs(top["total"] / 1e9 - spent) < .01 * spent + .05))
P
daemon
check killed "$samples" "$shipped"

enroll rebooted
daemon
start rebooted
until_true 10 is_between || fail "there is always a batch announced"
kill_all
samples=$(counted "$(left)")
shipped=$(books rebooted | cut -d' ' -f2)
/usr/bin/python3 - "$(left)" <<'P' || fail "no file to take to another boot"
import os, sys
folder, name = os.path.split(sys.argv[1])
boot = "00112233445566778899aabbccddeeff"
with open(sys.argv[1], "r+b") as file:
    file.seek(4096 + 24)  # image_table.boot_id
    file.write(bytes.fromhex(boot))
os.rename(sys.argv[1], os.path.join(folder, boot + name[32:]))
P
daemon
check rebooted "$samples" "$shipped"
kill "$(cat "$B/fleetprofd.pid")"
until_true 10 is_gone "$(cat "$B/fleetprofd.pid" 2>/dev/null || echo 999999999)"
daemon
sleep 1.5
check rebooted "$samples" "$shipped"

# The daemon dies and the program lives: its file waits for it, and then nothing is missing.
enroll survived
daemon
start survived
kill -9 "$keeper" "$worker"
until_true 5 is_gone "$keeper" && until_true 5 is_gone "$worker" || fail "the daemon did not die"
rm -f "$B/fleetprofd.pid"
daemon
sleep 2
[ -n "$(left)" ] || fail "the file of a living program was taken away"
exec 9<"$(left)"
kill -9 $program
wait $program 2>/dev/null
check survived "$(counted /dev/fd/9)" some
exec 9<&-
