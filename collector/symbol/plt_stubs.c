/* SPDX-License-Identifier: Apache-2.0 */
/* Stubs as GNU ld, gold and lld make them. Each may start with a landing pad (endbr64, bti c).

     x86-64    jmp *slot(%rip)                         ff 25, in a cell of 16 or 8 bytes (.plt.got)
     i386      jmp *slot, or jmp *offset(%ebx)         ff 25, ff a3
     AArch64   adrp x16, page; ldr x17, [x16, #offset]
     ARM       add ip, pc, #a; add ip, ip, #b; ldr pc, [ip, #c]!
     RISC-V    auipc t3, high; ld t3, low(t3)

   The head of a lazy table also jumps through a slot, but no relocation refers to that slot. */
#include "plt_stubs.h"

#include <elf.h>

enum {
  CELL_BYTES = 16,
  WORD_BYTES = 4,
  ENDBR_BYTES = 4,
  ARM_PC_AHEAD = 8,
};

static uint32_t word_at(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

static void skip(struct plt_code *code, size_t len) {
  code->bytes = span_of(code->bytes.data + len, code->bytes.len - len);
  code->address += len;
}

/* ---- x86 ---- */

/* Finds a jump within the LEN bytes of a cell. *RET_END is its end. */
static bool find_jump(const struct plt_code *code, size_t len, size_t *ret_end,
                      uint64_t *ret_slot) {
  const uint8_t *bytes = code->bytes.data;
  for (size_t i = 0; i + 6 <= len && i <= ENDBR_BYTES + 1; i++) {
    if (bytes[i] != 0xff || (bytes[i + 1] != 0x25 && bytes[i + 1] != 0xa3)) continue;
    uint64_t offset = (uint64_t)(int64_t)(int32_t)word_at(bytes + i + 2);
    *ret_end = i + 6;
    if (code->machine == EM_386)
      *ret_slot = (uint32_t)(offset + (bytes[i + 1] == 0xa3 ? code->got : 0));
    else
      *ret_slot = code->address + i + 6 + offset;
    return code->machine == EM_386 || bytes[i + 1] == 0x25;
  }
  return false;
}

/* A cell of 8 bytes ends with two bytes of padding, before the jump of the next cell. */
static size_t cell_bytes(const struct plt_code *code, size_t jump_end) {
  const uint8_t *bytes = code->bytes.data;
  bool is_short = jump_end == 6 && code->bytes.len >= 8 && bytes[6] == 0x66 && bytes[7] == 0x90 &&
                  (code->bytes.len < 10 || bytes[8] == 0xff);
  size_t cell = is_short ? CELL_BYTES / 2 : CELL_BYTES;
  return cell < code->bytes.len ? cell : code->bytes.len;
}

static bool next_x86(struct plt_code *code, struct plt_stub *ret) {
  while (code->bytes.len > 0) {
    size_t len = code->bytes.len < CELL_BYTES ? code->bytes.len : CELL_BYTES, end = 0;
    struct plt_stub stub = {.start = code->address};
    bool is_found = find_jump(code, len, &end, &stub.slot);
    stub.size = is_found ? cell_bytes(code, end) : len;
    skip(code, (size_t)stub.size);
    if (!is_found) continue;
    *ret = stub;
    return true;
  }
  return false;
}

/* ---- machines with word instructions ---- */

/* Reads the slot of the stub at BYTES, which has address ADDRESS. Returns false if there is no
   stub. */
typedef bool read_slot(const uint8_t *bytes, uint64_t address, uint64_t *ret);

static bool slot_of_aarch64(const uint8_t *bytes, uint64_t address, uint64_t *ret) {
  uint32_t page = word_at(bytes), load = word_at(bytes + 4);
  if ((page & 0x9f00001f) != 0x90000010) return false;
  uint64_t high = (page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3);
  if ((high & 0x100000) != 0) high |= ~0x1fffffULL;
  if ((load & 0xbfc003ff) != 0xb9400211 && (load & 0xffc003ff) != 0xf9400211) return false;
  unsigned scale = load >> 30;
  *ret = (address & ~0xfffULL) + (high << 12) + ((uint64_t)(load >> 10 & 0xfff) << scale);
  return true;
}

/* Decodes an immediate of ARM: 8 bits, rotated right by twice 4 bits. */
static uint32_t arm_immediate(uint32_t word) {
  unsigned turn = 2 * (word >> 8 & 15);
  uint32_t value = word & 0xff;
  return turn == 0 ? value : value >> turn | value << (32 - turn);
}

static bool slot_of_arm(const uint8_t *bytes, uint64_t address, uint64_t *ret) {
  uint32_t first = word_at(bytes), second = word_at(bytes + 4), load = word_at(bytes + 8);
  if ((first & 0xfffff000) != 0xe28fc000 || (second & 0xfffff000) != 0xe28cc000) return false;
  if ((load & 0xfffff000) != 0xe5bcf000) return false;
  *ret = (uint32_t)(address + ARM_PC_AHEAD + arm_immediate(first) + arm_immediate(second) +
                    (load & 0xfff));
  return true;
}

static bool slot_of_riscv(const uint8_t *bytes, uint64_t address, uint64_t *ret) {
  uint32_t high = word_at(bytes), load = word_at(bytes + 4);
  if ((high & 0xfff) != 0xe17) return false;
  if ((load & 0xfffff) != 0xe3e03 && (load & 0xfffff) != 0xe2e03) return false;
  int64_t low = (int32_t)load >> 20;
  *ret = address + (uint64_t)(int64_t)(int32_t)(high & 0xfffff000) + (uint64_t)low;
  return true;
}

/* Finds the next stub by READ. A stub has at most LEN bytes, plus the landing pad PAD if it
   precedes. */
static bool next_by_words(struct plt_code *code, read_slot *read, size_t len, uint32_t pad,
                          struct plt_stub *ret) {
  bool has_pad = false;
  while (code->bytes.len >= 3 * WORD_BYTES) {
    uint64_t slot;
    if (read(code->bytes.data, code->address, &slot)) {
      *ret = (struct plt_stub){code->address, len, slot};
      skip(code, len < code->bytes.len ? len : code->bytes.len);
      if (!has_pad) return true;
      ret->start -= WORD_BYTES;
      ret->size += WORD_BYTES;
      return true;
    }
    has_pad = word_at(code->bytes.data) == pad;
    skip(code, WORD_BYTES);
  }
  return false;
}

bool plt_stubs_next(struct plt_code *code, struct plt_stub *ret) {
  enum { BTI_C = 0xd503245f, THUMB_TO_ARM = 0x46c04778 }; /* bx pc; nop */
  switch (code->machine) {
  case EM_X86_64:
  case EM_386:
    return next_x86(code, ret);
  case EM_AARCH64:
    return next_by_words(code, slot_of_aarch64, 16, BTI_C, ret);
  case EM_ARM:
    return next_by_words(code, slot_of_arm, 12, THUMB_TO_ARM, ret);
  case EM_RISCV:
    return next_by_words(code, slot_of_riscv, 16, 0, ret);
  default:
    return false;
  }
}
