#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tokens and keys are in no file, log, answer or core file where they do not belong: of tokens the collector has hashes, a
# board's key is on the board alone, and neither daemon nor collector leaves a core when it crashes.
. "$(dirname "$0")/lib.sh"
cd "$W" || exit 1 # where cores would be written
ulimit -c unlimited 2>/dev/null
start_collector --verbose --certificate-life 8s
token=$(fleetprof-collector token --data "$W/data" --board one)
reader=$(fleetprof-collector token --data "$W/data" --role read)
wrong=fpt_$(printf 'A%.0s' {1..32})
fleetprof enroll --collector "127.0.0.1:$A" --token "$token" --state "$W/board-one" >"$W/answers.log" 2>&1 || fail "enroll"
fleetprof enroll --collector "127.0.0.1:$A" --token "$token" --state "$W/board-two" >>"$W/answers.log" 2>&1 && fail "the used token is taken"
B=$W/board-one
run -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
for shown in "$reader" "$wrong" "$token"; do
  curl -s -H "Authorization: Bearer $shown" "http://127.0.0.1:$H/api/v1/boards" >>"$W/answers.log"
  curl -s -X PUT -d x -H "Authorization: Bearer $shown" "http://127.0.0.1:$H/api/v1/debug/abcdef" >>"$W/answers.log"
done
curl -s "http://127.0.0.1:$H/metrics" >>"$W/answers.log"
grep -q "made: role read" "$W/data/audit.log" || fail "the audit log does not tell of a new token"
first=$(grep -v -- ----- "$W/board-one/board.key" | tr -d '\n')
has_renewed() { grep -q 'one: certificate renewed$' "$W/data/renewals.log"; }
until_true 20 has_renewed || fail "the board does not renew: $(tail -n 2 "$W/data/renewals.log")"
fleetprof-collector rollover --data "$W/data" --start >>"$W/answers.log" || fail "no second root"
for pid in "$COLLECTOR" "$(cat "$B/fleetprofd.pid")" "$(worker)"; do
  grep -q '^Max core file size *0 ' "/proc/$pid/limits" || fail "$(cat /proc/$pid/comm) would leave a core: $(grep core "/proc/$pid/limits")"
done
kill -SEGV "$(worker)"
stop_collector SEGV
collector_up --verbose
stop_collector # then SQLite's caches are in its files

# look_for WHAT BYTES: in all files except the keys' own.
look_for() {
  local what=$1 secret=$2 found
  [ ${#secret} -ge 20 ] || fail "$what: nothing to look for"
  found=$(grep -rlaF --exclude=board.key --exclude='*.key' -e "$secret" "$W" | head -n 3)
  [ -z "$found" ] || fail "$what stands in $found"
}
echo "$token" >"$W/canary"
(look_for "the enroll token" "$token") >/dev/null && fail "this script finds nothing that is there"
rm "$W/canary"
look_for "the enroll token" "${token:8:24}"
look_for "the read token" "${reader:8:24}"
key=$(grep -v -- ----- "$W/board-one/board.key" | tr -d '\n')
look_for "the board's key" "${key:64:40}" # one line of it
look_for "the board's first key" "${first:64:40}"
for name in root next server server-next; do
  secret=$(grep -v -- ----- "$W/data/ca/$name.key" | tr -d '\n')
  look_for "$name.key" "${secret:64:40}"
done
find "$W" -maxdepth 2 -name 'core*' | grep . && fail "a core file was left"
for file in "$W"/data/ca/*.key "$W/board-one/board.key" "$W/data/access.db" "$W/data/audit.log" "$W/data/renewals.log"; do
  [ "$(stat -Lc %a "$file")" = 600 ] || fail "$file has mode $(stat -Lc %a "$file")"
done
