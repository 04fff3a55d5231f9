#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a clone to a named flame graph of the user's program in one command, called from any folder:
# a program without -g in a user's folder, with its own arguments, input, output and Ctrl-C. A
# missing program is reported at once.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/quickstart.sh"
A=$(port) H=$(port)
yours="$W/my work"
mkdir -m 700 "$yours" && cd "$yours" || exit 1
cat >mine.c <<'ENDC'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile sig_atomic_t is_over;
static void on_interrupt(int number) { (void)number; is_over = 1; }
__attribute__((noinline)) unsigned crunch_numbers(unsigned n) {
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < n; i++) sum += i * i;
  return sum;
}
__attribute__((noinline)) unsigned serve_request(unsigned n) { return crunch_numbers(n) + 1; }
int main(int argc, char **argv) {
  char line[32] = "";
  if (argc != 3 || !fgets(line, sizeof line, stdin)) return 9;
  signal(SIGINT, on_interrupt);
  printf("%s and %s: %s", argv[1], argv[2], line);
  fflush(stdout);
  for (clock_t end = clock() + atoi(line) * CLOCKS_PER_SEC; clock() < end && !is_over;) serve_request(100000);
  puts(is_over ? "interrupted" : "over");
  return is_over ? 5 : 0;
}
ENDC
gcc -O1 -o mine mine.c && rm mine.c || fail "no program to profile"
quickstart=("$root/deploy/quickstart.sh" --http "127.0.0.1:$H" --agents "127.0.0.1:$A" --data kept)
is_left() { [ "$(pgrep -fc "$W/my work/kept" || true)" != 0 ]; }

"${quickstart[@]}" --once -- ./mine one 'two words' <<<2 >"$W/out" 2>&1 || fail "it ended with $?: $(tail -n 5 "$W/out")"
! is_left || fail "it left a process: $(pgrep -fa "$W/my work/kept")"
grep -qx 'one and two words: 2' "$W/out" && grep -qx over "$W/out" || fail "the program had other words: $(cat "$W/out")"
grep -qE '^ *[0-9.]+ %.*% +crunch_numbers +\(mine\)$' "$W/out" || fail "no named table: $(cat "$W/out")"
[ -d kept/collector ] && grep -qx "the data: $yours/kept, which stays" "$W/out" || fail "the data is elsewhere: $(cat "$W/out")"
flame=$(sed -n '/^the data:/q; /^curl/,$p' "$W/out")
for name in main serve_request crunch_numbers; do grep -qE "%.* $name( |\$)" <<<"$flame" || fail "no $name in the flame graph: $flame"; done
! grep -q python3-demo "$W/out" || fail "it profiles another program as well: $(cat "$W/out")"

# On a terminal: the first Ctrl-C is the program's, the collector answers on; the second ends everything.
/usr/bin/python3 - "${quickstart[@]}" -- ./mine 1 2 >"$W/terminal" 2>&1 <<'END' || fail "on a terminal: $(tail -n 20 "$W/terminal")"
import os, pty, re, sys, time, urllib.request
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
said = b""
def until(words):
    global said
    while words not in said:
        said += os.read(terminal, 4096)
os.write(terminal, b"600\n")
until(b"1 and 2: 600")
time.sleep(1)
os.write(terminal, b"\x03")
until(b"Ctrl-C ends it.")
print(said.decode())
assert b"interrupted" in said and b"ended with 5" in said, "the program did not get it"
link = re.search(rb"its flame graph: (http://\S+)", said) or re.search(rb"query -f flame '(http[^']+)'", said)
urllib.request.urlopen(link[1].decode(), timeout=10).read()
os.write(terminal, b"\x03")
try:
    while os.read(terminal, 4096): pass
except OSError: pass
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
END
until_true 10 eval '! is_left' || fail "Ctrl-C left a process: $(pgrep -fa "$W/my work/kept")"

# Before the build.
for wrong in ./nobody ./ nobody-has-this ''; do
  "${quickstart[@]}" -- ${wrong:+"$wrong"} >"$W/err" 2>&1
  code=$?
  [ $code = 2 ] && [ "$(wc -l <"$W/err")" = 1 ] || fail "-- $wrong ends with $code: $(cat "$W/err")"
  grep -q "^quickstart: ${wrong:---}: .*program" "$W/err" || fail "-- $wrong is not told: $(cat "$W/err")"
done
