/* SPDX-License-Identifier: Apache-2.0 */
/* The tar header of POSIX, which every tar reads:

     0 name 100 | 100 mode 8 | 108 uid 8 | 116 gid 8 | 124 size 12 | 136 mtime 12 | 148 checksum 8
     156 type 1 | 157 link 100 | 257 "ustar\0" "00" | 265 owner 32 | 297 group 32 | 345 prefix 155

   Numbers are octal text. A size with more than eleven octal digits is written in base 256 after a
   byte 0x80, as in GNU tar. The checksum is the sum of all bytes, with its own field counted as
   blanks.

   The archive is untrusted: a name that would leave the folder, or has a part "." or "", is
   rejected. */
#include "tar_header.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
  NAME_AT = 0,
  NAME_LEN = 100,
  MODE_AT = 100,
  UID_AT = 108,
  GID_AT = 116,
  SMALL_LEN = 8,
  SIZE_AT = 124,
  MTIME_AT = 136,
  LARGE_LEN = 12,
  SUM_AT = 148,
  TYPE_AT = 156,
  MAGIC_AT = 257,
  MAGIC_LEN = 8, /* with the version */
  PREFIX_AT = 345,
  PREFIX_LEN = 155,
  MODE_MASK = 07777,
};

#define OCTAL_MAX ((UINT64_C(1) << 33) - 1) /* eleven digits */

static const char magic[MAGIC_LEN + 1] = "ustar\00000";

_Static_assert(NAME_LEN + PREFIX_LEN + 2 == TAR_NAME_BYTES, "the longest name fits");

uint64_t tar_padded(uint64_t size) {
  return (size + TAR_BLOCK_BYTES - 1) / TAR_BLOCK_BYTES * TAR_BLOCK_BYTES;
}

static void put_octal(uint8_t *field, int len, uint64_t value) {
  for (int i = len - 2; i >= 0; i--, value >>= 3) field[i] = (uint8_t)('0' + (value & 7));
  field[len - 1] = '\0';
}

static void put_size(uint8_t *field, uint64_t size) {
  if (size <= OCTAL_MAX) {
    put_octal(field, LARGE_LEN, size);
    return;
  }
  memset(field, 0, LARGE_LEN);
  field[0] = 0x80;
  for (int i = LARGE_LEN - 1; size > 0; i--, size >>= 8) field[i] = (uint8_t)size;
}

static uint32_t sum_of(const uint8_t *block) {
  uint32_t sum = 0;
  for (int i = 0; i < TAR_BLOCK_BYTES; i++)
    sum += i >= SUM_AT && i < SUM_AT + SMALL_LEN ? ' ' : block[i];
  return sum;
}

/* Splits a name that is too long for its field in two, at a slash. */
static int put_name(const char *name, uint8_t *block) {
  size_t len = strlen(name);
  if (len <= NAME_LEN) {
    memcpy(block + NAME_AT, name, len);
    return 0;
  }
  for (size_t cut = len - NAME_LEN - 1; cut <= PREFIX_LEN && cut < len; cut++) {
    if (name[cut] != '/' || cut == 0) continue;
    memcpy(block + PREFIX_AT, name, cut);
    memcpy(block + NAME_AT, name + cut + 1, len - cut - 1);
    return 0;
  }
  return -ENAMETOOLONG;
}

int tar_header_encode(const struct tar_member *member, uint8_t block[TAR_BLOCK_BYTES]) {
  memset(block, 0, TAR_BLOCK_BYTES);
  int error = put_name(member->name, block);
  if (error != 0) return error;
  put_octal(block + MODE_AT, SMALL_LEN, member->mode & MODE_MASK);
  put_octal(block + UID_AT, SMALL_LEN, 0);
  put_octal(block + GID_AT, SMALL_LEN, 0);
  put_size(block + SIZE_AT, member->size);
  put_octal(block + MTIME_AT, LARGE_LEN, member->mtime_s <= OCTAL_MAX ? member->mtime_s : 0);
  block[TYPE_AT] = '0';
  memcpy(block + MAGIC_AT, magic, MAGIC_LEN);
  put_octal(block + SUM_AT, SMALL_LEN - 1, sum_of(block));
  block[SUM_AT + SMALL_LEN - 1] = ' ';
  return 0;
}

/* Reads blanks, octal digits, then a blank, a NUL or the field's end. */
static bool get_octal(const uint8_t *field, int len, uint64_t *ret) {
  uint64_t value = 0;
  int i = 0, digits = 0;
  while (i < len && field[i] == ' ') i++;
  for (; i < len && field[i] >= '0' && field[i] <= '7'; i++, digits++)
    value = value << 3 | (uint64_t)(field[i] - '0');
  if (digits == 0 || (i < len && field[i] != ' ' && field[i] != '\0')) return false;
  *ret = value;
  return true;
}

static bool get_size(const uint8_t *field, uint64_t *ret) {
  uint64_t size = 0;
  if (field[0] != 0x80) return get_octal(field, LARGE_LEN, ret);
  for (int i = 1; i < LARGE_LEN; i++) {
    if (size >> 55 != 0) return false; /* leaves room for offsets, which are signed */
    size = size << 8 | field[i];
  }
  *ret = size;
  return true;
}

/* Whether NAME is relative and has only plain parts. */
static bool is_plain(const char *name) {
  for (const char *part = name;; part++) {
    size_t len = strcspn(part, "/");
    if (len == 0 || (len == 1 && part[0] == '.') || (len == 2 && memcmp(part, "..", 2) == 0))
      return false;
    for (size_t i = 0; i < len; i++)
      if ((unsigned char)part[i] < ' ' || part[i] == 127) return false;
    part += len;
    if (*part == '\0') return true;
  }
}

int tar_header_decode(const uint8_t block[TAR_BLOCK_BYTES], struct tar_member *ret) {
  static const uint8_t zeros[TAR_BLOCK_BYTES];
  struct tar_member member = {.size = 0};
  uint64_t sum = 0, mode = 0;
  if (memcmp(block, zeros, sizeof zeros) == 0) return 1;
  if (!get_octal(block + SUM_AT, SMALL_LEN, &sum) || sum != sum_of(block)) return -EBADMSG;
  if (memcmp(block + MAGIC_AT, magic, MAGIC_LEN) != 0 || block[TYPE_AT] != '0') return -EBADMSG;
  if (!get_octal(block + MODE_AT, SMALL_LEN, &mode) || !get_size(block + SIZE_AT, &member.size) ||
      !get_octal(block + MTIME_AT, LARGE_LEN, &member.mtime_s))
    return -EBADMSG;
  member.mode = (uint32_t)mode & MODE_MASK;
  const char *prefix = (const char *)block + PREFIX_AT;
  int prefix_len = (int)strnlen(prefix, PREFIX_LEN);
  snprintf(member.name, sizeof member.name, "%.*s%s%.*s", prefix_len, prefix,
           prefix_len > 0 ? "/" : "", NAME_LEN, (const char *)block + NAME_AT);
  if (!is_plain(member.name)) return -EBADMSG;
  *ret = member;
  return 0;
}
