# SPDX-License-Identifier: Apache-2.0
# Sourced: whole boards of other CPUs in qemu-system. A board boots Debian's kernel for that port
# (or kernel.sh's) into a small file system. It holds Debian's busybox, the programs under test with
# their libraries, and a task. The board reaches the host's loopback at 10.0.2.2 and needs no other
# network. It reports to its test by lines on the serial console (init).
#
#   board_begin PORT             armhf, arm64 or mipsel: begins its file system in $W/root, and builds the programs
#                                under test by the preset of that name
#   board_install                puts those on it, in /opt
#   board_add FILE [AS]          puts a program there (in /bin), with its libraries
#   board_compile NAME SOURCE... compiles a program for it (FLAGS), and puts it there
#   board_boot MIB SECONDS       boots it with the task (shell, on stdin); 0 when that ended with 0 within the time
#   board_start, board_end       its two halves: meanwhile `await NAME` in the task stands until board_goes_on
#   told KEY                     the value of the board's last line "@ KEY VALUE"
#
# The board's clock counts instructions (ICOUNT), so load on the host takes no time from the board.
# mipsel runs without it, because its emulated clock would run ten times too fast.
#
# KERNEL=FILE, before board_begin: uses that kernel, which must have everything built in. FLASH=1: a
# read-only disk, as on boards, instead of an initramfs, which uses memory. Downloads are kept in
# $boards_cache.
boards_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
boards_cache=${FLEETPROF_BOARDS:-${XDG_CACHE_HOME:-$HOME/.cache}/fleetprof/boards}
APPLETS="sh awk cat chmod cmp cp cut date dd df echo env false free grep head hostname ifconfig insmod kill ls md5sum mkdir mount
ps readlink reboot rm sed seq setsid sha256sum sleep sort stat sync tail test timeout touch tr true umount uname uptime wc"
SMP=${SMP:-1}

# board_port PORT: sets the names of a port in qemu, Debian and the compilers.
board_port() {
  PORT=$1 MACHINE=virt CPU= MODULES="virtio_mmio virtio_net" NET=virtio-net-device DISK=virtio-blk-device ICOUNT=shift=2,sleep=on
  case $PORT in
  armhf) TRIPLET=arm-linux-gnueabihf QEMU=qemu-system-arm CPU=cortex-a15 CONSOLE=ttyAMA0 IMAGE=linux-image-armmp ;;
  arm64) TRIPLET=aarch64-linux-gnu QEMU=qemu-system-aarch64 CPU=cortex-a57 CONSOLE=ttyAMA0 IMAGE=linux-image-arm64 ;;
  mipsel) TRIPLET=mipsel-linux-gnu QEMU=qemu-system-mipsel ICOUNT= MACHINE=malta CPU=24Kf CONSOLE=ttyS0 IMAGE=linux-image-4kc-malta
    MODULES="virtio_pci virtio_net" NET=virtio-net-pci DISK=virtio-blk-pci ;;
  *) fail "$PORT: not a port that boards are made of: armhf, arm64, mipsel" ;;
  esac
}

# fetched PACKAGE: prints the folder with the content of PACKAGE of this port; downloads it if
# needed.
fetched() {
  local folder=$boards_cache/$PORT/$1
  [ -d "$folder" ] || "$boards_source/tests/boards/fetch.sh" "$PORT" "$1" "$folder" >&2 || return 1
  echo "$folder"
}

# Debian's kernel of this port, and the modules it needs for its network in the order of their need.
debian_kernel() {
  local package image version
  package=$(fetched "$IMAGE") || fail "no kernel for $PORT"
  image=$(ls "$package"/boot/vmlinu?-* | head -n 1)
  version=${image##*/vmlinu?-}
  KERNEL=$image
  [ -e "$package/lib/modules/$version/modules.dep" ] || /sbin/depmod -b "$package" "$version"
  mkdir -p "$W/root/modules"
  local module
  for module in $MODULES; do
    /sbin/modprobe -S "$version" -d "$package" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$W/modules"
  while read -r module; do
    cp "$module" "$W/root/modules/" && echo "${module##*/}" >>"$W/root/modules/order"
  done <"$W/modules"
}

board_begin() {
  board_port "$1"
  local folder busybox applet
  rm -rf "$W/root"
  for folder in bin dev lib modules proc run sys tmp var etc root; do mkdir -p "$W/root/$folder"; done
  busybox=$(fetched busybox-static) || fail "no busybox for $PORT"
  cp "$busybox/bin/busybox" "$W/root/bin/"
  for applet in $APPLETS; do ln -s busybox "$W/root/bin/$applet"; done
  cp "$boards_source/tests/boards/init" "$W/root/init"
  [ -n "${KERNEL:-}" ] || debian_kernel
  SYSROOT=$boards_source/build-sysroot-$PORT PREFIX=$boards_source/build-$PORT/installed
  board_build >"$W/build.log" 2>&1 || fail "the preset $PORT: $(tail -n 3 "$W/build.log")"
}
# Builds the programs under test by the port's preset, one build at a time.
board_build() (
  cd "$boards_source" && mkdir -p "$boards_cache/$PORT" && exec 9>"$boards_cache/$PORT/build.lock" && flock -w 1800 9 &&
    deploy/cross/sysroot.sh "$PORT" && cmake --preset "$PORT" -DWITH_TESTS=OFF && cmake --build "build-$PORT" -j "$(nproc)" &&
    cmake --install "build-$PORT" --prefix "$PREFIX"
)

# library NAME: prints where this port's libraries have NAME.
library() {
  local folder
  for folder in lib/$TRIPLET usr/lib/$TRIPLET lib usr/lib; do
    [ ! -e "$SYSROOT/$folder/$1" ] || { readlink -f "$SYSROOT/$folder/$1" && return; }
  done
  return 1
}

# needs FILE: puts the libraries there that FILE needs, and those that they need.
needs() {
  local name file loader
  loader=$(LC_ALL=C readelf -lW "$1" 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
  [ -z "$loader" ] || [ -e "$W/root$loader" ] || {
    mkdir -p "$W/root${loader%/*}" && cp "$(library "${loader##*/}")" "$W/root$loader" || fail "$1: no $loader for $PORT"
  }
  for name in $(LC_ALL=C readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    [ ! -e "$W/root/lib/$name" ] || continue
    [ "/lib/$name" != "$loader" ] || continue
    file=$(library "$name") || fail "$1: no $name in $SYSROOT"
    cp "$file" "$W/root/lib/$name"
    needs "$file"
  done
}

board_add() {
  local as=$W/root${2:-/bin/${1##*/}}
  mkdir -p "${as%/*}" && cp "$1" "$as" || fail "$1: cannot be put on the board"
  needs "$1"
}

board_compile() { # board_compile NAME SOURCE...
  local compiler=$TRIPLET-gcc
  "$compiler" "--sysroot=$SYSROOT" -O2 -g -pthread ${FLAGS:-} -o "$W/$1" "${@:2}" || fail "$compiler cannot build $1"
  board_add "$W/$1"
}

# Copies the installed tree under test to /opt.
board_install() {
  local file
  for file in bin/fleetprof bin/fleetprofd lib/fleetprof/libfleetprof.so; do board_add "$PREFIX/$file" "/opt/$file"; done
}

board_image() {
  cat >"$W/root/task"
  printf '%s\n' "${BOARD_ENVIRONMENT:-}" "${NOW+NOW=$NOW}" >"$W/root/environment"
  chmod 755 "$W/root/init"
  if [ -n "${FLASH:-}" ]; then
    mksquashfs "$W/root" "$W/image" -all-root -noappend -quiet -no-progress >/dev/null
  else
    (cd "$W/root" && find . | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$W/image"
  fi
}

# Starts the board with the task on stdin. It ends with its task, and after SECONDS at the latest.
board_start() { # board_start MIB SECONDS
  local from=(-initrd "$W/image") root=rdinit=/init
  board_image || fail "no file system for the board"
  [ -z "${FLASH:-}" ] || {
    from=(-drive "file=$W/image,format=raw,if=none,id=flash,readonly=on" -device "$DISK,drive=flash")
    root="root=/dev/vda ro rootfstype=squashfs init=/init"
  }
  CONSOLE_LOG=$W/console-$((++boots)) board_seconds=$2
  rm -f "$W/keys" && mkfifo "$W/keys" && exec 8<>"$W/keys" # input of the board's console
  timeout --foreground -k 5 "$2" "$QEMU" -M "$MACHINE" -accel tcg ${ICOUNT:+-icount "$ICOUNT"} ${CPU:+-cpu "$CPU"} -smp "$SMP" -m "$1" -nodefaults -no-reboot \
    -display none -serial stdio -kernel "$KERNEL" "${from[@]}" -append "console=$CONSOLE $root panic=-1 quiet loglevel=4 ${BOOT_WORDS:-}" \
    -netdev user,id=n -device "$NET,netdev=n" ${RTC:+-rtc "$RTC"} <&8 >"$CONSOLE_LOG" 2>"$CONSOLE_LOG.qemu" &
  BOARD=$!
  : >>"$CONSOLE_LOG"
  started+=("$BOARD")
}
board_end() {
  wait "$BOARD"
  local code=$? status
  exec 8>&-
  status=$(told ended)
  [ "${status:-1}" = 0 ] && return
  echo "the board ended with '${status:-no word}', qemu with $code (124: not within $board_seconds s)"
  tail -n 25 "$CONSOLE_LOG" "$CONSOLE_LOG.qemu"
  return 1
}
board_boot() { board_start "$@" && board_end; }
boots=0
told() { tr -d '\r' <"$CONSOLE_LOG" | sed -n "s/^@ $1 //p" | tail -n 1; }
has_told() { is_gone "$BOARD" || [ -n "$(told "$1")" ]; }
# The board stands still at `await NAME` until its test lets it go on.
board_awaits() { until_true "$2" has_told "awaits-$1" && ! is_gone "$BOARD"; } # board_awaits NAME SECONDS
board_goes_on() { echo "go on" >&8; }
