#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""clocks.py STATE ADDRESS URL DAYS: batches whose clocks say every wrong thing, each of a service of its own, and where the
collector has placed them: by the time since boot where that is known, else by the board's wall clock when it is not before 2024
nor more than a day ahead and not older than 400 days, else when they came; never in the future.  Then stamps all over the last
DAYS and far beyond both ends: there are no more day files than days."""
import json
import random
import sys
import time
import urllib.parse
import urllib.request

from board import Batch, Board, boottime_ns

state, address, url, days = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
SECOND, HOUR, DAY = 10**9, 3600 * 10**9, 86400 * 10**9
OTHER = b"\x09" * 16  # a boot before this one
NOW = time.time_ns()
cases = [
    # service, hello's wall clock, batch's, its boot (None: this one), expected place: ns before now
    ("an-hour-ahead", NOW + HOUR, NOW + HOUR, None, 0),
    ("an-hour-behind", NOW - HOUR, NOW - HOUR, None, 0),
    ("of-1970", 5 * SECOND, 5 * SECOND, None, 0),
    ("of-2106", 2**32 * SECOND, 2**32 * SECOND, None, 0),
    ("ten-minutes-ahead-before-boot", NOW, NOW + 600 * SECOND, OTHER, 0),
    ("two-days-ahead-before-boot", NOW, NOW + 2 * DAY, OTHER, 0),
    ("of-2038-before-boot", NOW, 2**31 * SECOND, OTHER, 0),
    ("of-2106-before-boot", NOW, 2**32 * SECOND, OTHER, 0),
    ("of-the-last-number-before-boot", NOW, 2**63 - 1, OTHER, 0),
    ("of-1970-before-boot", NOW, 5 * SECOND, OTHER, 0),
    ("of-the-leap-second-of-2016", NOW, 1483228800 * SECOND, OTHER, 0),
    ("an-hour-old-before-boot", NOW, NOW - HOUR, OTHER, HOUR),
    ("thirty-days-old-before-boot", NOW, NOW - 30 * DAY, OTHER, 30 * DAY),
    ("too-old-before-boot", NOW, NOW - 500 * DAY, OTHER, 0),
]
seq, run = 0, time.time_ns()


def ask(route, **how):
    """An answer with the newest samples in it: hundreds of day files take a slow disk longer to begin than an answer waits."""
    query = urllib.parse.urlencode(how)
    for _ in range(6):
        with urllib.request.urlopen(f"{url}/api/v1/{route}?{query}", timeout=60) as answer:
            if "Fleetprof-Stale" not in answer.headers:
                return json.load(answer)
    sys.exit(f"{route}: {answer.headers['Fleetprof-Stale']}, for a minute")


def send(board, service, **how):
    global seq
    seq += 1
    batch = Batch(seq, run=run, service=service, seed=1, **how)
    batch.produced = seq
    verdict, fields = board.try_batch(batch)
    if verdict != "acked":
        sys.exit(f"{service}: {verdict}: {fields}")


for service, hello, wall, boot_id, _ in cases:
    board = Board(state, address)
    board.hello(wall=hello, run=run)
    send(board, service, wall=wall, **({"boot_id": boot_id} if boot_id else {}))
    board.close()
# A second that the wall clock had twice: the window ends before it begins.
board = Board(state, address)
board.hello(run=run)
send(board, "a-leap-second", wall=NOW - HOUR, span_ns=-SECOND, boot_id=OTHER)
cases.append(("a-leap-second", 0, 0, OTHER, 0))
# A window of fifty years is cut to its last day, whose middle is twelve hours ago.
send(board, "fifty-years-long", wall=NOW, span_ns=50 * 365 * DAY, boot_id=OTHER)
board.close()
wrong = []
for service, _, _, _, before in cases:
    at = (time.time_ns() - before) / 1e9
    match = f'{{service="{service}"}}'
    around = ask("profile", match=match, **{"from": at - 120 - 3600 * (before > 2 * HOUR), "to": at + 60 + 3600 * (before > 2 * HOUR)})
    anywhere = ask("profile", match=match, **{"from": "-410d", "to": (NOW + 400 * DAY) / 1e9})
    if around["samples"] != 1 or anywhere["samples"] != 1:
        wrong.append(f"{service}: {around['samples']} where it should be, {anywhere['samples']} anywhere")
if wrong:
    sys.exit("\n".join(wrong))
dice = random.Random(1)
board = Board(state, address)
board.hello(run=run)
for i in range(days * 2):
    far = i % 4 == 3
    wall = dice.randrange(0, 2**63) if far else NOW - dice.randrange(0, days) * DAY
    send(board, "spread", wall=wall, boot_id=OTHER)
board.close()
found = ask("profile", match='{service="spread"}', **{"from": "-410d", "to": (NOW + 400 * DAY) / 1e9})["samples"]
if found != days * 2:
    sys.exit(f"of {days * 2} batches all over time {found} are found")
metrics = urllib.request.urlopen(f"{url}/metrics").read().decode()
files = int(next(line.split()[1] for line in metrics.split("\n") if line.startswith("fleetprof_store_day_files ")))
if files > days + 5:
    sys.exit(f"{files} day files for {days} days")
clocks = {board["clock"] for board in ask("boards")["boards"]}
print(f"  {len(cases)} clocks: each where it is to be; {days * 2} stamps all over time: {files} day files; clock: {', '.join(clocks)}")
