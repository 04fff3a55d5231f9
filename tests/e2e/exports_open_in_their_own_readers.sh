#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fleetprof's exports, from a file and from a collector, open in their programs: callgrind_annotate,
# protoc --decode, flamegraph.pl, speedscope's importer, an npm decoder of pprof. Each shows exactly
# the weight of format=top, in total and for each of the heaviest functions, whatever their names.
. "$(dirname "$0")/lib.sh"
readers=$(cd "$(dirname "$0")" && pwd)/readers
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
cd "$W" || fail "no folder"

# Readers from npm, at the versions that are known here.
has_npm=
prepare_npm() {
  node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null ||
    { without "speedscope and pprof-format" "npm with node 18 is not installed"; return; }
  mkdir npm && cp "$readers"/package*.json npm || fail "no folder for npm"
  (cd npm && timeout 60 npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >npm.log 2>&1 ||
    { without "speedscope and pprof-format" "npm cannot fetch them: $(head -n 1 npm.log)"; return; }
  has_npm=1
}

# judge FOLDER [odd|lines] PROGRAM: opens the exports of PROGRAM in FOLDER with all readers.
judge() {
  (
    cd "$1" || exit 1
    callgrind_annotate --show=CPU_ns --threshold=100 callgrind.out >annotated &&
      callgrind_annotate --show=CPU_ns --threshold=100 --inclusive=yes callgrind.out >inclusive || fail "$1: callgrind_annotate"
    gzip -dc pprof.pb.gz | protoc --proto_path="$readers" --decode=perftools.profiles.Profile profile.proto >decoded ||
      fail "$1: protoc"
    perl "$flamegraph" --minwidth=0 folded.txt >flame.svg 2>flame.err && [ ! -s flame.err ] || fail "$1: flamegraph.pl: $(cat flame.err)"
    [ -z "$has_npm" ] || (cd "$W/npm" && node "$readers/read.js" "$W/$1"/{pprof.pb.gz,speedscope.json,folded.txt,perf.txt}) >readers.json ||
      fail "$1: a reader from npm"
  ) || exit 1
  /usr/bin/python3 "$readers/agree.py" "$@" || fail "$1: readers and format=top disagree"
}
declare -A file=([pprof]=pprof.pb.gz [speedscope]=speedscope.json [folded]=folded.txt [perf-script]=perf.txt [callgrind]=callgrind.out)

# Names that a form can get wrong, of functions that recurse.
objcopy --strip-debug --redefine-sym 'burn_semicolon=semi;colon' --redefine-sym 'burn_quotes=a "quoted" \name' \
  --redefine-sym 'burn_utf8=garçon_é' --redefine-sym 'walk_rust=<T as U>::f' --redefine-sym 'walk_other=two  spaces (x) [y]' \
  --redefine-sym 'operator_new=operator new(unsigned long)' "$targets/odd_names" odd || fail "objcopy"
prepare_npm
start_collector
enroll readers
cp "$targets/truth_inlined" truth
for program in ./odd ./truth; do
  name=$(basename "$program")
  mkdir "file-$name" "api-$name"
  fleetprof run --output "$name.fp" --hz 997 -- "$program" 1 >/dev/null || fail "$name: ended with $?"
  run --service "$name" --hz 997 -- "$program" 1 >/dev/null || fail "$name: ended with $?"
  fleetprof report "$name.fp" --format json --limit 100000 >"file-$name/top.json" || fail "$name: report"
  for format in "${!file[@]}"; do
    fleetprof report "$name.fp" --format "$format" >"file-$name/${file[$format]}" || fail "$name: report --format $format"
  done
done
until_true 20 books_are_closed readers || fail "the books are not closed: $(books readers)"
# The symbol table names at once, the debug information follows.
is_named() { profile '{service="truth"}' | json "any(f['name'] == 'burn' for f in d['functions'])" | grep -q yes; }
until_true 20 is_named || fail "the collector has no names of inlined functions: $(api debug)"
to=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for name in odd truth; do
  profile "{service=\"$name\"}" -d "to=$to" -d limit=100000 >"api-$name/top.json" || fail "$name: top"
  for format in "${!file[@]}"; do
    profile "{service=\"$name\"}" -d "to=$to" -d "format=$format" >"api-$name/${file[$format]}" || fail "$name: format=$format"
  done
done
for what in file api; do
  say "$what:"
  judge $what-odd odd "$W/odd"
  judge $what-truth lines "$W/truth"
done
