#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 7: while a program is sampled, root tries to truncate its ring, deletes the board's folder, and
# fills the disk below that folder. The program is not disturbed, and losses are counted: as records
# in the counters, and where the ring itself was emptied, as [unsampled] time of the program's true
# total.
. "$(dirname "$0")/lib.sh"
start_collector
# collected NAME: a board whose counters the collector has.
collected() {
  enroll "$1"
  fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s || fail "the daemon does not start"
  started+=("$(cat "$B/fleetprofd.pid")")
}
# spin MS: in the background, sets target.
spin() {
  fleetprof run --state "$B" --flush-timeout 2s --sampler timer --service "spin-$1" --hz $HZ -- "$targets/spin" "$1" >"$W/run.out" 2>"$W/run.err" &
  target=$!
}
# is_all_there SELECTOR: the answer's total is the program's own CPU time within 1 %.
is_all_there() { profile "$1" 2>/dev/null | json "abs(d['total'] / 1e9 / $(cat "$W/run.out") - 1) <= .01" 2>/dev/null | grep -qx yes; }
of_it() { profile "$1" | json "'%.3f s, of it %.3f s [unsampled]' % (d['total'] / 1e9, sum(f['self'] for f in d['functions'] if f['name'] == '[unsampled]') / 1e9)"; }
is_sampled() { [ "$(asked "len(d['targets'])")" = 1 ]; }
cut_its_ring() {
  collected ring
  local keeper size fd rings=0
  keeper=$(cat "$B/fleetprofd.pid")
  spin "$(pick 2500 120000)"
  until_true 10 is_sampled || fail "the program is not sampled: $(asked "d['notes']")"
  sleep 1
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
  until_true 10 is_all_there '{board="ring"}' || fail "timer: of $(cat "$W/run.out") s are told $(of_it '{board="ring"}')"
  until_true 10 books_are_closed ring || fail "timer: books $(books ring)"
  say "$rings memfds could not be cut but were emptied by a punched hole: $(cat "$W/run.out") s used, told $(of_it '{board="ring"}')"
}
delete_its_folder() {
  collected gone
  spin "$(pick 2501 60001)"
  until_true 10 is_sampled || fail "the program is not sampled"
  sleep 1
  rm -rf "$B"
  wait $target || fail "folder deleted: the program ended with $?"
  [ ! -s "$W/run.err" ] || fail "folder deleted: stderr: $(cat "$W/run.err")"
  until_true 10 books_are_closed gone || fail "folder deleted: books $(books gone)"
  say "folder deleted: $(cat "$W/run.out") s used, told $(of_it '{board="gone"}'); books $(books gone)"
}
if is_refused; then
  without "a ring that is cut, and a folder that is deleted" "they are by timer, as where perf is not refused"
else
  cut_its_ring
  delete_its_folder
fi

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

without "quotas" "the kernel here has no quota on its file systems; a full tmpfs stands for them"
