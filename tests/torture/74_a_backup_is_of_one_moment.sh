#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Backups of a collector under constant delivery, restored and compared. While batches arrive: every
# batch acked before a backup began is in it, none acked after it ended, and each once (every
# board's counters equal the sum of its answers). At rest: weight by hour and board, counters and
# names are the same, byte by byte. Then the collector is lost, a restored one replaces it, and its
# boards continue: batches delivered since the backup are missing, the counters show how many, and
# nothing is stored twice.
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
boards=$(pick 8 200)
rounds=$(pick 2 30)
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
deliver() { # deliver SEED FLEETSIM'S ARGUMENT...: into SIM, its pid
  "${FLEETPROF_TARGETS%/targets}/fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --boards "$boards" \
    --threads 2 --seed "$1" --window 50ms "${@:2}" >"$W/fleet.$1" 2>"$W/fleet.$1.err" &
  SIM=$!
  started+=($SIM)
}
stored() { curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_batches_stored_total" { print $2 }'; }
has_stored() { [ "$(stored)" -ge "$1" ]; }
backup() { fleetprof-collector backup --data "$W/data" "$W/$1.tar" >"$W/$1.said" 2>&1 || fail "backup $1: $(tail -n 1 "$W/$1.said")"; }
restore() { fleetprof-collector restore "$W/$1.tar" --data "$W/$1" >"$W/$1.restored" 2>&1 || fail "restore $1: $(tail -n 1 "$W/$1.restored")"; }
batches() { sqlite3 "$1" 'SELECT ifnull(sum(newest), 0) FROM run'; } # boards send in order, without a gap here

# beside NAME: a collector on the restored folder $W/NAME, at HTTP port R; beside_down ends it.
beside() {
  R=$(port)
  fleetprof-collector --data "$W/$1" --agents "127.0.0.1:$(port)" --http "127.0.0.1:$R" >>"$W/$1.log" 2>&1 &
  BESIDE=$!
  started+=($BESIDE)
  until_true 10 curl -fs "http://127.0.0.1:$R/readyz" -o "$W/ready" || fail "no collector on $1: $(tail -n 3 "$W/$1.log")"
}
beside_down() { kill $BESIDE && wait $BESIDE 2>/dev/null; }

# all_of PORT: all data, by hour and by board.
all_of() {
  local asked span="from=$(($(date +%s) / 3600 * 3600 - 30 * 86400))&to=$(($(date +%s) / 3600 * 3600 + 7200))"
  for asked in "loss?limit=100000" "series?by=board&step=3600&$span" "load?by=board&limit=100000&$span" \
    "profile?format=folded&$span&limit=100000" "labels"; do
    curl -fs "http://127.0.0.1:$1/api/v1/$asked" || echo "nothing of $asked"
    echo
  done
}
# agrees PORT: each board's counters equal the sum of its answers.
agrees() {
  /usr/bin/python3 - "$1" <<'PYTHON'
import json, sys, urllib.request
def ask(route): return json.load(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/api/v1/{route}", timeout=60))
loss = ask("loss?limit=100000")
for board in loss["boards"]:
    samples = ask("profile?from=-30d&to=now&limit=1&match=%7Bboard%3D%22" + board["board"] + "%22%7D")["samples"]
    pending = board["dropped"].get("pending", 0)
    if samples != board["stored"]: sys.exit(f"{board['board']}: {board['stored']} stored, answers hold {samples}")
    if board["produced"] != board["stored"] + sum(board["dropped"].values()): sys.exit(f"{board} does not add up")
print(loss["produced"], loss["stored"], loss["dropped"].get("pending", 0))
PYTHON
}

command -v sqlite3 >/dev/null || not_run "sqlite3 is not installed"
start_collector
fleetprof-collector token --data "$W/data" --role read >/dev/null

# While boards deliver.
deliver 1 --backlog 100 --duration "$(pick 4s 60s)"
until_true 20 has_stored 200 || fail "the boards do not deliver: $(tail -n 1 "$W/fleet.1.err")"
for i in $(seq "$rounds"); do
  before=$(stored)
  backup live$i
  after=$(stored)
  restore live$i
  inside=$(batches "$W/live$i/landing.db")
  [ "$inside" -ge "$before" ] || fail "backup $i holds $inside batches; $before were acked before it began"
  [ "$inside" -le $((after + 256)) ] || fail "backup $i holds $inside batches; after it ended there were $after"
  beside live$i
  sums=$(agrees $R) || fail "backup $i: $sums"
  fleetprof-collector check --data "$W/live$i" >"$W/check" || fail "backup $i: $(cat "$W/check")"
  beside_down
  say "batches: $before when it began, $inside in it, $after when it ended; $(sed 's/.*; //' "$W/live$i.said")"
  rm -rf "$W/live$i" "$W/live$i.tar"
done
kill -0 $SIM 2>/dev/null || say "the last backup was made when all had been delivered"
wait $SIM || fail "the boards end with $?: $(tail -n 1 "$W/fleet.1.err")"

# At rest.
backup quiet
[ "$(stat -c %a "$W/quiet.tar")" = 600 ] || fail "others may read the backup"
(mkdir "$W/by-hand" && cd "$W/by-hand" && tar -xf "$W/quiet.tar" && sha256sum --quiet -c SHA256SUMS) >"$W/tar.log" 2>&1 || fail "tar: $(head -n 3 "$W/tar.log")"
restore quiet
beside quiet
all_of $H >"$W/original"
all_of $R >"$W/restored"
! grep -q "^nothing of" "$W/original" || fail "$(grep "^nothing of" "$W/original")"
cmp -s "$W/original" "$W/restored" || fail "a restored collector answers otherwise: $(diff "$W/original" "$W/restored" | head -c 600)"
beside_down
cmp -s "$W/data/ca/root.pem" "$W/quiet/ca/root.pem" && cmp -s "$W/data/ca/root.key" "$W/quiet/ca/root.key" || fail "another authority"
say "at rest: $(wc -c <"$W/original") bytes of answers are the same, hour by hour and board by board"

# The collector is lost, and a backup takes its place.
deliver 2 --duration "$(pick 6s 20s)"
until_true 20 has_stored $(($(stored) + 50)) || fail "the boards do not deliver: $(tail -n 1 "$W/fleet.2.err")"
backup lost
now=$(stored)
until_true 20 has_stored $((now + 50)) || fail "nothing came after the backup"
stop_collector KILL
mv "$W/data" "$W/lost-data"
fleetprof-collector restore "$W/lost.tar" --data "$W/data" >"$W/lost.said" 2>&1 || fail "restore: $(cat "$W/lost.said")"
collector_up
wait $SIM || fail "the boards do not go on: $(tail -n 1 "$W/fleet.2.err")"
sums=$(agrees $H) || fail "after the restore: $sums"
read -r produced kept pending <<<"$sums"
[ "$pending" -gt 0 ] || fail "batches that were acked after the backup cannot be there: $sums"
[ "$produced" -gt "$kept" ] || fail "produced $produced, stored $kept"
say "after the restore: produced $produced, stored $kept, missing and said so $pending"
