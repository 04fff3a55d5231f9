#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Beyond the kernel's tick a histogram has as many samples as pc-lr, not the requested number, and
# intervals of matching width. A huge library beside a program does not reduce the program's own
# accuracy. As the calling user: counters do not depend on the user.
. "$(dirname "$0")/lib.sh"
start_collector

# Four expiries of 997 Hz are one signal at CONFIG_HZ 250, and one sample. Both run at once, so load
# on the CPU affects both alike.
enroll beyond
declare -A beyond
for collect in histogram pc-lr; do
  run --service "$collect" --sampler timer --collect $collect --hz 997 -- "$targets/truth" 4 >"$W/$collect.truth" &
  beyond[$collect]=$!
done
for collect in histogram pc-lr; do
  wait "${beyond[$collect]}" || fail "truth under $collect ended with $?"
  profile "{service=\"$collect\"}" >"$W/$collect.json" || fail "no answer for $collect"
  truth_told "$collect" "$W/$collect.json" "$W/$collect.truth" .03 .02 .9 || fail "$collect is off beyond the tick"
done
# Some eight hundred samples each; other load decides how many expiries are merged. A third is far
# from four times as many, the requested number. The width must follow from the samples, not from
# the spread of their weights, which a counter does not record.
/usr/bin/python3 - "$W/histogram.json" "$W/pc-lr.json" <<'P' || fail "beyond the tick a histogram's samples are not those of pc-lr"
import json, sys
histogram, pairs = (json.load(open(name)) for name in sys.argv[1:])
rates = [top["samples"] / (top["total"] / 1e9) for top in (histogram, pairs)]
unsampled = sum(f["self_share"] for f in histogram["functions"] if f["name"] == "[unsampled]")
width, share = max((f["self_ci"][1] - f["self_ci"][0] - unsampled, f["self"] / histogram["total"]) for f in histogram["functions"])
expected = 2 * 1.96 * (share * (1 - share) / histogram["samples"]) ** .5
print("  997 Hz asked: %.1f samples a second by histogram, %.1f by pc-lr; widest interval %.3f, of so many samples %.3f" % (*rates, width, expected))
sys.exit(not (abs(rates[0] / rates[1] - 1) < .33 and abs(width / expected - 1) < .1))
P

# More code than bins of 16 bytes can cover: the library has wider bins, the program has not.
printf '.text\n.globl huge\nhuge: .skip 41943040, 0x90\nret\n.section .note.GNU-stack,"",%%progbits\n' >"$W/huge.s"
if cc -shared -nostdlib -o "$W/libhuge.so" "$W/huge.s" 2>"$W/huge.log"; then
  LD_PRELOAD=$W/libhuge.so fleetprof run --sampler timer --collect histogram --hz 250 --output "$W/huge.fp" -- "$targets/neighbours" 2 || fail "the program beside a huge library ended with $?"
  fleetprof report "$W/huge.fp" --format json >"$W/huge.json" || fail "no report of the program beside a huge library"
  [ "$(json "sum(f['self'] for f in d['functions'] if f['name'] == 'works') > .8 * d['total'] and not [f for f in d['functions'] if 'never' in f['name']]" <"$W/huge.json")" = yes ] || fail "beside a huge library: $(json "[(f['name'], f['self']) for f in d['functions'][:5]]" <"$W/huge.json")"
  [ "$(json "'full_counters' in [m['mark'] for m in d['marks']]" <"$W/huge.json")" = no ] || fail "counters that are not full are marked"
  [ "$(json "'coarse_bins' in [m['mark'] for m in d['marks']]" <"$W/huge.json")" = yes ] || fail "the library's wide bins are not marked"
  say "beside a library of 40 MiB: $(json "['%s %.3f' % (f['name'], f['self'] / d['total']) for f in d['functions'][:2]]" <"$W/huge.json")"
else
  without "a huge library" "it cannot be built here: $(head -n 1 "$W/huge.log")"
fi
rm -f "$W/libhuge.so" "$W/huge.s"
