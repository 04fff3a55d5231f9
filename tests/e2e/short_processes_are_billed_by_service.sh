#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Processes and threads too short to be sampled: all their CPU time is in the answer, under the name
# of the program that spent it. The reference is wait4's figure for each child. By timer a process
# reports its own time. So time after its last report, and that of a process without a report, is
# under the name of the program given to run; the sum is still right.
. "$(dirname "$0")/lib.sh"
start_collector

# Runs short commands, many times each in turn, and prints their billed CPU time by name.
cat >"$W/many.py" <<'P'
import json, os, resource, struct, sys, time
count = int(sys.argv[1])
parent = "python3" if sys.argv[3:] else None  # the program that a child's time before its exec belongs to
told, tell = os.pipe()
commands = [["/bin/true"], ["/bin/sed", "-n", "s/a/b/p", "/etc/passwd"], ["/usr/bin/cksum", "/bin/bash"]]
if sys.argv[2] == "timer" and os.path.exists("/usr/bin/gcc"):  # it wants syscall from libc, as programs do that can begin a sandbox
    commands.append(["/usr/bin/gcc", "-dumpversion"])
spent = {}
def add(name, usage):
    spent[name] = spent.get(name, 0) + usage.ru_utime + usage.ru_stime
for i in range(count):
    command = commands[i % len(commands)]
    child = os.fork()
    if child == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.write(tell, struct.pack("d", time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID)))
        os.execv(command[0], command)
    name = os.path.basename(command[0])
    add(name, os.wait4(child, 0)[2])
    before, = struct.unpack("d", os.read(told, 8))
    if parent:
        spent[name] -= before
        spent[parent] = spent.get(parent, 0) + before
add("python3", resource.getrusage(resource.RUSAGE_SELF))
print(json.dumps(spent), flush=True)
os._exit(0)  # time after the last read of its own clock is not in the truth
P

# Compares the rows of one run with the truth in FILE: the sum within 1 %, and at most LIMIT of it
# under another name. By perf both include stolen time.
compare() {
  local label=$1 truth=$2 limit=$3 service stolen=0
  [[ $label = timer* ]] || stolen=$(stolen_since)
  for service in $(api labels/service -d from=-10m --data-urlencode "match={board=\"$board\",run=\"$label\"}" | json "' '.join(d['data'])"); do
    profile "{board=\"$board\",run=\"$label\",service=\"$service\"}" | json "json.dumps({'name': '$service', 'weight': d['total']})"
  done >"$W/rows.json"
  /usr/bin/python3 - "$W/rows.json" "$truth" "$label" "$limit" "$stolen" <<'P' || fail "$label on $board is off: $(cat "$W/rows.json")"
import json, sys
rows = {r["name"]: r["weight"] / 1e9 for r in map(json.loads, open(sys.argv[1]))}
truth, limit, stolen = json.load(open(sys.argv[2])), float(sys.argv[4]), float(sys.argv[5])
total, said = sum(truth.values()), sum(rows.values())
off = sum(abs(rows.get(name, 0) - spent) for name, spent in truth.items()) / 2 / total
print(f"  {sys.argv[3]}: {said:.3f} s of {total:.3f} s;",
      ", ".join(f"{n} {rows.get(n, 0):.3f} of {s:.3f}" for n, s in truth.items()),
      f"; {100 * off:.2f} % under a wrong name")
sys.exit(not -.01 <= said / total - 1 <= .01 + stolen / total or off > limit + stolen / total)
P
}

service_weight() { profile "{board=\"$board\",run=\"$1\",service=\"$2\"}" | json "d['total'] / 1e9"; }

# everything SAMPLER COMMANDS LIMIT [before]: with `before` the time of a child before its exec is its parent's.  Events on
# whole CPUs sample that time (a fifth of /bin/true), and the program that runs then is the parent's.
everything() {
  stolen_before=$(stolen)
  run --sampler "$1" --label "run=$1-commands" -- /usr/bin/python3 "$W/many.py" "$2" "$1" ${4:-} >"$W/commands.json" || fail "many.py ended with $?"
  compare "$1-commands" "$W/commands.json" "$3"
  for kind in "forks 500 4" "threads 600 3"; do
    stolen_before=$(stolen)
    run --sampler "$1" --label "run=$1-${kind%% *}" -- "$targets/crowd" $kind >"$W/said" || fail "crowd $kind ended with $?"
    echo "{\"crowd\": $(cat "$W/said")}" >"$W/said.json"
    compare "$1-${kind%% *}" "$W/said.json" 0.01
  done
}

# exec: time before it counts for the earlier program, and not again for the later one.
chain() {
  local work='for ((i = 0; i < 200000; i++)); do :; done' later='BEGIN { for (i = 0; i < 3e6; i++); }'
  bash -c "TIMEFORMAT='%U %S'; time awk '$later'; $work" 2>"$W/awk" || fail "awk ended with $?"
  run --sampler timer --label run=chain -- bash -c "$work; times >'$W/times'; exec awk '$later'" || fail "the chain ended with $?"
  /usr/bin/python3 - "$W/awk" "$W/times" "$(service_weight chain bash)" "$(service_weight chain awk)" <<'P' || fail "the parts of a chain"
import sys
later = sum(map(float, open(sys.argv[1]).read().split()))
earlier = sum(60 * float(m) + float(s[:-1]) for m, s in (t.split("m") for t in open(sys.argv[2]).readline().split()))
said = [float(x) for x in sys.argv[3:]]
print(f"  chain: bash {said[0]:.3f} of {earlier:.3f} s, then awk {said[1]:.3f} of about {later:.3f} s")
sys.exit(abs(said[0] / earlier - 1) > 0.1 or not 0.6 < said[1] / later < 1.6)
P
}

# A link's and a script's names are those that they are started by, and looked for by.
names() {
  printf '#!/bin/sh\ni=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done\n' >"$W/a-script.sh"
  chmod 755 "$W/a-script.sh"
  ln -s "$targets/spin" "$W/a-link"
  for sampler in perf timer; do
    for program in "$W/a-script.sh" "$W/a-link 200"; do run --sampler $sampler --label run=names-$sampler -- $program >/dev/null || fail "$program ended with $?"; done
    said=$(api labels/service -d from=-10m --data-urlencode "match={board=\"$board\",run=\"names-$sampler\"}" | json "' '.join(sorted(d['data']))")
    [ "$said" = "a-link a-script.sh" ] || fail "$sampler: a link and a script are called $said"
  done
  say "a link and a script have their own names"
}

# A thousand short programs cost the daemon more than its budget, which would lower the rate: at 1 Hz
# each sample stands for a second, and chance alone is more than this looks for.
export FLEETPROF_BUDGET_CPU=50%
board=root
enroll $board
# Root samples whole CPUs: chance moves a name by some periods of its samples, and an exec is the parent's until the kernel
# has changed the name.  The sum is exact.
everything perf 600 0.12 before
everything timer 300 0.10
chain
names

# The same for an ordinary user, with a daemon of its own.
if [ "$(id -u)" = 0 ]; then
  board=user
  enroll $board
  chmod 711 "$W"
  chown -R "$ordinary:$ordinary" "$B"
  chmod 644 "$W/many.py"
  run() { as_ordinary env HOME="$B" fleetprof run --state "$B" --collector "127.0.0.1:$A" "$@"; }
  everything perf 600 0.01
  everything timer 300 0.10
fi
