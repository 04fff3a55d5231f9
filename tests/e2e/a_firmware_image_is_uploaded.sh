#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A firmware image and its debug files, in the form of build systems, name samples of boards from
# before the upload. Existing files are not sent again; modules that remain without names are
# listed.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
fleetprof-collector token --data "$W/data" --role symbols >"$W/token"
up() { fleetprof upload "$@" --http "http://127.0.0.1:$H" --token-file "$W/token" >"$W/out" 2>"$W/err"; }
expect() { # STATUS WHAT ARGUMENT...
  local want=$1 what=$2 got=0
  shift 2
  up "$@" || got=$?
  [ $got = "$want" ] || fail "$what: exit $got: $(cat "$W/out" "$W/err")"
}
told() { grep -q "$1" "$W/out" "$W/err" || fail "not told: $1: $(cat "$W/out" "$W/err")"; }
served() { curl -fs "http://127.0.0.1:$H/buildid/$1/$2"; }
id_of() { readelf -n "$1" 2>/dev/null | awk '/Build ID/ { print $3 }'; }
# program NAME: a program of its own in $W/whole, its code in $W/bare, its debug file in $W/debug.
mkdir -p "$W/whole" "$W/bare" "$W/debug"
program() {
  printf 'static __attribute__((noinline)) int work_of_%s(volatile int *n) { for (int i = 0; i < 300000000; i++) *n += i; return *n; }\nint main(void) { volatile int n = 0; return work_of_%s(&n) == 1; }\n' "$1" "$1" >"$W/$1.c"
  gcc -g -O1 -Wl,--build-id -o "$W/whole/$1" "$W/$1.c" || fail "gcc"
  objcopy --only-keep-debug "$W/whole/$1" "$W/debug/$1"
  objcopy --strip-all "$W/whole/$1" "$W/bare/$1"
}
for name in yocto buildroot openwrt lonely; do program $name; done

# The stripped program runs on a board, which has nothing better.
run --service late -- "$W/bare/yocto" >/dev/null || fail "the program ended with $?"
named() { profile '{service="late"}' | json "any(f['name'] == 'work_of_yocto' and f['self'] > 0 for f in d['functions'])" | grep -q yes; }
named && fail "a stripped program has names before anything was uploaded"

# Yocto: an image and its companion, /usr/bin/.debug/NAME.
mkdir -p "$W/image/usr/bin" "$W/dbg/usr/bin/.debug" "$W/dbg/usr/src/debug"
cp "$W/bare/yocto" "$W/image/usr/bin/"
cp "$W/debug/yocto" "$W/dbg/usr/bin/.debug/"
cp "$W/yocto.c" "$W/dbg/usr/src/debug/"
tar cf "$W/image.rootfs.tar" -C "$W/image" .
tar cJf "$W/image-dbg.rootfs.tar.xz" -C "$W/dbg" .
expect 3 "an image alone" --dry-run --require-all "$W/image.rootfs.tar"
told 'usr/bin/yocto: cannot be named'
expect 0 "yocto" "$W/image.rootfs.tar" "$W/image-dbg.rootfs.tar.xz" --require-all
told 'Sent 2 of 2 files'
until_true 10 named || fail "what ran before is not named: $(profile '{service="late"}')"
served "$(id_of "$W/bare/yocto")" debuginfo | cmp - "$W/debug/yocto" || fail "the debug file differs"
served "$(id_of "$W/bare/yocto")" executable | cmp - "$W/bare/yocto" || fail "the program differs"
expect 0 "the same again" "$W/image.rootfs.tar" "$W/image-dbg.rootfs.tar.xz" --require-all
told 'Nothing to upload'
expect 0 "names that are at the collector" "$W/image.rootfs.tar" --require-all

# Buildroot: output/target stripped, output/build and staging with symbols, objects beside them.
mkdir -p "$W/output/target/usr/bin" "$W/output/build/app-1.0" "$W/output/staging/usr/bin"
cp "$W/bare/buildroot" "$W/output/target/usr/bin/"
cp "$W/whole/buildroot" "$W/output/staging/usr/bin/"
cp "$W/whole/buildroot" "$W/output/build/app-1.0/"
gcc -g -c -o "$W/output/build/app-1.0/app.o" "$W/buildroot.c"
ln -s / "$W/output/host"
expect 0 "buildroot" --require-all "$W/output"
told 'Sent 1 of 1 files'
served "$(id_of "$W/bare/buildroot")" executable | cmp - "$W/whole/buildroot" || fail "not the whole program"

# OpenWrt: an ipk in the image's packages, staging_dir/target-*/root-*, a packed module.
mkdir -p "$W/staging_dir/target-mips/root-ath79/usr/bin" "$W/pkg/usr/bin" "$W/bin/packages"
cp "$W/whole/openwrt" "$W/staging_dir/target-mips/root-ath79/usr/bin/"
cp "$W/bare/openwrt" "$W/pkg/usr/bin/"
tar czf "$W/data.tar.gz" -C "$W/pkg" .
echo 2.0 >"$W/debian-binary"
tar czf "$W/bin/packages/openwrt_1_mips.ipk" -C "$W" ./debian-binary ./data.tar.gz
expect 0 "openwrt" --require-all "$W/bin" "$W/staging_dir"
told 'Sent 1 of 1 files'

# A kernel module as packages have it, and its debug file.
mkdir "$W/modules"
printf 'int first(int a) { return a * 3; }\n' | gcc -g -c -x c - -o "$W/first.o" && ld -r --build-id "$W/first.o" -o "$W/plain.ko" || fail "no module"
printf 'license=GPL' >"$W/modinfo"
objcopy --add-section .modinfo="$W/modinfo" --add-section .gnu.linkonce.this_module="$W/modinfo" "$W/plain.ko" "$W/first.ko"
objcopy --only-keep-debug "$W/first.ko" "$W/modules/first.ko.debug"
objcopy --strip-debug "$W/first.ko" "$W/modules/first.ko"
xz "$W/modules/first.ko"
expect 0 "a kernel module" --require-all "$W/modules"
told 'Sent 2 of 2 files'
expect 0 "a kernel module that is there" --require-all "$W/modules"
told 'Nothing to upload'

# A list of symbols, and the module that it belongs to.
mkdir "$W/lists"
nm -n "$W/whole/lonely" >"$W/lists/System.map"
cp "$W/bare/lonely" "$W/lists/"
expect 3 "a list that says not whose" --require-all "$W/lists"
told 'do not say whose they are'
expect 0 "a list" --build-id "$(id_of "$W/bare/lonely")" "$W/lists/System.map"
expect 0 "a list that is there" --require-all "$W/lists"

# Split debug information belongs to the program beside it, or to the given one.
mkdir "$W/split"
gcc -g -gsplit-dwarf -O1 -Wl,--build-id -o "$W/split/app" -x c "$W/lonely.c" 2>"$W/log" || fail "gcc: $(cat "$W/log")"
find "$PWD" "$W" -maxdepth 2 -name '*lonely*.dwo' -exec mv {} "$W/split/app.dwp" \;
[ -s "$W/split/app.dwp" ] || fail "no split debug information"
cp "$W/split/app.dwp" "$W/part.dwo"
expect 0 "split debug information" "$W/split"
told 'Sent 2 of 2 files'
expect 0 "split debug information that says not whose" "$W/part.dwo"
told '1 files of split debug information'
expect 0 "split debug information that is there" --build-id "$(id_of "$W/split/app")" "$W/part.dwo"
is_split_read() { curl -fs "http://127.0.0.1:$H/api/v1/debug/files" -H "Authorization: Bearer $(cat "$W/token")" | json "any(f['build_id'] == '$(id_of "$W/split/app")' and f['quality'] == 'dwarf' for f in d['files'])" | grep -q yes; }
until_true 10 is_split_read || fail "the program's debug information is not read"

# Damaged or rejected files are reported by name, and the rest is uploaded.
mkdir "$W/mixed"
head -c 3000 "$W/whole/lonely" >"$W/mixed/a-torn"
head -c 2000 "$W/image-dbg.rootfs.tar.xz" >"$W/mixed/b-cut.tar.xz"
printf '07070100AEC137000081A4%016d00000001%048dFE00000000000000' 0 0 >"$W/mixed/b-huge.cpio" # a name of 4 GiB
cp "$W/debug/lonely" "$W/mixed/z-last"
expect 0 "a folder with broken files" "$W/mixed"
told 'a-torn: passed over'
told 'b-huge.cpio: passed over'
told 'b-cut.tar.xz: passed over'
told 'Sent 1 of 1 files'
expect 3 "all of a folder with broken files" --require-all "$W/mixed"
mkdir "$W/empty"
expect 0 "what is nothing of ours" "$W/yocto.c"
told 'yocto.c: passed over: is no program'

# A symbol table without functions is none: the collector has the last word.
program hollow
nm "$W/whole/hollow" | awk '{ print $NF }' | grep -v '^_edata$' >"$W/strip.list"
objcopy -g --strip-symbols="$W/strip.list" "$W/whole/hollow" "$W/hollow"
readelf -SW "$W/hollow" | grep -q SYMTAB || fail "no symbol table is left"
expect 3 "a hollow symbol table" --require-all "$W/hollow"
told 'hollow: cannot be named: the collector reads no names'
expect 3 "all of nothing" --require-all "$W/empty"
cp "$W/token" "$W/good"
fleetprof-collector token --data "$W/data" --role read >"$W/token"
program stranger
expect 1 "a token of another role" "$W/whole/stranger"
told 'role'
cp "$W/good" "$W/token"

# An interrupted upload of a large file continues where it stopped.
program big
head -c 9000000 /dev/urandom >"$W/bulk"
objcopy --add-section .bulk="$W/bulk" "$W/whole/big"
size=$(stat -c %s "$W/whole/big")
sha=$(sha256sum <"$W/whole/big" | cut -d ' ' -f 1)
head -c 6000000 "$W/whole/big" | curl -fs -T - -X PUT -H "Content-Length: 6000000" -H "Transfer-Encoding:" -H "Authorization: Bearer $(cat "$W/token")" "http://127.0.0.1:$H/api/v1/debug/$(id_of "$W/whole/big")?total=$size&sha256=$sha" >/dev/null || fail "a part is refused"
expect 0 "the rest" "$W/whole/big" --verbose
told '5.7 MiB were there'
served "$(id_of "$W/whole/big")" debuginfo | cmp - "$W/whole/big" || fail "what went on differs"
