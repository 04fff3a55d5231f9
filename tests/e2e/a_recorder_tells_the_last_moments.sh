#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program gets SIGKILL: its threads' last samples are in the answer, with label and time, and no
# earlier ones; status shows the number written meanwhile. The machine goes down: the file of
# another boot is shipped by the next daemon, once. As this user and as user nobody.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector

daemon() { fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"; }
# record SERVICE: two CPU seconds in first_act, then last_act; sets program.
record() {
  FLEETPROF_SOCKET="$B/fleetprofd.sock" FLEETPROF_SERVICE=$1 FLEETPROF_COLLECT=recorder FLEETPROF_LAST=100 \
    FLEETPROF_HZ=249 LD_PRELOAD="$agent" "$targets/acts" 2 &
  program=$!
}
# 3.5 of its CPU seconds are over: the last 127 values reach back 0.5.
has_acted() { [ "$(cut -d' ' -f14 "/proc/$program/stat")" -ge $(($(getconf CLK_TCK) * 7 / 2)) ]; }
files() { find "$B/kept" -name '*.rec' 2>/dev/null | wc -l; }
post_mortem() { api profile --data-urlencode "match={service=\"$1\",recorder=\"post-mortem\"}" "${@:2}"; }
count() { post_mortem "$@" 2>/dev/null | json "d['samples']"; }
is_shipped() { [ "$(count "$1")" -gt 0 ] 2>/dev/null && [ "$(files)" = 0 ]; }
# Names appear when the collector has the program's file.
share_of_last_act() { post_mortem "$1" | json "sum(f['self'] for f in d['functions'] if f['name'] == 'last_act') / d['total']"; }
is_named() { ! share_of_last_act "$1" | grep -qx '0\(\.0\)\?'; }
check() { # SERVICE FROM TO: its last values are all of last_act, and all between FROM and TO
  local samples inside share
  samples=$(count "$1")
  inside=$(count "$1" -d "from=$2" -d "to=$3")
  until_true 20 is_named "$1"
  share=$(share_of_last_act "$1")
  [ "$samples" -ge 100 ] && [ "$samples" -le 127 ] || fail "$1: $samples samples of a recorder for 100 (127 fit)"
  [ "$inside" = "$samples" ] || fail "$1: of $samples samples only $inside lie between $2 and $3"
  /usr/bin/python3 -c "import sys; sys.exit(not .98 < $share < 1.001)" || fail "$1: last_act has $share"
  [ "$(post_mortem "$1" | json "d['marks'][0]['mark']")" = last_moments ] || fail "$1: no mark says that it is not the whole run"
  say "$1: $samples samples, $share in the function that ran last"
}

enroll killed
daemon
record killed
until_true 60 has_acted || fail "the program gets no CPU time"
fleetprof status --state "$B" | grep -E " timer +249 +- +[0-9]{3,} +-  records" >/dev/null || fail "status does not say that it records: $(fleetprof status --state "$B")"
[ "$(files)" = 1 ] || say "the recorder is in memory: this file system cannot hold it"
kill -9 $program
wait $program 2>/dev/null
killed_at=$(date +%s)
until_true 10 is_shipped killed || fail "nothing was shipped post mortem: $(tail -n 3 "$B/fleetprofd.log")"
check killed $((killed_at - 9)) $((killed_at + 1))
until_true 20 books_are_closed killed || fail "the books do not close: $(books killed)"

enroll rebooted
daemon
record rebooted
until_true 60 has_acted || fail "the program gets no CPU time"
[ "$(files)" = 1 ] || { without "a reboot" "no recorder on this file system outlives one"; kill $program; exit 0; }
keeper=$(cat "$B/fleetprofd.pid")
worker=$(worker)
# Power failure: program, supervisor and worker at once; the boot id is then another.
kill -9 $program "$keeper" "$worker"
wait $program 2>/dev/null
down_at=$(date +%s)
until_true 5 is_gone "$keeper" && until_true 5 is_gone "$worker" || fail "the daemon did not die"
/usr/bin/python3 - "$B/kept" <<'P' || fail "no file to take to another boot"
import os, sys
folder = sys.argv[1]
name, = os.listdir(folder)
boot = "00112233445566778899aabbccddeeff"
with open(os.path.join(folder, name), "r+b") as file:
    file.seek(4096 + 24)  # image_table.boot_id
    file.write(bytes.fromhex(boot))
os.rename(os.path.join(folder, name), os.path.join(folder, boot + name[32:]))
P
rm -f "$B/fleetprofd.pid"
daemon
until_true 10 is_shipped rebooted || fail "the file of another boot was not shipped: $(tail -n 3 "$B/fleetprofd.log")"
check rebooted $((down_at - 9)) $((down_at + 1))
before=$(count rebooted)
kill "$(cat "$B/fleetprofd.pid")"
until_true 10 is_gone "$(cat "$B/fleetprofd.pid" 2>/dev/null || echo 999999999)"
daemon
sleep 1.5
[ "$(count rebooted)" = "$before" ] || fail "it was shipped again: $(count rebooted) samples of $before"
until_true 20 books_are_closed rebooted || fail "the books do not close: $(books rebooted)"
