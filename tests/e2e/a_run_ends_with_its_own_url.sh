#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal `fleetprof run` ends with one line that has the URL of exactly that run. The page
# accepts it, and it selects only that run's samples. It excludes earlier runs of the same service,
# simultaneous runs with another or the same label, and runs right before and after it, whatever
# else is sampled. Without a browser the line is a command that draws that run as text.
. "$(dirname "$0")/lib.sh"
start_collector
enroll here
run --service 'the "shop"' --hz 499 -- "$targets/truth" 1 >"$W/truth.log" || fail "truth ended with $?"
sleep 2
cat >"$W/again" <<END
#!/bin/sh
exec fleetprof run --state '$B' --collector 127.0.0.1:$A --service 'the "shop"' --label 'try=the "second"' --hz 499 -- '$targets/truth' 1
END
chmod +x "$W/again"
run --service 'the "shop"' --label try=beside --hz 499 -- "$targets/truth" 1 >"$W/beside.log" &
beside=$!
run --service 'the "shop"' --label 'try=the "second"' --hz 499 -- "$targets/truth" 4 >"$W/same.log" &
same=$!
has_same() { status --format json | json "sum(t['labels'].get('try') == 'the \"second\"' for t in d['targets'])" | grep -qx 1; }
until_true 5 has_same || fail "the same beside is not there: $(status)"
DISPLAY=:0 script -qec "$W/again" /dev/null </dev/null >"$W/terminal" 2>&1 || fail "it ended with $?: $(cat "$W/terminal")"
wait $beside && wait $same || fail "the one beside ended with $?"
tr -d '\r' <"$W/terminal" | grep '^fleetprof: ' >"$W/said"
[ "$(wc -l <"$W/said")" = 1 ] || fail "not one line: $(cat "$W/terminal")"
url=$(grep -o 'http://[^ ]*$' "$W/said") || fail "no URL: $(cat "$W/said")"
count=$(sed -n 's/^fleetprof: \([0-9]*\) samples.*/\1/p' "$W/said")
curl -fs -o /dev/null "$url" || fail "the page does not take $url"
got=$(curl -fs "http://127.0.0.1:$H/api/v1/profile?${url#*view=profile&}" | json "d['samples']") || fail "no answer behind $url"
both=$(profile '{service="the \"shop\""}' | json "d['samples']")
say "$count samples said, $got behind the URL, $both of all runs"
# Time of the kernel's clock without a sample is one record more.
[ "$got" -ge "$count" ] && [ "$got" -le $((count + 5)) ] || fail "$got samples at $url, and $count were said"
[ "$both" -gt $((got + 100)) ] || fail "other runs are in it: $both of all"

# Runs one after another, within seconds, beside a user whose window began long before; pending
# counts of a histogram are in that window, too.
beside() { # beside COLLECT
  local neighbour i count link got seconds=
  touch "$W/runs-go-on"
  run --service "$1" --collect "$1" --hz 99 -- /bin/sh -c "while [ -e '$W/runs-go-on' ]; do :; done" &
  neighbour=$!
  has_neighbour() { status --format json | json "any(t['service'] == '$1' for t in d['targets'])" | grep -qx yes; }
  until_true 5 has_neighbour "$1" || fail "no neighbour: $(status)"
  sleep 1.5
  for i in 1 2 3 4; do
    DISPLAY=:0 run --verbose --service "beside-$1" --hz 499 -- "$targets/truth" 0.2 2>&1 >"$W/truth.log" | grep '^fleetprof: .*http://' >"$W/quick.$i" || fail "run $i says no URL"
  done
  ! is_gone $neighbour || fail "the neighbour ended before the runs did"
  rm "$W/runs-go-on"
  for i in 1 2 3 4; do
    count=$(sed -n 's/^fleetprof: \([0-9]*\) samples.*/\1/p' "$W/quick.$i") link=$(grep -o 'http://[^ ]*$' "$W/quick.$i")
    got=$(curl -fs "http://127.0.0.1:$H/api/v1/profile?${link#*view=profile&}" | json "d['samples']") || fail "no answer behind $link"
    [ "$got" -ge "$count" ] && [ "$got" -le $((count + 5)) ] || fail "$got samples of run $i beside $1 at $link, and $count were said"
    seconds="$seconds $(sed 's/.*&from=\([0-9]*\).*&to=\([0-9]*\).*/\1-\2/' <<<"$link")"
  done
  say "four runs beside a neighbour of $1 in the seconds$seconds"
  wait $neighbour || fail "the neighbour ended with $?"
}
beside stacks
beside histogram

"$FLEETPROF_PREFIX/bin/fleetprof" query "$url" >"$W/table" || fail "query does not take the link: $?"
grep -qE '^ *[0-9.]+ %.* alpha_sixty ' "$W/table" || fail "no table behind the link: $(cat "$W/table")"
unset DISPLAY WAYLAND_DISPLAY
script -qec "$W/again" /dev/null </dev/null >"$W/terminal" 2>&1 || fail "it ended with $?: $(cat "$W/terminal")"
text=$(tr -d '\r' <"$W/terminal" | sed -n 's/^fleetprof: [0-9]* samples by [^,]*, stored by the collector; as text: //p')
[ -n "$text" ] || fail "no command on a terminal without a browser: $(cat "$W/terminal")"
(cd / && eval "$text") >"$W/flame" || fail "$text ends with $?"
grep -qE '%.* alpha_sixty( |$)' "$W/flame" || fail "no flame graph by $text: $(cat "$W/flame")"
say "$text"
