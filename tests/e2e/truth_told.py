# SPDX-License-Identifier: Apache-2.0
"""Compares the collector's answer about tests/targets/truth with the program's own output.

  truth_told.py NAME ANSWER TRUTH SHARES TOTAL [NAMED [STOLEN]]

ANSWER is the function table as JSON, TRUTH the program's line: three shares, user and system
seconds. Each share must be right within SHARES. With few samples (a crowded machine) three and a
half standard deviations are allowed, sqrt(p (1 - p) / samples), with the answer's effective number
of samples, but at least two in five of them. Of the 48 shares in a run of all tests three
deviations would fail one in eight runs by chance, this limit one in 45. The total must be right
within TOTAL of the program's CPU time. It may be higher by STOLEN besides, seconds that a
hypervisor took from the CPUs meanwhile: an event's clock includes them. The three functions have at
least NAMED of all. Prints both; prints each difference and exits with
1 if there is one.
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
