#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# In every breakdown the samples are the same: function table, tree, folded stacks, load by any
# label, series of any step and each function in detail have one total and one weight a function, to
# the nanosecond. Two boards, three programs, several threads.
. "$(dirname "$0")/lib.sh"
start_collector
enroll here
run --service truth --hz 499 -- "$targets/truth" 1 >"$W/truth.log" || fail "truth ended with $?"
enroll there
run --service threads --hz 499 -- "$targets/threads" >"$W/threads.log" || fail "threads ended with $?"
run --service awk --hz 499 -- awk 'BEGIN { for (i = 0; i < 4000000; i++) s += i * i }' || fail "awk ended with $?"
until_true 20 names_are_settled || fail "names go on changing"

from=$(($(date +%s) - 600)) to=$(($(date +%s) + 60))
FROM=$from TO=$to HTTP=http://127.0.0.1:$H /usr/bin/python3 - <<'PYTHON' || fail "the sums differ"
import json, os, sys, urllib.parse, urllib.request

RANGE = {"from": os.environ["FROM"], "to": os.environ["TO"]}

def ask(route, **parameters):
    query = urllib.parse.urlencode({**RANGE, **parameters})
    with urllib.request.urlopen(f"{os.environ['HTTP']}/api/v1/{route}?{query}") as answer:
        body = answer.read().decode()
    return json.loads(body) if body.startswith("{") else body

wrong = 0
def same(what, got, wanted):
    global wrong
    if got != wanted:
        print(f"  {what}: {got} and not {wanted}")
        wrong += 1

def look(match):
    top = ask("profile", match=match, limit=100000)
    total, functions = top["total"], top["functions"]
    assert total > 0 and top["samples"] > 100, f"nothing was sampled of {match}"
    self_of, modules = {}, {}
    for row in functions:
        self_of[row["name"]] = self_of.get(row["name"], 0) + row["self"]
        modules[row["module"]] = modules.get(row["module"], 0) + row["self"]
    same("top", sum(self_of.values()), total)
    tree = ask("profile", match=match, format="tree")
    same("tree", sum(node["self"] for node in tree["nodes"]), total)
    folded = ask("profile", match=match, format="folded")
    same("folded", sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()), total)
    ways = ["function", "module", "thread", "service", "board", "exe", "build_id", "arch", "kernel"]
    for by in ways:
        load = ask("load", match=match, by=by)
        same(f"load by {by}", sum(row["weight"] for row in load["rows"]), total)
        same(f"its total", (load["total"], load["samples"]), (total, top["samples"]))
        cut = ask("load", match=match, by=by, limit=1)
        same(f"with a limit", cut["rows"][0]["weight"] + cut["rest"]["weight"], total)
    load = {row["name"]: row["weight"] for row in ask("load", match=match, by="module")["rows"]}
    same("modules", load, {name: weight for name, weight in modules.items() if weight > 0})
    for by in [None, "function", *ways]:
        for step in 1, 7, 60, 3600:
            series = ask("series", match=match, step=step, limit=2, **({"by": by} if by else {}))
            points = [p for s in series["series"] + [series["rest"]] for p in s["points"]]
            same(f"series by {by}, {step} s", sum(weight for time, weight in points), total)
            assert all(time % step == 0 for time, weight in points)
    for name, weight in self_of.items():
        inside = ask("function", match=match, function=name)
        same(f"{name} itself", inside["function"]["self"], weight)
        for by in "by_offset", "by_line", "by_build", "by_board", "by_thread":
            same(f"{name} {by}", sum(row["self"] for row in inside[by]), weight)
        for by in "by_board", "by_thread":
            same(f"{name} {by}", sum(row["total"] for row in inside[by]), inside["function"]["total"])
    return total

whole = look("{}")
same("the boards", look('{board="here"}') + look('{board="there"}'), whole)
print(f"  {whole} ns in every answer")
sys.exit(wrong > 0)
PYTHON
