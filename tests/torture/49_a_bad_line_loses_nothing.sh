#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board behind a router: a third of the packets lost, 2 s of delay, packets of 576 bytes, all of
# it at once, a silently cut line, a router that changes its address, an RST in the middle of a
# record. Each time delivery continues less than 30 s after the line is repaired, and finally every
# record is stored, once.
. "$(dirname "$0")/../netns/lib.sh"
RESUMES_WITHIN=30
make_network
A=$(port) H=$(port)
collector_up --agents "0.0.0.0:$A"
# A fifth of a CPU, and enough samples that windows stay short.
cat >"$W/duty.py" <<'P'
import time
while True:
    begun = time.process_time()
    while time.process_time() - begun < .03:
        pass
    time.sleep(.12)
P
# behind NAME ADDRESS: a board whose collector is at ADDRESS, and its program.
behind() {
  enroll "$1"
  on_board fleetprofd --state "$B" --collector "$2" --window 1s || fail "$1: no daemon"
  nsenter -t "$BOARD" -n fleetprof run --state "$B" --collector "$2" --sampler "${samplers[0]}" --hz 2999 -- /usr/bin/python3 "$W/duty.py" 2>"$W/run-$1.err" &
  runners+=($!)
  started+=($!)
}
stored() { books "$1" | cut -d ' ' -f 2; }
more_is_stored() { [ "$(stored "$1")" -gt "$2" ]; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
why() { fleetprof status --state "$W/board-$1" --format json | json "d['uplink']"; }
reconnects() { fleetprof status --state "$W/board-$1" --format json | json "d['uplink']['reconnects']"; }
# healed BOARD FAULT: the line is well from here on.
healed() {
  local begun=$(now_ms) before=$(stored "$1") took
  until_true 120 more_is_stored "$1" "$before" || fail "$2: nothing comes after 120 s: $(why "$1")"
  took=$(($(now_ms) - begun))
  say "$2: delivery goes on after $took ms"
  [ $took -lt $((RESUMES_WITHIN * 1000)) ] || fail "$2: delivery goes on after $took ms only: $(why "$1")"
}
# suffers FAULT SECONDS LINE...
suffers() {
  line "${@:3}"
  sleep "$2"
  clear_line
  healed direct "$1"
}
P=$(port)
mkfifo "$W/proxy"
exec 6<>"$W/proxy"
nsenter -t "$ROUTER" -n /usr/bin/python3 "$proxy" "10.9.1.1:$P" "10.9.2.2:$A" "$W/figures" <"$W/proxy" 6>&- 7>&- &
started+=($!)
until_true 10 test -s "$W/figures" || fail "no proxy"
in_record() { sed 's/.*in_record=\([0-9]*\).*/\1/' "$W/figures"; }
is_broken() { [ "$(in_record)" -ge "$1" ]; }

runners=()
behind direct "10.9.2.2:$A"
behind proxied "10.9.1.1:$P"
for board in direct proxied; do until_true 20 more_is_stored $board 0 || fail "$board: nothing is delivered: $(why $board)"; done
if is_long; then # one by one
  suffers "30 % loss" 120 loss=30
  suffers "2 s each way" 120 delay=2000
fi
mtu 576
! is_long || suffers "576 bytes" 60
suffers "30 % loss, 1 s each way, 576 bytes" "$(pick 1 120)" loss=30 delay=1000
# A slow line is not given up, and the collector's requests besides batches do not delay batches.
if is_long; then
  before=$(stored direct) calls=$(reconnects direct) slow_from=$(date +%s)
  suffers "2000 bytes a second" 120 rate=2000
  [ "$(reconnects direct)" = "$calls" ] || fail "a slow line was given up: $(why direct)"
  [ "$(stored direct)" -gt $((before + 500)) ] || fail "on a slow line came $(($(stored direct) - before)) records in 120 s"
  slow_to=$(date +%s)
fi
mtu 1500
for seconds in $(pick 1.5 "20 50 100 200"); do suffers "half open for $seconds s" "$seconds" loss=100; done
if [ -n "$has_nat" ]; then
  for again in $(seq "$(pick 1 5)"); do
    rebind
    healed direct "another address, $again"
  done
else
  without "another address" "$(head -n 1 "$W/nft.log")"
fi
echo reset >&6
until_true "$(pick 80 900)" is_broken "$(pick 2 12)" || fail "no line was broken: $(cat "$W/figures")"
echo pass >&6
healed proxied "RST in a record, $(in_record) times"
for seconds in $(pick 1 "60 120"); do
  echo half-open >&6
  sleep "$seconds"
  echo pass >&6
  healed proxied "a middle box that does nothing for $seconds s"
done

kill "${runners[@]}"
for board in direct proxied; do
  until_true 60 books_are_closed $board || fail "$board: the books do not close: $(books $board)"
  read -r produced had lost pending < <(books $board)
  [ "$lost" = 0 ] || fail "$board: $lost records are lost: $(api loss)"
  answered=$(SINCE=2h profile "{board=\"$board\"}" | json "d['samples']")
  [ "$answered" = "$had" ] || fail "$board: the answer holds $answered samples of $had stored"
  say "$board: produced $produced = stored $had, in the answer $answered"
done
# Long-delayed data is placed at its time: no ten seconds of the program's steady duty are missing.
if is_long; then
  each=()
  for ((at = slow_from - 60; at < slow_to + 60; at += 10)); do
    each+=("$(api profile --data-urlencode 'match={board="direct"}' -d from=$at -d to=$((at + 10)) -d limit=1 | json "d['samples']")")
  done
  say "on the slow line, each ten seconds: ${each[*]} samples"
  few=$(printf '%s\n' "${each[@]}" | sort -n | awk '{ n[NR] = $1 } END { print n[1] * 4 < n[int((NR + 1) / 2)] ? "yes" : "no" }')
  [ "$few" = no ] || fail "windows lie elsewhere: ${each[*]}"
fi
say "batches that came again: $(curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_batches_duplicate_total" { print $2 }')"
