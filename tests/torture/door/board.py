# SPDX-License-Identifier: Apache-2.0
"""A board that sends what its tester needs: the protocol of proto/WIRE.md by hand, with zstd frames
whose blocks are raw or one byte repeated, so that only Python is needed. STATE is a folder that
`fleetprof enroll` filled."""
import random
import select
import socket
import ssl
import struct
import time

HELLO, WELCOME, BATCH, ACK, REJECT, WANTED, CHUNK, END, PING, PONG = range(1, 11)
RUN = 0x5eed


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def fixed(field, value):
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def blob(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def column(field, cells):
    return blob(field, b"".join(map(varint, cells)))


def zigzag(value):
    return value << 1 if value >= 0 else (-value << 1) - 1


def stored(data):
    """DATA as a zstd frame of raw blocks."""
    out = bytearray(struct.pack("<IBQ", 0xFD2FB528, 0xC0 | 0x20, len(data)))
    for at in range(0, max(len(data), 1), 1 << 17):
        piece = data[at : at + (1 << 17)]
        out += struct.pack("<I", len(piece) << 3 | (at + len(piece) >= len(data)))[:3] + piece
    return bytes(out)


def bomb(size, announced):
    """A zstd frame of SIZE zero bytes that says it holds ANNOUNCED."""
    out = bytearray(struct.pack("<IBQ", 0xFD2FB528, 0xC0 | 0x20, announced))
    while size > 0:
        piece = min(size, 1 << 17)
        size -= piece
        out += struct.pack("<I", piece << 3 | 1 << 1 | (size == 0))[:3] + b"\0"
    return bytes(out)


def frame(kind, payload):
    return struct.pack(">IB", len(payload), kind) + payload


def read_fields(payload):
    """The fields of a message by number; of a repeated one the last."""
    fields, at = {}, 0

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = payload[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(payload):
        key = take()
        if key & 7 == 0:
            fields[key >> 3] = take()
        elif key & 7 == 1:
            fields[key >> 3] = struct.unpack_from("<Q", payload, at)[0]
            at += 8
        else:
            size = take()
            fields[key >> 3] = payload[at : at + size]
            at += size
    return fields


def boottime_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Batch:
    """One window: what is not said otherwise is small and right."""

    def __init__(self, seq, run=RUN, nodes=1, threads=1, modules=1, seed=None, wall=None, boot=None, boot_id=b"\7" * 16, span_ns=10**9, service="board", is_bush=False):
        self.dice = random.Random(seed if seed is not None else seq)
        self.is_bush = is_bush  # a sample at each node instead of one of each thread at the first
        self.seq, self.run, self.records = seq, run, nodes if is_bush else threads
        self.nodes, self.threads, self.modules = nodes, threads, modules
        self.boot_id, self.span_ns, self.service = boot_id, span_ns, service
        self.wall = time.time_ns() if wall is None else wall
        self.boot = boottime_ns() if boot is None else boot
        self.produced = None  # the run's, with this one

    def counters(self):
        produced = self.records if self.produced is None else self.produced
        return fixed(1, self.run) + number(2, produced) + number(3, produced)

    def raw(self, end=True, parts=None):
        name = "%016x" % self.dice.getrandbits(64)
        fields = {
            1: blob(1, self.boot_id),
            2: number(2, max(self.boot - abs(self.span_ns), 0)),
            3: number(3, self.boot),
            4: number(4, max(self.wall - self.span_ns, 0)),
            5: number(5, self.wall),
            6: blob(6, self.counters()),
            7: b"".join(blob(7, blob(1, self.dice.getrandbits(160).to_bytes(20, "big")) + blob(2, "/bin/x")) for _ in range(self.modules)),
            8: blob(8, blob(1, self.service) + blob(2, "/bin/x") + number(3, 1) + blob(5, "perf")),
            9: b"".join(blob(9, blob(2, name[:12] + str(i))) for i in range(self.threads)),
            10: number(10, self.nodes),
            # all are roots: for each node after the first the depth rises by one
            11: blob(11, b"\0" + b"\1" * (self.nodes - 1)),
            12: blob(12, b"\1" + b"\0" * (self.nodes - 1)),
            13: self.addresses(),
            14: number(14, self.records),
            15: blob(15, b"\0" + bytes([self.is_bush]) * (self.records - 1)),
            16: blob(16, bytes(self.records)) if self.is_bush else column(16, range(self.threads)),
            17: blob(17, bytes(self.records)),
            18: blob(18, b"\1" * self.records),
            19: column(19, [zigzag(10**7)] + [0] * (self.records - 1)),
            40: number(40, 1) if end else b"",
        }
        fields.update(parts or {})
        return b"".join(fields[key] for key in sorted(fields))

    def addresses(self):
        if self.nodes == 1:
            return column(13, [zigzag(0x1000)])
        cells = [zigzag(self.dice.getrandbits(40))] + [zigzag(self.dice.getrandbits(24) + 1) for _ in range(self.nodes - 1)]
        return column(13, cells)

    def envelope(self, raw=None, zstd=None, raw_len=None, records=None):
        raw = self.raw() if raw is None else raw
        zstd = stored(raw) if zstd is None else zstd
        return (fixed(1, self.run) + number(2, self.seq) + number(3, self.records if records is None else records)
                + number(4, len(raw) if raw_len is None else raw_len) + blob(5, zstd))


class Gone(Exception):
    """The collector has ended the connection."""


class Board:
    def __init__(self, state, address, patience=20):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(f"{state}/ca.pem")
        context.load_cert_chain(f"{state}/board.pem", f"{state}/board.key")
        context.set_alpn_protocols(["fleetprof/1"])
        host, port = address.rsplit(":", 1)
        self.line = context.wrap_socket(socket.create_connection((host, int(port)), timeout=patience))
        self.input = b""

    def send(self, kind, payload):
        self.send_bytes(frame(kind, payload))

    def send_bytes(self, data):
        try:
            self.line.sendall(data)
        except OSError as error:
            raise Gone(str(error)) from None

    def hello(self, wall=None, boot=None, boot_id=b"\7" * 16, run=RUN):
        self.send(HELLO, number(1, 1) + blob(2, boot_id) + number(3, boottime_ns() if boot is None else boot)
                  + number(4, time.time_ns() if wall is None else wall) + blob(5, "0") + blob(6, "x86_64")
                  + blob(11, fixed(1, run)))
        kind, fields = self.hear()
        if kind != WELCOME:
            raise Gone(fields.get(3, b"").decode())
        return fields

    def has_input(self):
        return len(self.input) > 0 or self.line.pending() > 0 or bool(select.select([self.line], [], [], 0)[0])

    def hear(self):
        """The next frame: its type and its fields."""
        while len(self.input) < 5 or len(self.input) < 5 + struct.unpack_from(">I", self.input)[0]:
            try:
                more = self.line.recv(65536)
            except socket.timeout:
                raise
            except OSError as error:
                raise Gone(str(error)) from None
            if not more:
                raise Gone("closed")
            self.input += more
        size, kind = struct.unpack_from(">IB", self.input)
        payload, self.input = self.input[5 : 5 + size], self.input[5 + size :]
        return kind, read_fields(payload)

    def answer_of(self, seq):
        """What becomes of batch SEQ: "acked", "refused" (for good) or "later", and the answer's fields."""
        while True:
            kind, fields = self.hear()
            if kind == ACK and fields.get(2, 0) == seq:
                return "acked", fields
            if kind == REJECT and 1 not in fields or kind == REJECT and fields.get(1) == 0:
                raise Gone(fields.get(3, b"").decode())
            if kind == REJECT and fields.get(2, 0) == seq:
                return ("refused" if fields.get(4) else "later"), fields

    def try_batch(self, batch, **how):
        self.send(BATCH, batch.envelope(**how))
        return self.answer_of(batch.seq)

    def close(self):
        self.line.close()
