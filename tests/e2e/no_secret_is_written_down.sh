#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tokens and keys are in no file, log or answer where they do not belong: of tokens the collector has hashes, a board's
# key is on the board alone.
. "$(dirname "$0")/lib.sh"
start_collector --verbose
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
stop_collector # what SQLite holds back is in its files then

# look_for WHAT BYTES: in all files but the keys' own.
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
root=$(grep -v -- ----- "$W/data/ca/root.key" | tr -d '\n')
look_for "the root's key" "${root:64:40}"
for file in "$W"/data/ca/*.key "$W/board-one/board.key" "$W/data/access.db" "$W/data/audit.log"; do
  [ "$(stat -Lc %a "$file")" = 600 ] || fail "$file has mode $(stat -Lc %a "$file")"
done
