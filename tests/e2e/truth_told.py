# SPDX-License-Identifier: Apache-2.0
"""Holds what the collector tells of tests/targets/truth to what the program printed itself.

  truth_told.py NAME ANSWER TRUTH SHARES TOTAL [NAMED [STOLEN]]

ANSWER is the function table as JSON, TRUTH the program's line: three shares, user and system seconds.
Each share is right within SHARES, or where few samples could be taken (a crowded machine) within three and
a half standard deviations of it, sqrt(p (1 - p) / samples), samples as many as their weights are worth by the answer's own word, but at least two in five of them: of the 48 shares in a run of all tests three
alone would fail one in eight runs for nothing, this one in 45.  The total is right within TOTAL of the
program's CPU time, and no more above it than STOLEN besides, seconds that a hypervisor took from the CPUs meanwhile: an event's
clock has them.  The three functions hold at least NAMED of all.  Prints both; 1 with each thing that is wrong.
"""
import json
import sys

name, answer, truth = sys.argv[1:4]
shares_limit, total_limit, named_least, stolen = (list(map(float, sys.argv[4:])) + [0, 0])[:4]
top = json.load(open(answer))
*own, user, system = map(float, open(truth).read().split())
functions = dict(zip(("alpha_sixty", "beta_thirty", "gamma_ten"), own))
got = {n: sum(f["self"] for f in top["functions"] if f["name"] == n) for n in functions}
three = sum(got.values()) or 1
named, total = three / top["total"], top["total"] / 1e9 / (user + system)
worth = max(1, .4 * top["samples"], min(top["samples"], top.get("effective_samples", top["samples"])))
limit = lambda p: max(shares_limit, 3.5 * (p * (1 - p) / worth) ** .5)
wrong = [f"{n}: {got[n] / three:.3f} for {t:.3f}" for n, t in functions.items() if abs(got[n] / three - t) > limit(t)]
if not -total_limit <= total - 1 <= total_limit + stolen / (user + system):
    wrong.append(f"total is {total:.4f} of the program's CPU time")
if named < named_least:
    wrong.append(f"the three functions hold only {named:.3f} of all")
shares = " ".join(f"{got[n] / three:.3f}/{t:.3f}" for n, t in functions.items())
print(f"  {name}: shares {shares}, named {named:.3f}, total {total:.4f}, {top['samples']} samples")
for line in wrong:
    print("  wrong:", line)
sys.exit(bool(wrong))
