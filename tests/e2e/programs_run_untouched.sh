#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exit status, stdout and stderr of real programs are the same under both samplers as without the
# agent.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
mkdir "$W/work"
cd "$W/work" || exit 1
printf 'int main(void) { return 7; }\n' >seven.c
seq 100000 >numbers
mkdir repo && git -C repo init -q && git -C repo -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m one
cat >pipes.sh <<'S'
for i in $(seq 40); do echo $i; done | grep 1 | sort -r | tail -n 3
(exit 3) || echo "three $?" >&2
exit 5
S
cat >ends_by_itself.sh <<'S'
kill -TERM $$
S
redis=$(port)
redis-server --port "$redis" --save '' --daemonize no >/dev/null 2>&1 &
started+=($!)
until_true 10 redis-cli -p "$redis" ping >/dev/null 2>&1 || fail "redis-server does not start"

count=0
same() {
  local plain status sampler
  count=$((count + 1))
  "$@" >plain.out 2>plain.err </dev/null
  plain=$?
  for sampler in perf timer; do
    run --sampler $sampler --hz 499 --flush-timeout 0s --label "sampler=$sampler" -- "$@" >run.out 2>run.err </dev/null
    status=$?
    [ $status = $plain ] || fail "$sampler: $*: ended with $status, plain with $plain"
    cmp -s plain.out run.out || fail "$sampler: $*: stdout differs"
    cmp -s plain.err run.err || fail "$sampler: $*: stderr differs: $(head -c 200 run.err)"
  done
}
same /usr/bin/python3 -c 'print(sum(i * i for i in range(10**6)))'
same redis-cli -p "$redis" set key value
same gcc -O2 -c seven.c -o seven.o
same bash pipes.sh
same git -C repo log --format=%s
same sh -c 'tar cf - numbers | xz -1 | sha256sum'
same perl -e 'print join(",", map { $_ * 2 } 1 .. 10), "\n"; exit 9'
same perl -e 'kill 9, $$'
same sh ends_by_itself.sh
same env -i /bin/echo clean
same timeout 1 sleep 5
same "$targets/forks" 500
same "$targets/threads" 200
same "$targets/static"
command -v node >/dev/null || fail "node is not installed"
same node -e 'console.log([1, 2, 3].map(x => x * x))'

# A pipe that the program leaves open is closed when the program ends: the daemon holds no copy of
# it.
got=$(timeout 20 fleetprof run --state "$B" --collector "127.0.0.1:$A" -- echo hi) || fail "run in \$( ) ended with $?"
[ "$got" = hi ] || fail "run in \$( ) printed '$got'"

# A setuid program, run by an ordinary user, keeps its privilege and is left alone.
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$W" "$W/work"
  cp "$targets/setuid" "$W/setuid" && chown root "$W/setuid" && chmod 4755 "$W/setuid"
  mkdir "$W/user" && chown "$ordinary:$ordinary" "$W/user"
  user=(as_ordinary env "HOME=$W/user")
  plain=$("${user[@]}" "$W/setuid" 2>&1)
  for sampler in perf timer; do
    got=$("${user[@]}" fleetprof run --state "$W/user/state" --flush-timeout 0s --sampler $sampler -- "$W/setuid" 2>&1)
    [ "$got" = "$plain" ] || fail "$sampler: setuid: '$got' instead of '$plain'"
  done
  started+=("$(cat "$W/user/state/fleetprofd.pid")")
  count=$((count + 1))
else
  say "not root: the setuid program was not run"
fi
say "$count programs the same under both samplers"
run -- true # which sees to it that all of it is with the collector
for sampler in perf timer; do
  samples=$(profile "{sampler=\"$sampler\"}" | json "d['samples']")
  [ "$samples" -ge 20 ] || fail "$sampler: only $samples samples of all these programs"
  say "$sampler: $samples samples of them"
done
