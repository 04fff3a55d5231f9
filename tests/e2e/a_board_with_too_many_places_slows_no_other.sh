#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board brings more different places, within its default quota, than an answer about several boards reads of one.  Such answers
# have its lightest ones as one row, [rest], and say so; every sum is exact; an answer about that board alone has all.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/../torture/door
PLACES=80000 # of which an answer about several boards reads 65536
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
start_collector
enroll wide
python "$door/stacks.py" "$B" "127.0.0.1:$A" $PLACES >"$W/wide" 2>&1 || fail "$(tail -n 1 "$W/wide")" # two minutes ago
before_small=$(($(date +%s) - 60))
enroll small
python "$door/good_board.py" "$B" "127.0.0.1:$A" 1 >"$W/small" 2>&1 || fail "$(tail -n 1 "$W/small")"
ask() { api "$1" -d from=-1d "${@:2}" >"$W/answer" || fail "$*: not answered"; }
is() { [ "$(json "$1" <"$W/answer")" = yes ] || fail "$2: $(head -c 600 "$W/answer")"; }
value() { json "$1" <"$W/answer"; }

ask profile -d limit=5
is "[f['self'] > 0 for f in d['functions'] if f['name'] == '[rest]'] == [True]" "no [rest] among several boards"
is "sum(f['self'] for f in d['functions']) + d['rest']['weight'] == d['total']" "the table does not add up"
is "'one board' in d['rest_hint']" "it is not said"
total=$(value "d['total']") samples=$(value "d['samples']") rest=$(value "next(f['self'] for f in d['functions'] if f['name'] == '[rest]')")
ask load -d by=module
is "sum(r['weight'] for r in d['rows']) == $total and sum(r['samples'] for r in d['rows']) == $samples" "the load by module does not add up to $total"
is "[r['weight'] for r in d['rows'] if r['name'] == '[rest]'] == [$rest]" "another [rest] by module than $rest"
is "'one board' in d['rest_hint']" "it is not said of a load"
ask load -d by=board
is "sum(r['weight'] for r in d['rows']) == $total" "the load by board does not add up to $total"
is "'rest_hint' in d or not [r for r in d['rows'] if r['name'] == '[rest]']" "it is not said of boards"
ask function -d 'function=[rest]'
is "d['function']['self'] == $rest and 'one board' in d['rest_hint']" "it is not said of the function"
ask series -d by=function -d step=3600
is "'one board' in d['rest_hint']" "it is not said of series"
is "d['total'] == $total and sum(p[1] for s in d['series'] + [d['rest']] for p in s['points']) == $total" "the series do not add up to $total"
ask profile -d format=tree -d limit=5
is "d['total'] == $total and sum(n['self'] for n in d['nodes']) + d['rest']['weight'] == $total" "the tree does not add up to $total"

ask profile --data-urlencode 'match={board="wide"}' -d limit=100000
is "not [f for f in d['functions'] if f['name'] == '[rest]'] and 'rest_hint' not in d" "one board alone has a [rest]"
is "d['samples'] == $PLACES" "$PLACES samples were sent"
wide=$(value "d['total']")
ask profile --data-urlencode 'match={board="small"}'
is "d['total'] == $total - $wide" "the boards do not add up to $total"

# Two boards match and one has samples: an answer about one board with [rest], which is reported to
# scripts, in a shell and in a comparison of two of them.
ask profile -d to=$before_small -d limit=5
is "[f['self'] for f in d['functions'] if f['name'] == '[rest]'] == [$rest] and d['samples'] == $PLACES" "one of two boards: $rest"
is "'one board' in d['rest_hint']" "one of two boards: it is not said"
of_one=(--http "http://127.0.0.1:$H" --from -1d --to $before_small)
fleetprof query "${of_one[@]}" >"$W/text" || fail "query ended with $?"
grep -q '^\[rest\]: .*one board' "$W/text" || fail "query does not say it: $(head -n 5 "$W/text")"
fleetprof diff '{}' '{board=~"wide|small"}' "${of_one[@]}" >"$W/text" || fail "diff ended with $?"
grep -q '^\[rest\]: .*one board' "$W/text" || fail "diff does not say it: $(tail -n 5 "$W/text")"
say "$rest of $total ns are [rest]"
