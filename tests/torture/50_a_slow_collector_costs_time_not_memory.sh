#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A collector that reads 1 KiB/s, one that does not read at all, and one that reads and never
# answers: the daemon's memory stays flat, programs are sampled and detected as usual, and pending
# batches wait on the disk. A connection without answers is given up within KEEPALIVE seconds (the
# long form waits for that). Finally all is stored.
. "$(dirname "$0")/lib.sh"
proxy=$(dirname "$0")/../netns/proxy.py
KEEPALIVE=60    # uplink_session.c gives a silent line up after 45 s
GROWS_AT_MOST=1024 # KiB, and HOLDS_AT_MOST in all
HOLDS_AT_MOST=6144
start_collector
P=$(port)
mkfifo "$W/proxy"
exec 6<>"$W/proxy"
/usr/bin/python3 "$proxy" "127.0.0.1:$P" "127.0.0.1:$A" "$W/figures" <"$W/proxy" 6>&- &
started+=($!)
until_true 10 test -s "$W/figures" || fail "no proxy"
enroll slow
fleetprofd --state "$B" --collector "127.0.0.1:$P" --window 1s || fail "no daemon"
fleetprof run --state "$B" --sampler "${samplers[0]}" --hz 499 -- /usr/bin/python3 -c 'import time, json
while True:
  begun = time.process_time()
  while time.process_time() - begun < .03: json.dumps(list(range(500)))
  time.sleep(.05)' &
program=$!
started+=($program)
acked() { asked "d['uplink']['acked_batches']"; }
has_acks() { [ "$(acked)" -gt "$1" ]; }
rss() { awk '/RssAnon/ { print $2 }' "/proc/$(worker)/status"; }
reconnects() { asked "d['uplink']['reconnects']"; }
has_let_go() { [ "$(reconnects)" -gt "$1" ]; }
until_true 20 has_acks 2 || fail "nothing is delivered: $(asked "d['uplink']")"

# Another program starts and is sampled, and the daemon answers at once.
works() { # MODE
  local begun=$(date +%s%N) before took
  before=$(produced)
  took=$((($(date +%s%N) - begun) / 1000000))
  [ $took -lt 3000 ] || fail "$1: status takes $took ms"
  sampled "${samplers[0]}" "$targets/truth" .3 >/dev/null || fail "$1: a program ended with $?"
  at_least 50 "$before" || fail "$1: nothing is sampled any more"
}
meets() { # MODE
  local before=$(rss) most=0 let_go now begun=$SECONDS
  let_go=$(reconnects)
  echo "$1" >&6
  while [ $((SECONDS - begun)) -lt "$(pick 3 $((KEEPALIVE + 30)))" ]; do
    works "$1"
    now=$(rss)
    [ "$now" -le $most ] || most=$now
    if is_long && [ "${1%% *}" != slow ] && ! has_let_go "$let_go" && [ $((SECONDS - begun)) -gt $KEEPALIVE ]; then
      fail "$1: after $KEEPALIVE s the line is still held: $(asked "d['uplink']")"
    fi
    has_let_go "$let_go" && [ -z "${told:-}" ] && told="given up after $((SECONDS - begun)) s ($(asked "d['uplink']['why']"))"
    sleep .2
  done
  say "$1: RssAnon $before KiB before, $most at most, $(asked "d['spool']['entries']") batches wait, ${told:-the line is held}"
  told=
  [ $most -le $((before + GROWS_AT_MOST)) ] && [ $most -le $HOLDS_AT_MOST ] || fail "$1: the worker grew from $before to $most KiB"
}
for mode in "slow 1024" deaf "lose-acks 0"; do
  meets "$mode"
  echo pass >&6
  before=$(acked)
  until_true 90 has_acks "$before" || fail "nothing is delivered after $mode: $(asked "d['uplink']")"
done
kill $program
until_true 90 books_are_closed slow || fail "the books do not close: $(books slow)"
read -r produced had lost pending < <(books slow)
[ "$(lost_beside_full_rings slow)" = 0 ] || fail "$lost records are lost: $(api loss)"
answered=$(SINCE=2h profile '{board="slow"}' | json "d['samples']")
[ "$answered" = "$had" ] || fail "the answer holds $answered samples of $had stored"
say "produced $produced = stored $had, in the answer $answered"
