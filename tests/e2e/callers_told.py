# SPDX-License-Identifier: Apache-2.0
"""Compares callers from link registers for tests/targets/mixed_callers with the program's own
output.

  callers_told.py NAME URL MATCH TRUTH SAMPLES [REFUSED_MAX]

Sends GET /callers for each function of at least SAMPLES samples. TRUTH has a line for each edge:
callee, caller, calls. A function is right if the true part of each of its callers lies in that
edge's interval; a caller without samples has the interval of none of n, 0 to z^2 / (n + z^2).
Prints each function that is not right or that the collector refuses to extrapolate, then shares of
the weight that is resolved by the ladder and by the side of the function alone, less the weight
that the code refutes, and at last "told TOLD FUNCTIONS EXACT OUTSIDE".

No function is left out silently: an error for a function ends this with 1, and so do refusals of
more than REFUSED_MAX (0.25) of the functions with enough samples.
"""
import collections
import json
import sys
import urllib.parse
import urllib.request

name, url, match, truth, least = sys.argv[1:6]
refused_max = float(sys.argv[6]) if len(sys.argv) > 6 else 0.25
calls = collections.defaultdict(dict)
for line in open(truth):
    callee, caller, count = line.split()
    calls[callee][caller] = int(count)

told = functions = samples = 0
refused = []
rungs = collections.Counter()
kinds = collections.defaultdict(lambda: [0, 0])
for callee, callers in sorted(calls.items()):
    query = urllib.parse.urlencode({"function": callee, "match": match, "from": "-60m"})
    try:
        answer = json.load(urllib.request.urlopen(f"{url}/api/v1/callers?{query}"))
    except urllib.error.HTTPError as error:
        sys.exit(f"  {name}: {callee} is answered with {error.code}: {json.load(error).get('detail')}")
    lr = answer["lr"]
    for key in ("by_unwind_row", "by_instructions", "by_outside", "by_inlining", "unresolved", "outside", "outside_refuted"):
        rungs[key] += lr[key]
    if sum(e["weight"] for e in answer["edges"]) != answer["total"]:
        sys.exit(f"  {callee}: the edges do not add up to {answer['total']}")
    samples += answer["samples"]
    if answer["samples"] < int(least):
        continue
    if lr["not_extrapolated"]:
        refused.append(f"{callee} ({answer['samples']} samples, {lr['resolvable_share']:.3f} resolved)")
        continue
    functions += 1
    edges = {e["function"]: e for e in answer["edges"]}
    all_calls = sum(callers.values())
    seen = sum(e["samples"] for e in answer["edges"])
    unseen = (0, 3.84 / (seen + 3.84))
    wrong = []
    for caller in sorted(set(callers) | set(edges)):
        part = callers.get(caller, 0) / all_calls
        low, high = edges[caller]["ci"] if caller in edges else unseen
        if not low <= part <= high:
            wrong.append(f"{caller} {part:.3f} not in {low:.3f}..{high:.3f}")
    told += not wrong
    kind = kinds[callee.split("_")[0]]
    kind[0] += 1
    kind[1] += not wrong
    if wrong:
        print(f"  {name}: {callee}: {'; '.join(wrong)} ({answer['samples']} samples, {lr['resolvable_share']:.3f} resolved)")
whole = sum(rungs[k] for k in rungs if not k.startswith("outside")) or 1
exact = 1 - rungs["unresolved"] / whole
outside, refuted = rungs["outside"] / whole, rungs["outside_refuted"] / whole
parts = " ".join(f"{k} {rungs[k] / whole:.3f}" for k in ("by_unwind_row", "by_instructions", "by_outside"))
print(f"  {name}: {samples} samples; callers are told truly of {told} of {functions} functions"
      f" ({', '.join(f'{k} {v[1]}/{v[0]}' for k, v in sorted(kinds.items()))}), {len(refused)} refused")
if refused:
    print(f"  {name}: not extrapolated: {', '.join(refused)}")
print(f"  {name}: resolved by the ladder {exact:.3f} ({parts}), by inside or outside alone {outside:.3f}, of which {refuted:.3f} point to no caller")
if len(refused) > refused_max * (functions + len(refused)):
    sys.exit(f"  {name}: {len(refused)} of {functions + len(refused)} functions are refused: more than {refused_max:.0%}")
print("told", told, functions, f"{exact:.4f} {outside - refuted:.4f}")
