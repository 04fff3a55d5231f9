#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a recording one that `perf script` unwinds as well as it can, with fewer bytes of each stack; in place.

  perf_input.py FILE BYTES

Of files that `perf record --call-graph dwarf` wrote on x86-64. Three things change:
  the copies of stacks are cut to BYTES;
  the kernel's chains along frame pointers (ask_for_chains.c) go: perf would print them before its own callers;
  what a process had mapped before an exec goes: perf 6.1 keeps it, and then stops in libraries of both.
"""
import mmap
import struct
import sys

MMAP, COMM, THROTTLE, FORK, SAMPLE, MMAP2 = 1, 3, 5, 7, 9, 10  # THROTTLE: perf does nothing about it
COMM_EXEC, CONTEXT_USER = 1 << 13, 2**64 - 512
IP, TID, TIME, ADDR, ID, STREAM, CPU, PERIOD = 1, 2, 4, 8, 1 << 6, 1 << 9, 1 << 7, 1 << 8
IDENTIFIER, CALLCHAIN, DATA_SRC = 1 << 16, 1 << 5, 1 << 15


def records(data):
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        yield at, kind, misc, length
        at += length


def cut_sample(data, at, length, fields, limit):
    if fields & CALLCHAIN:
        chain = at + 8 + 8 * sum(bool(fields & bit) for bit in (IP, TID, TIME, ADDR, ID, STREAM, CPU, PERIOD, IDENTIFIER))
        (count,) = struct.unpack_from("<Q", data, chain)
        for i in range(count):
            struct.pack_into("<Q", data, chain + 8 + 8 * i, CONTEXT_USER)
    used = at + length - (16 if fields & DATA_SRC else 8)
    (copied,) = struct.unpack_from("<Q", data, used)
    struct.pack_into("<Q", data, used, min(copied, limit))


def forget_mappings_before_exec(data, fields):
    behind = 8 * sum(bool(fields & bit) for bit in (TIME, ID, STREAM, CPU, IDENTIFIER))  # the last fields, from the time on
    found = [record for record in records(data) if record[1] in (MMAP, MMAP2, COMM, FORK)]
    timed = sorted((struct.unpack_from("<Q", data, at + length - behind)[0], at, kind, misc) for at, kind, misc, length in found)
    execs = {}
    for time, at, kind, misc in timed:
        if kind == COMM and misc & COMM_EXEC:
            execs[struct.unpack_from("<I", data, at + 8)[0]] = time
    for time, at, kind, misc in timed:
        pid, parent = struct.unpack_from("<II", data, at + 8)
        is_other = kind in (MMAP, MMAP2) or (kind == FORK and pid != parent)
        if is_other and time < execs.get(pid, 0):
            struct.pack_into("<I", data, at, THROTTLE)


with open(sys.argv[1], "r+b") as file:
    contents = mmap.mmap(file.fileno(), 0)
    (attributes,) = struct.unpack_from("<Q", contents, 24)
    (asked,) = struct.unpack_from("<Q", contents, attributes + 24)
    for place, kind_of, _, bytes_of in records(contents):
        if kind_of == SAMPLE:
            cut_sample(contents, place, bytes_of, asked, int(sys.argv[2]))
    forget_mappings_before_exec(contents, asked)
