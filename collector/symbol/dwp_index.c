/* SPDX-License-Identifier: Apache-2.0 */
/* Layout (DWARF 5, 7.3.5.3), in words of 4 bytes except the ids:

     version, columns, units, slots          version 5 has two bytes, and two of padding
     slots ids of 8 bytes                    open addressing; slots is a power of two
     slots rows                              counted from 1; 0: an empty slot
     columns kinds                           the section of each column
     units rows of columns offsets
     units rows of columns lengths */
#include "dwp_index.h"

#include <errno.h>

enum { HEADER_BYTES = 16, COLUMNS_MAX = 16, KIND_RNGLISTS = 8, KINDS = 9 };

/* The section of each kind. Other kinds are ignored. */
static const enum dwp_section sections[KINDS] = {
    [0] = DWP_SECTIONS,    [1] = DWP_INFO,     [2] = DWP_SECTIONS,
    [3] = DWP_ABBREV,      [4] = DWP_LINE,     [5] = DWP_SECTIONS,
    [6] = DWP_STR_OFFSETS, [7] = DWP_SECTIONS, [KIND_RNGLISTS] = DWP_RNGLISTS,
};

struct view {
  struct span bytes;
  bool is_big_endian;
  uint32_t version, columns, units, slots;
};

static uint64_t number_at(const struct view *view, uint64_t at, unsigned len) {
  const uint8_t *bytes = view->bytes.data + at;
  uint64_t number = 0;
  for (unsigned i = 0; i < len; i++)
    number = number << 8 | bytes[view->is_big_endian ? i : len - 1 - i];
  return number;
}

static uint32_t word_at(const struct view *view, uint64_t at) {
  return (uint32_t)number_at(view, at, 4);
}

static uint64_t rows_at(const struct view *view) {
  return HEADER_BYTES + 8ULL * view->slots;
}

static uint64_t kinds_at(const struct view *view) {
  return rows_at(view) + 4ULL * view->slots;
}

/* Returns the place of row ROW, from 1, in the table of offsets (TABLE 0) or lengths (TABLE 1). */
static uint64_t row_at(const struct view *view, uint32_t row, unsigned table) {
  uint64_t before = 1ULL + (uint64_t)table * view->units + (row - 1);
  return kinds_at(view) + 4ULL * view->columns * before;
}

static int open_view(struct view *view) {
  if (view->bytes.len < HEADER_BYTES) return -EBADMSG;
  view->version = (uint32_t)number_at(view, 0, 2) == 5 ? 5 : word_at(view, 0);
  view->columns = word_at(view, 4);
  view->units = word_at(view, 8);
  view->slots = word_at(view, 12);
  if (view->version != 2 && view->version != 5) return -EBADMSG;
  if (view->columns == 0 || view->columns > COLUMNS_MAX) return -EBADMSG;
  if ((view->slots & (view->slots - 1)) != 0 || view->units > view->slots) return -EBADMSG;
  uint64_t end = kinds_at(view) + 4ULL * view->columns * (1ULL + 2ULL * view->units);
  return end <= view->bytes.len ? 0 : -EBADMSG;
}

static void read_row(const struct view *view, uint32_t row, struct dwp_unit *ret) {
  *ret = (struct dwp_unit){0};
  for (uint32_t i = 0; i < view->columns; i++) {
    uint32_t kind = word_at(view, kinds_at(view) + 4ULL * i);
    enum dwp_section section = kind < KINDS ? sections[kind] : DWP_SECTIONS;
    if (section == DWP_SECTIONS || (section == DWP_RNGLISTS && view->version != 5)) continue;
    ret->parts[section].offset = word_at(view, row_at(view, row, 0) + 4ULL * i);
    ret->parts[section].bytes = word_at(view, row_at(view, row, 1) + 4ULL * i);
  }
}

int dwp_index_find(struct span index, bool is_big_endian, uint64_t id, struct dwp_unit *ret) {
  struct view view = {.bytes = index, .is_big_endian = is_big_endian};
  int error = open_view(&view);
  if (error != 0) return error;
  uint32_t mask = view.slots - 1;
  uint32_t slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
  for (uint32_t i = 0; i < view.slots; i++, slot = (slot + step) & mask) {
    uint32_t row = word_at(&view, rows_at(&view) + 4ULL * slot);
    if (row == 0) return -ENOENT;
    if (row > view.units) return -EBADMSG;
    if (number_at(&view, HEADER_BYTES + 8ULL * slot, 8) != id) continue;
    read_row(&view, row, ret);
    return 0;
  }
  return -ENOENT;
}
