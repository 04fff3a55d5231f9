#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bomb.py STATE ADDRESS SECONDS: batches full of new items (nodes, then threads, then modules, in
turn), as fast as they can be made, from a board that ignores answers and reconnects when it is
disconnected. Prints the outcomes."""
import sys
import time

from board import BATCH, PING, Batch, Board, Gone, blob, boottime_ns, column, fixed, number

state, address, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
KINDS = ({"nodes": 60000}, {"threads": 8192}, {"modules": 4096})
IN_FLIGHT = 4
counts = dict(acked=0, refused=0, later=0, away=0)
run = time.time_ns()
board, seq, made, lost = None, 0, 0, 0
SPOOL_FULL = 5  # of proto/loss.h
begun = time.monotonic()
while time.monotonic() - begun < seconds:
    try:
        if board is None:
            board = Board(state, address)
            board.hello(run=run)
        group, open_ones = [], 0
        for _ in range(IN_FLIGHT):
            seq += 1
            batch = Batch(seq, run=run, seed=seq + run, **KINDS[seq % len(KINDS)])
            made += batch.records
            open_ones += batch.records
            batch.produced = made
            board.send(BATCH, batch.envelope())
            group.append(batch)
        for batch in group:
            verdict, _ = board.answer_of(batch.seq)
            counts[verdict] += 1
            open_ones -= batch.records
            lost += batch.records if verdict == "later" else 0
    except Gone:
        counts["away"] += 1
        lost += open_ones
        board = None
        time.sleep(0.2)
# The last message: records neither stored nor rejected are lost.
try:
    if board is None:
        board = Board(state, address)
        board.hello(run=run)
    board.send(PING, number(1, boottime_ns()) + number(2, time.time_ns()) + blob(3, fixed(1, run) + number(2, made) + number(3, made - lost) + column(4, [0] * SPOOL_FULL + [lost])))
    board.hear()
except Gone:
    pass
print(" ".join(f"{name} {count}" for name, count in counts.items()))
