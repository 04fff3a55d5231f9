# SPDX-License-Identifier: Apache-2.0
"""Compares results of other programs' readers for exported files with the function table of the
same tree.

  agree.py FOLDER [odd|lines] PROGRAM

FOLDER has top.json and pprof.pb.gz, speedscope.json, folded.txt, perf.txt, callgrind.out, and their
readers' output: annotated (callgrind_annotate), inclusive (with --inclusive=yes), decoded (protoc
--decode), flame.svg (flamegraph.pl), and readers.json (read.js) if that could be run. For each
reader, all weight equals that of format=top exactly, and so does the self weight of each of its 20
heaviest functions. With `odd` there are functions whose names are difficult in a format; with
`lines` pprof and callgrind have lines and inlined functions. Addresses in pprof and perf's text are
those that nm prints for PROGRAM. Prints a line a reader;
prints each difference and exits with 1 if there is one.
"""
import collections
import json
import os
import re
import subprocess
import sys

folder, program = sys.argv[1], sys.argv[-1]
wrong = []


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


symbols = {}  # of the program: name -> (start, end)
for line in output("nm", "-S", "--defined-only", program).splitlines():
    fields = line.split(" ", 3)
    if len(fields) == 4:
        start = int(fields[0], 16)
        symbols[fields[3]] = (start, start + int(fields[1], 16))
build_id = re.search("Build ID: ([0-9a-f]+)", output("readelf", "-n", program))[1]


def read(name, errors="strict"):
    with open(f"{folder}/{name}", encoding="utf-8", errors=errors) as file:
        return file.read()


top = json.loads(read("top.json"))
functions = top["functions"]
assert functions, "no function at all"


def table(name_of=lambda f: f["name"]):
    """Own weight by name, as a form writes the name."""
    weights = collections.Counter()
    for function in functions:
        weights[name_of(function)] += function["self"]
    return weights


def folded_name(function):
    return re.sub("[\r\n]", " ", function["name"].replace(";", ":"))


def compare(reader, total, own, name_of=lambda f: f["name"], want=None):
    if total != top["total"]:
        wrong.append(f"{reader}: {total} in all, not {top['total']}")
    want = want or table(name_of)
    heaviest = sorted(want, key=want.get, reverse=True)[:20]
    for name in heaviest:
        if own.get(name, 0) != want[name]:
            wrong.append(f"{reader}: {name!r} has {own.get(name, 0)}, not {want[name]}")
    print(f"  {reader}: {total} ns, {len(heaviest)} functions")


def compare_shares(reader, told):
    """Of a reader that weighs an event by the time around it, half of which the first and the last one lack."""
    want = table(lambda f: f"??? ({f['module']})" if is_unnamed(f) else f["name"])
    limit = .005 + 2 / top["samples"]
    for name, weight in want.most_common(20):
        share = told["self"].get(name, 0) / told["total"]
        if abs(share - weight / top["total"]) > limit:
            wrong.append(f"{reader}: {name!r} has {share:.4f}, not {weight / top['total']:.4f}")
    if abs(told["total"] - top["total"] / 1e9) > limit * top["total"] / 1e9:
        wrong.append(f"{reader}: {told['total']} s, not {top['total']} ns")
    print(f"  {reader}: {told['total']:.4f} s")


def is_unnamed(function):
    return re.fullmatch(re.escape(function["module"]) + r"\+0x[\da-f]+", function["name"]) is not None


def numbers(text):
    return int(text.replace(",", ""))


def annotated(name):
    """callgrind_annotate's table, `cost (share%)  file:function [object]`, and its total."""
    rows, total = {}, 0
    for line in read(name).splitlines():
        found = re.match(r" *([\d,]+) \( *[\d.]+%\) +(.*)$", line)
        if found and found[2] == "PROGRAM TOTALS":
            total = numbers(found[1])
        elif found:
            rows[found[2].rstrip()] = numbers(found[1])
    return rows, total


outermost = collections.Counter()  # pprof's weights by the function that the leaf is inlined into


def annotate():
    """A function that is entered again below itself has a row for that, NAME'2."""
    rows, total = annotated("annotated")
    own = collections.Counter()
    bare = lambda name: re.sub(r"^.*?:(?=.)", "", re.sub(r"('\d+)?( \[[^\[]*\]+)?$", "", name))  # lines may be of other files
    for name, weight in rows.items():
        own[bare(name)] += weight
    name_of = lambda f: f"{f['file'] or '???'}:{f['name']} [{f['module']}]"
    compare("callgrind_annotate", total, own, lambda f: bare(name_of(f)))
    rows, _ = annotated("inclusive")
    for name, weight in rows.items():
        if weight > total:
            wrong.append(f"callgrind_annotate: {name!r} has {weight} inclusive, more than all")
    roots = {line.split(";")[0].rsplit(" ", 1)[0] for line in read("folded.txt").splitlines()}
    for function in functions[:20]:
        name = name_of(function)
        if folded_name(function) in roots:  # a function without callers has no calls to add up
            continue
        if function["total"] != 0 and rows.get(name) != function["total"]:
            wrong.append(f"callgrind_annotate: {name!r} has {rows.get(name)} inclusive, not {function['total']}")


def parse_text_format(text):
    """protobuf's text form of messages that hold numbers, texts and messages."""
    root = collections.defaultdict(list)
    stack = [root]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            message = collections.defaultdict(list)
            stack[-1][line[:-1].strip()].append(message)
            stack.append(message)
        elif line == "}":
            stack.pop()
        elif line:
            key, value = line.split(": ", 1)
            if value[0] == '"':  # with escapes as C has them
                value = value[1:-1].encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1")
                value = value.decode("utf-8")
            else:
                value = {"true": 1, "false": 0}.get(value) if value in ("true", "false") else int(value)
            stack[-1][key].append(value)
    return root


def decode():
    """What is told is right, and every reference leads somewhere."""
    profile = parse_text_format(read("decoded"))
    one = lambda message, key: message[key][0] if message[key] else 0
    texts = profile["string_table"]
    text = lambda message, key: texts[one(message, key)]
    locations = {one(l, "id"): l for l in profile["location"]}
    named = {one(f, "id"): f for f in profile["function"]}
    mappings = {one(m, "id"): m for m in profile["mapping"]}
    if texts[0] != "" or 0 in locations or 0 in named or 0 in mappings:
        wrong.append("protoc: the first text is not empty, or something has the number 0")
    types = [(text(t, "type"), text(t, "unit")) for t in profile["sample_type"]]
    if types != [("samples", "count"), ("cpu", "nanoseconds")] or text(profile, "default_sample_type") != "cpu":
        wrong.append(f"protoc: the types are {types}, by default {text(profile, 'default_sample_type')}")
    own, total, count, placed = collections.Counter(), 0, 0, set()
    outermost.clear()
    for sample in profile["sample"]:
        for location in sample["location_id"]:
            for line in locations[location]["line"]:
                named[one(line, "function_id")]
            mapping = mappings[one(locations[location], "mapping_id")]
            address = one(locations[location], "address")
            outermost_name = text(named[one(locations[location]["line"][-1], "function_id")], "name")
            if text(mapping, "filename") == os.path.basename(program):
                low, high = symbols.get(outermost_name, (0, 0))
                if text(mapping, "build_id") != build_id:
                    wrong.append(f"protoc: {text(mapping, 'build_id')} is not the build-id of {program}")
                if high > 0 and not low <= address < high:
                    wrong.append(f"protoc: {address:#x} is not in {outermost_name}")
                placed.add(address)
            if address and not one(mapping, "memory_start") <= address < one(mapping, "memory_limit"):
                wrong.append(f"protoc: {address:#x} is outside of its mapping {text(mapping, 'filename')}")
        leaf, last = (locations[sample["location_id"][0]]["line"][at] for at in (0, -1))
        outermost[text(named[one(last, "function_id")], "name")] += sample["value"][1]
        own[text(named[one(leaf, "function_id")], "name")] += sample["value"][1]
        total += sample["value"][1]
        count += sample["value"][0]
    compare("protoc", total, own)
    if len(placed) < 5:
        wrong.append(f"protoc: only {len(placed)} addresses in {program}")
    if "lines" in sys.argv:
        told = set()
        for location in profile["location"]:
            chain = [named[one(line, "function_id")] for line in location["line"]]
            inner, outer = chain[0], chain[-1]
            if text(inner, "name") == "burn" and text(outer, "name") == "alpha_sixty" and len(chain) == 2:
                told.add("inlined")
                mapping = mappings[one(location, "mapping_id")]
                told |= {key for key in mapping if key.startswith("has_")}
                if one(location["line"][0], "line") > one(inner, "start_line") > 0 and text(inner, "filename").endswith("truth.c"):
                    told.add("lines")
        missing = {"inlined", "lines", "has_functions", "has_filenames", "has_line_numbers", "has_inline_frames"} - told
        if missing:
            wrong.append(f"protoc: no {' '.join(sorted(missing))} in what burn is told of")
        burn = re.search(r"fn=\((\d+)\) burn$", read("callgrind.out"), re.M)
        if not burn or not re.search(rf"^fn=\({burn[1]}\).*\n(\d+ \d+ \d+\n){{2}}", read("callgrind.out"), re.M):
            wrong.append("callgrind: burn has not several lines")
    if count != top["samples"]:
        wrong.append(f"protoc: {count} samples, not {top['samples']}")


def folded_and_flame():
    own, frames, total = collections.Counter(), collections.Counter(), 0
    for line in read("folded.txt").splitlines():
        stack, weight = line.rsplit(" ", 1)
        names = stack.split(";")
        own[names[-1]] += int(weight)
        total += int(weight)
        for depth in range(len(names)):
            frames[tuple(names[:depth + 1])] += int(weight)
    compare("folded", total, own, folded_name)
    import html
    drawn = collections.Counter()  # text in narrow frames is cut within a letter; titles are complete
    for title in re.findall(r"<title>(.*?)</title>", read("flame.svg", "replace"), re.S):
        name, weight = re.match(r"(.*) \(([\d,]+) samples, [\d.]+%\)$", html.unescape(title), re.S).groups()
        drawn[name, numbers(weight)] += 1
    shown = str.maketrans("<>", "()")  # as flamegraph.pl shows them
    want = collections.Counter((path[-1].translate(shown), weight) for path, weight in frames.items())
    want["all", total] += 1
    if drawn != want:
        wrong.append(f"flamegraph.pl: draws {list((drawn - want).items())[:3]}, not {list((want - drawn).items())[:3]}")
    print(f"  flamegraph.pl: {sum(drawn.values())} frames")


def perf_script():
    """The lines as the readers' own expressions take them apart; an event's period is its weight."""
    own, total, weight, placed = collections.Counter(), 0, None, set()
    for line in read("perf.txt").splitlines():
        head = re.match(r"(\S.+?)\s+(\d+)/*(\d+)*\s+", line)
        frame = re.match(r"\s*(\w+)\s*(.+) \((.*)\)$", line)
        if head and not line.startswith(("\t", " ")):
            weight = int(re.search(r" (\d+) cpu-clock:\s*$", line)[1])
            total += weight
            continue
        offset = re.match(r"\s*(\w+)\s*(.+)\+0x([\da-f]+) \((.*)\)$", line)
        if offset and offset[4] == os.path.basename(program) and offset[2] in symbols:
            placed.add(int(offset[1], 16))
            if int(offset[1], 16) - int(offset[3], 16) != symbols[offset[2]][0]:
                wrong.append(f"perf script: {offset[2]} does not begin at {offset[1]} - 0x{offset[3]}")
        if frame and weight is not None:
            own[re.sub(r"\+0x[\da-f]+$", "", frame[2])] += weight
            weight = None
        elif line and not frame:
            wrong.append(f"perf script: what is {line!r}?")
    named = lambda f: "[unknown]" if is_unnamed(f) else f["name"]
    compare("perf script", total, own, named)
    if len(placed) < 5:
        wrong.append(f"perf script: only {len(placed)} addresses in {program}")


def others():
    try:
        readers = json.loads(read("readers.json"))
    except FileNotFoundError:
        return
    for reader, told in readers.items():
        if reader.endswith("perf.txt"):  # by time, between two events
            compare_shares(reader, told)
        else:
            named = folded_name if reader.endswith("folded.txt") else lambda f: f["name"]
            # For inlined functions, speedscope uses only the line of the caller.
            want = outermost if reader == "speedscope, pprof.pb.gz" else None
            compare(reader, told["total"], {k: int(v) for k, v in told["self"].items()}, named, want)


annotate()
decode()
folded_and_flame()
perf_script()
others()
if "odd" in sys.argv:
    names = "\n".join(f["name"] for f in functions)
    for part in (";", '"', "é", "<T as U>::f", "operator new(unsigned long)"):
        if part not in names:
            wrong.append(f"no function has {part!r} in its name: {names}")
for line in wrong:
    print("  wrong:", line)
sys.exit(bool(wrong))
