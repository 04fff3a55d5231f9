#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks llvm-symbolizer, addr2line and our symbol index for the functions at random text addresses.

  symbols_agree.py SYMBOL_INDEX FILE INDEX [COUNT]

Where the two references agree with each other that there is a function (between functions there is
padding, which nobody runs), ours is held against them: the innermost function, its file and line,
and the whole chain of inlined functions with their call places.  Prints the
share where they agree, the share of these where ours is the same, and the rest by class with an
example each; and where the references differ, in what, and whose answer is ours.  Ends with 1 when
ours is below 99.9, 99.5 or 99 percent.

Compilers give no linkage name to C++ functions that other files cannot see.  The references call
such a one `step` where it was inlined; ours has what is around it (`alpha::(anonymous
namespace)::Stage::step`), or its symbol.  They mark copies that the compiler made (`[clone
.constprop.0]`); ours does not.  Both count as the same, and how many there are is told.

The references give raw names, which go through our own demangler; paths are compared with `.` and
`..` taken out, and a relative folder of compilation once; a line of 0 is the same as none."""
import collections
import os
import random
import re
import subprocess
import sys

LEAST = {"function": 99.9, "file:line": 99.5, "chain": 99.0}


def text_ranges(path):
    ranges = []
    listing = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
    for line in listing.splitlines():
        fields = line.split("]", 1)[-1].split()
        if len(fields) < 8 or fields[0].startswith(".plt") or "X" not in fields[6]:
            continue
        if fields[1] in ("PROGBITS", "NOBITS"):
            ranges.append((int(fields[2], 16), int(fields[4], 16)))
    return [r for r in ranges if r[1] > 0]


def pick(ranges, count):
    chooser = random.Random(4711)
    total = sum(size for _, size in ranges)
    picked = []
    for _ in range(count):
        at = chooser.randrange(total)
        for start, size in ranges:
            if at < size:
                picked.append(start + at)
                break
            at -= size
    return picked


def undoubled(path):
    """Both references put a relative folder of compilation twice: ./src/./src/a.c."""
    parts = path.split("/")
    for length in range(1, len(parts) // 2 + 1):
        if parts[0] and parts[:length] == parts[length : 2 * length]:
            return "/".join(parts[length:])
    return path


def place(text):
    """file:line without discriminators and columns; None when it is not known."""
    text = text.split(" (")[0]
    path, _, line = text.rpartition(":")
    if not line.isdigit():
        line = "0"
    if path in ("", "??"):
        return None
    return None if line == "0" else f"{undoubled(os.path.normpath(path))}:{line}"


def run(command, addresses):
    given = "".join(f"{address:#x}\n" for address in addresses)
    return subprocess.run(command, input=given, capture_output=True, text=True, errors="replace").stdout


def ask_llvm(path, addresses):
    out = run(["llvm-symbolizer", "-i", "--no-demangle", f"--obj={path}"], addresses)
    chains = []
    for block in out.split("\n\n")[: len(addresses)]:
        lines = block.strip("\n").splitlines()
        chain = []
        for name, where in zip(lines[0::2], lines[1::2]):
            chain.append((name, place(where.rsplit(":", 1)[0])))
        chains.append(chain)
    return chains


def ask_addr2line(path, addresses):
    chains = []
    out = run(["addr2line", "-a", "-f", "-i", "-e", path], addresses).splitlines()
    for at, line in enumerate(out):
        if line.startswith("0x") and all(c in "0123456789abcdef" for c in line[2:]):
            chains.append([])
            lines = chains[-1]
        else:
            lines.append(line)
    return [[(c[i], place(c[i + 1])) for i in range(0, len(c) - 1, 2)] for c in chains]


def ask_ours(program, index, addresses):
    chains = []
    for block in run([program, "chains", index], addresses).split("\n\n")[: len(addresses)]:
        chain = []
        for line in block.strip("\n").splitlines()[1:]:
            name, where, _ = line.split("\t")
            chain.append((name, place(where)))
        chains.append(chain)
    return chains


def demangle(program, names):
    names = sorted(names)
    out = subprocess.run([program, "demangle", "-"], input="\n".join(names) + "\n", capture_output=True,
                         text=True, errors="replace").stdout
    return dict(zip(names, out.splitlines()))


def aspect(chain, what):
    if what == "function":
        return chain[0][0] if chain else None
    if what == "file:line":
        return chain[0][1] if chain else None
    return tuple(chain)


def is_known(chain, what):
    return bool(chain) and chain[0][0] != "??" and aspect(chain, what) is not None


def how_two_differ(one, two, what):
    """In what llvm-symbolizer's ONE and addr2line's TWO differ, as a class; both are known or not."""
    if not is_known(one, what) and not is_known(two, what):
        return "neither knows"
    if not is_known(two, what):
        return "only llvm-symbolizer knows"
    if not is_known(one, what):
        return "only addr2line knows"
    if what == "function":
        return "another name"
    if what == "file:line":
        same = one[0][1].rsplit(":", 1)[0] == two[0][1].rsplit(":", 1)[0]
        return "another line" if same else "another file"
    if len(one) != len(two):
        return "llvm-symbolizer is deeper" if len(one) > len(two) else "addr2line is deeper"
    if [f[0] for f in one] != [f[0] for f in two]:
        return "another name in it"
    return "another call place"


def is_said_with_more(mine, theirs):
    """Whether MINE is the name THEIRS with what is around it and its arguments, or without the mark
    of a copy."""
    whole = re.sub(r"( \[clone [^]]*\])+$", "", theirs)
    return mine == whole or re.search(r"(^|::|\s)" + re.escape(whole) + r"(\(.*)?$", mine) is not None


def is_the_same(mine, theirs, what):
    """1: the same; 2: the same, but for names that are said with more; 0."""
    if aspect(mine, what) == aspect(theirs, what):
        return 1
    if what == "file:line" or len(mine) == 0:
        return 0
    mine, theirs = (mine[:1], theirs[:1]) if what == "function" else (mine, theirs)
    if what == "chain" and [f[1] for f in mine] != [f[1] for f in theirs]:
        return 0
    alike = len(mine) == len(theirs) and all(
        a[0] == b[0] or is_said_with_more(a[0], b[0]) for a, b in zip(mine, theirs))
    return 2 if alike else 0


def classify(ours, theirs, what):
    if not ours:
        return "ours has nothing"
    if what == "function":
        return "another name"
    if what == "file:line":
        if ours[0][1] is None:
            return "ours has no line"
        if theirs[0][1] is None:
            return "only ours has a line"
        same = ours[0][1].rsplit(":", 1)[0] == theirs[0][1].rsplit(":", 1)[0]
        return "another line" if same else "another file"
    if len(ours) != len(theirs):
        return "ours is deeper" if len(ours) > len(theirs) else "ours is shallower"
    if [f[0] for f in ours] != [f[0] for f in theirs]:
        return "another name in it"
    return "another call place"


def compare(addresses, llvm, gnu, ours, what):
    """Prints one aspect of all answers, the references' demangled; returns ours' share in percent."""
    agreed = same = more = 0
    rest, example = collections.Counter(), {}
    differ, llvms, gnus = collections.Counter(), collections.Counter(), collections.Counter()
    for address, one, two, mine in zip(addresses, llvm, gnu, ours):
        is_same_to_both = aspect(one, what) == aspect(two, what)
        if not is_same_to_both or not is_known(one, what) or not is_known(two, what):
            name = how_two_differ(one, two, what)
            differ[name] += 1
            example.setdefault(("not", name), f"{address:#x}: {aspect(one, what)} and {aspect(two, what)}")
            llvms[name] += is_known(one, what) and aspect(mine, what) == aspect(one, what)
            gnus[name] += is_known(two, what) and aspect(mine, what) == aspect(two, what)
            continue
        agreed += 1
        likeness = is_the_same(mine, one, what)
        same += likeness > 0
        more += likeness == 2
        if likeness > 0:
            if likeness == 2:
                example.setdefault("more", f"{address:#x}: {aspect(mine, what)}, theirs {aspect(one, what)}")
            continue
        name = classify(mine, one, what)
        rest[name] += 1
        example.setdefault(name, f"{address:#x}: {aspect(mine, what)}, theirs {aspect(one, what)}")
    share = 100.0 * same / max(agreed, 1)
    print(f"  {what}: references agree on {100.0 * agreed / len(addresses):.1f} %, of these ours is the same"
          f" on {share:.3f} % (at least {LEAST[what]})")
    if more > 0:
        print(f"    {more} of these with more in a name; {example['more'][:400]}")
    for name, times in rest.most_common():
        print(f"    {times} {name}; {example[name][:600]}")
    for name, times in differ.most_common():
        of = 100.0 / times
        print(f"    not compared: {100.0 * times / len(addresses):.1f} %, {name}; ours is llvm-symbolizer's"
              f" on {of * llvms[name]:.1f} % of these, addr2line's on {of * gnus[name]:.1f} %;"
              f" {example['not', name][:300]}")
    return share


def main():
    program, path, index = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 100000
    addresses = pick(text_ranges(path), count)
    llvm, gnu = ask_llvm(path, addresses), ask_addr2line(path, addresses)
    ours = ask_ours(program, index, addresses)
    if not len(llvm) == len(gnu) == len(ours) == count:
        sys.exit(f"{path}: {len(llvm)}, {len(gnu)} and {len(ours)} answers to {count} questions")
    readable = demangle(program, {name for chain in llvm + gnu for name, _ in chain})
    llvm, gnu = ([[(readable[name], where) for name, where in chain] for chain in c] for c in (llvm, gnu))
    print(f"{path}: {count} addresses")
    shares = [compare(addresses, llvm, gnu, ours, what) for what in LEAST]
    sys.exit(any(share < least for share, least in zip(shares, LEAST.values())))


main()
