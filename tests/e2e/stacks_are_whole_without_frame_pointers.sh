#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian's programs have no frame pointers. Sampled by perf for the first time, without any table,
# at least 97 % of their stacks reach the start of the program or thread. For a program with known
# calls every sample has the true chain, by perf and by timer. For root and for an ordinary user.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
cd "$W" || fail "no folder"

# whole PROGRAM FILE: the share of the time in stacks that begins at PROGRAM's entry, the loader's,
# or a thread's. Clock time ([kernel], [unsampled]) is in no stack, and an exec has only the
# kernel's part.
whole() {
  local entry
  entry=$(readelf -hW "$(readlink -f "$(command -v "$1")")" | awk '/Entry point/ { print $NF }')
  fleetprof report "$2" --format folded | awk -v entry="+$entry" '
    { root = $0; sub(/[; ].*/, "", root) }
    $0 ~ /^\[(kernel|unsampled)\] [0-9]+$/ || root ~ /^(entry|asm|el0t|ret)_/ { next }
    { all += $NF }
    root ~ /^(_start|_dl_start_user|clone3?|__clone3?|__clone_internal)$/ || index(root, entry) == length(root) - length(entry) + 1 { whole += $NF; next }
    { short[$0] = $NF }
    END { printf "%.4f\n", whole / all; for (stack in short) print stack > "/dev/stderr" }' 2>"$2.short"
}
# is_whole NAME PROGRAM: NAME.fp, made by run_NAME, is whole to at least 97 %. Each run makes new
# tables; on a busy machine they may be late, so one of three runs must succeed.
is_whole() {
  local share samples try
  for try in 1 2 3; do
    "run_$1"
    share=$(whole "$2" "$1.fp")
    samples=$(fleetprof report "$1.fp" | awk 'NR == 1 { print $1 }')
    [ "${samples:-0}" -ge 30 ] || fail "$1: only $samples samples"
    awk -v share="${share:-0}" 'BEGIN { exit !(share >= 0.97) }' && break
    [ $try -lt 3 ] || fail "$1: only $share of the stacks are whole; $(head -n 3 "$1.fp.short" | cut -c 1-300)"
  done
  say "$1: $share of the time of $samples samples is in whole stacks, at try $try"
}

cat >work.py <<'PY'
import json, re
text = json.dumps([{"key%d" % i: [i, str(i), i * 1.5]} for i in range(2000)])
for i in range(800):
    len(re.findall(r'"key\d+"', text)) + len(json.loads(text)) + sum(sorted(range(20000), key=lambda x: -x))
PY
# At 99 Hz, the usual rate: a busy CPU's ring then holds the samples of 120 ms, in which the table
# of python3 is made.
run_python() { fleetprof run --output python.fp --hz 99 --sampler perf -- /usr/bin/python3 work.py || fail "python3"; }
is_whole python /usr/bin/python3

head -c 3000000 "$(readlink -f /usr/bin/python3)" >input
run_xz() { fleetprof run --output xz.fp --sampler perf -- xz -k -9 -c input >/dev/null || fail "xz"; }
is_whole xz xz

run_sqlite() {
  fleetprof run --output sqlite.fp --sampler perf -- sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000000) select sum(x * x), count(distinct x % 1000) from c' >/dev/null || fail "sqlite3"
}
is_whole sqlite sqlite3

run_redis() {
  local redis program
  redis=$(port)
  fleetprof run --output redis.fp --hz 199 --sampler perf -- redis-server --port "$redis" --save '' --dir "$W" >redis.log &
  program=$!
  until_true 10 redis-cli -p "$redis" ping >/dev/null 2>&1 || fail "redis-server does not start"
  redis-benchmark -p "$redis" -q -n 60000 -P 16 -t set,lpush,lrange_100 >/dev/null 2>&1
  redis-cli -p "$redis" shutdown nosave >/dev/null 2>&1
  wait $program || fail "redis-server ended with $?"
}
is_whole redis redis-server

# The chains of tests/targets/chain.c: each stack is one of them, or ends somewhere on the way.
cat >chains.awk <<'AWK'
BEGIN {
  library = "through_library;LIB;compare;full_frame;pointed_frame;large_frame;small_frame;bottom"
  recursion = "recursive;recursive;recursive;recursive;recursive;recursive;small_frame;bottom"
  split("through_library compare full_frame pointed_frame large_frame small_frame bottom recursive", names, " ")
  for (i in names) own[names[i]] = 1
}
# Frames outside of chain belong to the C library or the vDSO, with any names and in any number:
# LIB.
function simple(stack, count, i, frames, part, ret) {
  count = split(stack, frames, ";")
  for (i = 1; i <= count; i++) {
    part = frames[i] in own ? frames[i] : "LIB"
    if (part != "LIB" || ret !~ /LIB$/) ret = ret (ret == "" ? "" : ";") part
  }
  return ret
}
/^\[(kernel|unsampled)\] [0-9]+$/ { next }
/^(entry|asm|el0t|ret)_/ { next } # of the kernel alone: an exec
{
  weight = $NF; stack = $0; sub(/ [0-9]+$/, "", stack); all += weight
  sub(/;(entry|asm|el0t)_.*/, "", stack); $0 = stack " " weight # where the kernel was entered
  if (stack ~ /^\[[a-z ]*\];/) next # marked as incomplete
  if (!sub(/^[^;]*(;[^;]*)*;(main|in_thread);work/, "work", stack)) { if ($0 ~ /;main|^_start|^clone/) { begun += weight; next } }
  else {
    sub(/^work;?/, "", stack)
    stack = simple(stack)
    if (index(library, stack) == 1 || index(recursion, stack) == 1 || stack == "LIB") { good += weight; next } # LIB: calls for the time
  }
  print $0 > "/dev/stderr"
  bad += weight
}
END { printf "%.4f %.4f\n", good / all, (bad + 0) / all }
AWK
# is_true HOW: checks that for the folded stacks of the input.
is_true() {
  local good bad
  read -r good bad < <(awk -f chains.awk 2>wrong)
  [ ! -s wrong ] || fail "of chain's stacks by $1 $bad are none of its own: $(head -n 3 wrong)"
  awk -v good="${good:-0}" 'BEGIN { exit !(good > 0.97) }' || fail "only $good of chain's time by $1 is in its work"
  say "chain by $1: each stack is a true one, $good of them in its work"
}
fleetprof run --output chain.fp --hz 199 --sampler perf -- "$targets/chain" 2 || fail "chain"
fleetprof report chain.fp --format folded >chain.folded || fail "chain's report"
is_true perf <chain.folded
# Along frame pointers alone the stacks are incomplete; otherwise this script would prove nothing.
fleetprof run --output fp.fp --hz 199 --sampler perf --unwind fp -- "$targets/chain" 1 || fail "--unwind fp"
fleetprof report fp.fp --format folded | awk -f chains.awk 2>wrong >/dev/null
[ -s wrong ] || fail "frame pointers find the same stacks in a program that has none"

# The requested mode and the number of tables are reported.
start_collector
enroll walker
run --sampler perf -- "$targets/chain" 1 || fail "chain, by a daemon"
status --format json >status.json || fail "status"
json "d['tables']['ready'] >= 2 and d['tables']['waiting'] == 0 and d['tables']['failed'] == 0" <status.json | grep -q yes || fail "status: $(json "d['tables']" <status.json)"
# libc and ld.so have a few places without a known rule, which is no error.
json "d['tables']['functions_refused'] == 0 and 0 < d['tables']['untold_rows'] < 200 and d['tables']['functions_path'] == ''" <status.json | grep -q yes || fail "what tables lack: $(json "d['tables']" <status.json)"
status | grep -q '^  tables    .* place.* that no rule can tell of$' || fail "status does not say what tables lack: $(status | head -n 20)"
ls "$B"/tables/*.table >/dev/null || fail "no table is kept"

# By timer the handler walks, with the same tables, in memory, and with the registers at the signal.
# (All tables exist since the run by perf: a first run has some stacks along frame pointers.)
run --service timer --sampler timer --hz 199 -- "$targets/chain" 2 || fail "chain, by timer"
has_samples() { [ "$(profile '{service="timer"}' | json "d['samples'] >= 30")" = yes ]; }
until_true 20 has_samples || fail "no samples by timer: $(profile '{service="timer"}' | head -c 300)"
profile '{service="timer"}' -d format=folded -d limit=100000 >timer.folded || fail "no stacks by timer"
is_true timer <timer.folded
status --format json | json "d['tables']['shared'] >= 3 and d['tables']['shared_left_out'] == 0" | grep -q yes || fail "shared tables: $(status --format json | json "d['tables']")"
