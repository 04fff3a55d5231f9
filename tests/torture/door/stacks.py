#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""stacks.py STATE ADDRESS COUNT [OF_BATCH]: a board that was never profiled like this: COUNT stacks, each of another place in code and
with a sample, over the minutes before now, OF_BATCH in one batch (as many as it takes).  Prints how many are stored."""
import sys
import time

from board import Batch, Board, boottime_ns

state, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
NODES = int(sys.argv[4]) if len(sys.argv) > 4 else 90000  # LIMIT_BATCH_ZSTD_BYTES, since nothing is compressed here
run = time.time_ns()
board = Board(state, address)
board.hello(run=run)
produced = 0
for seq in range(1, (count + NODES - 1) // NODES + 1):
    nodes = min(NODES, count - produced)
    ago = (seq + 1) * 60 * 10**9
    batch = Batch(seq, run=run, nodes=nodes, seed=seq, wall=time.time_ns() - ago, boot=boottime_ns() - ago, is_bush=True)
    produced += nodes
    batch.produced = produced
    verdict, fields = board.try_batch(batch)
    if verdict != "acked":
        sys.exit(f"batch {seq} is {verdict}: {fields.get(3)}")
print(produced)
