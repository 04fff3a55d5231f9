#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# If more than a tenth of a program's time has no sample, the intervals still contain the true
# shares: in a file, in the collector's answer and in the command line's table. The part left out by
# a limit is given in weight and samples. The program starts threads that live for 1 to 8 ms and
# measures the time of each of its 40 functions.
. "$(dirname "$0")/lib.sh"
start_collector
enroll short

# By timer, which every user has: a thread has a sample when a tick of the kernel meets it.
fleetprof run --sampler timer --hz 249 --output "$W/short.fp" -- "$targets/known_shares" short 2 7 "$W/file.truth" ||
  fail "the program ended with $?"
run --service short --sampler timer --hz 249 -- "$targets/known_shares" short 2 8 "$W/collector.truth" ||
  fail "the program ended with $?"
until_true 30 names_are_settled || fail "names do not settle"
fleetprof report "$W/short.fp" --format json --limit 100000 >"$W/file.json" || fail "no report"
fleetprof report "$W/short.fp" --limit 100000 >"$W/file.txt" || fail "no table of the file"
profile '{service="short"}' -d limit=100000 >"$W/collector.json" || fail "no answer"
profile '{service="short"}' -d limit=5 >"$W/limited.json" || fail "no answer under a limit"
fleetprof query '{service="short"}' --http "http://127.0.0.1:$H" --limit 100000 >"$W/collector.txt" || fail "no table of the collector"
fleetprof query '{service="short"}' --http "http://127.0.0.1:$H" --limit 5 >"$W/limited.txt" || fail "no table under a limit"

# Two of 40 may be outside of 95 % intervals by chance, and five are in one run of two thousand.
cat >"$W/held.py" <<'P'
import json, re, sys
answer, table, truth = sys.argv[1:]
top, lines = json.load(open(answer)), open(table).read()
words = [line.split() for line in open(truth)]
total = next(int(w[1]) for w in words if w[0] == "total")
rows = {f["name"]: f for f in top["functions"]}
dark = rows["[unsampled]"]["self_share"]
outside, printed = [], 0
for _, ns, name in (w for w in words if w[0] == "f"):
    share = int(ns) / total
    # A function without a row has no sample: at most the share that the samples and the dark time
    # allow.
    low, high = rows[name]["self_ci"] if name in rows else (0, dark + 3.84 / (top["effective_samples"] + 3.84))
    if not low <= share <= high:
        outside.append(f"{name}: {share:.4f} is not from {low:.4f} to {high:.4f}")
    line = re.search(r"([\d.]+) \.\. +([\d.]+) %%.*  %s  " % name, lines)
    if name in rows:
        printed += line is not None and abs(float(line[1]) - 100 * low) < .06 and abs(float(line[2]) - 100 * high) < .06
shown = sum(name in rows for name in (w[2] for w in words if w[0] == "f"))
print(f"  {100 * dark:.0f} % unsampled, {len(outside)} of 40 outside, {shown} rows, basis {top['basis']}")
print("\n".join(outside))
sys.exit(not (dark > .1 and len(outside) < 5 and printed == shown > 10 and top["basis"]["scope"] == "these"
              and "intervals: of what ran in this time, by samples" in lines))
P
for where in file collector; do
  /usr/bin/python3 "$W/held.py" "$W/$where.json" "$W/$where.txt" "$W/$where.truth" || fail "intervals of the $where do not hold the truth"
done

/usr/bin/python3 - "$W/limited.json" "$W/limited.txt" "$W/collector.json" <<'P' || fail "rows and rest are not the whole"
import json, sys
limited, table, whole = json.load(open(sys.argv[1])), open(sys.argv[2]).read(), json.load(open(sys.argv[3]))
rows, rest = limited["functions"], limited["rest"]
print("  rest", rest, whole["rest"])
line = "%d more functions: %.1f %% (self), %d samples; --limit" % (rest["functions"], 100 * rest["weight"] / limited["total"], rest["samples"])
sys.exit(not (len(rows) == 5 and len(rows) + rest["functions"] == len(whole["functions"])
              and sum(f["self"] for f in rows) + rest["weight"] == limited["total"]
              and sum(f["self_samples"] for f in rows) + rest["samples"] == limited["samples"]
              and whole["rest"] == {"functions": 0, "weight": 0, "samples": 0} and line in table))
P
