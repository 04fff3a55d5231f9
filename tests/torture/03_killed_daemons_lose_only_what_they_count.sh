#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of workers, supervisors, and both, at random moments, under load, with the collector up.
# The programs end as without the agent, each record is stored or lost with a reason, none twice,
# and nothing remains in the spools.
. "$(dirname "$0")/lib.sh"
export FLEETPROF_WINDOW=1s
boards=$(pick 1 4) kills=$(pick 6 70)
start_collector
random_seconds() { printf '%d.%03d' $(($1 * RANDOM / 32768 / 1000)) $(($1 * RANDOM / 32768 % 1000)); } # up to MS

# Programs one after the other, half of them by timer; `run` starts a daemon if there is none.
load() { # BOARD
  local turn=0 status
  while [ ! -e "$W/enough" ]; do
    sampler=${samplers[$((turn++ % ${#samplers[@]}))]}
    run --sampler "$sampler" --hz 499 --flush-timeout 0s -- "$targets/truth" 1 >/dev/null 2>>"$W/run-$1.err"
    status=$?
    [ $status = 0 ] || echo "$sampler: a program ended with $status" >>"$W/ended-$1"
  done
}
# Kills the worker (twice as often), the supervisor, or both. Prints the choice.
strike() {
  local keeper=$(cat "$B/fleetprofd.pid" 2>/dev/null) worker
  worker=$(pgrep -P "${keeper:-0}") || worker=
  case $((RANDOM % 4)) in
  0) [ -n "$keeper" ] && kill -9 "$keeper" 2>/dev/null && echo keeper ;;
  1) [ -n "$worker" ] && kill -9 "$keeper" $worker 2>/dev/null && echo both ;;
  *) [ -n "$worker" ] && kill -9 $worker 2>/dev/null && echo worker ;;
  esac
}
workers_killed() { cat "$W"/killed-$1 2>/dev/null | grep -c -e worker -e both; }
torment() { # BOARD: until so many of its workers were killed
  while [ "$(workers_killed "$1")" -lt "$kills" ]; do
    sleep "$(random_seconds 1500)"
    strike >>"$W/killed-$1"
  done
}
tormentors=() loads=()
for n in $(seq "$boards"); do
  enroll "b$n"
  load "b$n" &
  loads+=($!)
  until_true 20 test -s "$B/fleetprofd.pid" && until_true 20 worker >/dev/null || fail "no worker: $(tail -n 3 "$W/run-b$n.err")"
  torment "b$n" &
  tormentors+=($!)
done
for pid in "${tormentors[@]}"; do wait "$pid" || fail "a tormentor ended with $?"; done
touch "$W/enough"
for pid in "${loads[@]}"; do wait "$pid"; done
! compgen -G "$W/ended-*" >/dev/null || fail "$(cat "$W"/ended-*)"

sum=0
for n in $(seq "$boards"); do
  B=$W/board-b$n
  # The next daemon closes its predecessors' counters.
  until_true 30 run --hz 499 --flush-timeout 5s -- "$targets/truth" .2 >/dev/null || fail "b$n: nothing runs any more"
  until_true 60 books_are_closed "b$n" || fail "b$n: the books do not close: $(books "b$n") $(asked "d['spool']")"
  read -r produced had _ _ < <(books "b$n")
  answered=$(SINCE=2h profile "{board=\"b$n\"}" | json "d['samples']")
  [ "$answered" = "$had" ] || fail "b$n: the answer holds $answered samples of $had stored"
  lost=$(api loss | json "[{k: v for k, v in b['dropped'].items() if v} for b in d['boards'] if b['board'] == 'b$n'][0]")
  # The next daemon closes a dead daemon's counters. The collector closes runs that are no longer
  # reported, and must find none.
  [[ $lost != *run_ended* ]] || fail "b$n: the books of a daemon that died were not closed by the next one: $lost"
  stuck=$(asked "(d['spool']['records'], d['spool']['corrupt_segments'])")
  [ "$stuck" = "(0, 0)" ] || fail "b$n: left in the spool: $stuck: $(ls "$B/spool")"
  struck=$(sort "$W/killed-b$n" | uniq -c | xargs)
  say "b$n: killed $struck: produced $produced = stored $had + dropped, in the answer $answered; dropped: $lost"
  sum=$((sum + $(wc -l <"$W/killed-b$n")))
done
say "$sum kills, of $(workers_killed "*") workers"
