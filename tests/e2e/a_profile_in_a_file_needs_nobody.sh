#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `run --output FILE` and `report FILE`: no daemon, no collector, no enrolment, nothing left behind.
# Shares are true within 4 points, or three and a half standard deviations where a busy machine
# allows fewer than 2000 effective samples. That holds for every user and after every kill: by perf
# in two seconds, by timer, which is limited to the kernel's tick, in eight.
. "$(dirname "$0")/lib.sh"
declare -A hz=([perf]=997 [timer]=249) seconds=([perf]=2 [timer]=8)
export HOME=$W/home TMPDIR=$W/tmp
mkdir -m 700 "$W/home" && mkdir -m 1777 "$W/tmp" && chmod 755 "$W"
unset XDG_STATE_HOME XDG_RUNTIME_DIR
cd "$W" || fail "no folder"

# share FILE... NAME: the self share of function NAME in percent, from the text that people read.
share() { fleetprof report "${@:1:$#-1}" | awk -v name="${!#}" '$9 == name { print $1; found = 1 } END { if (!found) print 0 }'; }
# The function of the first row below the table's head; lines of notes may stand above it.
first_row() { fleetprof report "$@" | awk 'is_table { print $9; exit } $1 == "self" { is_table = 1 }'; }
samples() { fleetprof report "$@" | awk 'NR == 1 { print $1 }'; }
# Relative to the three functions together, which are nearly all. The first line has the samples and
# the effective samples; a late tick merges several.
tells_truth() {
  fleetprof report "$@" | awk '
    NR == 1 { n = $1; if (match($0, /worth [0-9]+ samples/)) n = substr($0, RSTART + 6) + 0 }
    { share[$9] = $1 }
    function most(want) { want = 3.5 * sqrt(want * (100 - want) / (n + 1)); return want > 4 ? want : 4 }
    function is_near(got, want) { got = 100 * got / (a + b + c); return got - want <= most(want) && want - got <= most(want) }
    END { a = share["alpha_sixty"]; b = share["beta_thirty"]; c = share["gamma_ten"]
          exit !(a + b + c > 85 && is_near(a, 60) && is_near(b, 30) && is_near(c, 10)) }'
}
# No files in the user's directories, no daemon's directory, no daemon of this test.
left_nothing() {
  [ -z "$(find "$W/home" -mindepth 1)" ] && [ -z "$(find "$W/tmp" -mindepth 1)" ] &&
    ! pgrep -f -- "--output $W/" >/dev/null
}

for sampler in perf timer; do
  fleetprof run --output $sampler.fp --sampler $sampler --hz ${hz[$sampler]} -- "$targets/truth" ${seconds[$sampler]} >/dev/null 2>err ||
    fail "the program under $sampler ended with $?"
  [ ! -s err ] || fail "run says something that nobody asked for: $(cat err)"
  tells_truth $sampler.fp || fail "$sampler: $(fleetprof report $sampler.fp | head -n 5)"
  left_nothing || fail "$sampler: something is left: $(find "$W/home" "$W/tmp")"
  say "$sampler: $(samples $sampler.fp) samples, $(share $sampler.fp alpha_sixty)/$(share $sampler.fp beta_thirty)/$(share $sampler.fp gamma_ten) for 60/30/10"
done

# The agent's other collect modes also write to the file.
for collect in pc-lr histogram recorder; do
  fleetprof run --output $collect.fp --collect $collect --hz 249 -- "$targets/truth" 2 >/dev/null || fail "--collect $collect"
  [ "$(first_row $collect.fp)" = alpha_sixty ] || fail "$collect: $(fleetprof report $collect.fp)"
  left_nothing || fail "$collect: something is left: $(find "$W/tmp")"
done

# A sum is a sum.
[ "$(samples perf.fp timer.fp)" = $(($(samples perf.fp) + $(samples timer.fp))) ] || fail "two files do not add up"

# Every format, read by its tool. truth's time is in alpha_sixty in each.
is_near() { awk -v got="$1" -v want="$2" -v by="$3" 'BEGIN { exit !(got - want <= by && want - got <= by) }'; }
alpha=$(share perf.fp alpha_sixty)
fleetprof report perf.fp --format json | json "'alpha_sixty' == d['functions'][0]['name'] and abs(sum(f['self'] for f in d['functions']) / d['total'] - 1) < .001" | grep -q yes || fail "json"
fleetprof report perf.fp -f folded -o perf.folded && fleetprof report perf.fp --format folded | cmp -s - perf.folded || fail "report --output"
FLEETPROF_OUTPUT=perf.fp fleetprof report perf.fp >/dev/null && [ "$(samples perf.fp)" -gt 0 ] || fail "report writes over the profile of run"
fleetprof report perf.fp --format folded | awk -v want="$alpha" '{ all += $NF } /;alpha_sixty / { a += $NF } END { got = 100 * a / all; exit !(got - want < .2 && want - got < .2) }' || fail "folded"
fleetprof report perf.fp --format speedscope | /usr/bin/python3 -c '
import json, sys
d = json.load(sys.stdin)
p, frames = d["profiles"][d["activeProfileIndex"]], d["shared"]["frames"]
assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json" and p["type"] == "sampled"
assert len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"] - p["startValue"]
assert all(frames[i]["name"] for s in p["samples"] for i in s)
a = sum(w for s, w in zip(p["samples"], p["weights"]) if frames[s[-1]]["name"] == "alpha_sixty")
assert abs(100 * a / p["endValue"] - float(sys.argv[1])) < .2' "$alpha" || fail "speedscope"
fleetprof report perf.fp --format callgrind >callgrind.out
read -r got _ < <(callgrind_annotate callgrind.out | awk '/:alpha_sixty / { gsub(/[(%)]/, ""); print $4 }')
is_near "${got:-0}" "$alpha" .2 || fail "callgrind_annotate says ${got:-nothing} for $alpha"
callgrind_annotate --inclusive=yes callgrind.out | grep ':main ' | grep -q '%)' || fail "callgrind_annotate: no inclusive cost of main"
fleetprof report perf.fp --format perf-script | awk -v want="$alpha" '
  / cpu-clock: $/ { period = $(NF - 1); all += period; is_leaf = 1; next }
  /^\t/ && is_leaf { sub(/[+]0x[0-9a-f]+$/, "", $2); if ($2 == "alpha_sixty") a += period; is_leaf = 0 }
  END { got = 100 * a / all; exit !(got - want < .2 && want - got < .2) }' || fail "perf-script"
fleetprof report perf.fp --format pprof >perf.pb.gz
gzip -t perf.pb.gz || fail "pprof is no gzip"
if command -v go >/dev/null; then
  GOFLAGS=-mod=mod HOME=$W go tool pprof -top perf.pb.gz 2>/dev/null | grep -q ' alpha_sixty' || fail "go tool pprof does not read it"
  say "go tool pprof reads it"
else
  say "go is not here: that pprof opens the file is left to the unit test, which decodes it"
fi
fleetprof report perf.fp --format counts --just-pcs >pcs && fleetprof report perf.fp --format counts --just-counts >counts
[ "$(wc -l <pcs)" = "$(wc -l <counts)" ] && [ "$(wc -l <pcs)" -gt 3 ] || fail "counts and addresses differ in number"
# The translators' road: addresses to stdout, counts to a fifo, and paste joins them again.
mkfifo fifo
timeout 20 sh -c 'fleetprof report perf.fp --format counts -F fifo | addr2line -f -e "$0" | paste - - | paste fifo - >joined' "$targets/truth" || fail "a pipeline of addr2line and paste hangs"
[ "$(wc -l <joined)" = "$(wc -l <pcs)" ] && [ "$(cut -f 1 joined)" = "$(cat counts)" ] || fail "the pipeline lost lines"
fleetprof report perf.fp --translator 'addr2line -f -e "$MODULE"' 2>err | grep -q ' alpha_sixty ' && [ ! -s err ] || fail "addr2line -f: $(cat err)"
fleetprof report perf.fp --translator 'sed "s/.*/all of it/"' | grep -q 'all of it  (truth)' || fail "a script as translator"
fleetprof report perf.fp --translator 'echo one' 2>err | grep -q alpha_sixty && grep -q "come out even" err || fail "a translator that miscounts: $(cat err)"
fleetprof report perf.fp --translator 'nosuchcmd $MODULE' >out 2>err
[ $? = 1 ] && grep -q alpha_sixty out && [ "$(grep -c nosuchcmd: err)" = 1 ] && [ "$(grep -c -- "--translator: .*cannot be run (status 127)" err)" = 1 ] ||
  fail "a translator that is not there: $(cat err)"
fleetprof run --output last.fp --collect recorder --last 10 --hz 249 -- "$targets/truth" 1 >/dev/null
fleetprof report last.fp | grep -q "^last_moments seen: .* not of the whole run" || fail "a recorder's intervals are not doubted: $(fleetprof report last.fp)"
fleetprof report recorder.fp | grep -q "^[0-9]* samples, .* by timer, the last ones of each thread" || fail "a recorder's rate is shown: $(fleetprof report recorder.fp | head -n 1)"
# Without a terminal there is no colour.
! fleetprof report perf.fp | grep -q "$(printf '\033')" || fail "colour in a pipe"

# A stripped program has one row a function, named by its start, and a hint about the location of
# names.
strip -o bare "$targets/truth"
fleetprof run --output bare.fp --hz 997 --sampler perf -- ./bare 1 >/dev/null || fail "a stripped program"
want=$(nm "$targets/truth" | awk '/ (alpha_sixty|beta_thirty|gamma_ten)$/ { sub("^0*", "", $1); print "bare+0x" $1 }' | sort)
got=$(fleetprof report -v bare.fp 2>err | awk '$2 == "%" && $1 > 5 && $9 ~ /^bare/ { print $9 }' | sort)
[ "$got" = "$want" ] || fail "functions of a stripped program: $got, not $want"
grep -q "bare: .* has no function names: its file is stripped; names: .*build-id" err || fail "no word on names: $(cat err)"

# A difference of two builds: a changed function is called changed, an unchanged one is not, and the
# same program twice is the same.
cat >two.c <<'C'
static volatile unsigned long sink;
#define PART __attribute__((noipa)) static void
PART slower(long n) { while (n-- > 0) sink += 1; }
PART steady(long n) { while (n-- > 0) sink += 1; }
int main(void) {
  for (int i = 0; i < 1500; i++) slower(SLOWER * 100000L), steady(300000L);
  return 0;
}
C
for build in 1 3; do
  cc -O1 -fno-omit-frame-pointer -DSLOWER=$build -o two two.c && fleetprof run --output build$build.fp --hz 997 --sampler perf -- ./two || fail "build $build"
done
fleetprof report build1.fp --diff build3.fp >diff || fail "diff"
grep ' slower ' diff | grep -q '+.*changed' || fail "slower is three times slower: $(cat diff)"
fleetprof report build1.fp --diff build1.fp --format json | json "{f['verdict'] for f in d['functions']} <= {'same', 'unclear'} and all(f['difference'] == 0 for f in d['functions'])" | grep -q yes || fail "a file differs from itself"

# The program's own status; an earlier profile is kept; a program that cannot start costs no profile.
fleetprof run --output perf.fp -- sh -c 'exit 7'
[ $? = 7 ] && tells_truth perf.fp.old || fail "status 7, or the earlier profile, is lost"
mv perf.fp.old perf.fp
fleetprof run --output perf.fp -- "$W/nosuch" 2>/dev/null
[ $? = 2 ] && tells_truth perf.fp || fail "a program that is not there cost the earlier profile"

# Where the environment forbids it, the program runs, the earlier profile stays, and one line gives
# the reason.
[ "$(FLEETPROF=0 fleetprof run -v --output perf.fp -- sh -c 'echo $((1 + 1)); exit 3' 2>&1)" = "fleetprof: not profiled: FLEETPROF=0
2" ] && tells_truth perf.fp || fail "FLEETPROF=0 with --output"
# run and report print the same: the number of samples, for this program.
fleetprof run --output one.fp -v --hz 199 -- "$targets/truth" 1 2>err >/dev/null || fail "run -v"
[ "$(awk '{ print $2 }' err)" = "$(samples one.fp)" ] || fail "run -v and report differ: $(cat err), $(samples one.fp)"

[ "$(samples one.fp)" = "$(fleetprof report -f json one.fp | json "d['samples']")" ] || fail "text and json count differently"
# The file names the sampler used, not the requested one; without a sampler, the file has the
# reason.
cc -static -O1 -o still -x c - <<<'int main(void) { for (volatile long i = 0; i < 300000000; i++) {} return 0; }'
fleetprof run --output still.fp --sampler timer -- ./still && fleetprof report still.fp | grep -q "time, by perf" ||
  fail "a static program by timer: $(fleetprof report still.fp | head -n 1)"
fleetprof run --output still.fp --collect histogram -- ./still &&
  fleetprof report still.fp | grep -q "^nothing was sampled: .*static: cannot be preloaded" || fail "a histogram of a static program: $(fleetprof report still.fp)"
fleetprof report -f json still.fp | json "'static' in d['why'] and d['samples'] == 0 and d['total'] > 0 and d['functions'][0]['self_share'] == 1" | grep -q yes || fail "the same as json"

(ulimit -i 0; fleetprof run --verbose --output unsignalled.fp --sampler timer -- "$targets/truth" 0.5 >/dev/null) 2>err
grep -q "by perf: timer: none can be made: this user's queued signals are used up (ulimit -i)" err && fleetprof report unsignalled.fp | grep -q "time, by perf" ||
  fail "a user without signals: $(cat err), $(fleetprof report unsignalled.fp | head -n 3)"
# Without resources for a daemon it exits with 1 and a reason.
(ulimit -n 8; fleetprof run --output room.fp -- touch "$W/started") 2>err
[ $? = 1 ] && [ ! -e started ] && [ ! -e room.fp ] && grep -q "run: fleetprofd does not start: .*Too many open files" err || fail "without descriptors: $(cat err)"
fleetprof run --output short.fp --hz 0.1 -- sh -c 'for i in 1 2 3; do /bin/true; done'
fleetprof report short.fp | grep -q "no process had the 10000 ms of .* at 0.1 Hz takes (a higher --hz helps" || fail "short commands: $(fleetprof report short.fp)"

# Its daemon accepts no other client, which gets a message.
fleetprof run --output mine.fp -- sleep 2 &
pid=$!
XDG_RUNTIME_DIR=$W/home fleetprof ctl pause --state "$W/home/none" 2>err || XDG_RUNTIME_DIR=$W/home fleetprof status --state "$W/home/none" 2>>err
[ "$(grep -c "run --output has" err)" = 2 ] || fail "not told of a daemon out of reach: $(cat err)"
kill $pid
wait $pid

# An unwritable file is reported before the program starts; a file that is no profile is never
# overwritten.
echo precious >precious
for file in /nonexistent/x "$W" /dev/null precious -; do
  fleetprof run --output "$file" -- touch "$W/started" 2>err && fail "--output $file was taken"
  grep -q -- "--output: \(a profile cannot go to stdout\|$file: \)" err && [ ! -e started ] || fail "--output $file: $(cat err)"
done
[ "$(cat precious)" = precious ] || fail "a file that is no profile was overwritten"
fleetprof run --output diary.fp -- true && echo precious >diary.fp.old
fleetprof run --output diary.fp -- touch "$W/started" 2>err
[ $? = 2 ] && [ ! -e started ] && grep -q 'diary.fp: the earlier profile cannot be kept as .old: holds something else' err ||
  fail "a .old that is no profile: $(cat err)"
[ "$(cat diary.fp.old)" = precious ] || fail "a .old that is no profile was overwritten"

# Two runs at the same moment, with the same arguments: one writes, the other gets an error.
for _ in 1 2 3; do
  rm -f both.fp*
  fleetprof run --output both.fp -- "$targets/truth" 1 >/dev/null 2>one.err & one=$!
  fleetprof run --output both.fp -- "$targets/truth" 1 >/dev/null 2>other.err & other=$!
  wait $one; status=$?
  wait $other; status="$status $?"
  [[ "$status" =~ ^(0\ 2|2\ 0)$ ]] && grep -hq 'both.fp: is being written by another run' one.err other.err ||
    fail "two runs into one file: $status, $(cat one.err other.err)"
  fleetprof report both.fp 2>&1 | grep -q damaged && fail "two runs have written into one file"
done

# As an ordinary user, without HOME, in a long path.
deep=$W/$(printf 'a%.0s' {1..200})/$(printf 'b%.0s' {1..200})
mkdir -p "$deep" && chown "$ordinary" "$deep"
(cd "$deep" && as_ordinary env -u HOME "TMPDIR=$deep" \
  fleetprof run --output nobody.fp --sampler timer --hz ${hz[timer]} -- "$targets/truth" 4 >/dev/null) ||
  fail "an ordinary user cannot"
tells_truth "$deep/nobody.fp" || fail "an ordinary user's: $(fleetprof report "$deep/nobody.fp")"
[ "$(ls -A "$deep")" = nobody.fp ] || fail "left in the user's folder: $(ls -A "$deep")"

# kill -9 of the worker alone loses nothing that was in a ring; of everything, the last moments.
fleetprof run --output worker.fp --hz 499 -- "$targets/truth" 4 >/dev/null 2>&1 &
run_pid=$!
sleep 1.5
keeper=$(pgrep -P $run_pid fleetprofd) || fail "run has no daemon of its own"
kill -9 "$(pgrep -P "$keeper")"
wait $run_pid || fail "the run ended with $? after its worker was killed"
tells_truth worker.fp || fail "after a killed worker: $(fleetprof report worker.fp 2>&1)"
fleetprof run --output killed.fp --hz 997 -- "$targets/truth" 30 >/dev/null 2>&1 &
run_pid=$!
sleep 6
keeper=$(pgrep -P $run_pid fleetprofd)
worker=$(pgrep -P "$keeper") child=$(pgrep -P $run_pid)
kill -STOP "$keeper" "$worker" # a worker that sees the others die first has time for a last word
kill -9 $run_pid "$keeper" "$worker" $child
wait $run_pid 2>/dev/null
tells_truth killed.fp 2>/dev/null || fail "after a kill of everything: $(fleetprof report killed.fp 2>&1)"
fleetprof report killed.fp 2>&1 >/dev/null | grep -q "killed" || fail "a killed run is not told of"
say "killed after 6 s: $(samples killed.fp 2>/dev/null) samples are there"
# A later run deletes its directory, once it is old enough to be unused.
find "$W/tmp" -mindepth 1 -maxdepth 1 -exec touch -d '2 minutes ago' {} +
fleetprof run --output next.fp -- true
left_nothing || fail "a killed run's directory stays: $(find "$W/tmp")"

# If a run alone is killed, its daemon collects the rest, and then reports that.
fleetprof run --output orphan.fp -- "$targets/spin" - >spent 2>/dev/null &
run_pid=$!
goes_on() { fleetprof report orphan.fp 2>&1 >/dev/null | grep -q "goes on or was killed"; }
is_whole() { ! goes_on; }
until_true 20 goes_on || fail "a run that goes on is said to be over"
orphan=$(pgrep -P $run_pid -x spin) || fail "no orphan"
kill -9 $run_pid
wait $run_pid 2>/dev/null
kill "$orphan"
its_daemon_ends() { ! pgrep -f -- "--output $W/orphan.fp" >/dev/null; } # ten seconds after the program
until_true 50 its_daemon_ends && is_whole || fail "its run is over and its file says that it goes on: $(fleetprof report orphan.fp 2>&1 | head -n 3)"
[ "$(fleetprof report orphan.fp -f json | json "abs(d['total'] / 1e9 / $(cat spent) - 1) < .03")" = yes ] || fail "of $(cat spent) s: $(fleetprof report orphan.fp | head -n 3)"

# Programs that continue in the background are reported: by run if it is verbose, and by every
# report.
for sampler in perf timer; do
  fleetprof run --verbose --sampler $sampler --output background.fp -- bash -c "'$targets/truth' 60 >/dev/null 2>&1 & echo \$! >background.pid; sleep 0.5" 2>err || fail "the run ended with $?"
  kill "$(cat background.pid)"
  grep -q "go on in the background" err || fail "$sampler: a program in the background is not told of: $(cat err)"
  fleetprof report background.fp 2>&1 | grep -q "^went_on" || fail "$sampler: the report does not tell: $(fleetprof report background.fp 2>&1 | head -n 5)"
done
# The same for a program that is idle before it goes to the background.
cc -O1 -o away -x c - <<<'#include <unistd.h>
int main(void) { return daemon(0, 1) != 0 || (sleep(3), 0); }'
goes_away() { # an agent waits 200 ms for a busy daemon, after which its child is not sampled: once more
  fleetprof run --sampler $sampler --output away.fp -- ./away
  fleetprof report away.fp | grep -q "^went_on" && fleetprof report away.fp | grep -q "^nothing was sampled: .*in the background"
}
for sampler in perf timer; do
  goes_away || goes_away || goes_away || fail "$sampler: a daemon: $(fleetprof report away.fp)"
done
fleetprof run --verbose --sampler timer --output next.fp -- "$targets/crowd" forks 300 1 >/dev/null 2>err
! grep -q "background" err || fail "nobody is in the background: $(cat err)"
for sampler in perf timer; do
  fleetprof run --sampler $sampler --output next.fp -- "$targets/crowd" leaderless 1 1500
  ! fleetprof report next.fp 2>&1 | grep -q went_on || fail "$sampler: a program whose main thread has ended went on, but not in the background"
done

# Torn and foreign files.
head -c -20 perf.fp >torn.fp
fleetprof report torn.fp >/dev/null 2>err || fail "a torn file is refused"
grep -q "cut short" err || fail "a torn file is not told of: $(cat err)"
head -c 100 perf.fp >cut && : >empty
for file in precious cut empty "$W" nosuch "$targets/truth"; do
  fleetprof report "$file" >out 2>err && fail "report $file went well"
  [ ! -s out ] && grep -q "^fleetprof: report: $file: " err || fail "report $file: $(cat err)"
done
fleetprof report --format nosuch perf.fp 2>/dev/null
[ $? = 2 ] || fail "a format that is not there is no wrong usage"
