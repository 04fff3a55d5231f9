#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of unwind_on_boards.sh, from the answers in a folder: BOARD.VARIANT.PROGRAM.SAMPLER.{json,folded}."""
import collections
import json
import pathlib
import re
import sys

LIBRARY = "through_library;compare;full_frame;pointed_frame;large_frame;small_frame;bottom"
RECURSION = "recursive;" * 6 + "small_frame;bottom"
ENDS = ("complete", "truncated", "no_table", "bad", "not_told")


def stacks(path):
    """(frames from the root on, weight): what clocks alone told is in no stack."""
    for line in path.read_text().splitlines():
        text, weight = line.rsplit(" ", 1)
        if text not in ("[kernel]", "[unsampled]"):
            yield text.split(";"), int(weight)


def user(frames):
    return [frame for frame in frames if not frame.startswith("[")]


def pairs(path):
    """The weight of each pair of an innermost function and its caller."""
    found = collections.Counter()
    for frames, weight in stacks(path):
        found[tuple(user(frames)[-2:])] += weight
    return found


def is_true_chain(frames):
    if frames[0].startswith("["):
        return False
    # The C library's own frames between through_library and compare may be any.
    text = re.sub(r"^.*?;work;", "", ";".join(frames))
    text = re.sub(r"^through_library;.*;compare;", "through_library;compare;", text)
    return text in (LIBRARY, RECURSION)


def of_chain(path):
    """The shares of the samples in bottom whose caller, and whose whole stack is right."""
    all_, called, whole = 0, 0, 0
    for frames, weight in stacks(path):
        if user(frames)[-1:] == ["bottom"]:
            all_ += weight
            called += weight * (user(frames)[-2:-1] == ["small_frame"])
            whole += weight * is_true_chain(frames)
    return (called / all_, whole / all_) if all_ else (None, None)


def of_reference(path, known):
    found = pairs(path)
    right = sum(weight for pair, weight in found.items() if len(pair) == 2 and pair in known)
    return right / sum(found.values())


def percent(share):
    return "" if share is None else "0" if share == 0 else "%.2f %%" % (100 * share)


def main():
    folder = pathlib.Path(sys.argv[1])
    known = collections.Counter()
    for path in folder.glob("armhf..debug_frame.lua.*.folded"):
        known += pairs(path)
    print("| board | what tells | program | sampler | samples | complete | truncated | no table | bad | not told "
          "| first caller right | whole stack right |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    order = [(".eh_frame", "exidx", ".debug_frame", "neither"), ("chain", "lua", "xz"), ("perf", "timer")]
    rows = []
    for path in folder.glob("arm*.json"):
        board, variant, program, sampler = re.fullmatch(r"(\w+)\.(\.?\w+)\.(\w+)\.(\w+)", path.stem).groups()
        rows.append((board, *[words.index(word) for words, word in zip(order, (variant, program, sampler))], path))
    for board, variant, program, sampler, path in sorted(rows):
        names = order[0][variant], order[1][program], order[2][sampler]
        answer = json.loads(path.read_text())
        folded = path.with_name(path.name[:-5] + ".folded")
        first, whole = of_chain(folded) if names[1] == "chain" else (None, None)
        if names[1] == "lua" and board == "armhf" and names[0] != ".debug_frame" and known:
            first = of_reference(folded, known)
        cells = [board, *names, str(answer["samples"]), *[percent(answer["stacks"][end]) for end in ENDS],
                 percent(first), percent(whole)]
        print("| " + " | ".join(cells) + " |")
        short = ["%s %s %.2f %%" % (end["module"], end["end"], 100 * end["share"]) for end in answer["stacks"]["ends_in"]]
        if short:
            print("  short: " + ", ".join(short[:4]), file=sys.stderr)


main()
