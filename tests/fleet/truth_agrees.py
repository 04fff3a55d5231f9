#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""truth_agrees.py TRUTH URL [SECONDS]: compares what simulated boards know (fleetsim --truth) with what the collector at
URL answers, number by number: each board's books, its weight, and the sums; all of it in the span of time in which it
was measured, and nothing outside of that.  Boards not called sim-... are somebody else's and left out.  Asks again for SECONDS
(10) while they differ.  Prints what they agree on, or the first differences and exit 1."""
import json
import sys
import time
import urllib.parse
import urllib.request

SLACK_SECONDS = 2  # of the board's message on its way, and of milliseconds
AT_ANY_TIME = "from=-400d&to=now"
OURS = "match=" + urllib.parse.quote('{board=~"sim-.*"}')


def ask(url, route):
    with urllib.request.urlopen(f"{url}/api/v1/{route}", timeout=120) as answer:
        return json.load(answer)


def read_truth(path):
    truth = {}
    lines = open(path).read().splitlines()
    _, begin, end = lines[0].split()
    span = f"from={float(begin) - SLACK_SECONDS:.3f}&to={float(end) + SLACK_SECONDS:.3f}"
    for line in lines[1:]:
        board, *numbers = line.split()
        produced, stored, ring_full, spool_full, weight, waiting = map(int, numbers)
        truth[board] = {"produced": produced, "stored": stored, "weight": weight, "pending": 0,
                        "ring_full": ring_full, "spool_full": spool_full, "waiting": waiting}
    return truth, span


def read_answers(url, span):
    said = {}
    for row in ask(url, f"loss?limit=100000&{OURS}")["boards"]:
        dropped = row["dropped"]
        said[row["board"]] = {"produced": row["produced"], "stored": row["stored"], "weight": 0,
                              "pending": dropped.pop("pending", 0), "ring_full": dropped.pop("ring_full", 0),
                              "spool_full": dropped.pop("spool_full", 0), "waiting": 0}
        for reason, count in dropped.items():
            said[row["board"]][reason] = count
    load = ask(url, f"load?by=board&limit=100000&{OURS}&{span}")
    for row in load["rows"]:
        said.setdefault(row["name"], {})["weight"] = row["weight"]
    return said, load["total"]


def differences(truth, span, url):
    said, total = read_answers(url, span)
    found = []
    for board in sorted(truth.keys() | said.keys()):
        mine, theirs = truth.get(board, {}), said.get(board, {})
        for key in sorted(mine.keys() | theirs.keys()):
            if mine.get(key, 0) != theirs.get(key, 0):
                found.append(f"{board}: {key} is {mine.get(key, 0)}, the collector says {theirs.get(key, 0)}")
    weight = sum(board["weight"] for board in truth.values())
    if total != weight:
        found.append(f"all boards: weight is {weight}, the collector says {total}")
    if not found:
        stored = sum(board["stored"] for board in truth.values())
        for when in (span, AT_ANY_TIME):
            samples = ask(url, f"profile?limit=1&{OURS}&{when}")["samples"]
            if samples != stored:
                found.append(f"all boards: stored {stored} samples, the answer of {when} holds {samples}")
    return found


def main():
    truth, span = read_truth(sys.argv[1])
    until = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 10)
    while found := differences(truth, span, sys.argv[2].rstrip("/")):
        if time.monotonic() > until:
            print("\n".join(found[:20]))
            print(f"{len(found)} differences")
            return 1
        time.sleep(0.5)
    sums = {key: sum(board[key] for board in truth.values()) for key in ("produced", "stored", "ring_full", "spool_full")}
    print(f"{len(truth)} boards agree: produced {sums['produced']} = stored {sums['stored']} + ring_full "
          f"{sums['ring_full']} + spool_full {sums['spool_full']}, every weight, and the time")
    return 0


sys.exit(main())
