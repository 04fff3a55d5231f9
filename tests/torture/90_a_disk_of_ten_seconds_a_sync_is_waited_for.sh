#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The collector's disk takes ten seconds for each sync.  An ack waits for its sync, as long as that is; /readyz and questions are
# answered while one lasts; boards keep their connections, get through, and nothing counts twice, also where a day's file is begun and
# a board comes for the first time meanwhile.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
seconds=10
windows=$(pick 3 30) # that a board sends, each when the last is acked
compile "$W/failing_disk.so" cc -D_GNU_SOURCE -shared -fPIC -O1 "$here/disk/failing_disk.c" -ldl || not_run "no slow disk can be made"
syncs() { grep -c "$1" "$W/syncs"; }
metric() { curl -fs -m 60 "http://127.0.0.1:$H/metrics" | awk -v n="$1" '$1 == n { print $2 }'; }
handshakes() { curl -fs -m 60 "http://127.0.0.1:$H/metrics" | awk '/^fleetprof_ingest_handshakes_total/ { n += $2 } END { print n + 0 }'; }
is_syncing() { [ "$(syncs begin)" -gt "$(syncs end)" ]; }
# answered_within ROUTE: whether ROUTE was answered while one and the same sync lasted.
answered_within() {
  local begun ended
  is_syncing || return 1
  begun=$(syncs begin) ended=$(syncs end)
  curl -fs -m 60 -o "$W/answer" "http://127.0.0.1:$H/$1" || fail "$1 is not answered: $(cat "$W/answer")"
  [ "$begun $ended" = "$(syncs begin) $(syncs end)" ] && is_syncing
}
# deliver NAME STATE: that many batches over one connection; a line for each, and how many syncs had ended before its answer.
deliver() {
  PYTHONPATH=$here/door /usr/bin/python3 -c 'import sys
from board import Batch, Board
state, address, syncs, count = *sys.argv[1:4], int(sys.argv[4])
board = Board(state, address, patience=600)
board.hello(run=90)
for seq in range(1, count + 1):
  batch = Batch(seq, run=90, service="work")
  batch.produced = seq
  before = open(syncs).read().count("end")
  verdict, _ = board.try_batch(batch)
  print(verdict, open(syncs).read().count("end") - before, flush=True)
  if verdict == "acked":  # the ack is lost, and the batch is sent again
    print("again", board.try_batch(batch)[0], flush=True)' "$2" "127.0.0.1:$A" "$W/syncs" "$windows" >"$W/said-$1" 2>&1
}

A=$(port) H=$(port)
: >"$W/syncs"
FAILING_DISK_DIR=$W/data FAILING_DISK_HOW=$W/how FAILING_DISK_SYNCS=$W/syncs LD_PRELOAD=$W/failing_disk.so collector_up
enroll b1
first=$B
enroll b2
fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s || fail "the daemon does not start"
run --flush-timeout 60s -- "$targets/chain" 1 || fail "a run before ends with $?"
before=$(handshakes)
echo "slow $seconds" >"$W/how.new" && mv "$W/how.new" "$W/how"

deliver b1 "$first" &
BATCHES=$!
started+=($BATCHES)
run --flush-timeout 300s -- "$targets/chain" 3 >"$W/out" 2>"$W/err" &
RUN=$!
started+=($RUN)
for route in readyz metrics "api/v1/boards" "api/v1/loss" "api/v1/profile?limit=1&from=-1h"; do
  # (A query that waits ten seconds for the disk is answered from older data, and reports that: it
  # may take a few syncs to get a query that began with one.)
  case $route in
  *profile*) curl -fs -m 120 -o "$W/answer" "http://127.0.0.1:$H/$route" || fail "$route is not answered" ;;
  *) until_true 300 answered_within "$route" || fail "$route is never answered while a sync lasts" ;;
  esac
done
until_true 600 is_gone $BATCHES || fail "no progress: $(cat "$W/said-b1")"
wait $BATCHES || fail "the board that sends by hand lost its connection: $(cat "$W/said-b1")"
[ "$(grep -c '^acked' "$W/said-b1")" = "$windows" ] || fail "not acked in one connection: $(cat "$W/said-b1")"
[ "$(grep -c '^again acked' "$W/said-b1")" = "$windows" ] || fail "what comes again: $(cat "$W/said-b1")"
awk '$1 == "acked" && $2 == 0' "$W/said-b1" | grep -q . && fail "acked before a sync had ended: $(cat "$W/said-b1")"
until_true 600 is_gone $RUN || fail "a run never ends: $(cat "$W/err")"
wait $RUN || fail "a run ends with $?: $(cat "$W/err")"
until_true 300 books_are_closed b2 || fail "the daemon's books: $(books b2)"
ended=$(syncs end)
[ "$(handshakes)" = $((before + 1)) ] || fail "$(($(handshakes) - before)) handshakes of a daemon that had one and a board that began one"
rm "$W/how"
[ "$(books b1)" = "$windows $windows 0 0" ] || fail "the books of what was sent twice: $(books b1)"
[ "$(metric fleetprof_store_duplicates_total)" -ge "$windows" ] || fail "duplicates: $(metric fleetprof_store_duplicates_total)"
say "$ended syncs of $seconds s: $windows batches acked over one connection, each after a sync; a run's books: $(books b2)"
