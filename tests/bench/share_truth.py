#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts how many intervals of shares hold the true share of a real program.

  share_truth.py PREFIX TARGET [RUNS [SECONDS [KINDS [MODES [RATES [KEEP]]]]]]

PREFIX is an installed tree, TARGET the built tests/targets/known_shares.  Lists are words with commas.
KINDS are those of the target; MODES root (perf, all CPUs), user (perf, user code alone) and timer; RATES
in Hz.  KEEP is a folder for profiles and truths: runs that are in it are not made again, so two builds can
judge the same ones.  40 functions a run: 12 runs (20 by default) give 480 intervals a cell.  A function
without a row has the interval of a function with no sample.

The truth is the functions' time by their threads' clocks.  These also count interrupts and the reads of the
clock, which are in no function's self.  Where the functions are all of the program but 3 %, the true shares
are scaled to what all functions together were seen to have, at the most.

`ran` is the part of the functions that ran, and how many of their intervals hold the truth.  `width` is the
mean of (high - low - unsampled) / (2 x 1.96 SE) of functions of at least 2 %, with SE of the true share and
the row's own number of samples, as many as their weights are worth.

Prints a row of a Markdown table for each cell, and ends with 1 where fewer than 93 % hold the truth by more
than three standard errors of the figure.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.basename(__file__)
prefix, target = sys.argv[1:3]
options = dict(zip(("runs", "seconds", "kinds", "modes", "rates", "keep"), sys.argv[3:]))
runs, seconds = int(options.get("runs", 20)), options.get("seconds", "2")
kinds = options.get("kinds", "mixed,phases,lockstep,fibers,short,tree,kernel,sleepy,rounds,turns,nested").split(",")
modes = options.get("modes", "root,user,timer").split(",")
rates = [int(rate) for rate in options.get("rates", "99,499,997").split(",")]
keep = options.get("keep")
Z = 1.96


def read_truth(path):
    functions, sums = {}, {}
    for line in open(path):
        word, number, *name = line.split()
        (functions if word == "f" else sums)[name[0] if name else word] = int(number)
    return {name: ns / sums["total"] for name, ns in functions.items()}


def report(profile, folder):
    command = [f"{prefix}/bin/fleetprof", "report", os.path.abspath(profile), "--format", "json", "--limit", "100000"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, cwd=folder).stdout)


def run_once(folder, kind, mode, rate, seed):
    """The answer of one run, and the true shares."""
    profile, truth = f"{folder}/run.fp", f"{folder}/truth"
    kept = f"{keep}/{kind}-{mode}-{rate}-{seed}"
    if keep and os.path.exists(kept + ".truth"):
        return report(kept + ".fp", folder), read_truth(kept + ".truth")
    for path in (profile, truth):
        if os.path.exists(path):
            os.remove(path)
    command = [f"{prefix}/bin/fleetprof", "run", "--output", profile, "--hz", str(rate), "--sampler",
               "timer" if mode == "timer" else "perf", "--", target, kind, seconds, str(seed), truth, str(1000000 // rate)]
    if mode == "user" and os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
    subprocess.run(command, check=True, env={**os.environ, "HOME": folder}, cwd=folder, stderr=subprocess.DEVNULL)
    if keep:
        os.makedirs(keep, exist_ok=True)
        shutil.copy(profile, kept + ".fp")
        shutil.copy(truth, kept + ".truth")
    return report(profile, folder), read_truth(truth)


def judge(answer, truth):
    """(intervals that hold the truth, intervals, these of functions that ran, share of [unsampled], sum and number of widths)"""
    rows = {row["name"]: row for row in answer["functions"]}
    unsampled = rows.get("[unsampled]", {}).get("self_share", 0)
    trials = answer["effective_samples"] or 1
    sum_true, sum_seen = sum(truth.values()), sum(rows[name]["self_share"] for name in truth if name in rows)
    scale = min((sum_seen + unsampled) / sum_true, 1) if sum_true > 0.97 else 1
    none = (1 - unsampled) * Z ** 2 / (trials + Z ** 2) + unsampled  # Wilson's upper end of no sample
    held, width, widths, ran, ran_held = 0, 0, 0, 0, 0
    for name, share in truth.items():
        share *= scale
        low, high = rows[name]["self_ci"] if name in rows else (0, none)
        held += low <= share <= high
        ran += share > 0
        ran_held += share > 0 and low <= share <= high
        if name in rows and share >= 0.02 and rows[name]["self_samples"] > 0:
            own = rows[name]["self_samples"] * trials / answer["samples"]
            error = share * ((1 - share) / own) ** .5
            width += (high - low - unsampled) / (2 * Z * error)
            widths += 1
    return held, len(truth), ran_held, ran, unsampled, width, widths


def main():
    breaches = 0
    print("| program | sampler | rate | intervals | hold the truth | ran | `[unsampled]` | width |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        for kind in kinds:
            for mode in modes:
                for rate in rates:
                    sums = [0.0] * 7
                    for seed in range(1, runs + 1):
                        sums = [a + b for a, b in zip(sums, judge(*run_once(folder, kind, mode, rate, seed)))]
                    held, count = 100 * sums[0] / sums[1], sums[1]
                    print(f"| {kind} | {mode} | {rate} Hz | {count:.0f} | {held:.1f} % "
                          f"| {100 * sums[3] / count:.0f} %: {100 * sums[2] / max(sums[3], 1):.1f} % "
                          f"| {100 * sums[4] / runs:.1f} % | {sums[5] / max(sums[6], 1):.2f} |", flush=True)
                    breaches += held < 93 - 300 * (.05 * .95 / count) ** .5
    if breaches:
        print(f"{PROGRAM}: fewer than 93 % in {breaches} cells", file=sys.stderr)
    return breaches > 0


sys.exit(main())
