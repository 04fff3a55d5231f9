/* SPDX-License-Identifier: Apache-2.0 */
/* The only function table that `strip` leaves in, because unwinding at run time needs it.

     entry   length (4; or ffffffff and 8) | id (4) | ...
     CIE     id 0: version, augmentation, alignments; its R gives the address encoding of its FDEs
     FDE     id: distance back to its CIE | start | size | instructions to unwind with

   Only starts and sizes are read. A compiler emits one FDE for each function. A part that was moved
   out of the way (.cold) has an FDE of its own, and so counts as a function.

   Linkers write starts relative to their own place, in 4 or 8 bytes, or absolute. No file that gcc
   or clang links has other encodings (relative to the GOT, through a pointer, LEB128); these
   entries are skipped. */
#include "eh_frame.h"

enum {
  POINTER_WORD = 0x0,
  POINTER_U2 = 0x2,
  POINTER_U4 = 0x3,
  POINTER_U8 = 0x4,
  POINTER_SIGNED = 0x8,
  POINTER_FORMAT = 0x0f,
  POINTER_HERE = 0x10, /* relative to its own place */
  POINTER_ODD = 0xff,  /* an unsupported encoding */
  LEB_BYTES_MAX = 10,
};

static bool take_number(const struct eh_frame *frames, struct span *bytes, size_t len,
                        uint64_t *ret) {
  struct span word;
  uint64_t number = 0;
  if (!span_take(bytes, len, &word)) return false;
  for (size_t i = 0; i < len; i++)
    number = number << 8 | word.data[frames->is_big_endian ? i : len - 1 - i];
  *ret = number;
  return true;
}

/* Values in LEB128 are not needed. */
static bool skip_leb(struct span *bytes) {
  struct span byte;
  for (int i = 0; i < LEB_BYTES_MAX && span_take(bytes, 1, &byte); i++)
    if ((byte.data[0] & 0x80) == 0) return true;
  return false;
}

/* Returns the bytes of a pointer, or 0 if its size varies. */
static size_t pointer_bytes(const struct eh_frame *frames, uint8_t encoding) {
  switch (encoding & POINTER_FORMAT & ~POINTER_SIGNED) {
  case POINTER_WORD:
    return frames->word_bytes;
  case POINTER_U2:
    return 2;
  case POINTER_U4:
    return 4;
  case POINTER_U8:
    return 8;
  default:
    return 0;
  }
}

/* ---- CIE ---- */

static bool take_byte(struct span *bytes, uint8_t *ret) {
  struct span byte;
  if (!span_take(bytes, 1, &byte)) return false;
  *ret = byte.data[0];
  return true;
}

static bool skip_personality(const struct eh_frame *frames, struct span *bytes) {
  uint8_t encoding;
  struct span pointer;
  if (!take_byte(bytes, &encoding)) return false;
  size_t len = pointer_bytes(frames, encoding);
  return len > 0 && span_take(bytes, len, &pointer);
}

/* Reads the augmentation LETTERS, without the z, up to R, and returns its encoding. */
static uint8_t find_encoding(const struct eh_frame *frames, struct span letters,
                             struct span bytes) {
  for (size_t i = 0; i < letters.len; i++) {
    uint8_t value = POINTER_ODD;
    switch (letters.data[i]) {
    case 'R':
      return take_byte(&bytes, &value) ? value : POINTER_ODD;
    case 'L':
      if (!take_byte(&bytes, &value)) return POINTER_ODD;
      break;
    case 'P':
      if (!skip_personality(frames, &bytes)) return POINTER_ODD;
      break;
    case 'S':
    case 'B':
    case 'G':
      break;
    default:
      return POINTER_ODD;
    }
  }
  return POINTER_WORD;
}

/* Reads the CIE from behind its id. */
static uint8_t read_cie(const struct eh_frame *frames, struct span bytes) {
  uint8_t version;
  struct span letters, rest;
  if (!take_byte(&bytes, &version) || (version != 1 && version != 3)) return POINTER_ODD;
  const uint8_t *end = bytes.len > 0 ? memchr(bytes.data, '\0', bytes.len) : NULL;
  if (end == NULL || !span_take(&bytes, (size_t)(end - bytes.data), &letters)) return POINTER_ODD;
  span_take(&bytes, 1, &rest);
  if (letters.len == 0) return POINTER_WORD;
  if (letters.data[0] != 'z') return POINTER_ODD;
  bool is_there = skip_leb(&bytes) && skip_leb(&bytes); /* alignments */
  is_there = is_there && (version == 1 ? span_take(&bytes, 1, &rest) : skip_leb(&bytes));
  if (!is_there || !skip_leb(&bytes)) return POINTER_ODD; /* the augmentation's length */
  return find_encoding(frames, span_of(letters.data + 1, letters.len - 1), bytes);
}

/* ---- entries ---- */

/* Takes the entry at AT without its length. */
static bool take_entry(const struct eh_frame *frames, size_t *at, struct span *ret) {
  uint64_t len;
  if (*at >= frames->bytes.len) return false;
  struct span rest = span_of(frames->bytes.data + *at, frames->bytes.len - *at);
  if (!take_number(frames, &rest, 4, &len) || len == 0) return false;
  if (len == UINT32_MAX && !take_number(frames, &rest, 8, &len)) return false;
  if (len > rest.len || !span_take(&rest, (size_t)len, ret)) return false;
  *at = frames->bytes.len - rest.len;
  return true;
}

/* Returns the encoding of the CIE at AT. */
static uint8_t encoding_of(struct eh_frame *frames, size_t at) {
  struct span entry;
  uint64_t id;
  size_t next = at;
  if (frames->cie_at == at + 1) return frames->encoding;
  bool is_cie = take_entry(frames, &next, &entry) && take_number(frames, &entry, 4, &id) && id == 0;
  frames->encoding = is_cie ? read_cie(frames, entry) : POINTER_ODD;
  frames->cie_at = at + 1;
  return frames->encoding;
}

static bool take_start(const struct eh_frame *frames, uint8_t encoding, struct span *bytes,
                       uint64_t *ret) {
  size_t len = pointer_bytes(frames, encoding);
  uint64_t here = frames->address + (uint64_t)(bytes->data - frames->bytes.data), number;
  if ((encoding & ~(POINTER_FORMAT | POINTER_HERE)) != 0) return false;
  if (len == 0 || !take_number(frames, bytes, len, &number)) return false;
  unsigned spare = 64 - 8 * (unsigned)len;
  if ((encoding & POINTER_SIGNED) != 0) number = (uint64_t)((int64_t)(number << spare) >> spare);
  if ((encoding & POINTER_HERE) != 0) number += here;
  *ret = frames->word_bytes == 4 ? (uint32_t)number : number;
  return true;
}

/* Reads the FDE from behind its id. */
static bool read_fde(const struct eh_frame *frames, uint8_t encoding, struct span bytes,
                     struct eh_frame_range *ret) {
  struct eh_frame_range range;
  if (!take_start(frames, encoding, &bytes, &range.start)) return false;
  if (!take_number(frames, &bytes, pointer_bytes(frames, encoding), &range.size)) return false;
  if (range.size == 0 || range.size > UINT64_MAX - range.start) return false;
  *ret = range;
  return true;
}

bool eh_frame_next(struct eh_frame *frames, struct eh_frame_range *ret) {
  struct span entry;
  uint64_t id;
  while (take_entry(frames, &frames->at, &entry)) {
    size_t id_at = (size_t)(entry.data - frames->bytes.data);
    if (!take_number(frames, &entry, 4, &id)) return false;
    if (id == 0 || id > id_at) continue; /* a CIE, or an FDE with its CIE outside */
    if (read_fde(frames, encoding_of(frames, id_at - (size_t)id), entry, ret)) return true;
  }
  return false;
}
