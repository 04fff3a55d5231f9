#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Limits of the agent's code in foreign processes, checked in the object code itself.
#
#   tests/handler.sh LIBRARY SAMPLING CONTROL     object files, separated by ';' or spaces
#   TRIPLET=arm-linux-gnueabihf tests/handler.sh ...     of another CPU, by the binutils for it; there
#                                                        neither size nor syscall() is looked at
#
# SAMPLING is the code run by every sample: no undefined symbol once its objects are linked
# together, no thread-local storage, no system call. CONTROL is the code that applies changes of the
# switches, in the same signal handler: system calls only by the instruction for them, and also
# nothing of libc or of thread-local storage. Both together take at most 1 KiB of stack along their
# deepest path. The library depends only on libc, has the wrapped calls as its symbols, and takes at
# most 64 KiB stripped; its syscall() leaves the stack unchanged when it passes a call on.
set -u
library=$1
tool=${TRIPLET:+$TRIPLET-}
cpu=${TRIPLET:-$(uname -m)}
cpu=${cpu%%-*}
IFS=' ;' read -r -a objects <<<"$2"
IFS=' ;' read -r -a control <<<"$3"
work=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-handler.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
STACK_MAX=1024
SIZE_MAX=65536

[ ${#objects[@]} -ge 4 ] || fail "only ${#objects[@]} handler objects were named"
"${tool}ld" -r -o "$work/handler.o" "${objects[@]}" || fail "the handler does not link"

undefined=$("${tool}nm" -u "$work/handler.o" | grep -vw _gp_disp) # defined by the linker itself, on MIPS
[ -z "$undefined" ] || fail "undefined symbols in the handler:" $undefined
tls=$("${tool}readelf" -rW "$work/handler.o" | grep -E 'TLS|TPOFF|DTP|GOTTP' || true)
[ -z "$tls" ] || fail "thread-local storage in the handler: $tls"
"${tool}readelf" -SW "$work/handler.o" | grep -qE ' \.t(data|bss) ' && fail "the handler has a TLS section"
"${tool}objdump" -d "$work/handler.o" | grep -qE '\s(syscall|sysenter|svc|ecall|int +\$0x80)\b' && fail "a system call in the handler"

# Of the thread pointer's segment only the word with the pointer itself is read (arch_*.c): no
# thread-local variable is accessed.
if [ "$cpu" = x86_64 ]; then
  "${tool}objdump" -d "$work/handler.o" | grep -E '%[fg]s:' | grep -vqE '%fs:0x0,%r[a-z0-9]+$' && fail "a word of the thread's own storage in the handler"
  "${tool}objdump" -d "$work/handler.o" | grep -q '%fs:0x0' || fail "the thread pointer is not read"
fi

[ ${#control[@]} -ge 3 ] || fail "only ${#control[@]} control objects were named"
"${tool}ld" -r -o "$work/all.o" "${objects[@]}" "${control[@]}" || fail "handler and control do not link"
undefined=$("${tool}nm" -u "$work/all.o" | grep -vw _gp_disp)
[ -z "$undefined" ] || fail "undefined symbols in control:" $undefined
tls=$("${tool}readelf" -rW "$work/all.o" | grep -E 'TLS|TPOFF|DTP|GOTTP' || true)
[ -z "$tls" ] || fail "thread-local storage in control: $tls"
callers=$("${tool}objdump" -d "$work/all.o" | awk '/^[0-9a-f]+ <[^.].*>:$/ { name = $2 } /[ \t](syscall|sysenter|svc|ecall)([ \t]|$)/ || /int +\$0x80/ { print name }' | sort -u | tr -d '<>:')
[ "$(echo $callers)" = "raw_syscall raw_syscall_six" ] || { [ "$cpu" = mipsel ] && [ "$callers" = raw_syscall_six ]; } || fail "system calls are made by: $callers"
[ "$cpu" = x86_64 ] && "${tool}objdump" -d "$work/all.o" | grep -qE '%(xmm|ymm|zmm|st)[0-9(]' && fail "a vector register in handler or control"

# The deepest path: the sum of the functions' own frames (-fstack-usage) along calls in the code.
# For compiler variants of a function (NAME.constprop.0 and the like) NAME alone is used.
for object in "${objects[@]}" "${control[@]}"; do
  usage=${object%.o}.su
  [ -f "$usage" ] || { fail "no stack usage beside $object"; continue; }
  awk -F'\t' '{ n = split($1, part, ":"); sub(/\..*/, "", part[n]); print "frame", part[n], $2, $3 }' "$usage"
done >"$work/frames"
# Calls between the objects are relocations until they are linked: the instruction itself then shows
# only a placeholder, so only the relocation has the target. In the library they are resolved where
# the compiler made calls of them, including calls between sections.
{ "${tool}objdump" -dr "$work/all.o"; "${tool}objdump" -d "$library"; } | awk '
  function tell() { if (shown != "" && shown != name) print "call", name, shown; shown = "" }
  /R_(X86_64|AARCH64|ARM|RISCV|MIPS)_/ { shown = "" }
  /R_(X86_64_PLT32|X86_64_PC32|AARCH64_CALL26|AARCH64_JUMP26|ARM_CALL|ARM_JUMP24|ARM_THM_CALL|ARM_THM_JUMP24|RISCV_CALL|RISCV_CALL_PLT|MIPS_JALR|MIPS_26)/ { shown = $3; sub(/[-+.].*/, "", shown) }
  { tell() }
  /^[0-9a-f]+ <\.L.*>:$/ { next }
  /^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]/, "", name); sub(/\..*/, "", name); next }
  /[ \t](call|jmp|blx?|b|b\.w|jal|j|bal)[ \t]/ && /<[^+>]+>/ { shown = $0; sub(/.*</, "", shown); sub(/[.>].*/, "", shown) }
  END { tell() }' | sort -u >"$work/calls"
deepest=$(awk '
  $1 == "frame" { if ($3 > frame[$2]) frame[$2] = $3; if ($4 !~ /^static/) print "dynamic stack in " $2 }
  $1 == "call" { calls[$2] = calls[$2] " " $3 }
  function depth(f, level,   list, n, i, d, most) {
    if (level > 32) { print "recursion through " f; return 0 }
    most = 0
    n = split(calls[f], list, " ")
    for (i = 1; i <= n; i++) if (list[i] in frame) { d = depth(list[i], level + 1); if (d > most) most = d }
    return frame[f] + 8 + most
  }
  END { print depth("control_on_signal", 0) }' "$work/frames" "$work/calls")
case $deepest in
*[!0-9]* | "") fail "stack of the handler: $deepest" ;;
*) [ "$deepest" -le $STACK_MAX ] || fail "the handler takes $deepest bytes of stack; at most $STACK_MAX" ;;
esac
grep -q 'call take_any sampler_take' "$work/calls" || fail "the call graph was not read"
grep -q 'call take_any .*obey' "$work/calls" || fail "the call graph does not reach a change"
grep -q 'unwind' "$work/calls" || fail "the call graph does not reach the unwinder"

"${tool}strip" -o "$work/stripped.so" "$library"
size=$(stat -c %s "$work/stripped.so")
[ -n "$tool" ] || [ "$size" -le $SIZE_MAX ] || fail "$size bytes stripped; at most $SIZE_MAX"
needed=$("${tool}readelf" -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
others=$(grep -vE '^(libc\.so|libc\.musl|ld-linux|ld\.so|libdl\.so|libpthread\.so)' <<<"$needed" || true)
[ -z "$others" ] || fail "the library needs $others"
# One library serves each libc. A program of musl does not start if musl lacks a name that the agent
# needs.
musl=(/lib/ld-musl-*.so.1)
if [ -z "$tool" ] && [ -e "${musl[0]}" ]; then
  lacking=$(LC_ALL=C comm -23 <(nm -D --undefined-only "$library" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | LC_ALL=C sort -u) \
                              <(nm -D --defined-only "${musl[0]}" | awk '{ print $3 }' | LC_ALL=C sort -u))
  [ -z "$lacking" ] || fail "musl lacks" $lacking
fi
exported=$("${tool}nm" -D --defined-only "$library" | awk '{ print $3 }')
wrapped="__sysv_signal bsd_signal dlclose prctl pthread_create pthread_setname_np sigaction sigaltstack sigignore siginterrupt signal signalfd sigset sigtimedwait sigwait sigwaitinfo ssignal syscall sysv_signal thrd_create"
[ "$(LC_ALL=C sort <<<"$exported" | tr "\n" " ")" = "$wrapped " ] || fail "the library exports: $(head -c 200 <<<"$exported" | tr "\n" " ")"
passed=$("${tool}objdump" -d --no-show-raw-insn "$library" | awk '/^[0-9a-f]+ <.*>:$/ { is_in = ($2 == "<syscall>:" || $2 == "<prctl>:"); found += is_in } is_in && /\t(push|call|blr?|stp|ret)/ { print } is_in && /,%rsp|sp, sp/ { print } END { if (found != 2) print "not found" }')
[ -n "$tool" ] || [ -z "$passed" ] || fail "syscall or prctl is no jump: $passed"
"${tool}readelf" -lW "$library" | grep -q ' TLS ' && fail "the library has thread-local storage"
"${tool}readelf" -lW "$library" | grep 'GNU_STACK' | grep -q 'E' && fail "the library asks for an executable stack"
if [ "$cpu" = x86_64 ]; then
  "${tool}readelf" -nW "${objects[0]}" | grep -q 'IBT, SHSTK' || fail "the handler is not built for control-flow enforcement"
fi

echo "handler: $deepest bytes of stack, no undefined symbol; library: $size bytes stripped, needs $needed, exports $(head -c 200 <<<"$exported")"
exit $((failures > 0))
