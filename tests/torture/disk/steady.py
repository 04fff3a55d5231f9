#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""steady.py STATE ADDRESS ACKED STOP: a board that sends one batch after the other, each until it is acked, and then writes its number
to ACKED; ends after the batch during which the file STOP appeared."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../door"))
from board import Batch, Board, Gone  # noqa: E402

RUN = 89
state, address, acked, stop = sys.argv[1:]
board = None


def try_once(batch):
    """Whether BATCH was acked."""
    global board
    try:
        if board is None:
            board = Board(state, address, patience=120)
            board.hello(run=RUN)
        verdict, _ = board.try_batch(batch)
        assert verdict != "refused", f"batch {batch.seq} is refused for good"
        return verdict == "acked"
    except (Gone, OSError):
        board = None
        return False


seq = 0
with open(acked, "a", buffering=1) as log:
    while not os.path.exists(stop):
        seq += 1
        batch = Batch(seq, run=RUN, service="work")
        batch.produced = seq
        while not try_once(batch):
            time.sleep(0.2)
        print(seq, file=log)
