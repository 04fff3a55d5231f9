#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From nothing to a named function table: installs the packages of the build, builds a release into
# build/, starts a collector on loopback, and enrolls this machine as a board.  Then profiles a real
# program and prints its function table, fetched with curl.  Runs until Ctrl-C.
#
#   ./deploy/quickstart.sh [--once] [--no-page] [--data DIR] [--http HOST:PORT] [--agents HOST:PORT] [-- PROGRAM ARG...]
#
# PROGRAM runs as your user, in the current folder.  A flame graph as text follows its table.
# Ctrl-C ends PROGRAM, the next Ctrl-C the rest.  Without PROGRAM, python3 runs a small program in
# two releases.  --once ends after the table.  --no-page builds without the collector's page, and so
# without Node.  Without --data the data is in a folder that is deleted at the end.  The default
# ports are replaced by free ones if in use.  Only loopback addresses are accepted.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."

once= without_page= data= http= agents= program=()
usage() {
  echo "quickstart: $1: see ./deploy/quickstart.sh --help" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
  --once) once=1 ;;
  --no-page) without_page=1 ;;
  --data | --http | --agents)
    [ $# -ge 2 ] || usage "$1: needs a value"
    declare "${1#--}=$2"
    shift
    ;;
  --data=* | --http=* | --agents=*)
    option=${1%%=*}
    declare "${option#--}=${1#*=}"
    ;;
  --)
    [ $# -ge 2 ] || usage "--: no program stands behind it"
    program=("${@:2}")
    break
    ;;
  -h | --help)
    sed -n '/^# From nothing/,/^set /s/^# \{0,1\}//p' deploy/quickstart.sh
    exit 0
    ;;
  -*) usage "$1: unknown option" ;;
  *) usage "$1: a program of yours stands behind --" ;;
  esac
  shift
done

# For this machine only: other addresses would need TLS, tokens and a name.
loopback() {
  local option=$1 address=$2
  [[ $address =~ ^(127(\.[0-9]{1,3}){3}|\[::1\]|localhost):([0-9]{1,5})$ ]] ||
    usage "$option: '$address' is not HOST:PORT on loopback, and the quickstart runs on loopback only (127.0.0.1:PORT)"
  (( 10#${BASH_REMATCH[3]} >= 1 && 10#${BASH_REMATCH[3]} <= 65535 )) || usage "$option: '$address' has no port from 1 to 65535"
}
[ -z "$data" ] || data=$(cd "$here" && realpath -m -- "$data")
# Checked before minutes of work.  A name without a path may be in a package installed below.
can_run() { (cd "$here" && type -P -- "$1") >/dev/null; }
[[ ${program[0]-} != */* ]] || can_run "${program[0]}" || usage "${program[0]}: there is no such program, or it cannot be executed"
[ -z "$http" ] || loopback --http "$http"
[ -z "$agents" ] || loopback --agents "$agents"
http=${http/#localhost:/127.0.0.1:} agents=${agents/#localhost:/127.0.0.1:}

# Prints the usual port's address, or one with a free port from the kernel if that is in use.
free_address() {
  local port=$1
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  fi
  echo "127.0.0.1:$port"
}

# A build configured without the page stays so until its configuration changes.
! grep -qsiE '^WITH_WEB:[A-Z]+=(OFF|NO|FALSE|N|0)$' build/CMakeCache.txt || without_page=1
has_page=yes
[ -z "$without_page" ] || has_page=
. deploy/packages/install.sh
install_packages build quickstart
[ ${#program[@]} = 0 ] || can_run "${program[0]}" || usage "${program[0]}: there is no such program in PATH (give its path, as ./${program[0]})"
echo "building a release into build/${without_page:+, without the page}"
mkdir -p build 2>/dev/null && [ -w build ] || {
  echo "quickstart: $PWD/build: cannot be written: clone the project where you may write" >&2
  exit 1
}
log=build/quickstart.log
{ cmake -S . -B build -DCMAKE_BUILD_TYPE=Release ${without_page:+-DWITH_WEB=OFF} && cmake --build build -j "$(nproc)" &&
  cmake --install build --prefix build/installed; } 2>&1 | tee "$log" | show_progress || {
  tail -n 20 "$log" >&2
  ! grep -q "page is built with Node" "$log" || echo "quickstart: --no-page does without Node and npm" >&2
  echo "quickstart: the build failed: the whole log is $log" >&2
  exit 1
}
bin=$PWD/build/installed/bin

: "${http:=$(free_address 7480)}" "${agents:=$(free_address 7443)}"
kept=$data
: "${data:=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-quickstart.XXXXXX")}"
mkdir -p "$data"
state=$data/board
collector=
# Prints the data folder, and whether it is deleted at the end.
told_data() {
  if [ -n "$kept" ]; then
    echo "the data: $data, which stays"
  else
    echo "the data: $data, which goes away at the end (--data DIR keeps it)"
  fi
}
leave() {
  trap '' INT TERM HUP
  local pid pids=()
  [ -f "$state/fleetprofd.pid" ] && pids+=("$(cat "$state/fleetprofd.pid")")
  [ -n "$collector" ] && pids+=("$collector")
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for _ in $(seq 100); do
    local alive=
    for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null && alive=1; done
    [ -z "$alive" ] && break
    sleep 0.1
  done
  [ -n "$kept" ] || rm -rf "$data"
}
trap leave EXIT
trap 'exit 130' INT TERM HUP

# In its own session: Ctrl-C reaches only this script, or the running program.
setsid "$bin/fleetprof-collector" --data "$data/collector" --agents "$agents" --http "$http" >"$data/collector.log" 2>&1 &
collector=$!
for _ in $(seq 100); do
  curl -fs "http://$http/readyz" >/dev/null && break
  kill -0 "$collector" 2>/dev/null || {
    echo "quickstart: the collector ended: $(tail -n 1 "$data/collector.log")" >&2
    exit 1
  }
  sleep 0.1
done

if [ ! -f "$state/board.pem" ]; then
  token=$("$bin/fleetprof-collector" token --data "$data/collector" --board "$(uname -n | tr -cd 'A-Za-z0-9.-' | grep . || echo this-machine)")
  "$bin/fleetprof" enroll --collector "$agents" --token "$token" --state "$state"
fi

# This daemon runs until the end.  A daemon started by `run` exits a minute after its last program.
"$bin/fleetprofd" --state "$state" --collector "$agents"
run=("$bin/fleetprof" run --state "$state" --hz 499)
# Two releases of one program: the second sorts more.
demo() { # VERSION NUMBERS
  "${run[@]}" --service python3-demo --label "version=$1" -- python3 -c '
import sys, time
def collatz(limit):
    return max(range(1, limit), key=lambda n: length(n))
def length(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
numbers, end = int(sys.argv[1]), time.process_time() + 2
while time.process_time() < end:
    collatz(3000); sorted(str(i) for i in range(numbers)); {i: str(i) for i in range(20000)}
' "$2"
}
yours() {
  local code=0
  trap : INT # Ctrl-C ends the program
  (cd "$here" && exec "${run[@]}" --service "$service" -- "${program[@]}") || code=$?
  trap 'exit 130' INT
  [ $code = 0 ] || echo "${program[0]} ended with $code"
}
range=()
if [ ${#program[@]} = 0 ]; then
  service=python3-demo
  echo "profiling python3 for a few seconds"
  demo 1.4 20000
  demo 1.5 60000
else
  service=${program[0]##*/}
  echo "profiling ${program[*]}"
  since=$(date +%s)
  yours
  range=(-d "from=$since" -d "to=$(($(date +%s) + 1))")
fi

quoted=${service//\\/\\\\}
quoted=${quoted//\"/\\\"} quote="'\\''"
match="match={service=\"$quoted\"}"
echo
echo "curl -G 'http://$http/api/v1/profile' --data-urlencode '${match//\'/$quote}'${range[*]:+ ${range[*]}}"
curl -fsG "http://$http/api/v1/profile" --data-urlencode "$match" "${range[@]}" -d limit=15 | python3 -c '
import json, sys
top = json.load(sys.stdin)
print("%d samples, %.2f s of CPU time" % (top["samples"], top["total"] / 1e9))
print("   self   95 % interval    total   function")
for f in top["functions"]:
    low, high = f["self_ci"]
    print("%6.1f %%  %5.1f .. %4.1f %%  %6.1f %%  %s  (%s)" % (100 * f["self_share"], 100 * low,
          100 * high, 100 * f["total_share"], f["name"], f["module"]))
' || { echo "quickstart: the collector gave no table" >&2; exit 1; }
# The same as a flame graph: a link to the page, and text.
if [ ${#program[@]} != 0 ]; then
  link=$(curl -fsG -o /dev/null -w '%{url_effective}' "http://$http/" -d view=profile --data-urlencode "$match" "${range[@]}")
  echo
  "$bin/fleetprof" query --format flame "$link" || true # it prints the reason if there is none
fi
echo
[ -n "$once" ] && {
  told_data
  echo "the ${without_page:+collector}${has_page:+page} was http://$http/ and ends with --once; without it everything stays up until Ctrl-C"
  exit 0
}
if [ -n "$has_page" ]; then
  echo "the page: http://$http/"
else
  echo "the collector: http://$http/, built without its page (with it: rm build/CMakeCache.txt && ./deploy/quickstart.sh)"
fi
[ -z "${link-}" ] || [ -z "$has_page" ] || echo "its flame graph: $link"
# For another shell, whose PATH does not have these programs.
fleetprof=$(printf %q "$bin/fleetprof") at=$(printf %q "$state")
echo "profile your own:  $fleetprof run --state $at -- PROGRAM ARG...   # in another shell, anywhere; it ends with its link"
echo "ask its daemon:     $fleetprof status --state $at"
told_data
echo "a token for it:     $fleetprof-collector token --data $(printf %q "$data/collector") --role symbols >token   # for fleetprof upload --token-file token"
echo "Ctrl-C ends it."
wait "$collector"
