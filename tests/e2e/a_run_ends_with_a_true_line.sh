#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The last line of a run reports correctly where its samples are. The collector is down, or hangs
# (the wait shows its duration), has revoked the board, or refuses batches for good, the run's own
# or another's. There is no link to data that is not stored. Files that a killed run left in the
# temporary folder are deleted by the next start of any kind.
. "$(dirname "$0")/lib.sh"
export TMPDIR=$W/tmp TERM=vt100 DISPLAY=:0
mkdir "$TMPDIR"
start_collector
enroll here
said() { run --verbose --hz 499 "$@" -- "$targets/truth" .3 2>&1 >/dev/null | grep '^fleetprof: ' | tail -n 1; }
ends() { # ends NAME PATTERN OPTION...: the last line of a run with these options
  local line
  line=$(said "${@:3}")
  grep -qE -- "$2" <<<"$line" || fail "$1: '$line'"
  [[ $1 = stored ]] || ! grep -q 'http://' <<<"$line" || fail "$1: a link to what is not there: $line"
  say "$1: $line"
}
ends stored 'samples by .*, stored by the collector; http://'

# The collector hangs: the wait shows its duration, and is cleared.
kill -STOP "$COLLECTOR"
OUT=$W/out /usr/bin/python3 "$(dirname "$0")/on_terminal.py" 100 fleetprof run --state "$B" --flush-timeout 4s -- "$targets/truth" .3 >"$W/terminal" || fail "a run ended with $?"
grep -aqE "waiting for the collector to store the samples, [12] s" "$W/terminal" || fail "nothing tells how long it waits: $(cat -v "$W/terminal")"
tail -n 1 "$W/terminal" | grep -aqE 'kept in the spool: 127.0.0.1:[0-9]+ has not answered in time' || fail "it hangs: $(cat -v "$W/terminal")"
kill -CONT "$COLLECTOR"
until_true 30 books_are_closed here || fail "what was kept does not come"
ends stored 'stored by the collector; http://'

# The collector is down.
stop_collector
ends away 'samples by .*, kept in the spool: 127.0.0.1:[0-9]+: .*(refused|closed|reset)'
collector_up

# The collector has revoked the board.
until_true 60 books_are_closed here || fail "what was kept does not come"
fleetprof-collector revoke --data "$W/data" --board here >/dev/null || fail "revoke ended with $?"
is_out() { status --format json | json "d['uplink']['why']" | grep -q revoked; }
until_true 60 is_out || fail "it is not cut off: $(status)"
ends revoked 'kept in the spool: .*revoked.*revoke --undo'
fleetprof-collector revoke --data "$W/data" --board here --undo >/dev/null || fail "undo ended with $?"
kill "$(cat "$B/fleetprofd.pid")"
until_true 10 is_gone "$(cat "$B/fleetprofd.pid" 2>/dev/null || echo 999999999)" || :
until_true 40 eval '[ "$(api boards | json "[b[\"revoked\"] for b in d[\"boards\"]] == [None]")" = yes ]' || fail "it is revoked still"
ends stored 'stored by the collector; http://'
until_true 60 books_are_closed here || fail "what was kept does not come: $(books here)"

# The collector rejects the batches for good.
stop_collector
collector_up --board-series 1
enroll strict
run --service first -- "$targets/truth" .3 >/dev/null || fail "the first service"
until_true 20 books_are_closed strict || fail "the first service is not stored"
ends refused 'samples by .*, lost: the collector refused them for good: .*quota of series' --service second
[ "$(status --format json | json "d['loss']['dropped']['quota'] > 0")" = yes ] || fail "not counted: $(status --format json | json "d['loss']")"

# The same daemon has other services' batches, pending as the run begins: their outcome is not in
# this run's line.
beside() { # beside OTHER OWN PATTERN: the last line of a run of the service OWN, while a batch of OTHER is answered
  local pid line
  kill -STOP "$COLLECTOR"
  [[ $(said --service "$1" --flush-timeout 1s) = *"kept in the spool"* ]] || fail "a batch of $1 does not wait"
  fleetprof run --state "$B" --collector "127.0.0.1:$A" --verbose --hz 499 --service "$2" --flush-timeout 300s -- "$targets/truth" 1 >/dev/null 2>"$W/own" &
  pid=$!
  until_true 20 pgrep -P $pid -x truth >/dev/null || fail "no program: $(cat "$W/own")"
  kill -CONT "$COLLECTOR"
  wait $pid || fail "a run of $2 ended with $?"
  line=$(grep '^fleetprof: ' "$W/own" | tail -n 1)
  grep -qE -- "$3" <<<"$line" && ! grep -q 'but for\|meanwhile' <<<"$line" || fail "$2 beside $1: '$line'"
  say "$2 beside $1: $line"
}
beside second first 'samples by .*, stored by the collector; http://'
beside first second 'samples by .*, lost: the collector refused them for good: .*quota of series'

# A run and all its processes are killed; a later start cleans up.
fleetprof run --output "$W/killed.fp" -- "$targets/truth" 30 >/dev/null 2>&1 &
killed=$!
has_state() { ls -d "$TMPDIR"/fleetprof-run-*/fleetprofd.pid >/dev/null 2>&1 && [ -s "$(ls -d "$TMPDIR"/fleetprof-run-*/fleetprofd.pid)" ]; }
until_true 10 has_state || fail "no state: $(ls -R "$TMPDIR")"
daemon=$(cat "$TMPDIR"/fleetprof-run-*/fleetprofd.pid)
program=$(pgrep -P $killed -x truth)
kill -9 $killed "$daemon" $program "$(pgrep -P "$daemon")"
wait $killed 2>/dev/null
until_true 10 is_gone "$daemon" || fail "the daemon lives"
[ -n "$(ls "$TMPDIR")" ] || fail "nothing is left: the test says nothing"
run -- true >/dev/null 2>&1 || fail "a run ended with $?"
[ -z "$(ls "$TMPDIR")" ] || fail "left behind: $(ls -R "$TMPDIR")"
