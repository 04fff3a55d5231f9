#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Reads, makes and damages the segment files of a spool (proto/spool_segment.h), for the scenarios
# beside it.
#
#   spool_files.py count DIR                   prints "batches samples bytes" of the pending batches
#   spool_files.py copies DIR SOURCE BYTES     fills DIR with copies of SOURCE, which is one run, each as another run
#   spool_files.py poison DIR                  puts two batches that no collector can read into the middle of each run
#   spool_files.py older DIR BATCH             puts the raw batch in the file BATCH before all
#   spool_files.py spoil DIR KIND              noise, zeros, version, cut, huge, length, flips: to the oldest good segment
import ctypes
import os
import random
import struct
import sys

HEADER = struct.Struct("<IHHQQQIII")  # magic version kind run seq records raw_len zstd_len payload_crc, then its own crc
MAGIC, VERSION, BATCH, MARK = 0x31535046, 1, 1, 3
zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = zstd.ZSTD_compress.restype = ctypes.c_size_t


TABLE = []
for first in range(256):
    value = first
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    TABLE.append(value)


def checksum(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def entry(run, seq, records, raw_len, payload, kind=BATCH, version=VERSION):
    header = HEADER.pack(MAGIC, version, kind, run, seq, records, raw_len, len(payload), checksum(payload))
    return header + struct.pack("<I", checksum(header)) + payload


def call(function, data, room, *more):
    out = ctypes.create_string_buffer(room)
    size = function(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), *more)
    return out.raw[:size]


def as_run(one, run):
    """The batch with another run's number in it: it stands in its books, as it does in the envelope."""
    before, seq, records, raw_len, payload = one
    raw = call(zstd.ZSTD_decompress, payload, raw_len).replace(struct.pack("<Q", before), struct.pack("<Q", run))
    return run, seq, records, raw_len, call(zstd.ZSTD_compress, raw, 2 * raw_len + 1000, 1)


def entries(path):
    if os.path.getsize(path) >= 1 << 30:
        return []
    data, at, found = open(path, "rb").read(), 0, []
    while at + 48 <= len(data):
        magic, version, kind, run, seq, records, raw_len, length, _ = HEADER.unpack_from(data, at)
        if magic != MAGIC or version != VERSION:
            break
        payload = data[at + 48 : at + 48 + length]
        at += 48 + length
        found = [] if kind == MARK else found + [(run, seq, records, raw_len, payload)] if kind == BATCH else found
    return found


def segments(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".seg"))


def good(path):
    found = entries(path)
    return found and sum(48 + len(one[4]) for one in found) == os.path.getsize(path)


def count(folder):
    waiting = [one for path in segments(folder) for one in entries(path)]
    print(len(waiting), sum(one[2] for one in waiting), sum(os.path.getsize(path) for path in segments(folder)))


def copies(folder, source, most):
    os.makedirs(folder, mode=0o700, exist_ok=True)
    batches, total, number = entries(source), 0, 1
    while True:
        run = random.getrandbits(63) | 1 << 63
        segment = b"".join(entry(*as_run(one, run)) for one in batches)
        if total + len(segment) > int(most):
            return
        with open(os.path.join(folder, "%016x.seg" % number), "wb") as file:
            file.write(segment)
        number, total = number + 1, total + len(segment)


def poison(folder):
    for path in segments(folder):
        whole = entries(path)
        if not whole:
            continue
        run, _, _, raw_len, payload = whole[0]
        bad = [(run, 1000001, 7, 100, b"this is no frame of zstd"), (run, 1000002, 9, raw_len + 1, payload)]
        middle = len(whole) // 2
        with open(path, "wb") as file:
            for one in whole[:middle] + bad + whole[middle:]:
                file.write(entry(*one))


def cells(column):
    value = shift = 0
    for byte in column:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def older(folder, batch):
    """Of the message it reads only what the envelope repeats: the books (6), their run (1), and how many records each sample stands for (18)."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "door"))
    from board import read_fields
    raw = open(batch, "rb").read()
    fields = read_fields(raw)
    run, seq = read_fields(fields[6])[1], 1
    for path in reversed(segments(folder)):
        number = int(os.path.basename(path)[:16], 16) + 1
        os.rename(path, os.path.join(folder, "%016x.seg" % number))
    with open(os.path.join(folder, "%016x.seg" % 1), "wb") as file:
        file.write(entry(run, seq, sum(cells(fields[18])), len(raw), call(zstd.ZSTD_compress, raw, 2 * len(raw) + 1000, 1)))


def spoil(folder, kind):
    path = next(one for one in segments(folder) if good(one))
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        if kind == "noise":
            file.write(random.randbytes(size))
        elif kind == "zeros":
            file.write(bytes(size))
        elif kind == "cut":
            file.truncate(size * 2 // 3)
        elif kind == "huge":
            file.truncate(1 << 40)
        elif kind == "version":
            first = entries(path)[0]
            file.write(entry(*first, version=VERSION + 1))
        elif kind == "length":
            header = bytearray(file.read(44))
            header[36:40] = b"\xff" * 4
            file.seek(0)
            file.write(header + struct.pack("<I", checksum(bytes(header))))
        elif kind == "flips":
            for _ in range(5):
                at = random.randrange(size)
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 1 << random.randrange(8)]))


{"count": count, "copies": copies, "poison": poison, "older": older, "spoil": spoil}[sys.argv[1]](*sys.argv[2:])
