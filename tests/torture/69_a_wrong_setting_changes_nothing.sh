#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every option with every kind of wrong value, on the command line and in a file: one line names it,
# the status is 2, and nothing is made. A running collector that reloads its file keeps its settings
# while the file is wrong, and applies it once it is right. A storm of SIGHUP neither disturbs it
# nor makes it grow. A daemon ignores SIGHUP.
. "$(dirname "$0")/lib.sh"
reloads=$(pick 15 1000)
GROWS_AT_MOST=2048 # KiB
wrong() { # wrong PROGRAM OPTION VALUE [MORE...]
  local status
  "$1" "--$2" "$3" "${@:4}" >"$W/out" 2>&1 </dev/null
  status=$?
  [ $status = 2 ] || fail "$1 --$2 '$3': status $status: $(tail -n 1 "$W/out")"
  [ "$(wc -l <"$W/out")" = 1 ] && grep -q -- "$2" "$W/out" || fail "$1 --$2 '$3': $(head -n 3 "$W/out")"
  [ ! -e "$W/never" ] || fail "$1 --$2 '$3' makes something"
  tried=$((tried + 1))
}
tried=0
counts=("" x -1 1.5 1e9 0x10 18446744073709551616 " " 12monkeys)
sizes=("" x -1 1.5.5 5Q 99999999999999999999G " ")
times=("" x -1s 5 5y 99999999999999999999d " ")
collector() { wrong fleetprof-collector "$1" "$2" --data "$W/never"; }
daemon() { wrong fleetprofd "$1" "$2" --state "$W/never"; }
# Every kind of wrong value of every kind of option, and one of every option.
for value in "${counts[@]}"; do collector board-nodes "$value"; done
for value in "${sizes[@]}"; do collector max-bytes "$value"; done
for value in "${times[@]}"; do collector retention "$value"; done
for value in "" x : 127.0.0.1 127.0.0.1:x 127.0.0.1:65536 127.0.0.1:-1 ":7480"; do collector http "$value"; done
for option in board-refusals board-series board-modules board-bytes handshakes-per-address board-cpus-max memory-limit certificate-life agents; do collector $option x; done
for option in budget-bytes budget-debug budget-cpu window; do daemon $option x; done
wrong fleetprof-collector handshakes-per-address 99999 --data "$W/never"
wrong fleetprof-collector board-cpus-max 8193 --data "$W/never"
wrong fleetprof-collector certificate-life 1s --data "$W/never"
wrong fleetprof-collector no-such-option 1 --data "$W/never"
say "$tried wrong values are named and make nothing"

printf 'board-nodes = 1000\nboard-bytes = 1M/day\n' >"$W/collector.conf"
start_collector --config "$W/collector.conf"
enroll one
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$(dirname "$0")/door/good_board.py" "$B" "127.0.0.1:$A" 0.2 >/dev/null || fail "no board"
limit() { api boards | json "d['boards'][0]['quotas']['$1']['limit']"; }
is_limit() { [ "$(limit "$1")" = "$2" ]; }
lines() { grep -c "$1" "$W/collector.log"; }
told() { [ "$(lines "$1")" -gt "$2" ]; }
reload() { # reload WORD: until a line with it is there
  local before
  before=$(lines "$1")
  kill -HUP "$COLLECTOR"
  until_true 10 told "$1" "$before" || fail "no line '$1' after SIGHUP: $(tail -n 2 "$W/collector.log")"
}
is_limit nodes 1000 || fail "the file is not read: $(limit nodes)"
for text in 'board-nodes = x' 'board-nodes = 5 6' 'no-such-thing = 1' '[section' 'board-nodes' 'certificate-life = 1s' $'board-nodes = 7\nboard-series = -1'; do
  echo "$text" >"$W/collector.conf"
  reload 'the settings stay as they are'
  is_limit nodes 1000 || fail "'$text': half of it was taken over: $(limit nodes)"
done
rm "$W/collector.conf"
reload 'the settings stay as they are'
printf 'board-nodes = 2000\nhandshakes-per-address = 7\nwatch = main\nwatch-by = site\n' >"$W/collector.conf"
reload 'reload settings: read anew'
[ "$(lines 'reload --handshakes-per-address: the new value needs a restart')" = 1 ] || fail "what needs a restart is not said"
[ "$(lines 'reload --watch: the new values need a restart')" = 1 ] || fail "that what is watched needs a restart is not said"
[ "$(lines 'reload --watch-by: the new value needs a restart')" = 1 ] || fail "that what releases are told by needs a restart is not said"
is_limit nodes 2000 || fail "the right file is not taken over: $(limit nodes)"
[ "$(limit bytes)" = 268435456 ] || fail "what the file says no more is not the default: $(limit bytes)"
curl -fs "http://127.0.0.1:$H/healthz" >/dev/null || fail "it does not answer"
rss() { awk '/^RssAnon/ { print $2 }' "/proc/$1/status"; }
reload 'reload settings: read anew'
before=$(rss "$COLLECTOR") count=$(lines 'read anew')
for ((i = 0; i < reloads; i++)); do
  printf 'board-nodes = %d\n' $((3000 + i)) >"$W/new.conf" && mv "$W/new.conf" "$W/collector.conf"
  reload 'reload settings: read anew'
done
is_limit nodes $((3000 + reloads - 1)) || fail "the last file is not what holds: $(limit nodes)"
for ((i = 0; i < 2000; i++)); do kill -HUP "$COLLECTOR"; done
echo 'board-nodes = 7' >"$W/collector.conf"
kill -HUP "$COLLECTOR"
until_true 10 is_limit nodes 7 || fail "after a storm the last word is not heard: $(limit nodes)"
grown=$(($(rss "$COLLECTOR") - before))
[ $grown -lt $GROWS_AT_MOST ] || fail "it grew by $grown KiB"
say "$reloads reloads and a storm of 2000 signals: $(($(lines 'read anew') - count)) times read, $grown KiB more"

board storm
keeper=$(cat "$B/fleetprofd.pid") worker=$(worker)
for ((i = 0; i < 200; i++)); do kill -HUP "$keeper" "$worker"; done
sampled "${samplers[0]}" "$targets/truth" .2 >/dev/null || fail "a program under the daemon ended with $?"
[ "$(worker)" = "$worker" ] && kill -0 "$keeper" || fail "the daemon minds SIGHUP"
say "a daemon lives through four hundred signals"
