#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""ask.py PORT PATH COUNT close|half|read [TOKEN [NAME]]: asks COUNT times at once, for a packed answer.  `close` asks once, the
other times when a line comes on stdin, and closes all at the next line, every second one by a reset; `half` ends its own direction; both others print the statuses that come, one a
line, `read` in the order in which they come, with NAME before each."""
import select
import socket
import struct
import sys

port, path, count, how = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
token = f"Authorization: Bearer {sys.argv[5]}\r\n" if len(sys.argv) > 5 and sys.argv[5] else ""
name = [sys.argv[6]] if len(sys.argv) > 6 else []
lines = []
for i in range(count):
    if how == "close" and i == 1:
        sys.stdin.readline()
    line = socket.create_connection(("127.0.0.1", port))
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{token}Accept-Encoding: gzip\r\nConnection: close\r\n\r\n".encode())
    lines.append(line)
if how == "close":
    sys.stdin.readline()
    for i, line in enumerate(lines):
        if i % 2:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()
    sys.exit()
if how == "half":
    for line in lines:
        line.shutdown(socket.SHUT_WR)
begun = {}
while lines:
    for line in select.select(lines, [], [])[0]:
        more = line.recv(1 << 20)
        begun[line] = (begun.get(line, b"") + more)[:1000]
        if more:
            continue
        lines.remove(line)
        # A half-closed peer may get a "100 Continue" before its last head, by which the collector
        # checks whether it still reads.
        heads = [head.split(b" ")[1].decode() for head in begun[line].split(b"\r\n") if head.startswith(b"HTTP/1.1 ")]
        print(*name, *heads, flush=True)
