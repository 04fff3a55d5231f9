#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 63: samples in the vDSO, the signal trampoline, PLT stubs, IFUNC choices, thread-local storage:
# they have their true name or module+offset, never a wrong function's. Each corner's names together
# have the share given by the program's own clock, within two points and four standard deviations of
# its samples.
. "$(dirname "$0")/lib.sh"
start_collector
enroll corners
ms=$(pick 250 10000)
for sampler in "${samplers[@]}"; do
  fleetprof run --state "$B" --collector "127.0.0.1:$A" --service "corners-$sampler" --sampler "$sampler" --hz 499 -- "$torture/corners" "$ms" >"$W/corners-$sampler" \
    || fail "$sampler: ended with $?"
done
for sampler in "${samplers[@]}"; do
  has_answer() { profile "{service=\"corners-$sampler\"}" >"$W/profile" 2>/dev/null; }
  until_true 10 has_answer || fail "$sampler: no answer"
  /usr/bin/python3 - "$W/profile" "$W/corners-$sampler" <<'P' || fail "$sampler: a corner has another name or share"
import json, re, sys
d, own = json.load(open(sys.argv[1])), list(map(float, open(sys.argv[2]).read().split()))
corners = {  # allowed results, by name and module
    "vDSO": r"(in_vdso corners|(__)?(vdso_)?clock_gettime.* (libc.*|\[vdso\])|\[vdso\].* \[vdso\])",
    "PLT": r"(in_plt corners|(\[plt\]|.*@plt|labs|(__)?(GI_*)?getauxval2?) .*)",
    "IFUNC": r"(in_ifunc corners|__(memcpy|memmove|strlen)_\w+ libc.*)",
    "local": r"in_local corners",
    "trampoline": r"((in_trampoline|on_usr) corners|(__restore_rt|(__GI_)?raise|(__)?(GI_*)?(pthread_kill|getpid|gettid|tgkill)\w*|\w*pthread_kill\w*|pthread_self|getpid|gettid) libc.*)",
}
other = r"((main|_start|ms_now) corners|(__libc_start\w*|_dl_\w+|do_lookup_x) .*|(\w*printf\w*|_itoa\w*|_IO_\w+|__(over|under|u)flow|__mpn_\w+|write) libc.*|\[(kernel|unsampled)\] .*|.* \[kernel\]|.* ld-linux.*)"
got, wrong = dict.fromkeys(corners, 0), []
for f in d["functions"]:
    text = f"{f['name']} {f['module']}"
    corner = [c for c, names in corners.items() if re.fullmatch(names, text)]
    if corner:
        got[corner[0]] += f["self"]
    elif f["self"] > .01 * d["total"] and not re.fullmatch(other, text):  # less is how a program starts and prints
        wrong.append("who is this: " + text)
four = list(corners)[:4]  # the fifth is in the kernel for the most part
told, spent = sum(got[c] for c in four) or 1, sum(own[:4])
limit = .02 + 4 * (.25 * .75 / max(1, d["samples"] * told / d["total"])) ** .5
for c, ms in zip(four, own):
    if abs(got[c] / told - ms / spent) > limit:
        wrong.append(f"{c}: told {got[c] / told:.3f}, own clock {ms / spent:.3f}")
targets = [f["name"] for f in d["functions"] if re.fullmatch(corners["IFUNC"], f"{f['name']} {f['module']}") and f["name"] != "in_ifunc"]
if not targets or not any("vdso" in f["name"] + f["module"] for f in d["functions"]) or not got["trampoline"]:
    wrong.append(f"missing: one of an IFUNC target ({targets}), the vDSO, the trampoline's neighbourhood")
print(f"  {d['samples']} samples:", ", ".join(f"{c} {got[c] / told:.3f} (own {ms / spent:.3f})" for c, ms in zip(four, own)), "IFUNC:", *targets)
for line in wrong:
    print("  wrong:", line)
sys.exit(bool(wrong))
P
done
