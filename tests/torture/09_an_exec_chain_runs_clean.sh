#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 9: sh -> static -> 32-bit -> setuid -> musl -> dynamic: every program runs, stderr stays empty, no
# death by signal; as root and as an ordinary user.
. "$(dirname "$0")/lib.sh"
HZ=5000
mkdir "$W/chain" && chmod 755 "$W" "$W/chain"
source=$torture_sources/chain.c
links=()
cp "$torture/chain" "$W/chain/dynamic"
cat >"$W/chain/script" <<'S'
#!/bin/sh
echo a script
exec "$@"
S
chmod 755 "$W/chain/script"
links+=("$W/chain/script")
compile "$W/chain/static" gcc -O2 -static -pthread "$source" && links+=("$W/chain/static")
compile "$W/chain/bits32" gcc -O2 -m32 -pthread "$source" && links+=("$W/chain/bits32")
compile "$W/chain/static32" gcc -O2 -m32 -static -pthread "$source" && links+=("$W/chain/static32")
compile "$W/chain/musl" musl-gcc -O2 "$source" && links+=("$W/chain/musl")
if [ "$(id -u)" = 0 ]; then
  cp "$torture/chain" "$W/chain/setuid" && chmod 4755 "$W/chain/setuid"
  links+=("$W/chain/setuid")
else
  without "a setuid link" "only root can make one for another user"
fi
links+=("$W/chain/dynamic")
board chain
SAMPLES=1 same "${links[@]}"
[ ! -s "$W/run.err" ] || fail "stderr: $(cat "$W/run.err")"
say "${#links[@]} links: $(tr '\n' ';' <"$W/run.out")"
user_board user
as_user "${links[@]}" >"$W/plain.out" 2>"$W/plain.err"
plain=$?
for sampler in "${samplers[@]}"; do
  as_user fleetprof run --state "$B" --flush-timeout 0s --sampler "$sampler" --hz $HZ -- "${links[@]}" >"$W/run.out" 2>"$W/run.err"
  [ $? = $plain ] || fail "uid $ordinary: $sampler: another status than $plain: $(cat "$W/run.out" "$W/run.err")"
  cmp -s "$W/plain.out" "$W/run.out" || fail "uid $ordinary: $sampler: $(diff "$W/plain.out" "$W/run.out")"
  [ ! -s "$W/run.err" ] || fail "uid $ordinary: $sampler: stderr: $(cat "$W/run.err")"
done
