#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares stacks of the same samples, frame by frame from the leaf.

  unwind_compare.py NAME OURS THEIRS [show]

OURS is what walk_perf printed, THEIRS what `perf script -F pid,tid,time,ip,sym,dso --ns --no-inline`
did, or unwind_at_stops.py both. A caller is at its return address for us and at the byte before it for
perf; a signal's trampoline is one byte behind its first instruction for us and one before it for perf. Printed:

  NAME | samples | complete truncated unknown bad, % | frames of both | unequal | equal, % | stacks equal, % | theirs complete, %
  the differences by class

Theirs is complete if it ends where one of ours that is complete does, or in a function that begins
programs or threads.

A frame that only one of both has counts as unequal. Of a sample that differs the class says where:
  they-stop     theirs are the first of ours (by what the last is in)
  we-stop       ours are the first of theirs
  differs       another caller (by what it was called from)
With `show` one sample of each class is printed, too.
"""
import collections, os, re, sys

name, ours_path, theirs_path = sys.argv[1:4]
show = len(sys.argv) > 4

def base(path):
    return os.path.basename(path) if path.startswith("/") else path.strip("[]") if path else ""

ours = {}
ends = collections.Counter()
for line in open(ours_path):
    pid, tid, time, end, *places = line.split()
    frames = []
    for place in places:
        offset, path = place.split(":", 1)
        frames.append((int(offset, 16), base(path)))
    ours[(int(tid), int(time))] = (end, frames)
    ends[end] += 1

theirs = {}
frames = None
for line in open(theirs_path, errors="replace"):
    head = re.match(r"\s*(\d+)/(\d+)\s+(\d+)\.(\d+):\s*$", line)
    if head:
        frames = theirs.setdefault((int(head[2]), int(head[3]) * 10**9 + int(head[4])), [])
        continue
    frame = re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)\s*$", line)
    if frame and int(frame[1], 16) < 1 << 63:  # its output for a word that was not copied: 0 - 1
        frames.append((int(frame[1], 16), base(frame[3]), frame[2]))

def is_equal(our, their, is_leaf):
    return our[1] == their[1] and our[0] - their[0] in ((0,) if is_leaf else (0, 1, 2))

def place(frame):
    return f"{frame[1]}+{frame[0]:x}" if len(frame) == 2 else f"{frame[2]} ({frame[1]})"

ROOTS = re.compile(r"_start|__clone3?|clone3?|__clone_internal|_dl_start_user|runtime\.(goexit|mstart|rt0_go)\b.*|_rt0_\w+")
roots = {(offset + d, module) for end, frames in ours.values() if end == "complete" for offset, module in frames[-1:] for d in (-1, 0)}

def is_complete(frames):
    return bool(frames) and ((frames[-1][0], frames[-1][1]) in roots or ROOTS.fullmatch(frames[-1][2].split("+")[0]) is not None)

total = equal = same_stacks = theirs_complete = 0
classes = collections.Counter()
shown = {}
for key, (end, mine) in ours.items():
    other = theirs.get(key)
    if other is None:
        classes["not in their output"] += 1
        continue
    theirs_complete += is_complete(other)
    both = max(len(mine), len(other))
    common = 0
    while common < min(len(mine), len(other)) and is_equal(mine[common], other[common], common == 0):
        common += 1
    same = sum(is_equal(a, b, i == 0) for i, (a, b) in enumerate(zip(mine, other)))
    total += both
    equal += same
    if common == both:
        same_stacks += 1
        continue
    if common == len(other):
        kind = f"they-stop in {place(other[-1])}" if other else "they have no stack"
    elif common == len(mine):
        kind = f"we-stop ({end}) in {place(other[common - 1])}" if common else "we have none"
    else:
        kind = f"differs ({end}) above {place(other[common - 1])}" if common else "another leaf"
    classes[kind] += 1
    shown.setdefault(kind, (key, mine, other))

count = len(ours)
print(f"| {name} | {count} | " + " | ".join(f"{100 * ends[e] / count:.2f}" for e in ("complete", "truncated", "unknown", "bad"))
      + f" | {total} | {total - equal} | {100 * equal / max(total, 1):.2f} | {100 * same_stacks / count:.2f} | {100 * theirs_complete / count:.2f} |")
for kind, number in classes.most_common(None if show else 12):
    print(f"    {number:6} {kind}")
    if show and kind in shown:
        key, mine, other = shown[kind]
        print("       ", key)
        for i in range(max(len(mine), len(other))):
            a = place(mine[i]) if i < len(mine) else "-"
            b = f"{other[i][1]}+{other[i][0]:x} {other[i][2]}" if i < len(other) else "-"
            print(f"          {a:50} {b}")
