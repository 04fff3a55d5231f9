#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""lost_files.py FOLDER [all]: every file of a collector's folder is gone, empty, cut in half, or
replaced by an older copy or by another collector's, while the collector is down and while it runs.
In each case a revoked board is not accepted, and no acked batch counts twice. The collector either
prints the remedy at its start, or goes on and names the file. Prints a row for each.

With `all` it includes files whose content is stored elsewhere, too (sums, logs, locks, certificates
that are made again, debug files, sources), and the files that a killed collector leaves beside its
databases."""
import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../torture/door"))
from board import Batch, Board, Gone  # noqa: E402

folder = sys.argv[1]
is_all = "all" in sys.argv[2:]
data = f"{folder}/data"
PATIENCE = 30


def port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


class Collector:
    def __init__(self, path):
        self.path, self.log = path, f"{path}.log"
        self.agents, self.http = f"127.0.0.1:{port()}", f"127.0.0.1:{port()}"
        self.process = None

    def start(self):
        """None, or what it says where it does not start."""
        log = open(self.log, "w")
        self.process = subprocess.Popen(["fleetprof-collector", "--data", self.path, "--agents", self.agents, "--http", self.http],
                                        stdout=log, stderr=log)
        for _ in range(PATIENCE * 20):
            if self.process.poll() is not None:
                return open(self.log).read().strip().split("\n")[-1]
            try:
                self.ask("readyz")
                return None
            except OSError:
                time.sleep(0.05)
        sys.exit(f"{self.path}: neither ready nor ended")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def ask(self, route):
        with urllib.request.urlopen(f"http://{self.http}/{route}", timeout=PATIENCE) as answer:
            return json.load(answer), answer.headers

    def run(self, *command):
        done = subprocess.run(["fleetprof-collector", *command, "--data", self.path], capture_output=True, text=True)
        return done.returncode, (done.stdout + done.stderr).strip()

    def enroll(self, name):
        state = f"{folder}/{os.path.basename(self.path)}-{name}"
        code, token = self.run("token", "--board", name)
        assert code == 0, token
        subprocess.run(["fleetprof", "enroll", "--collector", self.agents, "--token", token, "--state", state], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return state

    def says_to(self, state):
        try:
            board = Board(state, self.agents)
            board.hello(run=1)
            board.close()
            return "welcome"
        except (Gone, OSError) as gone:
            return str(gone)

    def upload(self, name):
        """A program with debug information and its source."""
        program, token = f"{folder}/{name}", f"{folder}/{name}.token"
        with open(f"{program}.c", "w") as source:
            source.write(f"int {name}(int x) {{ return 3 * x; }}\nint main(int count, char **words) {{ return words ? {name}(count) : 1; }}\n")
        subprocess.run(["cc", "-g", "-Wl,--build-id", "-o", program, f"{program}.c"], check=True)
        with open(token, "w") as file:
            file.write(self.run("token", "--role", "symbols")[1])
        subprocess.run(["fleetprof", "upload", program, "--sources", folder, "--http", f"http://{self.http}", "--token-file", token], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def has(self, pattern):
        """Waits for a file of its folder."""
        for _ in range(PATIENCE * 60):
            if glob.glob(f"{self.path}/{pattern}"):
                return True
            time.sleep(0.05)
        return False

    def deliver(self, state, batch):
        try:
            board = Board(state, self.agents)
            board.hello(run=batch.run)
            verdict, _ = board.try_batch(batch)
            board.close()
            return verdict
        except (Gone, OSError):
            return "later"

    def samples(self):
        """How many, and the head; -1 where it is said why there is no answer."""
        try:
            answer, headers = self.ask("api/v1/profile?limit=1&from=-10d")
            return answer["samples"], headers
        except urllib.error.HTTPError as problem:
            assert problem.code == 503, problem.read()
            return -1, {"Fleetprof-Stale": json.load(problem)["detail"]}


def copy(source, target):
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


def source(kind, name):
    """The file NAME of an older copy, or of another collector: what is called by its bytes has another name there.  None: it has none."""
    path = f"{folder}/{'older' if kind == 'older' else 'others'}{'-killed' if name.endswith('-wal') else ''}/{name}"
    if os.path.exists(path):
        return path
    same = glob.glob(f"{os.path.dirname(path)}/*{os.path.splitext(name)[1]}") if name.startswith(("debug/", "sources/")) else []
    return same[0] if same else None


def fault(kind, name):
    """Does KIND to the file NAME of the folder; by renaming, as a person does who puts a file back."""
    path = f"{data}/{name}"
    for end in ("-wal", "-shm"):
        if kind != "half" and os.path.exists(path + end) and collector.process.poll() is not None:
            os.unlink(path + end)
    if kind == "gone":
        os.unlink(path)
    elif kind == "empty":
        os.truncate(path, 0)
    elif kind == "half":
        os.truncate(path, os.path.getsize(path) // 2)
    else:
        shutil.copy(source(kind, name), path + ".new")
        os.rename(path + ".new", path)


collector = Collector(data)
other = Collector(f"{folder}/other")
batches = [Batch(seq, run=77, service="work", seed=seq) for seq in range(1, 6)]
for at, batch in enumerate(batches):
    batch.produced = at + 1

# A batch of three days ago: the sums of its day are in files of their own.
DAY_NS = 86400 * 10**9
old = Batch(9, run=77, service="work", seed=9, boot_id=b"\x09" * 16, wall=time.time_ns() - 3 * DAY_NS)
old.produced = 9
WHOLE = 4 if is_all else 3


def fill(collector, board):
    """What only `all` needs."""
    collector.upload("program" if collector.path == data else "another")
    assert collector.deliver(board, old) == "acked"
    collector.stop()  # a start sums up old days
    assert collector.start() is None and collector.has("hours-*.db") and collector.has("minutes-*.db") and collector.has("reserve")
    assert collector.has("debug/*.index") and collector.has("sources/*")


def keep(collector, name):
    """Its folder after an end becomes NAME; as a kill leaves it, with what was written last beside the databases, NAME-killed."""
    if is_all:
        collector.process.kill()
        collector.process.wait()
        copy(collector.path, f"{folder}/{name}-killed")
        assert collector.start() is None
    collector.stop()
    copy(collector.path, f"{folder}/{name}")


assert other.start() is None
board = other.enroll("b1")
if is_all:
    fill(other, board)
assert other.deliver(board, batches[0]) == "acked"
keep(other, "others")
assert collector.start() is None
thief, board = collector.enroll("thief"), collector.enroll("b1")
assert collector.deliver(board, batches[0]) == "acked" and collector.says_to(thief) == "welcome"
if is_all:
    fill(collector, board)
keep(collector, "older")
assert collector.start() is None
assert collector.deliver(board, batches[1]) == "acked" and collector.deliver(board, batches[2]) == "acked"
assert collector.run("revoke", "--board", "thief")[0] == 0
assert collector.samples()[0] == WHOLE
keep(collector, "kept")
assert collector.run("check") == (0, collector.run("check")[1]), collector.run("check")

day = os.path.basename(max(glob.glob(f"{data}/day-*.db")))
FILES = ["access.db", "landing.db", day, "debug.db", "node.key", "ca/root.pem", "ca/root.key"]
REST = []
if is_all:
    listed = sorted(path[len(data) + 1:] for path in glob.glob(f"{data}/**", recursive=True) if os.path.isfile(path))
    REST = [name for name in listed if name not in FILES and not name.endswith(("-wal", "-shm"))] + [f"{name}-wal" for name in ("access.db", "landing.db", day)]
FAULTS = ("gone", "empty", "half", "older", "another's")
# Files whose older copy is identical: nothing has changed in them since.
UNCHANGED = {("debug.db", "older"), ("node.key", "older"), ("ca/root.pem", "older"), ("ca/root.key", "older")}
MUST_NOT_START = {"access.db", "ca/root.pem", "ca/root.key"}
wrong = []


def expect(holds, case, words):
    if not holds:
        wrong.append(f"{' '.join(case)}: {words}")


def told(reasons, name):
    return [reason for reason in reasons if reason.startswith(name)]


def row(case, *cells):
    print("| " + " | ".join(cell.replace("|", "/").replace(data + "/", "").replace(data, "DIR") for cell in (*case, *cells)) + " |", flush=True)


def holds_of_all(case, most=WHOLE):
    """Whoever is revoked is out, and what was acked counts once, in whatever state."""
    expect(collector.says_to(thief) != "welcome", case, "a revoked board is welcome")
    before = collector.samples()[0]
    for batch in batches[:3] + [old][:is_all]:
        collector.deliver(board, batch)
    after, headers = collector.samples()
    expect(before <= most and after == before, case, f"acked batches that come again make {after} samples of {before}")
    return after, headers


def stopped(name, kind):
    case = (name, kind, "stopped")
    copy(f"{folder}/kept", data)
    fault(kind, name)
    is_same = (name, kind) in UNCHANGED
    code, words = collector.run("check")
    expect(is_same or name in words, case, f"check does not name it: {words}")
    expect(code == 0 if is_same else code == 1, case, f"check ends with {code}: {words}")
    refusal = collector.start()
    if refusal is not None:
        expect(name.split("/")[0] in refusal and ("restore" in refusal or "accept" in refusal), case, f"no way out is told: {refusal}")
        expect(name in MUST_NOT_START or (name, kind) in {("node.key", "empty"), ("node.key", "half")}, case, f"does not start: {refusal}")
        row(case, words.split("\n")[0], f"does not start: {refusal}", "", "")
        return
    expect(is_same or name not in MUST_NOT_START, case, "starts")
    samples, headers = holds_of_all(case)
    ready = collector.ask("readyz")[0]
    expect(is_same or told(ready["reasons"], name), case, f"/readyz does not name it: {ready}")
    expect(len(ready["reasons"]) == (not is_same), case, f"/readyz names others: {ready}")
    lacks = headers.get("Fleetprof-Incomplete", "")
    expect(samples == WHOLE or lacks, case, f"{samples} samples of {WHOLE}, and no word of it")
    expect(collector.deliver(board, batches[3]) == "acked", case, "takes nothing new")
    expect(collector.samples()[0] == samples + 1, case, "what is new is not in answers")
    row(case, words.split("\n")[0], "starts", "; ".join(ready["reasons"]), f"{samples} of {WHOLE}; {lacks}")
    collector.stop()


def running(name, kind):
    case = (name, kind, "running")
    copy(f"{folder}/kept", data)
    assert collector.start() is None
    fault(kind, name)
    samples, headers = holds_of_all(case)
    verdict = collector.deliver(board, batches[3])
    is_told = name in ("access.db", "landing.db", day)
    for _ in range(PATIENCE * 20):  # of a day, once it has settled
        ready = collector.ask("readyz")[0]
        if not is_told or told(ready["reasons"], name):
            break
        time.sleep(0.05)
    else:
        expect(False, case, f"/readyz does not name it: {ready}")
    after, headers = collector.samples()
    expect(after <= samples + (verdict == "acked"), case, f"{after} samples")
    code, words = collector.run("check")
    expect((name, kind) in UNCHANGED or name in words, case, f"check does not name it: {words}")
    lacks = headers.get("Fleetprof-Incomplete", "") + headers.get("Fleetprof-Stale", "")
    row(case, words.split("\n")[0], f"a new batch: {verdict}", "; ".join(ready["reasons"]), f"{after}; {lacks}")
    collector.stop()
    refusal = collector.start()
    if refusal is None:
        holds_of_all((name, kind, "after running"), WHOLE + 1)
        collector.stop()


# Revocations are written to the first, the last acked batches to the second.
LOGS = ("access.db-wal", "landing.db-wal")
# Files that `check` reads fully, and so names. A bundle of sources does not contain its program's
# identity.
READ = {("debug/", "empty"), ("debug/", "half"), ("debug/", "another's"), ("sources/", "empty"), ("sources/", "half")}


def rest(name, kind, is_running):
    """A file that is not one of those above."""
    case = (name, kind, "running" if is_running else "stopped")
    copy(f"{folder}/kept{'-killed' if name.endswith('-wal') else ''}", data)
    if is_running:
        assert collector.start() is None
    if kind in ("older", "another's") and source(kind, name) is None or not os.path.exists(f"{data}/{name}"):
        collector.stop()
        return
    fault(kind, name)
    code, words = collector.run("check")
    refusal = None if is_running else collector.start()
    if refusal is not None:
        row(case, words.split("\n")[0], f"does not start: {refusal}", "", "")
        return
    samples, headers = holds_of_all(case)
    verdict = collector.deliver(board, batches[3])
    ready = collector.ask("readyz")[0]
    lacks = headers.get("Fleetprof-Incomplete", "") + headers.get("Fleetprof-Stale", "")
    row(case, words.split("\n")[0], f"a new batch: {verdict}", "; ".join(ready["reasons"]), f"{samples} of {WHOLE}; {lacks}")
    expect(samples == WHOLE or lacks or (kind, is_running) == ("another's", True), case, f"{samples} samples of {WHOLE}, and no word of it")
    if (name[:name.find("/") + 1], kind) in READ and "." not in name:
        expect(name in words and code == 1, case, f"check does not name it: {words}")
    # (If a log is cut that was not written to since the start, SQLite detects it, and so does the
    # next start.)
    if is_running and name in LOGS and (name == LOGS[0] or kind not in ("empty", "half")):
        expect(verdict == "later", case, f"a new batch: {verdict}")
        expect(told(ready["reasons"], name.removesuffix("-wal")), case, f"/readyz does not name it: {ready}")
        collector.run("revoke", "--board", "b1", "--force")
        expect(name != LOGS[0] or collector.says_to(board) != "welcome", case, "who was revoked since is welcome")
    collector.stop()
    if is_running:
        again = collector.start()
        if again is None:
            holds_of_all((name, kind, "after running"), WHOLE + 1)
        row((*case, "then"), "", f"{again}", "; ".join(collector.ask("readyz")[0]["reasons"]) if again is None else "", "")
        collector.stop()


print("| file | fault | collector | `check` | then | `/readyz` | answers |\n|---|---|---|---|---|---|---|")
for name in FILES:
    for kind in FAULTS:
        stopped(name, kind)
        running(name, kind)
for name in REST:
    for kind in FAULTS:
        rest(name, kind, False)
        rest(name, kind, True)

# An operator accepts that access.db is lost: then it starts, and is healthy.
copy(f"{folder}/kept", data)
os.unlink(f"{data}/access.db")
expect(collector.start() is not None, ("accept",), "starts before")
code, words = collector.run("accept")
expect(code == 0, ("accept",), f"ends with {code}: {words}")
expect(collector.start() is None and collector.ask("readyz")[0]["status"] == "ready", ("accept",), f"{collector.ask('readyz')}")
expect(collector.run("accept")[0] == 1, ("accept",), "accepts beside a collector")
collector.stop()

# Each unreadable authority is renamed, however many there were.
for name in ("ca.corrupt", "ca.corrupt-1"):
    os.truncate(f"{data}/ca/root.key", 0)
    code, words = collector.run("accept")
    expect(code == 0 and os.path.isdir(f"{data}/{name}"), ("accept", name), f"ends with {code}: {words}")

# Root accepts on behalf of the folder's owner.
if os.geteuid() == 0:
    NOBODY = 65534
    copy(f"{folder}/kept", data)
    os.chmod(folder, 0o711)
    for name in ("access.db", "landing.db"):
        os.unlink(f"{data}/{name}")
    for path in (data, *glob.glob(f"{data}/**", recursive=True)):
        os.lchown(path, NOBODY, NOBODY)
    code, words = collector.run("accept")
    expect(code == 0, ("accept as root",), f"ends with {code}: {words}")
    others = [path for path in glob.glob(f"{data}/**", recursive=True) if os.lstat(path).st_uid != NOBODY]
    expect(os.path.exists(f"{data}/access.db") and not others, ("accept as root",), f"of another owner: {others}")
    expect(not glob.glob(f"{data}/*.corrupt*"), ("accept as root",), "sets good files aside")
if wrong:
    sys.exit("\n".join(wrong))
