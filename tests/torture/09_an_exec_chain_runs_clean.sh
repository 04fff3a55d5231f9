#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 9: dynamic -> sh -> static -> 32-bit -> musl -> setuid -> dynamic: every program runs, stderr
# stays empty, no death by signal; as root and as an ordinary user. All CPU time is reported. The
# first program's time is under its name, and so is the last one's, after the setuid program has
# dropped its effective user.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || not_run "only root can make a setuid link for another user"
HZ=997
MS=$(pick 120 2000)
export CHAIN_MS=$MS
mkdir "$W/chain" && chmod 755 "$W" "$W/chain"
source=$torture_sources/chain.c
cp "$torture/chain" "$W/chain/dynamic"
cat >"$W/chain/script" <<'S'
#!/bin/sh
echo a script
exec "$@"
S
chmod 755 "$W/chain/script"
links=("$W/chain/dynamic" "$W/chain/script")
compile "$W/chain/static" gcc -O2 -static -pthread "$source" && links+=("$W/chain/static")
compile "$W/chain/bits32" gcc -O2 -m32 -pthread "$source" && links+=("$W/chain/bits32")
compile "$W/chain/static32" gcc -O2 -m32 -static -pthread "$source" && links+=("$W/chain/static32")
compile "$W/chain/musl" musl-gcc -O2 "$source" && links+=("$W/chain/musl")
# For each of the two users the program is setuid for the other. A privileged program's loader
# ignores preloads. The next link sets the preload again, like a start script would, which only a
# run by timer needs.
for who in 0 "$ordinary"; do
  mkdir "$W/chain/of-$who"
  cp "$torture/chain" "$W/chain/of-$who/setuid"
  [ "$who" = 0 ] && chown "$ordinary" "$W/chain/of-$who/setuid"
  chmod 4755 "$W/chain/of-$who/setuid"
done
# chain_of WHO SAMPLER: all links.
chain_of() {
  chain=("${links[@]}" "$W/chain/of-$1/setuid")
  [ "$2" = perf ] || chain+=(/usr/bin/env "LD_PRELOAD=$agent")
  chain+=("$W/chain/dynamic")
}
# is_clean WHO: as user WHO, with the command prefix $as.
is_clean() {
  local who=$1 sampler plain spent total first last
  for sampler in "${samplers[@]}"; do
    chain_of "$who" "$sampler"
    $as "${chain[@]/LD_PRELOAD=*/NOTHING=1}" >"$W/plain.out" 2>"$W/plain.err"
    plain=$?
    [ $plain = 21 ] || fail "uid $who: without us: ended with $plain: $(cat "$W/plain.err")"
    rm -f "$W/user/spent"
    CHAIN_SPENT=$W/user/spent to=$W/user recorded "$sampler" "${chain[@]}" >"$W/run.out" 2>"$W/run.err"
    [ $? = $plain ] || fail "uid $who: $sampler: another status than $plain: $(cat "$W/run.out" "$W/run.err")"
    cmp -s "$W/plain.out" "$W/run.out" || fail "uid $who: $sampler: $(diff "$W/plain.out" "$W/run.out")"
    [ ! -s "$W/run.err" ] || fail "uid $who: $sampler: stderr: $(cat "$W/run.err")"
    spent=$(($(cat "$W/user/spent") / 1000000)) total=$(json "round(d['total'] / 1e6)" <"$W/table.json")
    first=$(told "f['name'] == 'burn_first'") last=$(told "f['name'] == 'burn_last'")
    say "uid $who: $sampler: ${#chain[@]} links spent $spent ms, told $total ms, of it first $first, last $last of $((2 * MS)) ms; $(table 3)"
    [ "$total" -ge $((spent * 99 / 100 - 1)) ] && [ "$total" -le $((spent * 101 / 100 + 20)) ] || fail "uid $who: $sampler: told $total ms of $spent ms"
    [ "$first" -ge $((MS * 3 / 2)) ] || fail "uid $who: $sampler: the first link's $((2 * MS)) ms: $first are told"
    [ "$sampler" = perf ] && [ "$last" -lt "$MS" ] && without "the last link by perf" "it ended before its events were opened anew: $last of $((2 * MS)) ms" && continue
    [ "$last" -ge "$MS" ] || fail "uid $who: $sampler: the last link's $((2 * MS)) ms: $last are told"
  done
}
user_board chain # for its folder
as='' && is_clean 0
as=as_user && is_clean "$ordinary"
say "$(tr '\n' ';' <"$W/run.out")"
