#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds unwind tables against another reader of the same call frame information: binutils.

  tables_agree.py UNWIND_TABLE FILE[:DEBUG-FILE]...

At the first and the last byte of each row of either, and at random places, what a look into our table
finds must be what `readelf --debug-dump=frames-interp` says. Expressions are not in readelf's rows: they are
taken from its list of instructions, where those that a rule can hold are known by their words.
Prints a line a file; non-zero when anything else differs. A FILE that is not there is said and skipped.
"""
import bisect
import os
import random
import re
import subprocess
import sys

RANDOM_PLACES = 20000
SHOWN = 10
FARTHEST = 32767  # from the CFA, or from what that is counted from, in bytes
# What readelf calls the stack pointer, the link register, its column and the followed registers.
NAMES = {
    "Advanced Micro Devices X86-64": ("rsp", None, None, "rbp", "rbx"),
    "AArch64": ("sp", "x30", 30, "x29", "x19"),
    "ARM": ("r13", "r14", 14, "r11", "r7"),
    "RISC-V": ("sp", "ra", 1, "s0", "s1"),
    "MIPS R3000": ("r29", "r31", 31, "r30", "r16"),
}


def output(*words):
    environment = dict(os.environ, LC_ALL="C", DEBUGINFOD_URLS="")
    # readelf ends with 1 for any oddity of a debug file, which has segments without content.
    return subprocess.run(words, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


class Machine:
    def __init__(self, path):
        header = output("readelf", "-h", path)
        self.name = re.search(r"Machine:\s*(.*)", header).group(1)
        self.entry = int(re.search(r"Entry point address:\s*0x(\w+)", header).group(1), 16)
        self.sp, self.lr, self.column, first, second = NAMES[self.name]
        self.tracked = (first, second)
        self.bases = {self.sp: "sp", first: "t0", second: "t1", "plt": "plt"}


def saved(value):
    """A followed register: u is for us whatever is not saved."""
    return "u" if value in ("s", "u", None) else value


def is_far(distances):
    return any(abs(distance) > FARTHEST for distance in distances)


def rule(machine, cells, has_end, is_elsewhere):
    """What our table should say for a row that readelf printed as CELLS. It prints u for what is
    undefined, and for what was not said yet: in a link register the latter is still there, unless it
    IS_ELSEWHERE, where this CPU's functions do not have it."""
    ra = cells.get("ra")
    if ra == "u" and (has_end or not machine.lr):
        return "end"
    base = re.fullmatch(r"(\*?)(\w+)([+-]\d+)([+-]\d+)?", cells["CFA"])
    if base is None or base.group(2) not in machine.bases or base.group(1, 2) == ("*", machine.tracked[1]):
        return "untold"
    if ra in (None, "s", "u") and not is_elsewhere:
        ra = "u" if machine.lr else None
    if ra is None or not (ra == "u" or ra.startswith("c")):
        return "untold"
    if cells.get(machine.sp) not in (None, "u", "s", "v+0"):
        return "untold"
    rest = places(machine, base, [saved(cells.get(name)) for name in machine.tracked])
    distances = [int(word[1:]) for word in [ra] + (rest or []) if word.startswith("c")]
    if rest is None or is_far(distances) and is_far(far + int(base.group(3)) for far in distances):
        return "untold"
    cfa = base.group(1) + machine.bases[base.group(2)] + base.group(3) + (base.group(4) or "")
    return " ".join([cfa, ra] + rest)


def places(machine, base, words):
    """Where the followed registers are: all from the CFA, where that is a fixed distance away, or all
    from the first of them; None: neither."""
    is_fixed = not base.group(1) and base.group(2) != "plt"
    from_cfa, from_first = [], []
    for word in words:
        at = re.fullmatch(r"@(\w+)([+-]\d+)", word)
        is_near = re.fullmatch(r"u|c[+-]\d+", word) is not None
        if at and is_fixed and at.group(1) == base.group(2):
            from_cfa.append("c%+d" % (int(at.group(2)) - int(base.group(3))))
        elif is_near:
            from_cfa.append(word)
        if word == "u":
            from_first.append(word)
        elif at and at.group(1) == machine.tracked[0]:
            from_first.append("t0" + at.group(2))
        elif is_near and is_fixed and base.group(2) == machine.tracked[0]:
            from_first.append("t0%+d" % (int(word[1:]) + int(base.group(3))))
    both = [one for one in (from_cfa, from_first) if len(one) == len(words)]
    return both[0] if both else None


def frames(kind, files):
    words = ["readelf", "-W", "--debug-dump=no-follow-links", "--debug-dump=" + kind]
    return "".join(output(*words, path) for path in files)


def expression(text):
    """What an expression in readelf's words says, in the form of its rows: @rbp+8, *rsp+56+8, plt+8+11."""
    words = [word.strip() for word in text.split(";")]
    first = re.fullmatch(r"DW_OP_breg\d+ \((\w+)\): (-?\d+)", words[0])
    if not first:
        return None
    place = "%s%+d" % (first.group(1), int(first.group(2)))
    if words[1:] == []:
        return "@" + place
    if words[1:] == ["DW_OP_deref"]:
        return "*" + place
    more = re.fullmatch(r"DW_OP_plus_uconst: (\d+)", words[-1])
    if words[1:-1] == ["DW_OP_deref"] and more:
        return "*" + place + "%+d" % int(more.group(1))
    linkage = ["DW_OP_breg16 (rip): 0", "DW_OP_lit15", "DW_OP_and", "DW_OP_ge", "DW_OP_lit3", "DW_OP_shl", "DW_OP_plus"]
    byte = re.fullmatch(r"DW_OP_lit(\d+)", words[4]) if len(words) == 9 else None
    if byte and words[1:4] + words[5:] == linkage and first.group(1) == "rsp":
        return "plt%+d%+d" % (int(first.group(2)), int(byte.group(1)))
    return None


class Instructions:
    """What only the list of instructions tells: where functions begin in which the return address becomes
    undefined (ends), and the expressions by function and place (told): for the CFA, and for registers."""

    def __init__(self, machine, files):
        self.ends, self.told = set(), {}
        self.start = None
        for line in frames("frames", files).splitlines():
            if " FDE " in line or " CIE " in line:
                self.keep()
                place = re.search(r"pc=(\w+)\.\.", line)
                self.start = place.group(1) if place else None
                self.at, self.now, self.kept = self.start, {}, []
            elif self.start and "DW_CFA_" in line:
                if machine.lr and re.match(r"\s*DW_CFA_undefined: r%d\b" % machine.column, line):
                    self.ends.add(self.start)
                self.step(line.strip())
        self.keep()

    def keep(self):
        if self.start and self.now:
            self.told[self.start, self.at] = self.now

    def step(self, line):
        word, _, rest = line.partition(" ")
        name = re.search(r"r\d+ \((\w+)\)", rest)
        block = re.search(r"\((DW_OP_.*)\)", rest)
        if "_loc" in word:
            self.keep()
            self.at = re.search(r"to (\w+)", rest).group(1)
        elif word == "DW_CFA_remember_state":
            self.kept.append(self.now)
        elif word == "DW_CFA_restore_state" and self.kept:
            self.now = self.kept.pop()
        elif word == "DW_CFA_def_cfa_expression":
            self.now = dict(self.now, CFA=expression(block.group(1)))
        elif word in ("DW_CFA_def_cfa:", "DW_CFA_def_cfa_sf:", "DW_CFA_def_cfa_register:"):
            self.now = dict(self.now, CFA=None)
        elif word == "DW_CFA_expression:":
            self.now = dict(self.now, **{name.group(1): expression(block.group(1))})

    def fill(self, start, cells):
        """CELLS with their expressions in our words."""
        told = self.told.get((start, cells["LOC"]), {})
        for name in [name for name in cells if cells[name] == "exp"]:
            text = told.get(name)
            cells[name] = text.lstrip("@") if name == "CFA" and text else text or "untold"
        return cells


def functions(machine, files):
    """(start, end, [(address, rule)]) of each function, .eh_frame's first."""
    found, cies, rows = [], {}, None
    instructions = Instructions(machine, files)
    text = frames("frames-interp", files)
    for line in text.splitlines():
        words = re.sub(r" (\(\w+\))", r"\1", line).split()  # r10 (r10) is one cell
        if line.startswith("Contents of the"):
            cies, rows = {}, None
        elif " CIE " in line:
            rows, columns, ends_here, is_signal = [], None, False, re.search(r'CIE "\w*S', line) is not None
            is_elsewhere = machine.lr and int(re.search(r" ra=(\d+)", line).group(1)) != machine.column
            place = None
            cies[words[0].lstrip("0")] = (rows, is_signal, is_elsewhere)
        elif " FDE " in line:
            place = re.search(r"pc=(\w+)\.\.", line).group(1)
            ends_here = place in instructions.ends
            start, end = (int(word, 16) for word in re.search(r"pc=(\w+)\.\.(\w+)", line).groups())
            of_all, is_signal, is_elsewhere = cies[re.search(r"cie=0*(\w*)", line).group(1)]
            # A function that adds nothing to what holds for all has no rows of its own.
            rows, columns = [(start, of_all[-1][1])] if of_all else [], None
            if start > 1 and end > start:
                found.append((start, end, rows))
        elif rows is not None and words and words[0] == "LOC":
            columns = words
        elif rows is not None and columns and re.match(r"[0-9a-f]{8}", line):
            cells = instructions.fill(place, dict(zip(columns, words)))
            what = "signal" if is_signal else rule(machine, cells, ends_here, is_elsewhere)
            rows.append((int(words[0], 16), what))
    return found


def steps(found):
    """Sorted boundaries and what holds from each on; the earlier told of two that overlap."""
    taken = []
    for order, (start, end, rows) in enumerate(found):
        taken.append((start, end, order, rows))
    taken.sort(key=lambda one: one[0])
    kept = []
    for one in taken:
        if kept and kept[-1][1] > one[0]:
            if one[2] < kept[-1][2]:
                kept[-1] = one
        else:
            kept.append(one)
    marks = []
    for start, end, _, rows in kept:
        last = None
        for address, text in rows:
            if start <= address < end:
                marks.append((address, 1, text))
        marks.append((end, 0, "none"))
    marks.sort(key=lambda mark: mark[:2])
    holds = {}
    for address, _, text in marks:  # a function that begins where one ends has the word
        holds[address] = text
    addresses = sorted(holds)
    return addresses, [holds[address] for address in addresses]


def compare(tool, path, debug):
    machine = Machine(path)
    files = [path] + ([debug] if debug else [])
    found = functions(machine, files)
    if not found:
        print("%s: has no call frame information" % path)
        return True
    addresses, holds = steps(found)
    asked = {int(word, 16) for word in output(tool, "rows", *files).split()} | set(addresses)
    asked |= {address - 1 for address in asked}
    low, high = addresses[0], addresses[-1]
    asked |= {random.randrange(low, high) for _ in range(RANDOM_PLACES)}
    asked = sorted(address for address in asked if address >= 0)
    answers = subprocess.run([tool, "at"] + files, input="".join("%x\n" % a for a in asked),
                             check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    different, expressions, untold, entry, scanned = [], 0, 0, 0, 0
    for address, line in zip(asked, answers):
        ours = line.split(" ", 1)[1]
        at = bisect.bisect_right(addresses, address) - 1
        theirs = holds[at] if at >= 0 else "none"
        untold += ours == "untold"
        expressions += re.match(r"\*|plt|.* t0", theirs) is not None
        if theirs == "none" and ours == "end" and 0 <= address - (machine.entry & ~1) < 64:
            entry += 1
        elif theirs == "none":  # there the instructions are asked
            scanned += ours != "none"
        elif ours != theirs:
            different.append((address, ours, theirs))
    print("%s: %d places in %d functions, %d different; %d expressions, %d untold, %d of an untold entry, "
          "%d of which only the instructions tell" %
          (path, len(asked), len(found), len(different), expressions, untold, entry, scanned))
    for address, ours, theirs in different[:SHOWN]:
        print("  %x: ours %s; readelf's %s" % (address, ours, theirs))
    return not different and len(answers) == len(asked)


def main():
    random.seed(20261122)
    is_right = True
    for word in sys.argv[2:]:
        path, _, debug = word.partition(":")
        if os.path.exists(path) and (not debug or os.path.exists(debug)):
            is_right = compare(sys.argv[1], path, debug) and is_right
        else:
            print("without %s" % word)
    sys.exit(0 if is_right else 1)


main()
