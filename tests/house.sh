#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figures of the tree outside tests: how many files, how large, how many of them have a single user.
# Prints them and changes nothing; compare two commits by running it in both.
#
#   tests/house.sh           the figures
#   tests/house.sh --names   and the headers and sources behind them
cd "$(dirname "$0")/.." || exit 2
command -v ctags >/dev/null || { echo "tests/house.sh: ctags is missing: apt-get install universal-ctags" >&2; exit 2; }
exec /usr/bin/python3 - "$@" <<'PYTHON'
import collections, os, re, statistics, subprocess, sys

names_wanted = "--names" in sys.argv
SMALL_HEADER_LINES = 40
MEMBERS_MAX = 25
EXPORTS_MAX = 25
FIELD_WORDS = ["rollup", "eviction", "compaction", "worker pool", "unauthenticated", "back-off", "rate limit", "supervisor"]

def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout

listed = [path for path in run("git", "ls-files", "*.c", "*.h").split() if not path.startswith("tests/") and os.path.exists(path)]
text = {path: open(path, encoding="utf-8").read() for path in listed}
lines = {path: text[path].count("\n") for path in listed}
sources = [path for path in listed if path.endswith(".c")]
headers = [path for path in listed if path.endswith(".h")]
code = sum(1 for path in listed for line in re.sub(r"/\*.*?\*/", "", text[path], flags=re.S).split("\n") if line.strip() and not line.strip().startswith("//"))

# The files that include each header, which is found by the end of its path.
users = collections.defaultdict(set)
by_name = collections.defaultdict(list)
for path in headers:
    by_name[os.path.basename(path)].append(path)
for path in listed:
    for included in re.findall(r'^#include "([^"]+)"', text[path], re.M):
        near = [h for h in by_name[os.path.basename(included)] if h.endswith("/" + included)]
        same = [h for h in near if os.path.dirname(h) == os.path.dirname(path)]
        for header in same or near[:1]:
            users[header].add(path)

def own(header):  # the source that implements it
    return header[:-2] + ".c"

single = {header: next(iter(others)) for header in headers
          if len(others := {user for user in users[header] if user != own(header)}) == 1}
single_sources = {own(header): user for header, user in single.items() if own(header) in text and user.endswith(".c")}

exported, members, functions = collections.Counter(), collections.Counter(), {}
for line in run("ctags", "-x", "--c-kinds=m", "--_xformat=%F\t%s\t%N", *listed).split("\n"):
    if not line:
        continue
    path, scope, _ = line.split("\t") # the name too: equal lines are printed once
    members[(path, scope)] += 1
for header in headers:
    bare = re.sub(r"/\*.*?\*/", "", text[header], flags=re.S)
    declared = set(re.findall(r"^[A-Za-z_][\w \t*]*?\b(\w+)\([^;{]*\)[^;{]*;", bare, re.M))
    exported[header] = len(declared)
    for name in declared:
        functions[name] = header
word_users = collections.defaultdict(set)
for path in sources:
    for word in set(re.findall(r"\b\w+\b", text[path])) & functions.keys():
        word_users[word].add(path)
one_user = sum(1 for name, header in functions.items() if len(word_users[name] - {own(header)}) == 1)

all_text = "\n".join(text.values()).lower()
source_sizes = [lines[path] for path in sources]
rows = [
    ("C files", len(listed)), ("lines", sum(lines.values())), ("lines of code", code),
    ("median lines of a source", int(statistics.median(source_sizes))),
    ("sources of more than 1000 lines", sum(1 for size in source_sizes if size > 1000)),
    (f"headers under {SMALL_HEADER_LINES} lines", f"{sum(1 for h in headers if lines[h] < SMALL_HEADER_LINES)} of {len(headers)}"),
    ("headers with one user", len(single)),
    ("sources used by one other source", len(single_sources)),
    ("exported functions with one user file", f"{one_user} of {len(functions)}"),
    (f"headers with more than {EXPORTS_MAX} functions", sum(1 for h in headers if exported[h] > EXPORTS_MAX)),
    (f"structs with more than {MEMBERS_MAX} members", sum(1 for count in members.values() if count > MEMBERS_MAX)),
    ("folders with C files", len({os.path.dirname(path) for path in listed})),
] + [(f"'{word}' found", all_text.count(word)) for word in FIELD_WORDS]
for what, value in rows:
    print(f"{value!s:>14}  {what}")
if names_wanted:
    for path, user in sorted(single_sources.items()):
        print(f"  {path} -> {user} {lines[path]}")
    for (path, scope), count in sorted(members.items(), key=lambda item: -item[1]):
        if count > MEMBERS_MAX:
            print(f"  {path}: {scope}: {count} members")
PYTHON
