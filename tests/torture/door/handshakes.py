#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""handshakes.py ADDRESS SECONDS CONNECTIONS: connections that begin a handshake and do not
continue. Some are silent, some send half of a first record, some only a whole ClientHello, some
bytes without end. A disconnected one reconnects. Prints how many were made, and how long one lasted
at most."""
import resource
import select
import socket
import ssl
import sys
import time

host, port = sys.argv[1].rsplit(":", 1)
seconds, count = float(sys.argv[2]), int(sys.argv[3])
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
count = min(count, hard - 100)


def client_hello():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["fleetprof/1"])
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    half = context.wrap_bio(incoming, outgoing)
    try:
        half.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


HELLO = client_hello()
WORDS = (b"", HELLO[:40], HELLO, b"\x16\x03\x01\x40\x00\x01\x02\x00\x00" + b"\0" * 4000)
lines, made, longest = {}, 0, 0.0
poll = select.epoll()
begun = time.monotonic()


def connect():
    global made
    line = socket.socket()
    line.settimeout(0.2)
    try:
        line.connect((host, int(port)))
        line.setblocking(False)
        line.send(WORDS[made % len(WORDS)])
    except OSError:
        line.close()
        return False
    made += 1
    lines[line.fileno()] = (line, time.monotonic())
    poll.register(line.fileno(), select.EPOLLIN | select.EPOLLRDHUP)
    return True


while time.monotonic() - begun < seconds:
    for _ in range(200):
        if len(lines) >= count or not connect():
            break
    for number, _ in poll.poll(0.05):
        line, since = lines[number]
        try:
            more = line.recv(65536)
        except BlockingIOError:
            continue
        except OSError:
            more = b""
        if more:
            continue
        longest = max(longest, time.monotonic() - since)
        poll.unregister(number)
        del lines[number]
        line.close()
print(made, f"{longest:.1f}", len(lines))
