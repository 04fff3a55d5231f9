#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""strangers_names.py STATE ADDRESS [terminal]: a board whose service, program, thread and module
have impossible names: with a NUL, in invalid UTF-8, and of 100 KB; or names with a terminal's
control sequences. Prints the outcome of each batch: accepted, or refused for good."""
import sys

from board import Batch, Board, blob, number

NAMES = {"a NUL": b"nul\0</script><script>alert(9)</script>", "no UTF-8": b"<b>\xff\xfe\xc0\xaf\xed\xa0\x80", "100 KB": b"<b>" * 33334,
         "a whole name": "<b>liar\u202e</b>".encode()}
if "terminal" in sys.argv:
    NAMES = {"escapes": b"esc\x1b[2J\x1b]0;title\x07", "of two bytes": "c1\u009b31m".encode(), "turned": "turn\u202etxt\u2066".encode(),
             "lines": b"one\r\ntwo\x7f"}
board = Board(*sys.argv[1:3])
board.hello()
said = []
for seq, (what, name) in enumerate(NAMES.items(), 1):
    batch = Batch(seq)
    batch.produced = seq
    named = {8: blob(8, blob(1, name) + blob(2, b"/bin/" + name) + number(3, 1) + blob(5, "perf")), 9: blob(9, blob(2, name)),
             7: blob(7, blob(1, bytes(20)) + blob(2, b"/lib/" + name))}
    verdict, _ = board.try_batch(batch, raw=batch.raw(parts=named))
    if verdict == "later":
        sys.exit(f"{what}: it is to come later")
    said.append(f"{what}: {verdict}")
print(", ".join(said))
board.close()
