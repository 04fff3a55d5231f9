#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""malformed.py STATE ADDRESS [long]: every kind of malformed batch and frame. Each must be refused
for good, alone or with its connection; none may be acked. Prints the tests, or the first that was
accepted and exit 1."""
import struct
import sys

from board import ACK, BATCH, HELLO, PING, Batch, Board, Gone, blob, bomb, column, fixed, frame, number, stored, varint

state, address = sys.argv[1:3]
is_long = len(sys.argv) > 3
HUGE = 1 << 31
board, seq, tried, gone = None, 0, 0, 0


def fresh():
    global board
    if board:
        board.close()
    board = Board(state, address)
    board.hello()


def must_refuse(what, batch, **how):
    """BATCH has to come back refused for good."""
    global tried, gone
    tried += 1
    try:
        verdict, fields = board.try_batch(batch, **how)
    except Gone:
        gone += 1
        fresh()
        return
    if verdict != "refused":
        sys.exit(f"{what}: {verdict}: {fields}")


def must_end(what, data):
    """DATA has to end its connection."""
    global tried, gone
    tried += 1
    gone += 1
    try:
        board.send_bytes(data)
        while True:
            kind, fields = board.hear()
            if kind == ACK:
                sys.exit(f"{what}: acked")
    except Gone:
        fresh()
    except TimeoutError:
        sys.exit(f"{what}: neither taken nor refused")


def batch(**how):
    global seq
    seq += 1
    return Batch(seq, **how)


fresh()
# Bombs: more than announced, more than may be, and in many blocks.
must_refuse("a bomb of 1 GiB", batch(), zstd=bomb(1 << 30, 1 << 30), raw_len=8 << 20)
must_refuse("a bomb that says it is small", batch(), zstd=bomb(64 << 20, 1000), raw_len=1000)
must_refuse("8 MiB of zeros", batch(), zstd=bomb(8 << 20, 8 << 20), raw_len=8 << 20)
must_refuse("more than LIMIT_BATCH_RAW_BYTES", batch(), zstd=bomb(9 << 20, 9 << 20), raw_len=9 << 20)
must_refuse("no zstd at all", batch(), zstd=b"hello, world" * 10, raw_len=120)
must_refuse("an empty frame", batch(), zstd=b"", raw_len=10)
must_refuse("another length than announced", batch(), raw_len=7)
must_refuse("two frames", batch(), zstd=stored(batch().raw()) * 2)
# A wrong checksum: the flag is set, and four wrong bytes follow.
checked = bytearray(stored(Batch(1).raw()))
checked[4] |= 4
must_refuse("a bad checksum", batch(), zstd=bytes(checked) + b"\1\2\3\4")
# Impossible counts, and columns that do not match them.
for field, name in ((10, "nodes"), (14, "samples")):
    for count in (HUGE, HUGE - 1, (1 << 32) - 1, 131073 if field == 10 else 262145):
        one = batch()
        must_refuse(f"{count} {name}", one, raw=one.raw() + number(field, count) + number(40, 1))
one = batch()
must_refuse("a node above the root", one, raw=one.raw().replace(blob(11, b"\0"), blob(11, b"\5")))
one = batch()
must_refuse("an address of eleven bytes", one, raw=one.raw() + blob(13, b"\xff" * 10 + b"\1"))
one = batch()
must_refuse("a weight of 2^63", one, raw=one.raw() + column(19, [(1 << 64) - 1]))
one = batch()
must_refuse("a thread of no target", one, raw=one.raw() + blob(9, number(1, HUGE - 1)))
must_refuse("100 000 threads", batch(threads=8193))
must_refuse("5000 modules", batch(modules=4097))
one = batch()
must_refuse("another number of records", one, records=999)
one = batch()
must_refuse("seq 0", Batch(0))
one = batch()
must_refuse("another run inside", one, raw=Batch(one.seq, run=99).raw())
one = batch()
must_refuse("no end", one, raw=one.raw(end=False))
# Nesting: submessages in submessages, and a group that never ends.
deep = b""
for _ in range(20000):
    deep = blob(7, deep)
one = batch()
must_refuse("20 000 messages in each other", one, raw=one.raw() + deep[: 7 << 20])
one = batch()
must_refuse("20 000 groups", one, raw=one.raw() + varint(50 << 3 | 3) * 20000)
one = batch()
must_refuse("a million empty modules", one, raw=one.raw() + b"\x3a\0" * 1000000)
one = batch()
must_refuse("strings that are no UTF-8", one, raw=one.raw() + blob(9, blob(2, b"\xc3\x28")))
# Cut at each byte, and then each byte another.
whole = Batch(1).raw()
for cut in range(len(whole)):
    must_refuse(f"cut at {cut}", batch(), raw=whole[:cut])
packed = stored(Batch(1).raw())
for cut in range(0, len(packed), 1 if is_long else 5):
    must_refuse(f"compressed and cut at {cut}", batch(), zstd=packed[:cut], raw_len=len(whole))
# Frames.
must_end("a length of 2^31", struct.pack(">IB", HUGE, BATCH) + b"x" * 100)
must_end("a length of 2^32 - 1", struct.pack(">IB", (1 << 32) - 1, PING))
must_end("an unknown type", struct.pack(">IB", 1, 99) + b"x")
must_end("a second hello", frame(HELLO, number(1, 1)))
must_end("what only collectors say", frame(ACK, fixed(1, 1)))
must_end("an envelope that is none", frame(BATCH, b"\xff" * 64))
must_end("a ping that is none", frame(PING, b"\x08" + b"\xff" * 11))
must_end("an inflated length beyond the limit", frame(BATCH, batch().envelope(raw_len=(8 << 20) + 1)))
# After all that it is an ordinary board.
verdict, fields = board.try_batch(batch())
if verdict != "acked":
    sys.exit(f"an honest batch after all is {verdict}: {fields}")
board.close()
print(f"{tried} hostile batches and frames, {gone} of which ended their connection")
