# SPDX-License-Identifier: Apache-2.0
"""An enrolled board that sends arbitrary files, over the protocol of real boards (proto/WIRE.md).

A batch names an unknown module, the collector requests its file, and gets one in pieces. The
collector's last message is the reason of the refusal, or empty.
"""
import hashlib
import os
import socket
import ssl
import struct
import time

HELLO, WELCOME, ENVELOPE, WANTED, CHUNK, END = 1, 2, 3, 6, 7, 8
PIECE_BYTES, BLOCK_BYTES = 256 << 10, 128 << 10


def varint(value):
    out = b""
    while True:
        out += bytes([value & 0x7f | (0x80 if value > 0x7f else 0)])
        value >>= 7
        if not value:
            return out


def zigzag(value):
    return varint(value << 1 if value >= 0 else -value << 1 | 1)


def field(number, value):
    """VALUE, a number or bytes, as field NUMBER of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", value)


def fields(message):
    """The fields of MESSAGE by number, the last of each."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 2:
            size = number()
            found[key >> 3] = message[at:at + size]
            at += size
        elif key & 7 == 0:
            found[key >> 3] = number()
        else:
            size = 8 if key & 7 == 1 else 4
            found[key >> 3] = message[at:at + size]
            at += size
    return found


def zstd(data):
    """DATA as a zstd frame of raw blocks."""
    out = struct.pack("<IBI", 0xfd2fb528, 0xa0, len(data))
    for at in range(0, len(data), BLOCK_BYTES) or [0]:
        block = data[at:at + BLOCK_BYTES]
        out += struct.pack("<I", (at + BLOCK_BYTES >= len(data)) | len(block) << 3)[:3] + block
    return out


class Board:
    def __init__(self, state, port):
        tls = ssl.create_default_context(cafile=f"{state}/ca.pem")
        tls.check_hostname = False  # the CA is the fleet's own
        tls.load_cert_chain(f"{state}/board.pem", f"{state}/board.key")
        tls.set_alpn_protocols(["fleetprof/1"])
        self.socket = tls.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=120))
        self.boot, self.run, self.seq = os.urandom(16), int.from_bytes(os.urandom(7), "little") + 1, 0
        self.say(HELLO, field(1, 1) + field(2, self.boot) + field(3, self.now()) + field(4, time.time_ns()) +
                 field(5, "0") + field(6, "x86_64") + field(7, "6") + field(11, fixed(1, self.run)))
        self.hear(WELCOME)

    def now(self):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def say(self, kind, payload):
        self.socket.sendall(struct.pack(">IB", len(payload), kind) + payload)

    def take(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise ConnectionError("the collector has closed")
            data += more
        return data

    def hear(self, wanted):
        """The next message of the kind WANTED, by field."""
        while True:
            size, kind = struct.unpack(">IB", self.take(5))
            payload = self.take(size)
            if kind == wanted:
                return fields(payload)

    def name(self, identity, path):
        """Ships a sample in a module that nobody has a file of."""
        self.seq += 1
        counters = fixed(1, self.run) + field(2, self.seq)
        start, wall = self.now() - 2_000_000_000, time.time_ns() - 2_000_000_000
        batch = field(1, self.boot) + field(2, start) + field(3, start + 1_000_000_000) + field(4, wall)
        batch += field(5, wall + 1_000_000_000) + field(6, counters)
        batch += field(7, field(1, identity) + field(2, path) + field(3, 4096))
        batch += field(8, field(1, "stranger") + field(2, path) + field(3, 1) + field(5, "perf") + field(6, 99000))
        batch += field(9, field(2, "stranger")) + field(10, 1) + field(11, b"\0") + field(12, b"\1")
        batch += field(13, zigzag(0x1000)) + field(14, 1) + field(15, b"\0") + field(16, b"\0")
        batch += field(17, b"\0") + field(18, b"\1") + field(19, zigzag(10101010)) + field(40, 1)
        self.say(ENVELOPE, fixed(1, self.run) + field(2, self.seq) + field(3, 1) + field(4, len(batch)) + field(5, zstd(batch)))

    def send(self, data, identity, path):
        """Gives DATA as the file of the module IDENTITY.  Returns why it was refused; "": it was not."""
        sha256 = hashlib.sha256(data).digest()
        self.name(identity, path)
        asked = self.hear(WANTED)
        if asked[1] != identity:
            raise ConnectionError("another file is asked for")
        for at in range(0, len(data), PIECE_BYTES):
            piece = data[at:at + PIECE_BYTES]
            self.say(CHUNK, field(1, identity) + field(2, at) + field(3, len(data)) + field(4, sha256) +
                     field(5, len(piece)) + field(6, zstd(piece)))
        return self.hear(END).get(2, b"").decode()
