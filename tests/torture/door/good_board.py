#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""good_board.py STATE ADDRESS SECONDS [URL]: a small, honest batch every 50 ms, and with URL a question to the API after
each tenth, for SECONDS (which may be inf) or until SIGTERM.  Prints how long the acks, and the answers, took: count, median and longest of 99 % in milliseconds."""
import signal
import sys
import time
import urllib.request

from board import Batch, Board

state, address, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
url = sys.argv[4] if len(sys.argv) > 4 else None
ends = []
signal.signal(signal.SIGTERM, lambda *_: ends.append(True))
board = Board(state, address)
board.hello()
acks, answers = [], []
begun, seq = time.monotonic(), 0
while time.monotonic() - begun < seconds and not ends:
    seq += 1
    batch = Batch(seq, seed=1)
    batch.produced = seq
    at = time.monotonic()
    verdict, fields = board.try_batch(batch)
    if verdict != "acked":
        sys.exit(f"batch {seq} is {verdict}: {fields.get(3)}")
    acks.append(time.monotonic() - at)
    if url and seq % 10 == 0:
        at = time.monotonic()
        urllib.request.urlopen(f"{url}/api/v1/profile?limit=10", timeout=60).read()
        answers.append(time.monotonic() - at)
    time.sleep(0.05)


def told(name, times):
    times.sort()
    if times:
        print(f"{name} {len(times)} {times[len(times) // 2] * 1000:.1f} {times[int(len(times) * 0.99)] * 1000:.1f}")


told("acks", acks)
told("answers", answers)
