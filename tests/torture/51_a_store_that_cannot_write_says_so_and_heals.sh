#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The collector's disk is full, read-only, or answers every write with an I/O error, and another program keeps its landing
# file locked; boards deliver all the time.  They are refused for now, not for good, and lose nothing; when it is over
# everything goes on by itself, and every number is the same at both ends.  Queries never hang.  Behind a lock all are
# answered; on a disk that takes no write at all those are that need no file opened anew (SQLite makes an index beside it).
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
seconds=$(pick 1 60)
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
metric() { curl -fs -m 20 "http://127.0.0.1:$H/metrics" | awk -v n="$1" '$1 == n { print $2 }'; }
has_grown() { [ "$(metric "$1")" -gt "$2" ]; } # METRIC BEFORE
# asks: queries of everything, and of the boards; counts ANSWERED and REFUSED, and ASKED is the longest time, in ms.
asks() {
  local route took status
  for route in "profile?match=%7B%7D&from=-1h" boards loss; do
    took=$(curl -s -m 10 -o "$W/answer" -w '%{http_code} %{time_total}' "http://127.0.0.1:$H/api/v1/$route") || fail "$1: $route hangs"
    status=${took% *}
    took=$(awk "BEGIN { print int(${took#* } * 1000) }")
    [ "$took" -le $ASKED ] || ASKED=$took
    case $status in
    200) ANSWERED=$((ANSWERED + 1)) ;;
    5*) REFUSED=$((REFUSED + 1)) ;;
    *) fail "$1: $route: $status: $(head -c 300 "$W/answer")" ;;
    esac
  done
}
# through NAME: checks a fault and its effects while it lasts; `end` ends it.
through() {
  local name=$1 refused until
  refused=$(metric fleetprof_store_failed_commits_total)
  until_true 20 has_grown fleetprof_store_failed_commits_total "$refused" || fail "$name: nothing was refused"
  until=$((SECONDS + seconds))
  ASKED=0 ANSWERED=0 REFUSED=0
  while asks "$name" && [ $SECONDS -lt $until ]; do sleep 0.2; done
  end
  refused=$(($(metric fleetprof_store_failed_commits_total) - refused))
  local stored
  stored=$(metric fleetprof_store_appended_total)
  until_true 60 has_grown fleetprof_store_appended_total "$stored" || fail "$name: it does not go on"
  kill -0 $BOARDS || fail "$name: the boards ended in it: $(tail -n 1 "$W/fleet.err")"
  say "$name: $refused commits refused; $ANSWERED queries answered, $REFUSED refused, within $ASKED ms"
}

compile "$W/failing_disk.so" cc -D_GNU_SOURCE -shared -fPIC -O1 "$(dirname "$0")/disk/failing_disk.c" -ldl || not_run "no disk that fails can be made"
A=$(port)
H=$(port)
FAILING_DISK_DIR=$W/data FAILING_DISK_HOW=$W/how LD_PRELOAD=$W/failing_disk.so collector_up
"${FLEETPROF_TARGETS%/targets}/fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --boards 10 --threads 1 \
  --window 100ms --duration "$(pick 10s 330s)" --truth "$W/truth" >"$W/fleet" 2>"$W/fleet.err" &
BOARDS=$!
started+=($BOARDS)
until_true 20 has_grown fleetprof_store_appended_total 20 || fail "the boards do not deliver"

# A lock that is kept for longer than anybody waits for one.
/usr/bin/python3 -c 'import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
db.execute("BEGIN IMMEDIATE")
time.sleep(600)' "$W/data/landing.db" &
LOCKER=$!
started+=($LOCKER)
end() { kill $LOCKER && wait $LOCKER 2>/dev/null; }
through "locked by another"
[ $REFUSED = 0 ] || fail "locked by another: $REFUSED queries were refused"

# A disk that takes no write.
end() { rm "$W/how"; }
faults=("an I/O error 5" "read-only 30")
! is_long || faults+=("full 28")
for fault in "${faults[@]}"; do
  echo "${fault##* }" >"$W/how.new" && mv "$W/how.new" "$W/how"
  through "${fault% *}"
done

wait $BOARDS || fail "the boards end with $?: $(tail -n 1 "$W/fleet.err")"
agreed=$("$fleet/truth_agrees.py" "$W/truth" "http://127.0.0.1:$H") || fail "$agreed"
say "$agreed"
