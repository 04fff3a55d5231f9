#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fair.sh: how soon one operator is answered beside PAGES (36) web pages of other sites, each of which makes a browser on this machine ask for the whole fleet again
# and again, and beside a board that has used up its default quota of nodes (NODES, 500 000), of which a dashboard with a token shows the whole fleet every
# second.  Prints, of SECONDS (60): median, 99 % and longest of `labels`, of the profile of one service, and of the whole fleet, first without pages and dashboard.
# The aim: 99 % of the first two within 1 s.  FLEETPROF_PREFIX: an installed release, or figures mean nothing.
. "$(dirname "$0")/../e2e/lib.sh"
door=$(dirname "$0")/../torture/door
NODES=${NODES:-500000} PAGES=${PAGES:-36} SECONDS_EACH=${SECONDS_EACH:-60}
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
start_collector --board-nodes 0
for board in bomb edge-1 edge-2; do
  enroll $board
  [ $board = bomb ] || python "$door/stacks.py" "$B" "127.0.0.1:$A" 5000 >"$W/stacks" 2>&1 || fail "$(tail -n 1 "$W/stacks")"
done
python "$door/stacks.py" "$W/board-bomb" "127.0.0.1:$A" "$NODES" >"$W/stacks" 2>&1 || fail "$(tail -n 1 "$W/stacks")"
python "$door/good_board.py" "$W/board-edge-1" "127.0.0.1:$A" 2 >"$W/good" 2>&1 || fail "$(tail -n 1 "$W/good")"
stop_collector
collector_up
token=$(fleetprof-collector token --data "$W/data" --role read) || fail "no token"
cat >"$W/asks.py" <<'PYTHON'
import http.client, sys, threading, time, urllib.parse
port, token, pages, seconds = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
FLEET = "/api/v1/profile?from=-1d"
ends, statuses, shown = threading.Event(), {}, []


def ask(line, path, **fields):
    at = time.monotonic()
    line.request("GET", path, headers=fields)
    answer = line.getresponse()
    answer.read()
    return answer.status, time.monotonic() - at


def page():
    while not ends.is_set():
        line = http.client.HTTPConnection("127.0.0.1", port)
        status, _ = ask(line, FLEET, **{"Sec-Fetch-Site": "cross-site"})
        line.close()
        statuses[status] = statuses.get(status, 0) + 1
        time.sleep(0.05)


def dashboard():
    line = http.client.HTTPConnection("127.0.0.1", port)
    while not ends.is_set():
        shown.append(ask(line, FLEET, Authorization="Bearer " + token)[1])
        time.sleep(1)


def told(name, times):
    times = sorted(times)
    print(f"  {name}: {len(times)} answers, median {times[len(times) // 2] * 1000:.0f}, 99 % within "
          f"{times[int(len(times) * 0.99)] * 1000:.0f}, longest {times[-1] * 1000:.0f} ms")


others = [threading.Thread(target=page) for _ in range(pages)]
others += [threading.Thread(target=dashboard)] if pages else []
for other in others:
    other.start()
one = "/api/v1/profile?from=-1d&match=" + urllib.parse.quote('{board="edge-1"}')
labels, profiles = [], []
line, begun = http.client.HTTPConnection("127.0.0.1", port), time.monotonic()
while time.monotonic() - begun < seconds:
    for path, times in (("/api/v1/labels?from=-1d", labels), (one, profiles)):
        status, took = ask(line, path)
        if status != 200:
            sys.exit(f"{path}: {status}")
        times.append(took)
    time.sleep(0.1)
ends.set()
for other in others:
    other.join()
told("labels", labels)
told("one board", profiles)
if shown:
    told("the whole fleet", shown)
    print(f"  pages were answered: {statuses}")
PYTHON
say "alone:"
python "$W/asks.py" "$H" "$token" 0 10 || fail "the operator is not answered"
say "beside $PAGES pages and a dashboard:"
python "$W/asks.py" "$H" "$token" "$PAGES" "$SECONDS_EACH" || fail "the operator is not answered"
