#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 12: debug files from strangers: spoiled ones, by the thousand, of every DWARF version, compressed, of both word sizes and
# byte orders; bombs.  The reader may die of one in its sandbox, but makes no broken index, refuses nothing without a
# word, and takes no longer than its limit (bombs may reach it); the collector answers others meanwhile, says which file is bad, and
# takes the next within 5 s, also while a kernel's debug information is read.
. "$(dirname "$0")/lib.sh"
hostile=$(cd "$(dirname "$0")" && pwd)/hostile
[ -x "$torture/hostile_elf" ] || not_run "there is no collector in this build"
mkdir "$W/corpus" "$W/bombs" && cd "$W" || fail "no folder"

cat >code.c <<'C'
static int low(int x) { return x * 3 + 1; }
static inline int middle(int x) { int y = low(x); return y ^ low(y); }
struct pair { int a; struct pair *next; };
__attribute__((noinline)) int high(struct pair *p, int x) {
  for (int i = 0; i < x; i++) if (p->next) x += middle(i); else x ^= p->a;
  return x;
}
int also(struct pair *p, int x) { return high(p, low(x)) + high(p->next, middle(x)); }
C
cat >code.cc <<'C'
namespace one { template <class T> struct Box { T value; T twice() const { return value + value; } };
inline int both(const Box<int> &a, const Box<long> &b) { return a.twice() + (int)b.twice(); } }
int use(int x) { auto f = [x](int y) { return one::both({x}, {y}); }; return f(x) + f(3); }
C
cat >code.rs <<'R'
#![no_std]
#[panic_handler]
fn on_panic(_: &core::panic::PanicInfo) -> ! { loop {} }
#[no_mangle]
pub extern "C" fn half(x: u32) -> u32 { [x, 2, 3].iter().map(|y| y / 2).sum() }
R
# makes NAME COMMAND...: one file of the corpus; a compiler that is not here is left out with a word.
makes() {
  local name=$1
  shift
  command -v "$1" >/dev/null || { without "$name" "$1 is not installed"; return; }
  "$@" -o "corpus/$name" 2>compile.log || without "$name" "$1: $(head -n 1 compile.log)"
}
for version in 2 3 4 5; do
  makes "dwarf-$version" cc -O2 -g -gdwarf-$version -fPIC -shared -nostdlib -Wl,--build-id=sha1 code.c
  makes "packed-$version" cc -O2 -g -gdwarf-$version -gz -fPIC -shared -nostdlib -Wl,--build-id=sha1 code.c
  makes "cc-$version" g++ -O2 -g -gdwarf-$version -fPIC -shared -nostdlib -Wl,--build-id=sha1 code.cc
done
makes clang clang -O2 -g -fPIC -shared -nostdlib -Wl,--build-id=sha1 code.c
makes split cc -O2 -g -gsplit-dwarf -fPIC -shared -nostdlib -Wl,--build-id=sha1 code.c
makes types cc -O2 -g -fdebug-types-section -gdwarf-4 -fPIC -shared -nostdlib -Wl,--build-id=sha1 code.c
makes elf-32 cc -m32 -O2 -g -fPIC -shared -nostdlib -Wl,--build-id=sha1 code.c
makes rust rustc -O -g --crate-type=cdylib -C panic=abort -C link-args='-nostdlib -Wl,--build-id=sha1' code.rs
makes arm arm-linux-gnueabihf-gcc -O2 -g -fPIC -shared -nostdlib -Wl,--build-id=sha1 code.c
makes arm-big arm-linux-gnueabihf-gcc -mbig-endian -O2 -g -fPIC -c code.c
makes mips mipsel-linux-gnu-gcc -O2 -g -fPIC -shared -nostdlib -Wl,--build-id=sha1 code.c
makes mips-big mipsel-linux-gnu-gcc -EB -O2 -g -fPIC -c code.c
for name in dwarf-5 cc-5; do objcopy --only-keep-debug "corpus/$name" "corpus/debug-$name"; done
! command -v dwz >/dev/null || { cp corpus/cc-5 corpus/dwz && dwz corpus/dwz 2>/dev/null; }
strip -o corpus/stripped corpus/dwarf-5
/usr/bin/python3 "$hostile/bombs.py" bombs || fail "the bombs cannot be made"
rm -f corpus/*.dwo

# As they are, they are read.
"$torture/hostile_elf" take corpus/* >taken || fail "the corpus itself: $(cat taken)"
grep -q ', 0 deaths' taken || fail "the corpus itself: $(cat taken)"
say "$(tail -n 1 taken)"
# Spoiled: the seed is new each time, and told, in the long form.
seed=$(pick 1 "$(date +%s)")
"$torture/hostile_elf" read "$seed" "$(pick 4000 120000)" corpus/* >read 2>&1 || fail "seed $seed: $(cat read)"
sed 's/^ */  /' read
say "seed $seed, a corpus of $(ls corpus | wc -l)"
# Bombs: each within the reader's limits of time and memory.
! is_long || { "$torture/hostile_elf" take bombs/* >taken 2>&1; sed 's/^ */  bombs: /' taken; }

# Through a collector that others ask meanwhile.
start_collector
enroll hostile
run --service truth -- "$targets/truth" 1 >/dev/null || fail "truth"
until_true 20 books_are_closed hostile || fail "the books are not closed"
token=$(fleetprof-collector token --data "$W/data" --role symbols)
mkdir spoiled && "$torture/hostile_elf" write "$seed" "$(pick 200 3000)" spoiled corpus/* || fail "no files to send"
small=(bombs/*)
! is_long && small=(bombs/{cycle_*,claim_*,deep_blocks,lines,zeros_info})
/usr/bin/python3 "$hostile/feed.py" "$H" "$token" "$(pick 1 15)" "$(pick 2 10)" "$(pick 0 2)" spoiled/* "${small[@]}" ||
  fail "others have to wait, or a file was not answered"
kill -0 "$COLLECTOR" || fail "the collector has ended"
# Names that share their bytes would take a hundred times the file in memory: of 130 kB 13 MB are not kept.
suffixes=$(curl -s -w ' %{http_code}' -H "Authorization: Bearer $token" -T bombs/suffixes "http://127.0.0.1:$H/api/v1/debug/$(sha256sum bombs/suffixes | cut -d ' ' -f 1)")
case $suffixes in *"its names would take "*422) ;; *) fail "names that share their bytes: $suffixes" ;; esac

# What is bad is said to be, where nothing better is known; its bytes are not looked at again.
put() { curl -s -o "$W/put" -w '%{http_code}' -H "Authorization: Bearer $token" -T "$1" "http://127.0.0.1:$H/api/v1/debug/$id"; }
of_gone() { api debug | json "([m['$1'] for m in d['modules'] if m['build_id'] == '$id'] or [''])[0]"; }
is_told() { [ -n "$(of_gone reason)" ]; }
cat >gone.c <<'C'
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
  for (unlink(argv[argc - 1]); clock() < CLOCKS_PER_SEC;) continue;
  return 0;
}
C
cc -O1 -g -Wl,--build-id=sha1 -o gone gone.c && cp gone sound || fail "the compiler"
id=$(readelf -n gone | sed -n 's/.*Build ID: //p')
run --service gone -- "$W/gone" "$W/gone" >/dev/null || fail "gone"
until_true 20 is_told || fail "the collector does not know of $id: $(api debug)"
/usr/bin/python3 "$hostile/bad_names.py" sound bad || fail "no bad file"
[ "$(put bad)" = 422 ] || fail "a bad file: $(cat "$W/put")"
[ "$(of_gone quality)" = bad ] || fail "a bad file is not marked: $(of_gone quality), $(of_gone reason)"
of_gone reason | grep -q "its file was refused: " || fail "a bad file without a reason: $(of_gone reason)"
say "a bad file: $(of_gone reason)"
[ "$(put bad)" = 400 ] && grep -q 'refused before' "$W/put" || fail "a bad file again: $(cat "$W/put")"

# The next file is served at once, and so it is while the largest is read.
vmlinux=$(ls "${FLEETPROF_VMLINUX:-}" /usr/lib/debug/boot/vmlinux-* 2>/dev/null | head -n 1)
if ! is_long; then
  :
elif [ -n "$vmlinux" ]; then
  FLEETPROF_TOKEN=$token fleetprof upload --http "http://127.0.0.1:$H" "$vmlinux" >upload.log 2>&1 || fail "vmlinux: $(tail -n 2 upload.log)"
else
  without vmlinux "no kernel with debug information is here"
fi
began=$(date +%s%N)
[ "$(put sound)" = 201 ] || fail "a sound file is refused: $(cat "$W/put")"
ms=$((($(date +%s%N) - began) / 1000000))
[ $ms -lt 5000 ] || fail "a sound file took $ms ms"
case $(of_gone quality) in symtab | dwarf) ;; *) fail "a sound file: $(of_gone quality), $(of_gone reason)" ;; esac
say "a sound file behind them: $ms ms, $(cat "$W/put")"
