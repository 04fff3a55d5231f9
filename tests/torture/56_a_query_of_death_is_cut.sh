#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One board has samples at a million different places, another one is working. A client queries a
# year of that in every format, and with regular expressions that are bombs. Each query is answered
# or rejected with the name of the limit that it hit, within its time and the memory limit of a
# query. Until the last of them the other board's batches are acked as soon as without them (lib.sh:
# unaffected), and the collector stays within its own memory.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/door
STACKS=$(pick 1000000 3000000) # VIEW_NODES_MAX is two million
SLOW_MS=6000                   # of an ack, beside a query that has one of the two cores
QUERY_MIB=1024                 # collector/http/service.h, or a quarter of --memory-limit
OTHERS_MIB=512                 # for receiving, settling and sending meanwhile, and for several answers of 64 MiB
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
start_collector --board-nodes 0
enroll wide && wide=$B
enroll good && good=$B
python "$door/stacks.py" "$wide" "127.0.0.1:$A" "$STACKS" >"$W/stacks" 2>&1 || fail "$(tail -n 1 "$W/stacks")"
acks() { PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$door/good_board.py" "$good" "127.0.0.1:$A" "$1" 2>"$W/good.err"; }
(acks "$(pick 1 10)") >"$W/alone" || fail "alone: $(tail -n 1 "$W/good.err")"
read -r _ _ _ alone <"$W/alone"
acks inf >"$W/good" &
neighbour=$!
started+=($neighbour)

peak() { awk '/^VmHWM/ { print $2 }' "/proc/$COLLECTOR/status"; }
# ask WANTED ROUTE ARGUMENT...: the status is one of WANTED (an extended regular expression); a
# rejection is JSON with a detail.
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
unaffected "acks meanwhile" "$alone" "$longest" $SLOW_MS
kill -0 "$COLLECTOR" || fail "the collector is gone"
query_mib() { curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_query_memory_bytes_max" { print int($2 / 1048576) }'; }
[ "$(query_mib)" -le $QUERY_MIB ] || fail "a query took $(query_mib) MiB"
[ "$(peak)" -lt $(((QUERY_MIB + OTHERS_MIB) << 10)) ] || fail "the collector took $(peak) kB"
read -r p s _ < <(books wide)
[ "$p" = "$s" ] && [ "$s" = "$STACKS" ] || fail "$s of $p stored"
say "$count acks meanwhile: median $median ms, 99 % within $longest ms, $alone ms alone; a query took $(query_mib) MiB at most, the collector $(($(peak) / 1024)) MiB"

# On a machine with less memory, a query has a quarter of it.
stop_collector
collector_up --board-nodes 0 --memory-limit 256M
ask "422" profile "${year[@]}" -d format=tree
[[ $why == "limit memory: "*" 64 MiB "* ]] || fail "refused, but not for its memory: $why"
[ "$(query_mib)" -le 64 ] || fail "a query took $(query_mib) MiB of 64"
ask "200" boards
