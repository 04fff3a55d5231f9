# SPDX-License-Identifier: Apache-2.0
"""Run by agent.sh, which says what is measured and how."""
import datetime
import glob
import json
import os
import platform
import random
import re
import socket
import statistics
import struct
import subprocess
import sys
import time

PREFIX, TARGETS = os.environ["FLEETPROF_PREFIX"], os.environ["FLEETPROF_TARGETS"]
FLEETPROF = f"{PREFIX}/bin/fleetprof"
BUILD = TARGETS.removesuffix("/tests/targets")
UNITS = os.environ.get("SPIN_WORK", "2000")  # about milliseconds of CPU time a run
REQUESTS = os.environ.get("REDIS_REQUESTS", "100000")
NOTHING = "nothing"
OURS = {
    "perf": ["--sampler", "perf"],
    "perf, frame pointers": ["--sampler", "perf", "--unwind", "fp"],
    "perf, pc-lr": ["--sampler", "perf", "--collect", "pc-lr"],
    "timer": ["--sampler", "timer"],
    "timer, pc-lr": ["--sampler", "timer", "--collect", "pc-lr"],
    "timer, histogram": ["--sampler", "timer", "--collect", "histogram"],
    "timer, recorder": ["--sampler", "timer", "--collect", "recorder"],
}
ALL = [NOTHING, *OURS, "perf record -g", "libprofiler.so"]
CHOSEN = [name.strip() for name in os.environ.get("VARIANTS", "").split(";") if name.strip()]
VARIANTS = [name for name in ALL if not CHOSEN or name == NOTHING or name in CHOSEN]


def command(variant, hz, out, program):
    """The program as VARIANT runs it, and its environment."""
    environment = dict(os.environ, HOME=os.path.dirname(out))
    if variant in OURS:
        return [FLEETPROF, "run", "--output", out, "--hz", str(hz), *OURS[variant], "--", *program], environment
    if variant == "perf record -g":
        return ["perf", "record", "-q", "-g", "-F", str(hz), "-o", out, "--", *program], environment
    if variant == "libprofiler.so":
        library = glob.glob("/usr/lib/*/libprofiler.so.0")[0]
        environment.update(LD_PRELOAD=library, CPUPROFILE=out, CPUPROFILE_FREQUENCY=str(hz))
    return program, environment


def words_of(variant):
    """Where its stderr goes: libprofiler tells how it was, the others tell what is wrong."""
    return subprocess.DEVNULL if variant == "libprofiler.so" else None


def gperftools_samples(path):
    """Sum of the counts in its file: five header words, then (count, depth, pc...) until a 0."""
    data = open(path, "rb").read()
    words = struct.unpack(f"{len(data) // 8}Q", data[: len(data) // 8 * 8])
    at, total = 5, 0
    while at + 2 < len(words) and not (words[at] == 0 and words[at + 1] == 1):
        total += words[at]
        at += 2 + words[at + 1]
    return total


def count(variant, out):
    """Samples and bytes in what VARIANT wrote."""
    files = glob.glob(out + "*")
    size = sum(os.path.getsize(f) for f in files)
    if variant == "perf record -g":
        text = subprocess.run(["perf", "script", "-F", "ip", "-G", "-i", out], capture_output=True, text=True).stdout
        return sum(1 for line in text.splitlines() if line.strip()), size
    if variant == "libprofiler.so":
        return sum(map(gperftools_samples, files)), size
    report = subprocess.run([FLEETPROF, "report", *files, "--format", "json"], capture_output=True, text=True)
    return json.loads(report.stdout)["samples"], size


def rss_anon_kib(pid):
    try:
        for line in open(f"/proc/{pid}/status"):
            if line.startswith("RssAnon"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def descendants(pid):
    try:
        children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    except OSError:
        return []
    return [int(c) for c in children] + [g for c in children for g in descendants(c)]


def memory(root, program, state):
    """RssAnon in KiB of the program, and of all that watches it."""
    target = watchers = 0
    pids = [root, *descendants(root)]
    for entry in glob.glob(f"{state}/**/fleetprofd.pid", recursive=True):
        keeper = int(open(entry).read() or 0)
        pids += [keeper, *descendants(keeper)]
    for pid in set(pids):
        try:
            name = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        except OSError:
            continue
        if name == os.path.basename(os.path.realpath(program)):
            target += rss_anon_kib(pid)
        else:
            watchers += rss_anon_kib(pid)
    return target, watchers


def run_loop(name, variant, hz, out):
    program = [f"{TARGETS}/{name}", UNITS]
    words, environment = command(variant, hz, out, program)
    environment["TMPDIR"] = os.path.dirname(out)
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=words_of(variant), text=True)
    time.sleep(1)
    target, watchers = memory(process.pid, program[0], os.path.dirname(out))
    text, _ = process.communicate()
    cpu = float(text.split()[0])
    return (cpu, cpu), target, watchers  # a loop: it uses hardly any kernel time


def redis_ask(port, what):
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(what.encode() + b"\r\n")
        if what.startswith("SHUTDOWN"):
            return ""
        text = s.recv(65536).decode()
        while "\r\n\r\n" not in text and not text.endswith("\r\n"):
            text += s.recv(65536).decode()
        return text


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run_redis(variant, hz, out):
    port = free_port()
    program = ["/usr/bin/redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir",
               os.path.dirname(out)]
    words, environment = command(variant, hz, out, program)
    environment["TMPDIR"] = os.path.dirname(out)
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=words_of(variant))
    for _ in range(100):
        try:
            redis_ask(port, "PING")
            break
        except OSError:
            time.sleep(0.05)
    subprocess.run(["redis-benchmark", "-q", "-p", str(port), "-n", REQUESTS, "-c", "20", "-t", "get,set"],
                   stdout=subprocess.DEVNULL, check=True)
    target, watchers = memory(process.pid, program[0], os.path.dirname(out))
    info = dict(line.split(":", 1) for line in redis_ask(port, "INFO cpu").splitlines() if ":" in line)
    redis_ask(port, "SHUTDOWN NOSAVE")
    process.wait()
    user, system = float(info["used_cpu_user"]), float(info["used_cpu_sys"])
    return (user + system, user), target, watchers


def one(name, variant, hz, work):
    folder = os.path.join(work, "run")
    os.makedirs(folder)
    out = os.path.join(folder, "profile")
    (cpu, user), target, watchers = (run_redis(variant, hz, out) if name == "redis" else run_loop(name, variant, hz, out))
    samples, size = (0, 0) if variant == NOTHING else count(variant, out)
    subprocess.run(["rm", "-rf", folder], check=True)
    return {"cpu": cpu, "user": user, "samples": samples, "bytes": size, "target": target, "watchers": watchers}


def interval(rows, figure):
    draws = sorted(figure(random.choices(rows, k=len(rows))) for _ in range(2000))
    return figure(rows), draws[50], draws[1949]


def cost_ns(rows):
    samples = sum(r["samples"] for _, r in rows)
    return sum(r["cpu"] - n["cpu"] for n, r in rows) / samples * 1e9 if samples else 0.0


def machine():
    """What ran this: the CPU's name, how many, the kernel and its tick, virtual or not."""
    cpu = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
    tick = subprocess.run("zcat /proc/config.gz 2>/dev/null || cat /boot/config-$(uname -r)", shell=True,
                          capture_output=True, text=True).stdout
    hz = re.search(r"CONFIG_HZ=(\d+)", tick)
    kind = "virtual" if "hypervisor" in open("/proc/cpuinfo").read() else "physical"
    return ", ".join(filter(None, [
        f"{kind} {platform.machine()}", f"{os.cpu_count()} CPUs", cpu and cpu[1], f"Linux {platform.release()}",
        hz and f"CONFIG_HZ={hz[1]}", f"load {os.getloadavg()[0]:.1f} at the start"]))


def handler_instructions():
    """Instructions of our handler for a sample, by callgrind, which the machine's load does not change: fewest
    and most, as the stack has 1 frame or 21.  Empty where they cannot be counted."""
    script = os.path.join(os.path.dirname(__file__), "handler_cost.sh")
    text = subprocess.run([script, BUILD, "instructions"], capture_output=True, text=True).stdout
    counts = {}
    for mode, count in re.findall(r"^([\w-]+), \d+ frames: (\d+) instructions$", text, re.M):
        counts.setdefault("timer" if mode == "stacks" else f"timer, {mode}", []).append(int(count))
    return {variant: " to ".join(map(str, sorted(found))) for variant, found in counts.items()}


def print_comparison(rounds):
    """Our perf sampler beside `perf record -g`, in the same rounds."""
    ours, theirs = "perf", "perf record -g"
    if ours in VARIANTS and theirs in VARIANTS:
        rows = [(r[theirs], r[ours]) for r in rounds]
        mid, low, high = interval(rows, lambda some: sum(o["cpu"] for _, o in some) / sum(t["cpu"] for t, _ in some))
        print(f"\nCPU time of the program under our perf / under `perf record -g`: {mid:.4f} [{low:.4f}, {high:.4f}]")


def print_table(name, hz, rounds, instructions):
    print(f"\n### {name}, asked {hz} Hz, {len(rounds)} rounds\n")
    print("| variant | achieved a second of user CPU (of all) | ns a sample [95 %] | CPU time / nothing, median "
          "| instructions in the program | bytes a sample | RssAnon of the program, KiB | of its watchers, KiB |")
    print("|---|---|---|---|---|---|---|---|")
    for variant in VARIANTS:
        rows = [(r[NOTHING], r[variant]) for r in rounds]
        mine = [r for _, r in rows]
        samples = sum(r["samples"] for r in mine)
        ratio = statistics.median(r["cpu"] / n["cpu"] for n, r in rows)
        target = statistics.median(r["target"] for r in mine)
        watchers = max(r["watchers"] for r in mine)
        if variant == NOTHING:
            print(f"| {variant} | | | 1 | | | {target:.0f} | |")
            continue
        mid, low, high = interval(rows, cost_ns)
        of_user, of_all = (samples / max(.01, sum(r[kind] for r in mine)) for kind in ("user", "cpu"))
        size = sum(r["bytes"] for r in mine) / samples if samples else 0
        inside = "0" if variant.startswith("perf") else instructions.get(variant, "not counted")
        print(f"| {variant} | {of_user:.0f} ({of_all:.0f}) | {mid:.0f} [{low:.0f}, {high:.0f}] | {ratio:.4f} | {inside} | {size:.1f} "
              f"| {target:.0f} | {watchers} |", flush=True)


def main():
    work, words = sys.argv[1], sys.argv[2:]
    numbers = [int(w) for w in words if w.isdigit()]
    names = [w for w in words if not w.isdigit()] or ["spin", "thrash", "redis"]
    rounds = numbers[0] if numbers else 12
    hz = numbers[1] if len(numbers) > 1 else 1000
    print(f"What being sampled costs: {datetime.date.today()}; {machine()}.  Instructions by callgrind, of a stack of 1 "
          "to 21 frames; none where the kernel alone takes the sample.")
    instructions, began = handler_instructions(), time.monotonic()
    for name in names:
        results = []
        for _ in range(rounds):
            order = random.sample(VARIANTS, len(VARIANTS))
            results.append({variant: one(name, variant, hz, work) for variant in order})
        print_table(name, hz, results, instructions)
        print_comparison(results)
    print(f"\nTook {time.monotonic() - began:.0f} s.")


main()
