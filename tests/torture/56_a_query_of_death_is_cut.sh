#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board was profiled at a million different places, another one is at work.  Somebody asks for a year of that in every form,
# and with regular expressions that are bombs.  Each question is answered or refused with the name of the limit that it hit,
# within its time; until the last of them the other board's batches are acknowledged, and the collector stays within its memory.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/door
STACKS=$(pick 1000000 3000000) # VIEW_NODES_MAX is two million
SLOW_MS=6000                   # of an ack, beside a query that has one of the two cores
MEMORY_KB=$((3 << 20))
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
start_collector --board-nodes 0
enroll wide && wide=$B
enroll good && good=$B
python "$door/stacks.py" "$wide" "127.0.0.1:$A" "$STACKS" >"$W/stacks" 2>&1 || fail "$(tail -n 1 "$W/stacks")"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/good_board.py" "$good" "127.0.0.1:$A" inf >"$W/good" 2>"$W/good.err" &
neighbour=$!
started+=($neighbour)

peak() { awk '/^VmHWM/ { print $2 }' "/proc/$COLLECTOR/status"; }
# ask WANTED ROUTE ARGUMENT...: the status is one of WANTED (an extended regular expression); what is refused is told as JSON, with a detail.
ask() {
  local wanted=$1 route=$2 status at
  shift 2
  at=$(date +%s%3N)
  status=$(curl -sG -m 130 -o "$W/answer" -w '%{http_code}' "http://127.0.0.1:$H/api/v1/$route" "$@") || fail "$route $*: curl ended with $?"
  [[ $status =~ ^($wanted)$ ]] || fail "$route $*: $status, not $wanted: $(head -c 300 "$W/answer")"
  why=
  [ "$status" = 200 ] || why=$(json "d['detail']" <"$W/answer") || fail "$route $*: $status without a reason"
  say "$status after $(($(date +%s%3N) - at)) ms, $(stat -c %s "$W/answer") bytes: $route $* ${why:+($why)}"
}
year=(-d from=-365d --data-urlencode 'match={service="board"}')
for format in top tree $(pick "" "folded pprof speedscope callgrind perf-script"); do
  ask "200|422|504" profile "${year[@]}" -d format=$format
  [[ -z $why || $why == limit* ]] || fail "$format: refused without the name of a limit: $why"
done
ask "200|422|504" diff -d from=-365d --data-urlencode 'a={board="wide"}' --data-urlencode 'b={board="good"}'
ask "200" series "${year[@]}"
for bomb in '(a*)*b' '((((a{1,100}){1,100}){1,100}){1,100})' '(.*.*.*.*.*.*.*.*.*.*.*)x' '(x+x+)+y' "$(printf 'a%.0s' {1..600})" '(((((((((a|b)*)*)*)*)*)*)*)*)*c' 'a{99999}' '['; do
  ask "200|400" profile -d from=-365d --data-urlencode "match={service=~\"$bomb\"}"
done
is_long && for i in {1..40}; do curl -sG -m 130 -o /dev/null "http://127.0.0.1:$H/api/v1/profile" "${year[@]}" & crowd+=($!); done
is_long && wait "${crowd[@]}"
kill $neighbour 2>/dev/null
wait $neighbour || fail "$(tail -n 1 "$W/good.err")"
read -r _ count median longest <"$W/good"
[ "${longest%.*}" -lt $SLOW_MS ] || fail "acks took $longest ms meanwhile"
kill -0 "$COLLECTOR" || fail "the collector is gone"
[ "$(peak)" -lt $MEMORY_KB ] || fail "the collector took $(peak) kB"
read -r p s _ < <(books wide)
[ "$p" = "$s" ] && [ "$s" = "$STACKS" ] || fail "$s of $p stored"
say "$count acks meanwhile: median $median ms, 99 % within $longest ms; the collector's peak $(($(peak) / 1024)) MiB"
