#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shares of whole stacks by several unwinders on the same samples, and callers that are refuted.

  whole_stacks.py head
  whole_stacks.py NAME FOLDER TIMER [show]

FOLDER has one unwinder's stacks a file, all of the same samples: ours-auto-BYTES and ours-fp, printed by walk_perf,
and perf-BYTES, by `perf script -F pid,tid,time,ip,sym,dso --ns --no-inline`; BYTES of each stack were copied.

  whole     the outermost frame is in a function that has no caller: the program's entry, one whose call frame
            information leaves the return address undefined, or where goroutines and Go's threads begin
  reaches   a frame is in a function in which whole stacks begin, up to main or the thread's own first function:
            code without frame pointers is no obstacle to that, and the C library has none where it calls main
  frames    at the same depth, from the leaf to the first difference or the shorter end, with 64 KiB
  callers   of all our stacks with 64 KiB: those whose call in the machine code leads to the callee
            or computes its target / those that are refuted (call_edges.py) / the others, in code of no file

TIMER is what the timer's answer says of its stacks. Below each row, the differences and the refuted callers.
"""
import collections
import os
import re
import sys

from call_edges import function_of, is_root, judge

HEAD = ("program", "samples", "whole with 8 KiB: ours, perf's", "16 KiB", "64 KiB", "reaches with 16 KiB: ours", "`fp`",
        "by timer", "frames", "different", "our callers: right / refuted / not known", "perf's")
if sys.argv[1:] == ["head"]:
    print("| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|")
    sys.exit()
name, folder, timer = sys.argv[1:4]
show = len(sys.argv) > 4
NO_FILE = re.compile(r"//|\[(?!vdso)|.*perf-\d+\.map$|unknown|inlined")
BAD = ("none", "other")


def in_file(path):
    return "" if NO_FILE.match(path) else path


def read_ours(path):
    stacks = {}
    for line in open(path):
        pid, tid, time, end, *places = line.split()
        frames = [place.split(":", 1) for place in places]
        stacks[int(tid), int(time)] = [(int(offset, 16), in_file(file)) for offset, file in frames]
    return stacks


def read_perf(path):
    stacks, frames = {}, None
    for line in open(path, errors="replace"):
        head = re.match(r"\s*(\d+)/(\d+)\s+(\d+)\.(\d+):\s*$", line)
        if head:
            frames = stacks.setdefault((int(head[2]), int(head[3]) * 10**9 + int(head[4])), [])
            continue
        frame = re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)\s*$", line)
        if frame and int(frame[1], 16) < 1 << 63:  # its output for a word that was not copied: 0 - 1
            frames.append((int(frame[1], 16) + bool(frames), in_file(frame[3].replace(" (deleted)", ""))))
    return stacks


def is_whole(frames):
    return bool(frames) and is_root(frames[-1][1], frames[-1][0], len(frames) == 1)


def function_key(frame, is_leaf):
    file, address, function = function_of(frame[1], frame[0] - (not is_leaf))
    return (frame[1], function.start) if function else None


def outermost(stacks):
    """Functions that hold a whole stack's last frames: of a program from main on, of a thread from its own first."""
    found = set()
    for frames in stacks.values():
        if not is_whole(frames):
            continue
        entry = function_of(frames[-1][1], frames[-1][0] - (len(frames) > 1))[2]
        for i in range(len(frames) - 1, max(len(frames) - (5 if entry.is_entry else 4), -1), -1):
            found.add(function_key(frames[i], i == 0))
    return found - {None}


def reaches(frames, functions):
    return any(function_key(frame, i == 0) in functions for i, frame in enumerate(frames))


def edges(frames):
    for i in range(len(frames) - 1):
        yield frames[i][1], frames[i][0], i == 0, frames[i + 1][1], frames[i + 1][0]


def verdicts(stacks):
    count, bad = collections.Counter(), collections.Counter()
    for frames in stacks.values():
        for edge in edges(frames):
            verdict = judge(*edge)
            count[verdict] += 1
            if verdict in BAD:
                bad[verdict, edge] += 1
    return count, bad


def is_same(mine, other, i):
    """The same return address; of a place that a signal interrupted perf says one byte less."""
    if mine[i] == other[i]:
        return True
    return mine[i][1] == other[i][1] and mine[i][0] == other[i][0] + 1 and i > 0 and judge(*list(edges(mine[i - 1:i + 1]))[0]) == "signal"


def place(frame):
    return f"{os.path.basename(frame[1])}+{frame[0]:x}"


files = sorted(os.listdir(folder))
unwinders = {f: (read_ours if f.startswith("ours") else read_perf)(os.path.join(folder, f)) for f in files if f.startswith(("ours-", "perf-"))}
base = unwinders["ours-auto-65528"]
perf = unwinders["perf-65528"]
shares = {f: sum(is_whole(stacks.get(key, [])) for key in base) / len(base) for f, stacks in unwinders.items()}
roots = outermost(base)
reached = {f: sum(reaches(unwinders[f].get(key, []), roots) for key in base) / len(base) for f in ("ours-auto-16384", "ours-fp")}

compared = differences = 0
kinds, shown = collections.Counter(), {}
for key, mine in base.items():
    other = perf.get(key, [])
    both = min(len(mine), len(other))
    common = 0
    while common < both and is_same(mine, other, common):
        common += 1
    compared += common
    if common == both:
        kinds["equal" if len(mine) == len(other) else "perf stops" if len(other) < len(mine) else "we stop"] += 1
        continue
    compared += 1
    differences += 1
    ours = judge(*next(edges(mine[common - 1:common + 1]))) if common else "leaf"
    theirs = judge(*next(edges(other[common - 1:common + 1]))) if common else "leaf"
    if common == 1:  # the place itself, not a return address
        ours, theirs = judge(*next(edges(mine))), judge(*next(edges(other)))
    kind = f"differ: our call {ours}, perf's {theirs}"
    kinds[kind] += 1
    shown.setdefault((kind, place(mine[common - 1]) if common else "leaf"), (key, mine, other))

checked, bad = verdicts(base)
perf_checked, perf_bad = verdicts(perf)


def both(size):
    return " ".join(f"{100 * shares[f'{who}-{size}']:.1f}" for who in ("ours-auto", "perf"))


def callers(count):
    refuted, unknown = sum(count[v] for v in BAD), count["unknown"]
    return f"{sum(count.values()) - refuted - unknown} / {refuted} / {unknown}"


row = [name, len(base), both(8192), both(16384), both(65528), *(f"{100 * reached[f]:.1f}" for f in ("ours-auto-16384", "ours-fp")),
       timer, compared, differences, callers(checked), callers(perf_checked)]
print("| " + " | ".join(map(str, row)) + " |")
print("    stacks:", ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()))
print("    calls of ours:", dict(checked), "of perf's:", dict(perf_checked))
for whose, found in (("ours", bad), ("perf's", perf_bad)):
    for (verdict, edge), number in found.most_common(None if show else 8):
        print(f"    {number:6} refuted of {whose} ({verdict}): {place((edge[1], edge[0]))} called from {place((edge[4], edge[3]))}")
if show:
    for (kind, at), (key, mine, other) in list(shown.items())[:20]:
        print("   ", kind, "above", at, key)
        for i in range(max(len(mine), len(other))):
            a = place(mine[i]) if i < len(mine) else "-"
            b = place(other[i]) if i < len(other) else "-"
            print(f"          {a:50} {b}")
ends = collections.Counter(place(f[-1]) for f in base.values() if f and not is_whole(f))
print("    ours not whole end in:", ", ".join(f"{p} {n}" for p, n in ends.most_common(8)))
ends = collections.Counter(place(f[-1]) for k, f in perf.items() if f and not is_whole(f))
print("    perf's not whole end in:", ", ".join(f"{p} {n}" for p, n in ends.most_common(5)))
