#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A collector whose disk was filled to the last byte while it was down: it starts, reports that,
# frees space by --max-bytes, and accepts batches again. With a disk that is out of inodes,
# read-only, failing or slow, batches wait on their boards, /readyz and answers give the reason, and
# everything recovers by itself. A folder that cannot be written is refused with the reason.
if [ -z "${FLEETPROF_UNSHARED:-}" ]; then
  export FLEETPROF_UNSHARED=1
  for how in "-m" "-rm" "-m --propagation unchanged"; do
    # shellcheck disable=SC2086
    unshare $how true 2>/dev/null && exec unshare $how "$0"
  done
  echo "not run: this user may not mount a small disk here"
  exit 77
fi
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
# deliver FIRST LAST [DAYS [NODES]]: batches, each of DAYS ago, of NODES nodes; prints the outcome
# of each, and writes the duration of the last to $W/took.
deliver() {
  PYTHONPATH=$here/../torture/door /usr/bin/python3 -c 'import sys, time
from board import Batch, Board, Gone
state, address, first, last, days, nodes = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:7])
try:
  board = Board(state, address)
  board.hello(run=77)
  for seq in range(first, last + 1):
    how = {"boot_id": b"\x09" * 16, "wall": time.time_ns() - days * 86400 * 10**9} if days else {}
    batch = Batch(seq, run=77, service="work", nodes=nodes, is_bush=nodes > 1, **how)
    batch.produced = seq * nodes
    began = time.monotonic()
    print(board.try_batch(batch)[0])
    print(time.monotonic() - began, file=open(sys.argv[7], "w"))
except (Gone, OSError) as gone:
  print("later")' "$B" "127.0.0.1:$A" "$1" "$2" "${3:-0}" "${4:-1}" "$W/took"
}
ready() { curl -fs "http://127.0.0.1:$H/readyz"; }
is_ready() { ready | grep -q '"status":"ready"'; }
says() { ready | grep -q "$1"; }
stale() { curl -fsD- -o "$W/answer" "http://127.0.0.1:$H/api/v1/profile?limit=1" | tr -d '\r' | sed -n 's/^Fleetprof-Stale: //p'; }
is_acked() { [ "$(deliver "$1" "$1")" = acked ]; }
disk() { # disk OPTIONS: mounts a small disk on $W/data with the present content
  cp -r "$W/data" "$W/moved" && rm -f "$W/moved/reserve" && mount -t tmpfs -o "$1" tmpfs "$W/data" && cp -r "$W/moved/." "$W/data/" && rm -rf "$W/moved" || fail "cannot mount a small disk"
}

# fill NAME: fills it to the last page, including pages freed a moment later.
fill() {
  for _ in 1 2 3 4 5; do
    dd if=/dev/zero of="$W/data/$1" bs=4k oflag=append conv=notrunc >/dev/null 2>&1
    sleep 0.2
  done
}

start_collector
enroll b1
stop_collector
disk size=24m
# Three days, which --max-bytes does not allow; then the disk is full.
A=$(port) H=$(port)
collector_up
for day in 1 2 3; do
  deliver $((day * 4)) $((day * 4 + 3)) $day 3000 >"$W/said"
  [ "$(sort -u "$W/said")" = acked ] || fail "of $day days ago: $(cat "$W/said")"
done
is_reserved() { [ -s "$W/data/reserve" ]; }
until_true 10 is_reserved || fail "no reserve"
stop_collector
fill filler
before=$(ls "$W"/data/day-*.db | wc -l)
collector_up --max-bytes 100k
grep -q 'disk-full .* the reserve is given up' "$W/collector.log" || fail "it starts without its reserve: $(cat "$W/collector.log")"
until_true 30 is_acked 40 || fail "it takes nothing again: $(ready)"
until_true 30 is_ready || fail "there is room, and it is not ready: $(ready)"
[ -z "$(stale)" ] || fail "there is room, and answers are stale: $(stale)"
grep -q 'store-deleted .*: --max-bytes are used up' "$W/collector.log" || fail "nothing is deleted: $(cat "$W/collector.log")"
say "a full disk: started by its reserve, of $before day files $(ls "$W"/data/day-*.db | wc -l) are left"
# Full again, with nothing to delete.
fill filler2
[ "$(deliver 41 41)" = later ] || fail "taken on a full disk"
says 'the disk is full' || fail "full, and /readyz says: $(ready)"
[ "$(stale)" = "the disk is full" ] || fail "full, and an answer says: $(stale)"
stop_collector KILL
collector_up --max-bytes 100k
says 'the disk is full' || fail "full at a start, and /readyz says: $(ready)"
rm "$W/data/filler" "$W/data/filler2"
until_true 30 is_acked 41 || fail "it takes nothing again: $(ready)"
until_true 30 is_ready || fail "there is room, and it is not ready: $(ready)"
stop_collector
cp -r "$W/data" "$W/kept" && umount -l "$W/data" && cp -r "$W/kept/." "$W/data/"

disk size=100m,nr_inodes=200
collector_up
for i in $(seq 300); do : >"$W/data/sources/filler.$i" || break; done 2>/dev/null
[ "$(deliver 42 42)" = later ] || fail "taken without an inode"
says 'the disk is full' || fail "no inode is free, and /readyz says: $(ready)"
rm -f "$W"/data/sources/filler.*
until_true 30 is_acked 42 || fail "it takes nothing again: $(ready)"
stop_collector
cp -r "$W/data" "$W/kept2" && umount -l "$W/data" && cp -r "$W/kept2/." "$W/data/"
say "no inode free: told, and borne"

cc -D_GNU_SOURCE -shared -fPIC -O1 -o "$W/failing.so" "$here/../torture/disk/failing_disk.c" -ldl || fail "no disk that fails can be made"
FAILING_DISK_DIR=$W/data FAILING_DISK_HOW=$W/how LD_PRELOAD=$W/failing.so collector_up
seq=50
for fault in "30 Read-only file system" "5 .*error"; do
  echo "${fault%% *}" >"$W/how.new" && mv "$W/how.new" "$W/how"
  [ "$(deliver $seq $seq)" = later ] || fail "${fault#* }: taken"
  says "the disk cannot be written: ${fault#* }" || fail "${fault#* }: /readyz says $(ready)"
  [ "$(stale)" = "the disk fails" ] || fail "${fault#* }: an answer says $(stale)"
  rm "$W/how"
  until_true 30 is_acked $seq || fail "${fault#* }: it does not go on: $(ready)"
  until_true 30 is_ready || fail "${fault#* }: it is over, and not ready: $(ready)"
  seq=$((seq + 1))
done
stop_collector
say "read-only, failing: told, and borne"

FAILING_DISK_DIR=$W/data FAILING_DISK_HOW=$W/how LD_PRELOAD=$W/failing.so collector_up
echo "slow 2" >"$W/how.new" && mv "$W/how.new" "$W/how"
deliver 60 60 >"$W/said" &
for _ in 1 2 3; do ready >/dev/null || fail "a slow disk keeps /readyz waiting"; done
wait $!
[ "$(cat "$W/said")" = acked ] || fail "a slow disk: $(cat "$W/said")"
rm "$W/how"
awk '{ exit !($1 >= 2) }' "$W/took" || fail "acked before it is synced: after $(cat "$W/took") s"
stop_collector
say "a slow disk: acked when it is synced, questions go on"

# For a folder on another machine only the type from statfs is known.
for type in "0x6969 NFS" "0xff534d42 CIFS" "0xfe534d42 SMB" "0x517b SMB" "0x5346414f AFS" "0x6b414653 AFS" "0x00c36400 Ceph" "0x01021997 9P"; do
  FAILING_DISK_DIR=$W/data FAILING_DISK_TYPE=${type% *} LD_PRELOAD=$W/failing.so timeout 60 fleetprof-collector --data "$W/data" --agents 127.0.0.1:0 --http 127.0.0.1:0 2>"$W/err" &&
    fail "starts on ${type#* }"
  grep -q "^fleetprof-collector: --data $W/data: is on ${type#* }: its databases need a local disk; give another folder" "$W/err" || fail "on ${type#* }: $(cat "$W/err")"
done
say "on the disk of another machine: refused"

mkdir "$W/read-only" && mount -t tmpfs -o ro tmpfs "$W/read-only" || fail "cannot mount a read-only disk"
fleetprof-collector --data "$W/read-only" --agents 127.0.0.1:0 --http 127.0.0.1:0 2>"$W/err" && fail "starts on a read-only disk"
grep -q "^fleetprof-collector: --data $W/read-only: .*Read-only file system" "$W/err" || fail "a read-only disk: $(cat "$W/err")"
