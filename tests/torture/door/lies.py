#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""lies.py STATE ADDRESS: well-formed batches with impossible values. Each has to be refused for
good, and honest batches between them are accepted. The weights and counts add up to 2^64 together
with those of a board that sent 1000 samples of 10 ms of the service `shop`. Prints how many were
refused, and the content of the honest ones: batches, samples and nanoseconds."""
import sys
import time

from board import PING, Batch, Board, blob, boottime_ns, column, fixed, number, zigzag

DAY = 86400 * 10**9
board = Board(*sys.argv[1:3])
run, seq, refused, honest = time.time_ns(), 0, 0, 0
board.hello(run=run)


def batch(**how):
    global seq
    seq += 1
    one = Batch(seq, run=run, service="shop", seed=1, **how)
    one.produced = seq
    return one


def must_refuse(what, one, **how):
    global refused
    verdict, fields = board.try_batch(one, **how)
    if verdict != "refused":
        sys.exit(f"{what}: {verdict}: {fields}")
    refused += 1


def must_take(cpus=None):
    global honest
    one = batch()
    verdict, fields = board.try_batch(one, raw=one.raw() + (number(38, cpus) if cpus else b""))
    if verdict != "acked":
        sys.exit(f"an honest batch is {verdict}: {fields}")
    honest += 1


def with_cells(one, field, cell):
    return one.raw() + column(field, [cell])


must_take()
for part in range(5):
    one = batch()
    must_refuse("a fifth of 2^64 ns", one, raw=with_cells(one, 19, zigzag(((1 << 64) - 10**10) // 5)))
    one = batch()
    one.produced = (1 << 63) - 1
    must_refuse("a fifth of 2^64 samples", one, raw=with_cells(one, 18, ((1 << 64) - 1000) // 5), records=((1 << 64) - 1000) // 5)
    one = batch()
    must_refuse("2^62 ns", one, raw=with_cells(one, 19, zigzag(1 << 62)))
must_take()
one = batch()
must_refuse("an hour of 8192 CPUs and a minute more, in a second", one, raw=with_cells(one, 19, zigzag(8192 * 3600 * 10**9)) + number(38, 4))
one = batch()
one.produced = (1 << 63) - 1
must_refuse("2^63 samples made", one)
other = Batch(1, run=run + 1, service="shop", seed=1)
other.produced = 0
must_refuse("fewer samples made than stored", other)
must_refuse("two days after now, since boot", batch(boot=boottime_ns() + 2 * DAY))
one = batch()
must_refuse("9000 CPUs", one, raw=one.raw() + number(38, 9000))
one = batch()
must_refuse("more CPUs than --board-cpus-max", one, raw=one.raw() + number(38, 1025))
one = batch(threads=4)
one.produced = seq + 3
targets = b"".join(blob(8, blob(1, f"shop{i}") + blob(2, "/bin/x") + number(3, 1) + blob(5, "perf")) for i in range(4))
threads = b"".join(blob(9, number(1, i) + blob(2, "t")) for i in range(4))
weights = column(19, [zigzag(100 * 10**9), 0, 0, 0])  # of a window of a second: a minute of two CPUs, twice, is 244 s
must_refuse("100 s of 2 CPUs in a second for each of four programs", one, raw=one.raw(parts={8: targets, 9: threads, 19: weights}) + number(38, 2))
must_take(cpus=2)
must_take(cpus=1000)
must_take(cpus=4)
board.send(PING, number(1, boottime_ns()) + number(2, time.time_ns()) + blob(3, fixed(1, run) + number(2, 1 << 62)))
must_take()  # the collector heeds only the last of two pings that wait
board.send(PING, number(1, boottime_ns()) + number(2, time.time_ns()) + blob(3, fixed(1, run) + number(2, 1) + column(4, [1 << 40])))
must_take()
board.send(PING, number(1, boottime_ns()) + number(2, time.time_ns()) + blob(3, fixed(1, run) + number(2, seq) + number(3, seq)))
board.hear()
board.close()
print(refused, honest, honest, honest * 10**7)
