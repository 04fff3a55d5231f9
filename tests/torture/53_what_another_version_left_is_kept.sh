#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Upgrade and downgrade. A collector on each kept older version's store (tests/golden/stores): every
# sample is in the answer, also after restoring a backup of it, and boards deliver into it. A
# collector on a newer version's store reports that in one line, exits with 1, and has changed no
# byte. A daemon on each kept older version's board state (tests/golden/boards), saved after a kill
# of worker and supervisor: the whole spool is stored, its counters are closed, and it continues
# with new samples.
. "$(dirname "$0")/lib.sh"
golden=$(dirname "$0")/../golden/stores
weight() { api profile -d match='{}' -d from=2026-01-01T00:00:00Z -d to=2026-01-10T00:00:00Z -d limit=1 | json "d['total'], d['samples']"; }
boards=$(dirname "$0")/../golden/boards
sums() { (cd "$1" && find . -type f ! -name lock ! -name '*-shm' -print0 | sort -z | xargs -0 sha256sum); }

# Older.
for archive in "$golden"/v*.tar.gz; do
  name=$(basename "$archive" .tar.gz)
  rm -rf "$W/data" "$W/again"
  mkdir "$W/data"
  tar -xzf "$archive" -C "$W/data"
  start_collector
  told=$(weight)
  [ -n "${expected:-}" ] || expected=$told
  [ "$told" = "$expected" ] && [ "$told" != "(0, 0)" ] || fail "$name: $told, not $expected"
  enroll new-$name
  run -- /bin/sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' || fail "$name: the program"
  until_true 20 books_are_closed new-$name || fail "$name: the board's samples are not there: $(books new-$name)"
  fleetprof-collector backup --quiet --data "$W/data" "$W/$name.tar" || fail "$name: no backup"
  stop_collector
  fleetprof-collector restore --quiet "$W/$name.tar" --data "$W/again" || fail "$name: no restore"
  rm -rf "$W/data" && mv "$W/again" "$W/data"
  collector_up
  [ "$(weight)" = "$expected" ] || fail "$name, restored: $(weight), not $expected"
  fleetprof-collector check --quiet --data "$W/data" || fail "$name: not sound"
  stop_collector
  say "$name: $told (nanoseconds, samples) as it was, after an upgrade, and out of a backup"
done

# Newer.
databases=0
for path in "$W"/data/*.db; do
  version=$(sqlite3 "$path" 'PRAGMA user_version')
  sqlite3 "$path" "PRAGMA user_version=$((version + 100)); PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
  sums "$W/data" >"$W/before"
  fleetprof-collector --data "$W/data" --agents "127.0.0.1:$(port)" --http "127.0.0.1:$(port)" >"$W/newer" 2>&1
  status=$?
  [ $status = 1 ] || fail "$(basename "$path") of a newer version: exit $status: $(cat "$W/newer")"
  grep -q "$(basename "$path"): .*written by a newer fleetprof" "$W/newer" || fail "$(basename "$path"): it says: $(cat "$W/newer")"
  sums "$W/data" >"$W/after"
  cmp -s "$W/before" "$W/after" || fail "$(basename "$path") is newer, and these changed: $(diff "$W/before" "$W/after" | awk '{ print $3 }' | sort -u | xargs)"
  sqlite3 "$path" "PRAGMA user_version=$version; PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
  databases=$((databases + 1))
done
collector_up
[ "$(weight)" = "$expected" ] || fail "after the refusals: $(weight), not $expected"
say "$databases databases of a newer version: refused by their names, nothing touched"

# A board's folder.
stop_collector
rm -rf "$W/data"
start_collector
outcome() { api loss | json "next(' '.join(['stored=%d' % b['stored']] + ['%s=%d' % one for one in sorted(b['dropped'].items()) if one[1]]) for b in d['boards'] if b['board'] == '$name')" 2>/dev/null; }
is_delivered() { [ "$(outcome)" = "$expected" ]; }
has_more() { read -r _ stored _ _ < <(books "$name"); [ "${stored:-0}" -gt "$waiting" ]; }
for archive in "$boards"/v*.tar.gz; do
  name=left-$(basename "$archive" .tar.gz)
  mkdir "$W/board-$name"
  tar -xzf "$archive" -C "$W/board-$name"
  read -r batches waiting _ < <(/usr/bin/python3 "$(dirname "$0")/spool_files.py" count "$W/board-$name/spool")
  [ "${waiting:-0}" -gt 0 ] || fail "$name: nothing waits there"
  expected="stored=$waiting $(cat "${archive%.tar.gz}.lost")"
  enroll "$name"
  fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "$name: no daemon: $(tail -n 1 "$B/fleetprofd.log")"
  until_true 30 is_delivered || fail "$name: stored and lost are $(outcome), not $expected"
  until_true 30 books_are_closed "$name" || fail "$name: its books do not close: $(books "$name")"
  is_delivered || fail "$name: stored and lost are $(outcome), not $expected"
  run -- /bin/sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' || fail "$name: the program"
  until_true 30 has_more || fail "$name: no new samples: $(books "$name")"
  until_true 30 books_are_closed "$name" || fail "$name, with new samples: its books do not close: $(books "$name")"
  [ "$(/usr/bin/python3 "$(dirname "$0")/spool_files.py" count "$B/spool" | cut -d' ' -f1)" = 0 ] || fail "$name: something waits yet"
  ls "$B/spool"/*.corrupt "$B/spool/quarantine"/* 2>/dev/null && fail "$name: not all of it was taken"
  say "$name: $batches batches: $expected"
done
