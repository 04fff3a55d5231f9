#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the files of this folder again (README.md).
set -eu
cd "$(dirname "$0")"
make_one() {
  local out=$1
  shift
  "$@" -O2 -fPIC -shared -nostdlib -Wl,--build-id=none -Wl,-z,max-page-size=4096 -Wl,-z,noseparate-code \
    -fno-ident -o "$out" functions.c
  "${1%gcc}objcopy" --remove-section=.comment --remove-section='.debug_[a-eg-z]*' --remove-section=.mdebug.abi32 "$out"
}
make_one arm.elf arm-linux-gnueabihf-gcc -marm -g1
make_one thumb.elf arm-linux-gnueabihf-gcc -mthumb -g1
make_one thumb_frames.elf arm-linux-gnueabihf-gcc -mthumb -g1 -fno-omit-frame-pointer
make_one arm_index.elf arm-linux-gnueabihf-gcc -marm -g1 -funwind-tables
make_one thumb_index.elf arm-linux-gnueabihf-gcc -mthumb -g1 -funwind-tables
make_one mipsel.elf mipsel-linux-gnu-gcc -fasynchronous-unwind-tables
make_one mips.elf mips-linux-gnu-gcc -fasynchronous-unwind-tables
make_one riscv64.elf riscv64-linux-gnu-gcc -fasynchronous-unwind-tables
make_one aarch64.elf aarch64-linux-gnu-gcc -fasynchronous-unwind-tables -mbranch-protection=standard
make_one x86_64.elf gcc
make_one thumb_be8.elf arm-linux-gnueabihf-gcc -mthumb -g1 -mbig-endian -Wl,--be8
make_one arm_index_be8.elf arm-linux-gnueabihf-gcc -marm -g1 -funwind-tables -mbig-endian -Wl,--be8
make_one aarch64_be.elf aarch64-linux-gnu-gcc -fasynchronous-unwind-tables -mbranch-protection=standard -mbig-endian
