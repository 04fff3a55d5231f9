#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make.sh COMMIT NAME: saves the data of the collector of fleetprof at COMMIT, as NAME.tar.gz beside
# this script (README.md).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
commit=$1
name=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/data"
git -C "$here/../../.." archive --format=tar "$commit" | tar -x -C "$work/tree"
cmake -S "$work/tree" -B "$work/build" -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
modules=()
for module in store identity names fetch symbol proto common; do
  [ ! -d "$work/build/views/$module" ] || modules+=($module)
done
cmake --build "$work/build" -j2 --target "${modules[@]}" >/dev/null
debug=names/debug_store.h
[ -e "$work/build/views/names" ] || debug=symbol/debug_store.h # where it was first
fixtures=("$work"/tree/tests/unit/store/*batch_fixture.c)
[ -f "${fixtures[0]}" ] && fixture=made_batch_fixture.h || { fixture=fixture.h fixtures=(); }
grep -q store_roll "$work/tree/collector/store/store.h" && sums=-DHAS_SUMS || sums=
libraries=()
for module in "${modules[@]}"; do libraries+=($(find "$work/build" -name "lib$module.a")); done
libraries+=($(find "$work/build/proto" -name "libprofile*.a"))
cc -D_GNU_SOURCE $sums -DFIXTURE="\"$fixture\"" -DDEBUG_STORE="\"$debug\"" -I"$work/tree/tests/unit/store" $(printf -- '-I%s ' "$work"/build/views/*) "$here/write_store.c" "${fixtures[@]}" \
  -o "$work/write_store" -Wl,--start-group "${libraries[@]}" -Wl,--end-group -lcmocka -lsqlite3 -lssl -lcrypto -lzstd -lprotobuf-c -lpthread -lm
"$work/write_store" "$work/data"
rm -rf "$work"/data/*-shm "$work/data/audit.log" "$work/data/debug"
tar --owner=0 --group=0 --mtime=@1767268800 --sort=name -C "$work/data" -cf - . | gzip -9n >"$here/$name.tar.gz"
tar -tvf "$here/$name.tar.gz"
