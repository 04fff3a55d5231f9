#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""clock_cells.py FOLDER PRELOAD [long]: cells of the table of wrong clocks (unit/ingest/clock_table_test has all of it) with real
collectors, all at once.  Each is right first and gets a sample of 40 days ago and one of 10; then its wall clock is wrong, from
another start on or while it runs, and boards bring a sample of now and one of 90 minutes ago, right behind the jump.  After a
round of retention: which of the old days are there, and whether the samples lie in their minute.  Prints the table.  Where they
cannot lie there, the clock is set right at last: they are named and served under the wrong date."""
import json
import os
import re
import struct
import subprocess
import sys
import time
import urllib.parse
import urllib.request

from board import Batch, Board, boottime_ns

folder, preload = sys.argv[1], sys.argv[2]
SECOND, MINUTE, HOUR, DAY, YEAR = 10**9, 60 * 10**9, 3600 * 10**9, 86400 * 10**9, 365 * 86400 * 10**9
HANG = 300  # seconds without an answer
AT_ONCE = 3  # collectors that start together
AHEAD = 100 * HOUR  # boards have run for longer than this machine
RIGHT, BY_ITSELF, UNKNOWN = "in their minute", "by the board's clock", "unknown"
cells = [
    # the wall clock's offset, since when, honest boards, a false board's clock, the place of
    # samples, whether old data is deleted
    (40 * DAY, "at start", 2, None, RIGHT, True),
    (40 * DAY, "at start", 2, 4102444800 * SECOND, RIGHT, True),
    (-10 * YEAR, "at start", 2, None, RIGHT, False),
    (-10 * YEAR, "at start", 1, None, BY_ITSELF, False),
    (10 * YEAR, "at start", 0, None, UNKNOWN, False),
    (0, "at start", 1, 4102444800 * SECOND, RIGHT, True),
    (40 * DAY, "while running", 2, None, RIGHT, True),
    (100 * YEAR, "while running", 2, 2**31 * SECOND, RIGHT, True),
    (-HOUR, "while running", 2, 3600 * SECOND, RIGHT, True),
    (40 * DAY, "while running", 1, None, UNKNOWN, False),
]
if "long" in sys.argv:
    cells += [(off, how, boards, lie, RIGHT if off == 0 or boards > 1 else BY_ITSELF if off < -2 * YEAR else UNKNOWN,
               boards > 1)
              for off in (-10 * YEAR, -YEAR, -40 * DAY, -HOUR, 0, HOUR, 40 * DAY, 100 * YEAR)
              for how in ("while running",) for boards in (1, 2, 5) for lie in (None, 3600 * SECOND)]


class Cell:
    def __init__(self, index, off, how, honest, lie, place, goes):
        self.off, self.how, self.honest, self.lie, self.place, self.goes = off, how, honest, lie, place, goes
        self.dir = f"{folder}/cell{index}"
        os.makedirs(self.dir)
        self.set_wall(0)
        self.starts, self.collector, self.seq, self.run = 0, None, 0, 7000 + index
        self.sent = []  # (service, board, when)

    def set_wall(self, off):
        """In place: the collector has the file mapped."""
        mode = "r+b" if os.path.exists(f"{self.dir}/wall") else "wb"
        with open(f"{self.dir}/wall", mode) as file:
            file.write(struct.pack("=q", off))

    def start(self):
        environment = dict(os.environ, LD_PRELOAD=preload, OTHER_WALL=f"{self.dir}/wall")
        self.starts += 1
        with open(f"{self.dir}/log", "ab") as log:
            self.collector = subprocess.Popen(
                ["fleetprof-collector", "--data", f"{self.dir}/data", "--agents", "127.0.0.1:0", "--http", "127.0.0.1:0",
                 "--retention", "30d", "--certificate-life", "400d"], stdout=log, stderr=log, env=environment)

    def start_right(self):
        self.stop()
        self.set_wall(0)
        self.starts = 0
        os.unlink(f"{self.dir}/log")
        self.start()

    def stop(self):
        if self.collector:
            self.collector.terminate()
            self.collector.wait()
            self.collector = None

    def get(self, route, **how):
        return urllib.request.urlopen(f"http://127.0.0.1:{self.http}/{route}?{urllib.parse.urlencode(how)}", timeout=HANG).read().decode()

    def wait_ready(self):
        for _ in range(HANG * 10):
            ready = re.findall(r"ready collector: http://127.0.0.1:(\d+)/, boards at 127.0.0.1:(\d+)", self.log())
            if len(ready) == self.starts:
                self.http, self.agents = ready[-1]
                return
            if self.collector.poll() is not None:
                sys.exit(f"{self}: the collector ends: {self.log()}")
            time.sleep(0.1)
        sys.exit(f"{self}: the collector is not ready")

    def log(self):
        with open(f"{self.dir}/log") as file:
            return file.read()

    def enroll(self, name):
        state = f"{self.dir}/{name}"
        token = subprocess.run(["fleetprof-collector", "token", "--data", f"{self.dir}/data", "--board", name],
                               capture_output=True, text=True, check=True).stdout.strip()
        subprocess.run(["fleetprof", "enroll", "--collector", f"127.0.0.1:{self.agents}", "--token", token, "--state", state],
                       capture_output=True, check=True)
        return state

    def send(self, line, service, ago, board=None, **how):
        self.seq += 1
        self.sent.append((service, board, time.time_ns() - ago))
        batch = Batch(self.seq, run=self.run, service=service, seed=1, boot=boottime_ns() + AHEAD - ago, **how)
        batch.produced = self.seq
        verdict, fields = line.try_batch(batch)
        if verdict != "acked":
            sys.exit(f"{self}: {service}: {verdict}: {fields}")

    def connect(self, state, wall=None):
        line = Board(state, f"127.0.0.1:{self.agents}", patience=HANG)
        line.hello(wall=wall, boot=boottime_ns() + AHEAD, run=self.run)
        return line

    def begin(self):
        """By a clock that is right: enrolls all boards, and brings what is old, of an earlier boot."""
        self.wait_ready()
        self.states = [self.enroll(f"board{i}") for i in range(max(1, self.honest))]
        self.liar = self.enroll("liar") if self.lie else None
        line = self.connect(self.states[0])
        now = time.time_ns()
        for days in (40, 10):
            self.send(line, f"of-{days}-days-ago", 0, wall=now - days * DAY, boot_id=b"\x09" * 16)
        line.close()
        if self.how == "at start":
            self.stop()
            self.set_wall(self.off)
            self.start()

    def jump(self):
        """The clock is wrong, and boards bring what they have."""
        self.wait_ready()
        lies = [self.connect(self.liar, self.lie)] if self.lie else []
        lines = [self.connect(state) for state in self.states[: self.honest]]
        if self.how == "while running":
            self.await_rounds(1)  # the wall clock was right for so long that boards confirmed it
            self.set_wall(self.off)
        for at, line in enumerate(lines):
            self.send(line, "now", 0, f"board{at}")
            self.send(line, "before", 90 * MINUTE, f"board{at}")
        self.sent_at = time.time_ns()
        self.rounds = self.count_rounds()
        for line in lies + lines:
            line.close()

    def count_rounds(self):
        return int(next(row.split()[1] for row in self.get("metrics").split("\n") if row.startswith("fleetprof_store_roll_rounds_total ")))

    def await_rounds(self, count):
        while self.count_rounds() < count:
            time.sleep(0.5)

    def samples(self, service, at, around, more=""):
        """Asked in absolute times: the collector's own may be wrong."""
        where = {"from": (at - around) / SECOND, "to": (at + around) / SECOND}
        return json.loads(self.get("api/v1/profile", match=f'{{service="{service}"{more}}}', limit=1, **where))["samples"]

    def in_their_minute(self, off):
        """How many samples of now, and of 90 minutes ago, lie within a minute of when each was sent, by a clock that is OFF."""
        return tuple(sum(self.samples(service, when + off, MINUTE, f',board="{board}"') for service, board, when in self.sent if service == wanted)
                     for wanted in ("now", "before"))

    def judge(self):
        self.await_rounds(self.rounds + 2)  # one at least began behind the jump
        now, wrong = self.sent_at, []
        young, old = (self.samples(f"of-{days}-days-ago", now - days * DAY, DAY) for days in (10, 40))
        if young != 1:
            wrong.append("what is 10 days old is gone")
        if old != (not self.goes):
            wrong.append("what is 40 days old " + ("stays" if self.goes else "is gone"))
        right = self.in_their_minute(0)
        if self.place != UNKNOWN and right != (self.honest, self.honest):
            wrong.append(f"of {self.honest} samples of now, and of 90 minutes ago, {right} lie in their minute")
        overruled = self.off != 0 and self.place == RIGHT
        if overruled != ("boards agree on" in self.log()):
            wrong.append("the log says " + ("nothing" if overruled else "something") + " of a clock that is overruled: " + self.log())
        if overruled and "boards agree on" not in self.get("readyz"):
            wrong.append(f"readyz says {self.get('readyz')}")
        lie = "none" if not self.lie else time.strftime("%Y", time.gmtime(self.lie / SECOND))
        print(f"  {self.off / DAY:+12.2f} d {self.how:14} {self.honest} honest, liar {lie:5} samples {self.place:20} "
              f"10 days old: {'there' if young else 'gone'}, 40: {'there' if old else 'gone'}  {'; '.join(wrong) or 'ok'}")
        return not wrong

    def mend(self):
        """The clock is right again: what lies under a wrong date is named, served, and kept."""
        self.await_rounds(1)
        served = self.in_their_minute(self.off)
        checked = subprocess.run(["fleetprof-collector", "check", "--data", f"{self.dir}/data"], capture_output=True, text=True)
        said = ["store-misdated" in self.log(), "cannot be" in self.get("readyz"), "cannot be" in checked.stdout, checked.returncode == 0]
        print(f"  {self.off / DAY:+12.2f} d, then right: served under the wrong date {served}; log, readyz, check, its status: {said}")
        return served == (self.honest, self.honest) and all(said)

    def __str__(self):
        return f"{self.off / DAY:+.2f} d {self.how}, {self.honest} honest boards, liar {self.lie}"


def by_groups(of, *acts):
    for first in range(0, len(of), AT_ONCE):
        for act in acts:
            for cell in of[first:first + AT_ONCE]:
                act(cell)


table = [Cell(index, *row) for index, row in enumerate(cells)]
try:
    by_groups(table, Cell.start, Cell.begin, Cell.wait_ready)
    for how in ("at start", "while running"):
        for cell in table:
            if cell.how == how:
                cell.jump()
    if not all([cell.judge() for cell in table]):
        sys.exit("a clock has moved or deleted data")
    misdated = [cell for cell in table if cell.place == UNKNOWN and cell.honest and abs(cell.off) > 2 * DAY]
    by_groups(misdated, Cell.start_right, Cell.wait_ready)
    if not all([cell.mend() for cell in misdated]):
        sys.exit("what lies under a wrong date is not named, or not served")
finally:
    for cell in table:
        cell.stop()
