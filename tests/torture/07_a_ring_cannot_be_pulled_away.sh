#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 7: while a program is sampled root tries to cut its ring, deletes the board's folder, and the disk
# below that folder is full: the program never notices, and what was lost is counted.
. "$(dirname "$0")/lib.sh"
board ring
keeper=$(cat "$B/fleetprofd.pid")
sampled timer "$torture/fp_lies" "$(pick 100 30000)" >"$W/run.out" 2>"$W/run.err" &
target=$!
is_sampled() { [ "$(asked "len(d['targets'])")" = 1 ]; }
until_true 10 is_sampled || fail "the program is not sampled: $(asked "d['notes']")"
rings=0
for fd in "/proc/$keeper/fd/"*; do
  case $(readlink "$fd") in */memfd:* | /memfd:*) ;; *) continue ;; esac
  rings=$((rings + 1))
  size=$(stat -Lc %s "$fd")
  truncate -s 0 "$fd" 2>/dev/null
  [ "$(stat -Lc %s "$fd")" = "$size" ] || fail "root could cut the memfd behind $fd"
  fallocate --punch-hole --offset 0 --length "$size" "$fd" 2>/dev/null
done
[ $rings -gt 0 ] || fail "no memfd found in the keeper"
wait $target || fail "timer: the program ended with $?: $(cat "$W/run.out" "$W/run.err")"
[ ! -s "$W/run.err" ] || fail "timer: stderr: $(cat "$W/run.err")"
say "$rings memfds could not be cut; one was emptied by a punched hole and the program went on"

if mkdir "$W/small" && mount -t tmpfs -o size=256k none "$W/small" 2>/dev/null; then
  B=$W/small/board
  fleetprofd --state "$B" --collector $NOWHERE --window 1s || fail "no daemon on a small disk"
  started+=("$(cat "$B/fleetprofd.pid")")
  dd if=/dev/zero of="$W/small/fill" bs=4k 2>/dev/null
  for sampler in "${samplers[@]}"; do holds_under "$sampler" "$torture/fp_lies" "$(pick 30 3000)"; done
  books_are_exact || fail "the books on a full disk: $(asked "d['loss']")"
  say "disk full: lost: $(lost)"
else
  without "a full tmpfs" "this user may not mount"
fi

board gone
sampled timer "$torture/fp_lies" "$(pick 60 3000)" >"$W/run.out" 2>"$W/run.err" &
target=$!
until_true 10 is_sampled || fail "the program is not sampled"
started+=("$(cat "$B/fleetprofd.pid")")
rm -rf "$B"
wait $target || fail "folder deleted: the program ended with $?"
[ ! -s "$W/run.err" ] || fail "folder deleted: stderr: $(cat "$W/run.err")"
without "quotas" "the kernel here has no quota on its file systems; a full tmpfs stands for them"
