#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every option of every program with a wrong value: one line on stderr names the word and the
# reason, exit status 2, and nothing was started, made or printed.
. "$(dirname "$0")/lib.sh"
X=$W/none          # made by any command that starts despite the error
long=$(printf 'x%.0s' {1..200})
echo text >"$W/text"
printf '\n\nspeling = 1\n' >"$W/unknown.conf"
printf 'state =\n' >"$W/empty.conf"
export HOME=$W/home XDG_STATE_HOME=$W/home XDG_RUNTIME_DIR=$W/home

# wrong PATTERN COMMAND...
count=0
wrong() {
  local pattern=$1 code
  shift
  timeout 20 "$@" >"$W/out" 2>"$W/err" </dev/null
  code=$?
  [ $code = 2 ] || fail "$*: exit $code instead of 2: $(cat "$W/err")"
  [ "$(wc -l <"$W/err")" = 1 ] || fail "$*: not one line: $(cat "$W/err")"
  grep -qE -- "^fleetprof[a-z-]*( token| revoke)?: .*$pattern" "$W/err" || fail "$*: '$(cat "$W/err")' does not say '$pattern'"
  [ ! -s "$W/out" ] || fail "$*: printed $(cat "$W/out")"
  count=$((count + 1))
}

# Errors common to every program: unknown names, missing values, missing files.
while read -r program; do
  # shellcheck disable=SC2086
  {
    wrong "--no-such: unknown option; see --help" $program --no-such=1
    wrong "--halp: unknown option; the nearest known one is --help" $program --halp
    wrong "-Z: unknown option" $program -Z
    wrong "--help: takes no value" $program --help=1
    wrong "--config: needs a value: FILE" $program --config
    wrong "not-there.conf: No such file" $program --config "$W/not-there.conf"
    wrong "unknown.conf:3: speling: unknown option" $program --config "$W/unknown.conf"
  }
done <<'END'
fleetprof run
fleetprof report
fleetprof status
fleetprof ctl
fleetprof doctor
fleetprof enroll
fleetprofd
fleetprof-collector
fleetprof-collector token
fleetprof-collector revoke
END

# PATTERN | COMMAND, in shell syntax.
while IFS='|' read -r pattern command; do
  eval "wrong '${pattern%"${pattern##*[! ]}"}' $command"
done <<'END'
no command                                | fleetprof
no-such: options follow                   | fleetprof --no-such
frobnicate: no such command; fleetprof --help | fleetprof frobnicate
reprot: no such command; the nearest is .fleetprof report. | fleetprof reprot
--config: needs a file and a command      | fleetprof --config "$W/text"
--hz: needs a value: HZ                   | fleetprof run --hz
--hz: .0. is not a number between         | fleetprof run --state "$X" --hz 0 -- touch "$W/ran"
--hz: .-1. is not a number between        | fleetprof run --state "$X" --hz -1 -- touch "$W/ran"
--hz: .1e9. is not a number between       | fleetprof run --state "$X" --hz 1e9 -- touch "$W/ran"
--hz: .1000000000. is not a number        | fleetprof run --state "$X" --hz 1000000000 -- touch "$W/ran"
--hz: .abc. is not a number between       | fleetprof run --state "$X" --hz abc -- touch "$W/ran"
--hz: .. is not a number between          | fleetprof run --state "$X" --hz "" -- touch "$W/ran"
--hz: .abc. is not a number between       | env FLEETPROF_HZ=abc fleetprof run --state "$X" -- touch "$W/ran"
--label: .a.b=1. has a name of more than  | fleetprof run --state "$X" --label $'a\nb=1' -- touch "$W/ran"
no.such: No such file                     | fleetprof run --state "$X" -- $'no\nsuch'
no.such: is neither pause, resume nor     | fleetprof ctl --state "$X" $'no\nsuch'
no.such: takes no arguments               | fleetprof status --state "$X" $'no\nsuch'
no.such: takes no arguments               | fleetprof doctor --state "$X" $'no\nsuch'
--sampler: there is no .magic.; one of: auto perf timer itimer itimer-virtual$ | fleetprof run --state "$X" --sampler magic -- touch "$W/ran"
--sampler: .ptrace. is not supported in this version; one of: auto perf      | fleetprof run --state "$X" --sampler ptrace -- touch "$W/ran"
--unwind: there is no .magic.             | fleetprof run --state "$X" --unwind magic -- touch "$W/ran"
--unwind: .*only --collect stacks does    | fleetprof run --state "$X" --unwind fp --collect histogram -- touch "$W/ran"
--unwind: --collect pc-lr has the first   | fleetprof run --state "$X" --unwind none --collect pc-lr -- touch "$W/ran"
--unwind: .sideways. is not auto          | fleetprofd --state "$X" --unwind sideways
--collect: there is no .magic.; one of: stacks pc-lr histogram recorder | fleetprof run --state "$X" --collect magic -- touch "$W/ran"
--bin-bytes: .3. is not a power of two    | fleetprof run --state "$X" --collect histogram --bin-bytes 3 -- touch "$W/ran"
--bin-bytes: only --collect histogram     | fleetprof run --state "$X" --bin-bytes 16 -- touch "$W/ran"
--counter-bytes: .3. is not 1, 2 or 4     | fleetprof run --state "$X" --collect histogram --counter-bytes 3 -- touch "$W/ran"
--last: .0. is not a number from          | fleetprof run --state "$X" --collect recorder --last 0 -- touch "$W/ran"
--sampler perf: a histogram               | fleetprof run --state "$X" --sampler perf --collect histogram -- touch "$W/ran"
--sampler itimer: makes stacks and pc-lr   | fleetprof run --state "$X" --sampler itimer-virtual --collect recorder -- touch "$W/ran"
--service: longer than                    | fleetprof run --state "$X" --service "$long" -- touch "$W/ran"
--label: .nonsense. is not NAME=VALUE     | fleetprof run --state "$X" --label nonsense -- touch "$W/ran"
--label: .board=x. has a name that        | fleetprof run --state "$X" --label board=x -- touch "$W/ran"
--flush-timeout: .soon. is not a duration | fleetprof run --state "$X" --flush-timeout soon -- touch "$W/ran"
--verbose: .maybe. is not yes or no       | fleetprof run --state "$X" --verbose=maybe -- touch "$W/ran"
--collector: .nowhere. is not HOST:PORT   | fleetprof run --state "$X" --collector nowhere -- touch "$W/ran"
--state: .. is not the name of a file     | fleetprof run --state "" -- touch "$W/ran"
empty.conf:1: state: .. is not the name   | fleetprof run --config "$W/empty.conf" -- touch "$W/ran"
no program to run; usage:                 | fleetprof run --state "$X"
no program to run; usage:                 | fleetprof run --state "$X" --
no program to run; usage:                 | fleetprof run --state "$X" -- ""
not-there: No such file .*: check the path | fleetprof run --state "$X" -- "$W/not-there"
not-there-at-all: .*: it is not in PATH   | fleetprof run --state "$X" -- not-there-at-all
text: Permission denied: it must be       | fleetprof run --state "$X" -- "$W/text"
: .*: it is a directory                   | fleetprof run --state "$X" -- "$W"
--output: .. is not the name of a file    | fleetprof run --output "" -- touch "$W/ran"
--output: .*not/there: No such file       | fleetprof run --output "$W/not/there" -- touch "$W/ran"
--output: .*: Is a directory              | fleetprof run --output "$W" -- touch "$W/ran"
--output: /dev/null: is no regular file   | fleetprof run --output /dev/null -- touch "$W/ran"
--output: .*text: holds something else    | fleetprof run --output "$W/text" -- touch "$W/ran"
no file; usage:                           | fleetprof report
--format: there is no .magic.; one of:    | fleetprof report --format magic "$W/text"
--limit: needs a value: N                 | fleetprof report --limit
--limit: not a number between             | fleetprof report --limit 0 "$W/text"
--limit: .-1. is not a whole number       | fleetprof report --limit -1 "$W/text"
--limit: .abc. is not a whole number      | fleetprof report --limit abc "$W/text"
--diff: needs a value: FILE               | fleetprof report "$W/text" --diff
--output: is the profile that is shown    | fleetprof report "$W/text" -o "$W/text"
--output and --counts-to: give one        | fleetprof report "$W/text" -f counts -F "$W/fifo" -o "$W/none"
--diff: is shown as top or json           | fleetprof report "$W/text" --diff "$W/text" --format folded
belong to --format counts                 | fleetprof report --format folded --just-pcs "$W/text"
--counts-to: .. is not the name of a file | fleetprof report --format counts --counts-to "" "$W/text"
x: takes no arguments                     | fleetprof status x
--format: .magic. is neither table nor    | fleetprof status --format magic
--state: .. is not the name of a file     | fleetprof status --state ""
x: takes no arguments                     | fleetprof doctor x
--state: .. is not the name of a file     | fleetprof doctor --state ""
pause, resume or rate HZ.                 | fleetprof ctl
stop: is neither pause, resume nor rate   | fleetprof ctl stop
now: is one word too many                 | fleetprof ctl pause now
rate: needs a number between              | fleetprof ctl rate
rate: needs a number between              | fleetprof ctl rate --state "$X"
: 0: is not a number between              | fleetprof ctl rate 0 --state "$X"
-1: is not a number between               | fleetprof ctl rate -1 --state "$X"
1e9: is not a number between              | fleetprof ctl rate 1e9 --state "$X"
abc: is not a number between              | fleetprof ctl --state "$X" rate abc
--service: needs a value: NAME            | fleetprof ctl pause --service
--service: is empty                       | fleetprof ctl pause --service ""
--service: is longer than                 | fleetprof ctl pause --service "$long"
--state: .. is not the name of a file     | fleetprof ctl pause --state ""
--collector: missing                      | fleetprof enroll --token x
--token: missing .or --token-file, or     | fleetprof enroll --collector 127.0.0.1:1
--token-file: .*none: No such file        | fleetprof enroll --collector 127.0.0.1:1 --token-file "$W/none"
--token: this is no enroll token          | fleetprof enroll --collector 127.0.0.1:1 --token-file "$W/text"
--token: this is no enroll token          | fleetprof enroll --collector 127.0.0.1:1 --token x --state "$X"
--collector: .127.0.0.1:99999. is not     | fleetprof enroll --collector 127.0.0.1:99999 --token x --state "$X"
y: not an option                          | fleetprof enroll --collector 127.0.0.1:1 --token x y
x: not an option                          | fleetprofd x
--state: needs a value: DIR               | fleetprofd --state
--state: .. is not the name of a file     | fleetprofd --state ""
--output: .. is not the name of a file    | fleetprofd --state "$X" --output ""
--hz: must be between                     | fleetprofd --state "$X" --hz 0
--hz: .-1. is not a whole number          | fleetprofd --state "$X" --hz -1
--hz: .1e9. is not a whole number         | fleetprofd --state "$X" --hz 1e9
--hz: must be between                     | fleetprofd --state "$X" --hz 1000000000
--hz: .abc. is not a whole number         | fleetprofd --state "$X" --hz abc
--system-hz: must be between              | fleetprofd --state "$X" --system --system-hz 0
--window: must be between                 | fleetprofd --state "$X" --window 0s
FLEETPROF_WINDOW: .abc. is not a duration | env FLEETPROF_WINDOW=abc fleetprofd --state "$X"
--spool-bytes: less than                  | fleetprofd --state "$X" --spool-bytes 1
--budget-cpu: .-1. is not a percentage    | fleetprofd --state "$X" --budget-cpu -1
--budget-cpu: is of one CPU               | fleetprofd --state "$X" --budget-cpu 100000%
--budget-bytes: .abc. is not a size a day | fleetprofd --state "$X" --budget-bytes abc
--budget-debug: .abc. is not a size a day | fleetprofd --state "$X" --budget-debug abc
--allow: is about the whole board         | fleetprofd --state "$X" --allow nginx
--label nonsense: not of the form         | fleetprofd --state "$X" --label nonsense
--collector nowhere: not of the form      | fleetprofd --state "$X" --collector nowhere
--data: is missing                        | fleetprof-collector
--data: needs a value: DIR                | fleetprof-collector --data
--data: .. is not the name of a file      | fleetprof-collector --data ""
x: is no subcommand                       | fleetprof-collector x
--agents x: is not ADDRESS:PORT           | fleetprof-collector --data "$X" --agents x
--http nowhere:port: is not ADDRESS:PORT  | fleetprof-collector --data "$X" --http nowhere:port
--retention: .soon. is not a duration     | fleetprof-collector --data "$X" --retention soon
--max-bytes: .-1. is not a size           | fleetprof-collector --data "$X" --max-bytes -1
--data: is missing                        | fleetprof-collector token
--data .*: no collector has run there     | fleetprof-collector token --data "$X"
--data .*: no collector has run there     | fleetprof-collector token --data "$W"
--data .*: no collector has run there     | fleetprof-collector token --data "$W/text"
--role king: is not one of                | fleetprof-collector token --data "$X" --role king
--ttl: must be more than 0                | fleetprof-collector token --data "$X" --ttl 0s
--ttl: .soon. is not a duration           | fleetprof-collector token --data "$X" --ttl soon
--board x: only an enroll token           | fleetprof-collector token --data "$X" --board x --role read
x: is one word too many                   | fleetprof-collector token --data "$X" x
--board: is missing                       | fleetprof-collector revoke --data "$X"
--data .*: no collector has run there     | fleetprof-collector revoke --data "$X" --board x
END
# A variable for all commands applies only to commands that support its value.
FLEETPROF_FORMAT=table fleetprof report "$W/text" 2>"$W/err"
grep -q "is not a profile" "$W/err" || fail "report with the format of status: $(cat "$W/err")"
wrong "--format: there is no .magic.; one of:" env FLEETPROF_FORMAT=magic fleetprof report "$W/text"
FLEETPROF_FORMAT=pprof fleetprof status --state "$X" 2>"$W/err"
[ $? = 1 ] && grep -q "no daemon listens at .*; is --state (or FLEETPROF_STATE) right?" "$W/err" || fail "status with the format of a report: $(cat "$W/err")"
env -u FLEETPROF_STATE XDG_RUNTIME_DIR="$W" TMPDIR="$W" fleetprof status >"$W/out" 2>"$W/err" || # no message if the machine's own daemon answers
  grep -q "no daemon listens at .*; --state DIR (or FLEETPROF_STATE) asks that of another directory; fleetprof run starts one" "$W/err" || fail "status without a daemon: $(cat "$W/err")"
wrong "--fail-over: of what?" fleetprof report "$W/text" --fail-over 2%
wrong "--measure and --of: of what?" fleetprof report "$W/text" --measure cpu
wrong "--measure: share or cpu" fleetprof report "$W/text" --diff "$W/text" --measure time
wrong "--of: self or total" fleetprof diff a b --of all
wrong "--both: of which gate?" fleetprof diff a b --both
wrong "0.15% or 15%" fleetprof diff a b --fail-over 0.15
wrong "--scope: these or fleet" fleetprof diff a b --scope all
# A disk without room for a profile is found out before the program starts.
mkdir "$W/full"
if mount -t tmpfs -o size=4k none "$W/full" 2>/dev/null; then
  head -c 4096 /dev/zero >"$W/full/filler"
  wrong "--output: .*: No space left" fleetprof run --output "$W/full/profile.fp" -- touch "$W/ran"
  [ "$(ls "$W/full")" = filler ] || fail "a full disk: left $(ls "$W/full")"
else
  without "a full disk" "only root can mount one of four kilobytes"
fi
[ ! -e "$W/ran" ] || fail "a program was started although a word was wrong"
for made in "$X" "$HOME" "$W/ca" "$W/not"; do [ ! -e "$made" ] || fail "a wrong word left $made behind"; done
cmp -s "$W/text" <(echo text) || fail "a file that is no profile was touched"

# A collector that cannot listen, because a port is taken, leaves no folder.
start_collector
for doors in "--agents 127.0.0.1:$A --http 127.0.0.1:0" "--agents 127.0.0.1:0 --http 127.0.0.1:$H"; do
  # shellcheck disable=SC2086
  fleetprof-collector --data "$X" $doors 2>"$W/err"
  code=$?
  [ $code = 1 ] && grep -q 'Address already in use; give another$' "$W/err" || fail "$doors: exit $code: $(cat "$W/err")"
  [ ! -e "$X" ] || fail "$doors: a failed start leaves $(find "$X")"
done
wrong "--board a b: no board may be called so" fleetprof-collector token --data "$W/data" --board 'a b'
say "$count wrong words, each told in one line"
