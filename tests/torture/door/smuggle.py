#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""smuggle.py ADDRESS [long]: sends every head that must be rejected, followed by a good request. It
expects one answer, 400 (or the status listed with the head), `Connection: close`, and the end. With
`long` each is also sent in two pieces, cut at each byte."""
import socket
import sys

host, port = sys.argv[1].rsplit(":", 1)
is_long = len(sys.argv) > 2
GET = b"GET /healthz HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"
BEHIND = GET + HOST + b"\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def get(fields):
    return GET + HOST + fields + b"\r\n"


heads = {
    "both lengths": get(b"Content-Length: 4\r\n" + CHUNKED),
    "both lengths, the other way": get(CHUNKED + b"Content-Length: 4\r\n"),
    "chunks": get(CHUNKED) + b"0\r\n\r\n",
    "chunks and trailers": get(CHUNKED + b"Trailer: Host\r\n") + b"0\r\nHost: other\r\n\r\n",
    "chunks with extensions": get(CHUNKED) + b"0;a=b\r\n\r\n",
    "an encoding nobody knows": get(b"Transfer-Encoding: xchunked\r\n"),
    "two encodings": get(b"Transfer-Encoding: gzip, chunked\r\n"),
    "an encoding with a tab": get(b"Transfer-Encoding:\tchunked\r\n"),
    "an encoding behind a vertical tab": get(b"Transfer-Encoding: \x0bchunked\r\n"),
    "an encoding in capitals": get(b"TRANSFER-ENCODING: CHUNKED\r\n"),
    "a space before the colon": get(b"Content-Length : 4\r\n"),
    "two lengths that agree": get(b"Content-Length: 4\r\nContent-Length: 4\r\n"),
    "two lengths that do not": get(b"Content-Length: 4\r\nContent-Length: 5\r\n"),
    "a list of lengths": get(b"Content-Length: 4, 4\r\n"),
    "a signed length": get(b"Content-Length: +4\r\n"),
    "a negative length": get(b"Content-Length: -4\r\n"),
    "a length in hexadecimal": get(b"Content-Length: 0x4\r\n"),
    "a length with an underscore": get(b"Content-Length: 1_0\r\n"),
    "a length of 2^64 and more": get(b"Content-Length: 18446744073709551620\r\n"),
    "a folded length": get(b"Content-Length:\r\n 4\r\n"),
    "a folded field": get(b"X: a\r\n b\r\n"),
    "a folded field, by tab": get(b"X: a\r\n\tb\r\n"),
    "a fold before any field": GET + b" X: a\r\n" + HOST + b"\r\n",
    "bare LF in all lines": BEHIND.replace(b"\r\n", b"\n"),
    "bare LF in one line": GET + b"Host: localhost\n\r\n",
    "bare LF at the end": GET + HOST + b"\n",
    "bare CR in a value": get(b"X: a\rb\r\n"),
    "CR CR LF": get(b"X: a\r\r\n"),
    "NUL in a value": get(b"X: a\0b\r\n"),
    "NUL in a name": get(b"X\0: a\r\n"),
    "NUL in the target": b"GET /healthz\0 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a field without a name": get(b": a\r\n"),
    "a field without a colon": get(b"Xa\r\n"),
    "a name with a space": get(b"X Y: a\r\n"),
    "two hosts": get(b"Host: localhost\r\n"),
    "two hosts, differently": get(b"hOST: elsewhere\r\n"),
    "a host with a path": GET + b"Host: localhost/x\r\n\r\n",
    "a host and a user": GET + b"Host: a@localhost\r\n\r\n",
    "an empty host": GET + b"Host:\r\n\r\n",
    "no host": GET + b"\r\n",
    "a whole address": b"GET http://elsewhere/healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "a host for a target": b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + b"\r\n",
    "two spaces": b"GET  /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "a tab between": b"GET\t/healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "a space behind the version": b"GET /healthz HTTP/1.1 \r\n" + HOST + b"\r\n",
    "a version that is none": b"GET /healthz HTTP/1.1x\r\n" + HOST + b"\r\n",
    "no version": b"GET /healthz\r\n" + HOST + b"\r\n",
    "an empty line before it": b"\r\n" + BEHIND,
    "a head of 64 KiB": get(b"X: " + b"a" * (64 << 10) + b"\r\n"),
    "a target of 64 KiB": b"GET /" + b"a" * (64 << 10) + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "65 fields": get(b"X: a\r\n" * 65),
    "two tokens": get(b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
    "%00 in the path": b"GET /api/v1/labels/a%00b HTTP/1.1\r\n" + HOST + b"\r\n",
    "%00 in a parameter": b"GET /api/v1/profile?match=%7B%7D%00&limit=1 HTTP/1.1\r\n" + HOST + b"\r\n",
    "half an escape": b"GET /api/v1/labels/a%0 HTTP/1.1\r\n" + HOST + b"\r\n",
    "the start of a TLS session": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64,
    "another version": b"GET /healthz HTTP/2.0\r\n" + HOST + b"\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}
OTHER = {"another version": b"505"}


def talk(pieces):
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        got = b""
        try:
            for piece in pieces:
                line.sendall(piece)
            line.shutdown(socket.SHUT_WR)
            while True:
                more = line.recv(65536)
                if not more:
                    return got
                got += more
        except ConnectionError:  # it ended while we were still sending
            return got


def judge(name, got):
    status = OTHER.get(name, b"400")
    if not got.startswith(b"HTTP/1.1 " + status + b" "):
        sys.exit(f"{name}: {got[:200]!r}")
    first = got.split(b"\r\n\r\n")[0]
    if b"\r\nConnection: close" not in first:
        sys.exit(f"{name}: the connection stays: {first!r}")
    if got.count(b"HTTP/1.1 ") != 1:
        sys.exit(f"{name}: what was behind it was answered, too: {got!r}")


tried = 0
for name, head in heads.items():
    judge(name, talk([head + BEHIND]))
    tried += 1
    for cut in range(1, len(head)) if is_long and len(head) < 1000 else []:
        judge(name, talk([head[:cut], head[cut:] + BEHIND]))
        tried += 1
if not talk([BEHIND]).startswith(b"HTTP/1.1 200 "):
    sys.exit("a good request is not answered")
print(f"  {len(heads)} heads, {tried} requests: refused, each with the end of its connection")
