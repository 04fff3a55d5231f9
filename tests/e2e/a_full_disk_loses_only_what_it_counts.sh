#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The board's disk is full: the program runs on, batches wait in memory, and losses are counted with
# their reason. Then the collector's disk is full: nothing is acked, nothing lost, and all batches
# arrive once there is room.
if [ -z "${FLEETPROF_UNSHARED:-}" ]; then
  export FLEETPROF_UNSHARED=1
  # Separate mounts: as root, as an ordinary user in a user namespace, or in a chroot, whose root is
  # no mount point.
  for how in "-m" "-rm" "-m --propagation unchanged"; do
    # shellcheck disable=SC2086
    unshare $how true 2>/dev/null && exec unshare $how "$0"
  done
  echo "not run: this user may not mount a small disk here"
  exit 77
fi
. "$(dirname "$0")/lib.sh"
# A profile in a file: the final counts of run equal the file's content; if TMPDIR is full, another
# place is used.
mkdir "$W/small" "$W/tiny"
mount -t tmpfs -o size=64k tmpfs "$W/small" && mount -t tmpfs -o size=1m tmpfs "$W/tiny" || fail "cannot mount a small disk"
dd if=/dev/zero of="$W/tiny/filler" bs=1k >/dev/null 2>&1
(sleep 1.5; dd if=/dev/zero of="$W/small/filler" bs=1k >/dev/null 2>&1) &
TMPDIR=$W/tiny fleetprof run -v --hz 999 --output "$W/small/f.fp" -- /usr/bin/python3 -c 'import json, re, time
while time.process_time() < 6:
  for i in range(30):
    json.loads(json.dumps({str(i): list(range(200))})); re.sub("[0-9]", str, " " * 5000); sorted(map(str, range(3000)))' 2>"$W/err" ||
  fail "the program ended with $?: $(cat "$W/err")"
said=$(sed -n 's/^fleetprof: \([0-9]*\) samples by perf in .*, \([0-9]*\) more could not be written: No space left on device; read.*/\1 \2/p' "$W/err")
told=$(fleetprof report "$W/small/f.fp" 2>/dev/null | awk 'NR == 1 { n = $1 } /^[0-9]+ samples lost: spool_error/ { lost = $1 } END { print n, lost }')
say "a file on a full disk: $said"
[ -n "$said" ] && [ "${said% *}" = "${told% *}" ] || fail "run says $(cat "$W/err"), report $told"
[ "$(ls "$W/tiny")" = filler ] || fail "left in a full TMPDIR: $(ls "$W/tiny")"
umount -l "$W/small" "$W/tiny"
rmdir "$W/small" "$W/tiny"
start_collector
enroll board1
cp -r "$B" "$W/kept"
mount -t tmpfs -o size=400k tmpfs "$B" || fail "cannot mount a small disk"
cp -r "$W/kept/." "$B/"
run -- true || fail "the program ended with $?" # the daemon is there before the disk is full
stop_collector
dd if=/dev/zero of="$B/filler" bs=1k >/dev/null 2>&1
# Batches of a few hundred bytes fit into the last page for a while: enough of them do not, and wait in memory.
in_memory=0
for _ in $(seq 20); do
  run --hz 999 --flush-timeout 1s -- /usr/bin/python3 -c 'import json, re
for i in range(300):
  json.loads(json.dumps({str(i): list(range(200))})); re.sub("[0-9]", str, " " * 5000); sorted(map(str, range(3000)))' \
    || fail "the program ended with $?"
  in_memory=$(status --format json | json "d['spool']['memory_records']")
  [ "$in_memory" -gt 0 ] && break
done
[ "$in_memory" -gt 0 ] || fail "nothing waits in memory: $(status --format json | json "d['spool']")"
status | grep -q 'the disk takes nothing, .* in memory.*No space left' || fail "status does not tell of the full disk: $(status)"
# A killed worker loses its batches in memory, and the loss is counted.
kill -9 "$(worker)"
killed() { [ "$(status --format json 2>/dev/null | json "d['loss']['dropped']['worker_killed']" 2>/dev/null)" -ge "$in_memory" ] 2>/dev/null; }
until_true 10 killed || fail "what was in the dead worker's memory is not counted: $(status --format json | json "d['loss']")"
run --hz 199 --flush-timeout 1s -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
rm "$B/filler"
collector_up
run --hz 199 -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
closed_with_loss() { books_are_closed board1 && [ "$(api loss | json "d['dropped'].get('worker_killed', 0)")" -ge "$in_memory" ]; }
until_true 70 closed_with_loss || fail "the books do not close with the loss of $in_memory: $(api loss)"
[ "$(api loss | json "d['dropped'].get('spool_error', 0)")" = 0 ] || fail "lost while memory had room: $(api loss)"
say "the board's disk full, $in_memory samples in a killed worker's memory: $(api loss | json "d['dropped']")"
kill "$(cat "$B/fleetprofd.pid")"
until_true 10 is_gone "$(cat "$B/fleetprofd.pid" 2>/dev/null || echo 999999999)"
umount -l "$B"

stop_collector
cp -r "$W/data" "$W/data-kept"
mkdir -p "$W/small" && mount -t tmpfs -o size=200m tmpfs "$W/small" && cp -r "$W/data/." "$W/small/"
mount --bind "$W/small" "$W/data" || fail "cannot mount a small disk"
collector_up
enroll board2
dd if=/dev/zero of="$W/data/filler" bs=64k >/dev/null 2>&1
run --hz 199 --flush-timeout 3s -- "$targets/truth" 2 >/dev/null || fail "the program ended with $?"
curl -fs "http://127.0.0.1:$H/healthz" >/dev/null || fail "the collector does not live on a full disk"
[ "$(status --format json | json "d['spool']['records']")" -gt 0 ] || fail "acked on a full disk"
rm "$W/data/filler"
until_true 70 books_are_closed board2 || fail "the books do not close: $(books board2)"
read -r produced stored dropped pending < <(books board2)
[ "$dropped" = 0 ] || fail "lost on the collector's full disk: $(api loss)"
say "the collector's disk full: produced $produced stored $stored"
stop_collector
umount -l "$W/data"
umount -l "$W/small"
