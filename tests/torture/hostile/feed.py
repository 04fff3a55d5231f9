# SPDX-License-Identifier: Apache-2.0
"""Queries a collector while hostile files are sent to it, and while none are, in turn.

  feed.py PORT TOKEN AGENTS STATE ROUNDS SECONDS RATIO FILE...

ROUNDS times: SECONDS without, SECONDS with uploads, one after another, from two processes of their
own: an operator's PUT, and the board that has enrolled in STATE, to the collector's port AGENTS
(board.py). Meanwhile format=top of service truth is queried every 5 ms on one connection, and its
duration is measured. Query and answer stay the same, because the board's batches are all of a
service of its own. Prints both percentiles of each round. Ends with 1 if an answer was no 200, an
upload of either was not answered, or the median of the rounds' ratios of p99, with uploads to
without, is not under RATIO (0: not checked).
"""
import collections
import hashlib
import http.client
import multiprocessing
import os
import sys
import time
import urllib.parse

from board import Board

port, token, agents, state = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
rounds, seconds, ratio, files = int(sys.argv[5]), float(sys.argv[6]), float(sys.argv[7]), sys.argv[8:]
PAUSE_S = .005
QUESTION = "/api/v1/profile?from=-1h&match=" + urllib.parse.quote('{service="truth"}')
NOTE = b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0"


def as_another(data, number):
    """DATA under a build-id of its own where it has one, and that."""
    identity = hashlib.sha1(b"%d" % number + data).digest()
    at = data.find(NOTE)
    if at < 0:
        return data + identity, identity.hex()
    at += len(NOTE)
    return data[:at] + identity + data[at + 20:], identity.hex()


def each_file(go, done, first):
    """The files round and round, as data and identity: none is known by its bytes or its build-id already."""
    sent = first
    os.nice(10)  # hostile peers do not take the collector's CPU time to make files
    while not done.is_set():
        if not go.wait(.05):
            continue
        with open(files[sent % len(files)], "rb") as file:
            yield as_another(file.read(), sent)
        sent += 1


def send_as_board(go, done, answers):
    """As a board does: answered is a file with the collector's last word, whatever that is."""
    board = None
    for data, name in each_file(go, done, 1 << 32):
        try:
            board = board or Board(state, agents)
            why = board.send(data, bytes.fromhex(name), f"/srv/{name}")
            answers.put("board: refused" if why else "board: taken")
        except OSError as error:
            answers.put(f"board: {type(error).__name__}: {error}")
            board = None
    answers.put(None)


def upload(go, done, answers):
    for data, name in each_file(go, done, 0):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            connection.request("PUT", f"/api/v1/debug/{name}", data, {"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            answer.read()
            answers.put(answer.status)
        except OSError as error:
            answers.put(type(error).__name__)
        connection.close()
    answers.put(None)


def ask(until):
    """Returns how long each question took, in ms."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    took = []
    while time.monotonic() < until:
        began = time.monotonic()
        connection.request("GET", QUESTION)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            sys.exit(f"  wrong: a question was answered with {answer.status}")
        took.append((time.monotonic() - began) * 1000)
        time.sleep(PAUSE_S)
    return sorted(took)


def share(sorted_values, part):
    return sorted_values[min(len(sorted_values) - 1, int(part * len(sorted_values)))]


go, done = multiprocessing.Event(), multiprocessing.Event()
senders = []
for target in (upload, send_as_board):
    answers = multiprocessing.Queue()
    senders.append((multiprocessing.Process(target=target, args=(go, done, answers), daemon=True), answers))
    senders[-1][0].start()
ask(time.monotonic() + .3)
ratios, everything = [], {False: [], True: []}
for _ in range(rounds):
    told = {}
    for with_uploads in (False, True):
        (go.set if with_uploads else go.clear)()
        told[with_uploads] = ask(time.monotonic() + seconds)
        everything[with_uploads] += told[with_uploads]
    ratios.append(share(told[True], .99) / share(told[False], .99))
done.set()
go.set()
counts = []
for sender, answers in senders:
    counts.append(collections.Counter(iter(answers.get, None)))
    sender.join()
for with_uploads, took in everything.items():
    took.sort()
    print(f"  {'with' if with_uploads else 'without'} uploads: p50 {share(took, .5):.2f} ms, p99 {share(took, .99):.2f} ms of {len(took)} answers")
middle = sorted(ratios)[len(ratios) // 2]
print(f"  p99 with to without: {middle:.2f}, rounds {' '.join(f'{r:.2f}' for r in ratios)}; uploads by answer: {dict(sum(counts, collections.Counter()))}")
# Accepted, or rejected for its content; any other result is our fault: there is room, and time.
answered = {201, 400, 409, 413, 422, "board: taken", "board: refused"}
wrong = not all(counts) or not all(status in answered for count in counts for status in count)
sys.exit(bool(wrong or (ratio and middle >= ratio)))
