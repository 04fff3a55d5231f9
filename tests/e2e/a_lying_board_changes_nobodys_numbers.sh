#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board with a valid certificate sends impossible values: more CPU time than there was, counts
# near 2^63, books that do not close, times after now, more CPUs than a board can have. Each of
# these batches is refused for good, counted, and reported in the board's row. The numbers of
# another board and of the fleet are exactly those of the honest batches, also after a restart
# without any cached state.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/../torture/door
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
start_collector
enroll liar && liar=$B
enroll victim && victim=$B
python - "$door" "$victim" "127.0.0.1:$A" >"$W/victim" 2>&1 <<'END' || fail "the honest board: $(tail -n 1 "$W/victim")"
import sys
sys.path.insert(0, sys.argv[1])
from board import Batch, Board
board = Board(*sys.argv[2:4])
board.hello(run=7)
batch = Batch(1, run=7, threads=1000, service="shop", span_ns=10**10)
verdict, fields = board.try_batch(batch)
sys.exit(verdict != "acked" and f"{verdict}: {fields}")
END
python "$door/lies.py" "$liar" "127.0.0.1:$A" >"$W/lies" 2>"$W/lies.err" || fail "$(tail -n 1 "$W/lies.err")"
read -r refused _ samples weight <"$W/lies"
look() {
  local load
  load=$(api load -d by=board -d from=-1h)
  [ "$(json "[(r['name'], r['samples'], r['weight']) for r in d['rows']] == [('victim', 1000, 10 ** 10), ('liar', $samples, $weight)]" <<<"$load")" = yes ] || fail "$1: by board: $load"
  [ "$(json "d['total'] == 10 ** 10 + $weight" <<<"$load")" = yes ] || fail "$1: in all: $load"
  [ "$(api load -d by=service -d from=-1h | json "[(r['name'], r['weight']) for r in d['rows']] == [('shop', 10 ** 10 + $weight)]")" = yes ] || fail "$1: by service"
  [ "$(api boards | json "[(b['name'], b['cpus'], b['cpus_most'], b['cpus_changed'] is not None) for b in d['boards']] == [('liar', 4, 1000, True), ('victim', None, None, False)]")" = yes ] || fail "$1: CPUs: $(api boards)"
  curl -fs "http://127.0.0.1:$H/metrics" >"$W/metrics"
  grep -qx 'fleetprof_board_cpus{board="liar"} 4' "$W/metrics" && grep -qx 'fleetprof_fleet_cpus 4' "$W/metrics" || fail "$1: CPUs in /metrics"
  [ "$(api loss | json "all(b['produced'] == b['stored'] + sum(b['dropped'].values()) and b['produced'] < 10 ** 6 for b in d['boards'] + [d])")" = yes ] || fail "$1: the books: $(api loss)"
  [ "$(api boards | json "{b['name']: b['refused'] and b['refused']['times'] for b in d['boards']} == {'victim': None, 'liar': $refused + 2}")" = yes ] || fail "$1: the rows: $(api boards)"
}
look "at once"
api boards | json "next(b['refused']['why'] for b in d['boards'] if b['name'] == 'liar')" | grep -q counters || fail "the reason is not told: $(api boards)"
implausible=$(curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_refused_total{reason=\"implausible\"}" { print $2 }')
[ "${implausible:-0}" -gt 10 ] || fail "only ${implausible:-0} are counted as implausible"
stop_collector
collector_up
look "after a restart"
say "$refused lies refused, $implausible of them as implausible; the rest adds up"
