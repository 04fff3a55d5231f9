#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian's programs have no frame pointers; by timer their stacks are still complete, from tables
# that the handler reads: in threads, also with large thread-local variables, in forked children, in
# libraries loaded later, and after the worker's end. --unwind fp uses frame pointers.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board

cat >"$W/work.py" <<'PY'
import json, os, re, sys, threading, time
kind, seconds = sys.argv[1], float(sys.argv[2])
def deep(n): return re.sub("a", "b", json.dumps(["banana"] * 20)) if n == 0 else deep(n - 1)
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: deep(10)
if kind == "threads":
    threads = [threading.Thread(target=work, args=(seconds,)) for _ in range(2)]
    for t in threads: t.start()
    for t in threads: t.join()
elif kind == "forks":
    for _ in range(2):
        if os.fork() == 0:
            work(seconds / 2)
            os._exit(0)
        os.wait()
elif kind == "late":
    work(seconds / 2)
    import decimal, _pydecimal
    end = time.process_time() + seconds
    while time.process_time() < end: sum(decimal.Decimal(i).sqrt() for i in range(200))
else:
    work(seconds)
PY
of() { profile "{service=\"$1\"}" -d limit=100000 | json "$2"; }
has_samples() { [ "$(of "$1" "d['samples'] > 20")" = yes ]; }
# whole SERVICE SHARE: so much of its stacks is complete.
whole() {
  until_true 20 has_samples "$1" || fail "no samples of $1: $(of "$1" "d['samples']")"
  say "$1: $(of "$1" "'%.1f %% of %d samples complete' % (100 * d['stacks']['complete'], d['samples'])")"
  [ "$(of "$1" "d['stacks']['complete'] >= $2")" = yes ] || fail "$1: $(of "$1" "d['stacks']"): $(profile "{service=\"$1\"}" -d format=folded | grep '^\[' | head -n 5)"
}
timer() { run --sampler timer --hz 199 "$@"; }
python() { timer --service "$1" "${@:4}" -- /usr/bin/python3 "$W/work.py" "$2" "$3" >/dev/null || fail "$1 ended with $?"; }

# The first run makes the tables; the share of samples before that depends on the machine.
python first all 3
python first late 1
python python all 2
whole python .97
python threads threads 1
whole threads .97
for service in first large_tls; do
  timer --service $service -- "$FLEETPROF_TARGETS/large_tls" 1000 || fail "large_tls ended with $?"
done
whole large_tls .97
# On a stack allocated by the program, its end is unknown: unreachable parts are cut, and no stack
# is bad.
timer --service given -- "$FLEETPROF_TARGETS/large_tls" 1000 1024 || fail "large_tls ended with $?"
until_true 20 has_samples given || fail "no samples on a given stack"
[ "$(of given "d['stacks']['truncated'] >= .97")" = yes ] || fail "a given stack: $(of given "d['stacks']")"
python forks forks 1
whole forks .97
python late late 1
whole late .9

head -c 3000000 /dev/urandom >"$W/random"
timer --service first -- xz -1 -k -c "$W/random" >/dev/null || fail "xz"
timer --service xz -- xz -1 -k -c "$W/random" >/dev/null || fail "xz"
whole xz .97

for service in first redis; do
  redis=$(port)
  timer --service $service -- redis-server --port "$redis" --save '' --dir "$W" >"$W/redis.log" &
  program=$!
  until_true 10 redis-cli -p "$redis" ping >/dev/null 2>&1 || fail "redis-server does not start"
  redis-benchmark -p "$redis" -q -n 20000 -c 10 -t set,lrange_100 >/dev/null 2>&1 || fail "redis-benchmark"
  redis-cli -p "$redis" shutdown nosave >/dev/null 2>&1
  wait $program || fail "redis-server ended with $?"
done
whole redis .97

# A worker's death loses no table, and the next worker continues.
python worker all 3 &
program=$!
sleep 1.5
kill -9 "$(worker)"
wait $program || fail "a program whose daemon's worker died"
whole worker .95

# By frame pointers, completeness is unknown.
timer --service pointers --unwind fp -- /usr/bin/python3 "$W/work.py" all 1 >/dev/null || fail "by frame pointers"
until_true 20 has_samples pointers
[ "$(of pointers "d['stacks']['complete'] == 0")" = yes ] || fail "frame pointers: $(of pointers "d['stacks']")"
