#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""slow.py ADDRESS SECONDS CONNECTIONS TOKEN: CONNECTIONS of each kind of slowness, for SECONDS:
heads and bodies that arrive a byte a second. And an eighth of that each: answers read at a byte a
second, and silent connections. A disconnected one reconnects. Prints how often each kind was
disconnected and how long a connection lasted at most, in seconds."""
import resource
import selectors
import socket
import sys
import time

host, port = sys.argv[1].rsplit(":", 1)
seconds, count = float(sys.argv[2]), int(sys.argv[3])
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
count = min(count, (hard - 100) // 3)
TOKEN = sys.argv[4].encode()
HOST = b"Host: localhost\r\n"
KINDS = {
    "heads": b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 4000,
    "bodies": b"PUT /api/v1/debug/abcdef HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\nAuthorization: Bearer " + TOKEN + b"\r\n\r\n",
    "readers": b"GET / HTTP/1.1\r\n" + HOST + b"\r\n",
    "idle": b"",
}
AT_ONCE = {"readers", "bodies"}  # these send all of it, then read slowly
RARE = {"readers": 8, "idle": 8}  # one in so many rounds: silent clients are dropped before slow ones
ended = dict.fromkeys(KINDS, 0)
lasted = dict.fromkeys(KINDS, 0.0)
failed = 0
selector = selectors.DefaultSelector()


def connect(kind):
    global failed
    line = socket.socket()
    if kind == "readers":
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    line.settimeout(5)
    try:
        line.connect((host, int(port)))
        line.setblocking(False)
        sent = line.send(KINDS[kind] if kind in AT_ONCE else KINDS[kind][:1])
    except OSError:
        failed += 1
        line.close()
        return
    selector.register(line, selectors.EVENT_READ, [kind, sent, time.monotonic()])


begun = time.monotonic()
for i in range(count):
    for kind in KINDS:
        if i % RARE.get(kind, 1) == 0:
            connect(kind)
while time.monotonic() - begun < seconds:
    round_begun = time.monotonic()
    gone = []
    for key in list(selector.get_map().values()):
        kind, sent, since = key.data
        line = key.fileobj
        try:
            if kind == "heads" and sent < len(KINDS[kind]):
                line.send(KINDS[kind][sent : sent + 1])
                key.data[1] += 1
            if kind == "bodies":
                line.send(b"x")
            if line.recv(1) == b"":
                gone.append(key)
        except BlockingIOError:
            pass
        except OSError:
            gone.append(key)
    for key in gone:
        kind, _, since = key.data
        ended[kind] += 1
        lasted[kind] = max(lasted[kind], time.monotonic() - since)
        selector.unregister(key.fileobj)
        key.fileobj.close()
        connect(kind)
    time.sleep(max(0, 1 - (time.monotonic() - round_begun)))
now = time.monotonic()
for key in selector.get_map().values():
    lasted[key.data[0]] = max(lasted[key.data[0]], now - key.data[2])
print(" ".join(f"{kind} {ended[kind]} {lasted[kind]:.1f}" for kind in KINDS), f"failed {failed}")
