#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything in each command's --help is in its manual page, which mandoc and man accept without
# warnings, and each option is in the completions of bash, zsh and fish, which really complete.
. "$(dirname "$0")/lib.sh"
share=$FLEETPROF_PREFIX/share pages=$FLEETPROF_PREFIX/share/man/man1
export HOME=$W FLEETPROF_CONFIG=
bash_completes() { # WORD...: bash's completions of the last word
  bash --norc -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); $(complete -p "$1" | sed "s/.* -F \([^ ]*\) .*/\1/"); printf "%s\n" "${COMPREPLY[@]}"' \
    "$share/bash-completion/completions/$1" "$@"
}
fish_completes() { fish --no-config -c "source $share/fish/vendor_completions.d/${1%% *}.fish; complete -C '$1'" | cut -f1; }
commands=() options=0
for word in $(fleetprof --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do commands+=("fleetprof $word"); done
for word in token revoke rollover backup restore check accept; do commands+=("fleetprof-collector $word"); done
for command in "${commands[@]}" fleetprofd fleetprof-collector; do
  program=${command%% *}
  page=$pages/${command// /-}.1
  [ -s "$page" ] || fail "$command has no manual page"
  faults=$(mandoc -Tlint -W warning "$page" 2>&1) || fail "mandoc: $faults"
  faults=$(MANWIDTH=200 LC_ALL=C.UTF-8 man --warnings -l "$page" 2>&1 >"$W/page") || fail "man: $faults"
  [ -z "$faults" ] || fail "man: $faults"
  # shellcheck disable=SC2086
  $command --help >"$W/help" || fail "$command --help"
  # shellcheck disable=SC2086
  for pair in f/format o/output v/verbose l/label; do # the same letter wherever there is one
    ! grep -qE "^      --${pair#*/}( |$)" "$W/help" || fail "$command: --${pair#*/} is not -${pair%/*}"
  done
  # shellcheck disable=SC2086
  bash_completes $command -- >"$W/bash"
  fish_completes "$command --" >"$W/fish"
  word=${command#"$program"}
  word=${word# } # the part that zsh passes
  sed -n "/^${word:-[*]}) options=(/,/^)/p" "$share/zsh/site-functions/_$program" >"$W/zsh"
  for letter in $(sed -n 's/^  -\(.\), --.*/\1/p' "$W/help"); do
    grep -qF -- "'*-$letter[" "$W/zsh" || fail "$command: zsh does not know -$letter"
  done
  ! grep -q '^  -o, ' "$W/help" || grep -q "^  '\*-o\[.*\]:FILE:_files'$" "$W/zsh" || fail "$command: zsh completes no file behind -o: $(cat "$W/zsh")"
  for option in $(sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' "$W/help"); do
    grep -qE -- "^ *(-., )?--$option( |$)" "$W/page" || fail "$command: --$option is not in its page"
    grep -qx -- "--$option" "$W/bash" || fail "$command: bash does not know --$option: $(cat "$W/bash")"
    grep -qx -- "--$option" "$W/fish" || fail "$command: fish does not know --$option: $(cat "$W/fish")"
    grep -qF -- "'*--$option[" "$W/zsh" || fail "$command: zsh does not know --$option"
    options=$((options + 1))
  done
  /usr/bin/python3 - "$W/help" "$W/page" <<'END' || fail "$command: its page does not say all that --help does"
import re, sys
help, page = (" ".join(open(name).read().split()) if name == sys.argv[2] else open(name).read() for name in sys.argv[1:])
parts = [part.removeprefix("Usage: ").removesuffix(":") for line in help.splitlines() for part in re.split(r" {2,}", line.strip())]
missing = [part for part in parts if part not in page]
sys.exit("\n".join(missing) if missing else 0)
END
done
[ $options -gt 150 ] || fail "only $options options"
[ "$(bash_completes fleetprof rep)" = report ] || fail "bash: rep is $(bash_completes fleetprof rep)"
[ "$(bash_completes fleetprof query --call | paste -sd' ')" = '--callers --callees' ] || fail "bash: --call is $(bash_completes fleetprof query --call)"
# Arguments with fixed values; programs behind "--".
while IFS='|' read -r line wanted; do
  read -ra typed <<<"$line"
  [[ $line != *' ' ]] || typed+=('')
  got=$(bash_completes "${typed[@]}" | paste -sd' ')
  [ "$got" = "$wanted" ] || fail "bash: '$line' is completed by '$got' and not '$wanted'"
  got=$(fish_completes "$line" | sort | paste -sd' ')
  [ "$got" = "$(tr ' ' '\n' <<<"$wanted" | sort | paste -sd' ')" ] || fail "fish: '$line' is completed by '$got' and not '$wanted'"
done <<'END'
fleetprof report --format p|pprof perf-script
fleetprof query -f f|flame folded
fleetprof run --sampler |auto perf timer itimer itimer-virtual
fleetprof run --unwind |auto cfi fp lr none
fleetprof run --collect h|histogram
fleetprofd --unwind f|fp
fleetprof-collector token --role s|symbols
fleetprof status --format |table json
fleetprof ctl r|resume rate
fleetprof run -- fleetprof-coll|fleetprof-collector
END
[ "$(bash_completes fleetprof report --format = pp)" = pprof ] || fail "bash: --format=pp is $(bash_completes fleetprof report --format = pp)"
touch "$W/monday to sunday.fp"
[ "$(bash_completes fleetprof run -- cat "$W/mon")" = "$W/monday to sunday.fp" ] || fail "bash completes no file of a program"
[ "$(bash_completes fleetprof report "$W/mon")" = "$W/monday to sunday.fp" ] || fail "bash completes no file with blanks"
[ "$(fish_completes 'fleetprof doc')" = doctor ] || fail "fish: doc is $(fish_completes 'fleetprof doc')"
for program in fleetprof fleetprofd fleetprof-collector; do zsh -n "$share/zsh/site-functions/_$program" || fail "zsh: _$program"; done

# A zsh on a separate terminal, completing on a tab.
/usr/bin/python3 - "$share/zsh/site-functions" <<'END' || fail "zsh does not complete what it should"
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", PS1="> ", ZDOTDIR=os.environ["HOME"])
    os.execvp("zsh", ["zsh", "-f", "-i"])
seen = b""
def until(text):
    global seen
    end = time.time() + 20
    while text not in seen and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try: seen += os.read(fd, 4096)
            except OSError: break
    if text not in seen: sys.exit(repr(seen))
os.write(fd, f"fpath=({sys.argv[1]} $fpath); autoload -Uz compinit; compinit -u -D; echo loa''ded\n".encode())
until(b"loaded")
seen = b""
os.write(fd, b"fleetprof rep\t--transl\t")
until(b"report")
until(b"--translator")
for typed, wanted in ((b"report --format ppr\t", b"pprof"), (b"ctl resu\t", b"resume"), (b"run --sampler itimer-\t", b"itimer-virtual"),
                      (b"run -- fleetprof-coll\t", b"fleetprof-collector")):
    seen = b""
    os.write(fd, b"\x15fleetprof " + typed)
    until(wanted)
os.write(fd, b"\x15exit\n")
os.close(fd)
os.waitpid(pid, 0)
END
say "$options options of $((${#commands[@]} + 2)) commands in pages and completions"
