/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the length of an x86-64 instruction, and its parts:

     prefixes | REX, VEX or EVEX | opcode, 1 to 3 bytes | ModRM | SIB | displacement | immediate

   For each opcode a string has a letter for the bytes after it.

     .  nothing      m  ModRM               b  an immediate of 1 byte     z  of 4 (2 with prefix 66)
     B  ModRM and 1  Z  ModRM and z         w  2 bytes                    e  2 bytes and 1
     o  8 bytes, an address                 v  4, or 8 with REX.W         r  4, with any prefix
     t  ModRM, and 1 if it is a test        T  the same with z            x  no instruction */
#include "instruction_x86_64.h"

enum { LENGTH_MAX = 15, SP_NUMBER = 4, BP_NUMBER = 5 };

static const char one_byte[] = "mmmmbzxxmmmmbzxxmmmmbzxxmmmmbzxx"
                               "mmmmbzxxmmmmbzxxmmmmbzxxmmmmbzxx"
                               "xxxxxxxxxxxxxxxx................"
                               "xxxmxxxxzZbB....bbbbbbbbbbbbbbbb"
                               "BZxBmmmmmmmmmmmm..........x....."
                               "oooo....bz......bbbbbbbbvvvvvvvv"
                               "BBw.xxBZe.w..bx.mmmmxxx.mmmmmmmm"
                               "bbbbbbbbrrxb....x.x...tT......mm";
static const char two_bytes[] = "mmmmx....x.xxm.xmmmmmmmmmmmmmmmm"
                                "mmmmxxxxmmmmmmmm......x.xxxxxxxx"
                                "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmmBBBBmmm.mmxxmmmm"
                                "rrrrrrrrrrrrrrrrmmmmmmmmmmmmmmmm"
                                "...mBmxx...mBmmmmmmmmmmmmmBmmmmm"
                                "mmBmBBBm........mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";

_Static_assert(sizeof one_byte == 257 && sizeof two_bytes == 257, "a letter an opcode");

struct reader {
  struct span rest;
  bool is_over;
  bool is_narrow; /* prefix 66 */
  bool r, x, b;   /* the upper bits of registers' numbers */
};

static uint8_t dwarf(uint32_t number) {
  static const uint8_t numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
  return (uint8_t)(number < 8 ? numbers[number] : number);
}

static uint8_t next(struct reader *reader) {
  struct span byte;
  if (span_take(&reader->rest, 1, &byte)) return byte.data[0];
  reader->is_over = true;
  return 0;
}

static int64_t number(struct reader *reader, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)next(reader) << 8 * i;
  return bytes == 0 ? 0 : bytes == 8 ? (int64_t)value : instruction_signed(value, 8 * bytes);
}

static bool is_prefix(uint8_t byte) {
  return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
         (byte & 0xe7) == 0x26 || byte == 0x64 || byte == 0x65;
}

static void read_rex(struct reader *reader, uint8_t byte, struct x86_form *form) {
  form->has_rex = true;
  form->is_wide = byte & 8;
  reader->r = byte & 4;
  reader->x = byte & 2;
  reader->b = byte & 1;
}

/* The prefix of a vector instruction: FIRST is c5, c4 or 62. */
static void read_vector_prefix(struct reader *reader, uint8_t first, struct x86_form *form) {
  uint8_t one = next(reader), two = first == 0xc5 ? one : next(reader);
  uint8_t map = first == 0xc5 ? 1 : one & (first == 0x62 ? 7 : 31);
  if (first == 0x62) next(reader);
  form->is_vector = true;
  form->is_wide = first != 0xc5 && two & 0x80;
  form->third = dwarf(~(two >> 3) & 15);
  reader->r = (one & 0x80) == 0;
  reader->x = first != 0xc5 && (one & 0x40) == 0;
  reader->b = first != 0xc5 && (one & 0x20) == 0;
  form->map = map == 2 ? X86_THREE_38 : map == 3 ? X86_THREE_3A : X86_TWO_BYTES;
  if (map == 0 || map > 6) reader->is_over = true;
  form->opcode = next(reader);
}

static void read_opcode(struct reader *reader, uint8_t first, struct x86_form *form) {
  form->opcode = first;
  if (first != 0x0f) return;
  form->opcode = next(reader);
  form->map = X86_TWO_BYTES;
  if (form->opcode != 0x38 && form->opcode != 0x3a) return;
  form->map = form->opcode == 0x38 ? X86_THREE_38 : X86_THREE_3A;
  form->opcode = next(reader);
}

/* ModRM: two bits for the addressing mode, then two registers. */
static void read_modes(struct reader *reader, struct x86_form *form) {
  uint8_t byte = next(reader), mode = byte >> 6, rm = byte & 7, base = rm;
  form->has_modes = true;
  form->group = byte >> 3 & 7;
  form->reg = dwarf(form->group | (reader->r ? 8U : 0));
  form->is_register = mode == 3;
  form->is_plain = true;
  if (mode != 3 && rm == SP_NUMBER) {
    uint8_t sib = next(reader);
    base = sib & 7;
    form->is_plain = (sib >> 3 & 7) == SP_NUMBER && !reader->x;
  }
  if (mode == 0 && base == BP_NUMBER) {
    form->is_plain = false;
    form->displacement = (int32_t)number(reader, 4);
  } else if (mode == 1 || mode == 2) {
    form->displacement = (int32_t)number(reader, mode == 1 ? 1 : 4);
  }
  form->rm = dwarf(base | (reader->b ? 8U : 0));
}

static char letter_of(const struct x86_form *form) {
  if (form->map == X86_THREE_38) return 'm';
  if (form->map == X86_THREE_3A) return 'B';
  return form->map == X86_ONE_BYTE ? one_byte[form->opcode] : two_bytes[form->opcode];
}

static void read_operands(struct reader *reader, struct x86_form *form) {
  char letter = letter_of(form);
  unsigned some = reader->is_narrow ? 2 : 4;
  if (letter == 'm' || letter == 'B' || letter == 'Z' || letter == 't' || letter == 'T')
    read_modes(reader, form);
  unsigned bytes = 0;
  if (letter == 'b' || letter == 'B' || (letter == 't' && form->group < 2)) bytes = 1;
  if (letter == 'z' || letter == 'Z' || (letter == 'T' && form->group < 2)) bytes = some;
  if (letter == 'w') bytes = 2;
  if (letter == 'e') bytes = 3;
  if (letter == 'o') bytes = 8;
  if (letter == 'r') bytes = 4;
  if (letter == 'v') bytes = form->is_wide ? 8 : some;
  if (letter == 'x') reader->is_over = true;
  form->immediate = number(reader, bytes);
}

struct x86_form instruction_x86_form(struct span bytes) {
  struct x86_form form = {.bytes = 0};
  if (bytes.len > LENGTH_MAX) bytes.len = LENGTH_MAX;
  struct reader reader = {.rest = bytes};
  uint8_t byte = next(&reader);
  while (is_prefix(byte) && !reader.is_over) {
    reader.is_narrow |= byte == 0x66;
    byte = next(&reader);
  }
  if ((byte & 0xf0) == 0x40) {
    read_rex(&reader, byte, &form);
    byte = next(&reader);
  }
  if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
    read_vector_prefix(&reader, byte, &form);
  else
    read_opcode(&reader, byte, &form);
  if (!form.has_modes && form.map == X86_ONE_BYTE)
    form.rm = dwarf((byte & 7U) | (reader.b ? 8U : 0));
  read_operands(&reader, &form);
  if (!reader.is_over) form.bytes = (uint8_t)(bytes.len - reader.rest.len);
  return form;
}
