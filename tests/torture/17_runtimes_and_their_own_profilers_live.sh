#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 17: Python, Node, Java, Go and Rust programs print the same as without the agent. In the long form
# each also runs its own profiler, whose total stays within 5 % (the best of three runs, because of
# other load), or within three deviations of Java's count of a few hundred samples. The short form
# omits programs that must be compiled.
. "$(dirname "$0")/lib.sh"
HZ=997
board runtimes
cd "$W" || exit 1
rounds=$(pick 1 12)
cat >work.py <<P
import cProfile, pstats, sys, time
def step(n): return sum(i * i % 7 for i in range(n))
def work(): return sum(step(100000) for _ in range($rounds * 4))
if sys.argv[1] == "plain": print(work())
else:
    profile = cProfile.Profile(time.process_time); before = time.process_time(); profile.runcall(work)
    cpu = time.process_time() - before; stats = pstats.Stats(profile)
    print(stats.total_tt, *([cpu, stats.total_calls] if sys.argv[1] == "beside" else []))
P
cat >work.js <<J
function step(n) { let sum = 0; for (let i = 0; i < n; i++) sum += (i * i) % 7; return sum; }
let all = 0; for (let i = 0; i < $rounds * 60; i++) all += step(1000000);
console.log(all);
J
cat >total.js <<'J'
const fs = require("fs"), p = JSON.parse(fs.readFileSync(process.argv[2]));
const idle = new Set(p.nodes.filter(n => n.callFrame.functionName === "(idle)").map(n => n.id));
console.log(p.timeDeltas.reduce((sum, d, i) => sum + (idle.has(p.samples[i]) ? 0 : d), 0) / 1e6);
J
cat >Work.java <<J
public class Work {
  static long step(int n) { long sum = 0; for (int i = 0; i < n; i++) sum += (long) i * i % 7; return sum; }
  public static void main(String[] a) throws Exception {
    long[] sums = new long[4]; Thread[] threads = new Thread[4];
    for (int t = 0; t < 4; t++) { int me = t; threads[t] = new Thread(() -> { for (int i = 0; i < $rounds * 60; i++) { sums[me] += step(1000000); if (i % 15 == 0) System.gc(); } }); threads[t].start(); }
    for (Thread t : threads) t.join();
    System.out.println(sums[0] + sums[1] + sums[2] + sums[3]);
  }
}
J
cat >work.go <<G
package main
import ("fmt"; "os"; "runtime/pprof"; "sync")
func step(n int) int { sum := 0; for i := 0; i < n; i++ { sum += i * i % 7 }; return sum }
func main() {
  if len(os.Args) > 1 { f, _ := os.Create(os.Args[1]); pprof.StartCPUProfile(f); defer pprof.StopCPUProfile() }
  var group sync.WaitGroup; var sums [8]int
  for g := 0; g < 8; g++ { group.Add(1); go func(g int) { defer group.Done(); for i := 0; i < $rounds * 40; i++ { sums[g] += step(1000000) + len(make([]byte, 10000)) } }(g) }
  group.Wait(); fmt.Println(sums)
}
G
cat >work.rs <<R
use std::thread;
fn step(n: u64) -> u64 { (0..n).map(|i| i * i % 7).sum() }
fn main() {
    let all: Vec<_> = (0..4).map(|_| thread::spawn(|| (0..$rounds * 20).map(|_| step(1000000)).sum::<u64>())).collect();
    let sum: u64 = all.into_iter().map(|t| t.join().unwrap()).sum();
    let caught = std::panic::catch_unwind(|| { if sum > 0 { std::panic::resume_unwind(Box::new(1)) } });
    println!("{} {}", sum, caught.is_err());
}
R
has() { command -v "$1" >/dev/null || { without "$2" "$1 is not installed"; return 1; }; }
same /usr/bin/python3 work.py plain
has node Node && same node work.js
has java Java && { is_long || [ -n "$(command -v javac)" ]; } && has javac Java && {
  javac Work.java 2>"$W/javac.log" || fail "javac: $(head -n 2 "$W/javac.log")"
  same java -Xmx128m -XX:+UseSerialGC Work
}
without .NET "Debian has no package of it"
if ! is_long; then
  # Of the runtimes' profilers, one counts calls and CPU time: the same number of calls as without
  # the agent, and in them the CPU time of the same run. Two runs may differ in time under other
  # load.
  read -r _ _ calls < <(/usr/bin/python3 work.py beside)
  for sampler in "${samplers[@]}"; do
    read -r total cpu ours < <(sampled "$sampler" /usr/bin/python3 work.py beside) || fail "$sampler: cProfile ended early"
    [ "$ours" = "$calls" ] || fail "cProfile counts $ours calls under $sampler, $calls without us"
    is_near() { awk -v t="$1" -v c="$2" 'BEGIN { d = t - c; if (d < 0) d = -d; exit !(c > 0 && d < .05 * c) }'; }
    is_near "$total" "$cpu" || fail "cProfile says $total s of CPU time under $sampler, the same run has had $cpu s"
    say "cProfile under $sampler: $calls calls, $total s of the run's $cpu s of CPU time"
  done
  without "Go, Rust and the profilers of Node, Go and Java" "they belong to the long form"
  exit 0
fi
has go Go && { GOCACHE=$W/go-cache GO111MODULE=off go build -o work_go work.go >"$W/go.log" 2>&1 || fail "go: $(head -n 2 "$W/go.log")"; } && same ./work_go
has rustc Rust && { rustc -O -o work_rs work.rs 2>"$W/rust.log" || fail "rustc: $(head -n 2 "$W/rust.log")"; } && same ./work_rs
for program in /usr/sbin/nginx redis-server; do has $program "$program" || continue; same $program -v; done

# The runtime's own total, without us and under each sampler: the difference of the smallest of three.
python_total() { "$@" /usr/bin/python3 work.py profiled; }
node_total() { rm -f ./*.cpuprofile && "$@" node --cpu-prof work.js >/dev/null && node total.js ./*.cpuprofile; }
go_total() { "$@" ./work_go cpu.pprof >/dev/null && go tool pprof -top cpu.pprof 2>/dev/null | awk '/Total samples = / { sub(/.*Total samples = /, ""); print /^[0-9.]*ms/ ? $0 / 1000 : $0 + 0 }'; }
java_total() {
  rm -f work.jfr && "$@" java -XX:StartFlightRecording=filename=work.jfr,settings=profile Work >/dev/null 2>&1
  jfr summary work.jfr | awk '$1 == "jdk.ExecutionSample" { print $2 / 100 }'
}
least() { for _ in 1 2 3; do "$@"; done | sort -n | head -n 1; }
for runtime in python node go java; do
  command -v ${runtime/python/python3} >/dev/null || continue
  plain=$(least ${runtime}_total env)
  for sampler in "${samplers[@]}"; do
    ours=$(least ${runtime}_total sampled $sampler)
    say "$runtime: own total $plain s, under $sampler $ours s"
    limit=".05 * $plain"
    [ $runtime != java ] || limit="max($limit, 3 * (2 * $plain * 100) ** .5 / 100)" # hundredths are samples
    /usr/bin/python3 -c "import sys; sys.exit(abs($ours - $plain) > $limit)" || fail "$runtime: its own profiler says $ours s under $sampler, $plain s without us"
  done
done
