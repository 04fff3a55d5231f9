#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""proxy.py LISTEN CONNECT FIGURES: a TCP proxy between boards and a collector that does what middle boxes do.  A line
on stdin is the mode from now on, for lines that exist, too:

    pass                  bytes go through
    lose-acks SECONDS     a board is let in and heard, but from its first batch on nothing comes back; after so many
                          seconds (0: never) both sides get an RST
    reset                 now and then both sides get an RST in the middle of a TLS record
    slow BYTES            so many bytes a second are read of what a board sends
    deaf                  nothing is read of what a board sends, from its first batch on
    half-open             nothing gets through either way, and nobody is told; new lines are taken and left alone

Ends with its stdin.  FIGURES gets a line whenever something changes: lines, resets in a record, lost bytes, most bytes held."""
import random
import socket
import struct
import sys
import threading
import time

TICK = 0.05  # seconds
CHUNK = 65536
RECORD_HEAD = 5  # of TLS: type, version, length


def endpoint(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


class Proxy:
    def __init__(self, listen, connect, figures):
        self.mode, self.number = "pass", 0.0
        self.connect, self.figures_path = connect, figures
        self.figures = {"lines": 0, "resets": 0, "in_record": 0, "lost_bytes": 0}
        self.lock = threading.Lock()
        self.door = socket.socket()
        self.door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Small, so a board soon notices that the proxy does not read.
        self.door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.door.bind(listen)
        self.door.listen(256)

    def count(self, **more):
        with self.lock:
            for name, number in more.items():
                self.figures[name] += number
            with open(self.figures_path + ".new", "w") as file:
                file.write(" ".join(f"{name}={number}" for name, number in self.figures.items()) + "\n")
            import os
            os.rename(self.figures_path + ".new", self.figures_path)

    def run(self):
        self.count()
        threading.Thread(target=self.accept, daemon=True).start()
        for line in sys.stdin:
            words = line.split() + ["0"]
            self.mode, self.number = words[0], float(words[1])

    def accept(self):
        while True:
            board, _ = self.door.accept()
            self.count(lines=1)
            Line(self, board)


class Line:
    """One connection through the proxy.  A flight is what one side says before the other speaks: a board's first is
    ClientHello, its second ends with Hello, and its third begins with a batch."""

    def __init__(self, proxy, board):
        self.proxy, self.board, self.collector = proxy, board, None
        self.flight, self.speaker = 0, None
        self.batches_at = None
        self.is_cut = False
        threading.Thread(target=self.begin, daemon=True).start()

    def begin(self):
        while self.proxy.mode == "half-open":
            time.sleep(TICK)
        try:
            self.collector = socket.create_connection(self.proxy.connect, timeout=5)
        except OSError:
            self.cut()
            return
        for side in (self.board, self.collector):
            side.settimeout(TICK)
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self.carry, args=(self.collector, self.board), daemon=True).start()
        self.carry(self.board, self.collector)

    def cut(self):
        """RST to both."""
        self.is_cut = True
        for side in (self.board, self.collector):
            if side is None:
                continue
            try:
                side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                side.shutdown(socket.SHUT_RD)  # whoever waits in recv goes on
            except OSError:
                pass
            side.close()

    def note(self, side):
        if side is self.speaker:
            return
        self.speaker = side
        self.flight += side is self.board
        if self.flight == 3 and self.batches_at is None:
            self.batches_at = time.monotonic()

    def is_due(self):
        proxy = self.proxy
        return (proxy.mode == "lose-acks" and proxy.number > 0 and self.batches_at is not None
                and time.monotonic() >= self.batches_at + proxy.number)

    def holds_back(self, source):
        mode = self.proxy.mode
        return mode == "half-open" or mode == "deaf" and source is self.board and self.batches_at is not None

    def carry(self, source, sink):
        try:
            while not self.is_cut:
                if self.is_due():
                    self.proxy.count(resets=1)
                    return self.cut()
                if self.holds_back(source):
                    time.sleep(TICK)
                    continue
                self.step(source, sink)
        except (OSError, EOFError):
            if not self.is_cut:
                self.close(sink)

    def step(self, source, sink):
        is_slow = self.proxy.mode == "slow" and source is self.board and self.batches_at is not None
        try:
            data = source.recv(max(1, int(self.proxy.number * TICK)) if is_slow else CHUNK)
        except socket.timeout:
            return
        if not data:
            raise EOFError
        self.note(source)
        if is_slow:
            time.sleep(TICK)
        if self.proxy.mode == "lose-acks" and source is self.collector and self.batches_at is not None:
            self.proxy.count(lost_bytes=len(data))
        elif self.proxy.mode == "reset" and source is self.board and self.batches_at is not None:
            self.break_record(data, sink)
        else:
            self.send(sink, data)

    def break_record(self, data, sink):
        """What is read at once begins with a record's head, as boards write whole records."""
        at = RECORD_HEAD + (len(data) - RECORD_HEAD) // 2
        is_whole = len(data) <= RECORD_HEAD or data[0] != 23 or random.random() < 0.3
        self.send(sink, data if is_whole else data[:at])
        if is_whole:
            return
        time.sleep(random.random() * 0.02)
        self.proxy.count(resets=1, in_record=1)
        self.cut()

    def send(self, sink, data):
        sink.settimeout(None)
        sink.sendall(data)
        sink.settimeout(TICK)

    def close(self, sink):
        self.is_cut = True
        for side in (self.board, self.collector):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            side.close()


proxy = Proxy(endpoint(sys.argv[1]), endpoint(sys.argv[2]), sys.argv[3])
proxy.run()
