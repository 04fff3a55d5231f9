#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""crowd.py PORT TOKEN PAGES SECONDS BOARD [LEAVERS]: an operator on this machine asks for labels and for one board's profile, again and
again, beside PAGES web pages of other sites, each of which makes a browser here ask for the whole fleet, LEAVERS clients that ask for
it and go, and a dashboard with TOKEN that shows it every second (PAGES 0: alone).  Prints for each kind of answer `NAME COUNT
MEDIAN 99% LONGEST` in milliseconds, then the statuses that pages got.  Fails where the operator is not answered."""
import http.client
import socket
import sys
import threading
import time
import urllib.parse

port, token, pages, seconds, board = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
leavers = int(sys.argv[6]) if len(sys.argv) > 6 else 0
FLEET = "/api/v1/profile?from=-1d"
ROUNDS_MIN = 10  # of the operator, however long they take
ends, statuses, shown, left = threading.Event(), {}, [], []


def ask(line, path, **fields):
    at = time.monotonic()
    line.request("GET", path, headers=fields)
    answer = line.getresponse()
    answer.read()
    return answer.status, time.monotonic() - at


def page():
    while not ends.is_set():
        line = http.client.HTTPConnection("127.0.0.1", port)
        status, _ = ask(line, FLEET, **{"Sec-Fetch-Site": "cross-site"})
        line.close()
        statuses[status] = statuses.get(status, 0) + 1
        time.sleep(0.05)


def leaver():
    while not ends.is_set():
        line = socket.create_connection(("127.0.0.1", port))
        line.sendall(f"GET {FLEET} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        ends.wait(0.1)
        line.close()
        left.append(1)


def dashboard():
    line = http.client.HTTPConnection("127.0.0.1", port)
    while not ends.is_set():
        status, took = ask(line, FLEET, Authorization="Bearer " + token)
        if status == 200:
            shown.append(took)
        ends.wait(1)


def told(name, times):
    times = sorted(time * 1000 for time in times)
    if times:
        print(f"{name} {len(times)} {times[len(times) // 2]:.0f} {times[int(len(times) * 0.99)]:.0f} {times[-1]:.0f}")


others = [threading.Thread(target=page) for _ in range(pages)]
others += [threading.Thread(target=leaver) for _ in range(leavers)]
others += [threading.Thread(target=dashboard)] if pages else []
for other in others:
    other.start()
one = "/api/v1/profile?from=-1d&match=" + urllib.parse.quote('{board="%s"}' % board)
labels, profiles, refused = [], [], ""
line, begun = http.client.HTTPConnection("127.0.0.1", port), time.monotonic()
while not refused and (time.monotonic() - begun < seconds or len(labels) < ROUNDS_MIN):
    for path, times in (("/api/v1/labels?from=-1d", labels), (one, profiles)):
        status, took = ask(line, path)
        if status != 200:
            refused = f"{path}: {status}"
        times.append(took)
    time.sleep(0.1)
ends.set()
for other in others:
    other.join()
if refused:
    sys.exit(refused)
told("labels", labels)
told("profile", profiles)
told("fleet", shown)
print("pages", " ".join(f"{status}: {count}" for status, count in sorted(statuses.items())))
print("left", len(left))
