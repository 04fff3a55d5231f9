/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes are rejected at the first header. Effective changes need the file's structure. So
   the intact file is divided into regions (headers, each section), and one to six changes are made,
   mostly in DWARF. A change is one of

     - a number of 1 to 8 bytes becomes one at which arithmetic breaks, or points to itself
     - a few bytes become others; bits flip; a piece is copied over another or moved along
     - a field of a section header lies: offset, size, link, alignment, "compressed"
     - a field of a unit's header lies: length, version, sizes, the line program's range of 0
     - a section claims to be compressed, and to be large
     - the file ends early

   Regions are found for both classes and byte orders; a file without a readable structure is one
   region. */
#include "elf_mutator.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

enum { REGIONS_MAX = 96, CHANGES_MAX = 6, UNITS_SKIPPED_MAX = 64 };

enum region_kind { REGION_ANY, REGION_SECTION_HEADERS, REGION_UNITS, REGION_LIKELY };

struct region {
  enum region_kind kind;
  size_t at, len;
};

struct mutator {
  uint8_t *file;
  size_t len, room;
  uint64_t random;
  bool is_64, is_big;
  size_t header_bytes; /* of one section header */
  struct region regions[REGIONS_MAX];
  size_t region_count;
};

static uint64_t next(struct mutator *mutator) {
  uint64_t x = mutator->random += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static uint64_t below(struct mutator *mutator, uint64_t bound) {
  return bound > 0 ? next(mutator) % bound : 0;
}

static uint64_t get(const struct mutator *mutator, size_t at, unsigned bytes) {
  uint64_t value = 0;
  if (at > mutator->len || bytes > mutator->len - at) return 0;
  for (unsigned i = 0; i < bytes; i++)
    value |= (uint64_t)mutator->file[at + i] << 8 * (mutator->is_big ? bytes - 1 - i : i);
  return value;
}

static void put(struct mutator *mutator, size_t at, unsigned bytes, uint64_t value) {
  if (at > mutator->len || bytes > mutator->len - at) return;
  for (unsigned i = 0; i < bytes; i++)
    mutator->file[at + i] = (uint8_t)(value >> 8 * (mutator->is_big ? bytes - 1 - i : i));
}

/* ---- where things are ---- */

static void add_region(struct mutator *mutator, enum region_kind kind, uint64_t at, uint64_t len) {
  if (len == 0 || at > mutator->len || len > mutator->len - at) return;
  if (mutator->region_count == REGIONS_MAX) return;
  mutator->regions[mutator->region_count++] = (struct region){kind, (size_t)at, (size_t)len};
}

/* How interesting a section is, by its name. */
static enum region_kind kind_of(const struct mutator *mutator, uint64_t name_at) {
  static const char *const units[] = {".debug_info",        ".debug_line",     ".debug_aranges",
                                      ".debug_rnglists",    ".debug_loclists", ".debug_addr",
                                      ".debug_str_offsets", ".debug_types"};
  char name[24] = "";
  if (name_at >= mutator->len) return REGION_ANY;
  size_t room = mutator->len - (size_t)name_at;
  memcpy(name, mutator->file + name_at, room < sizeof name - 1 ? room : sizeof name - 1);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(name, units[i]) == 0) return REGION_UNITS;
  if (strncmp(name, ".debug", 6) == 0 || strncmp(name, ".gnu_debug", 10) == 0) return REGION_LIKELY;
  if (strncmp(name, ".note", 5) == 0 || strcmp(name, ".symtab") == 0) return REGION_LIKELY;
  return strcmp(name, ".strtab") == 0 || strcmp(name, ".eh_frame") == 0 ? REGION_LIKELY
                                                                        : REGION_ANY;
}

static void find_regions(struct mutator *mutator) {
  bool is_64 = mutator->is_64 = mutator->file[EI_CLASS] == ELFCLASS64;
  mutator->is_big = mutator->file[EI_DATA] == ELFDATA2MSB;
  unsigned word = is_64 ? 8 : 4;
  mutator->header_bytes = is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  uint64_t table = get(mutator, is_64 ? 40 : 32, word), count = get(mutator, is_64 ? 60 : 48, 2);
  uint64_t names = get(mutator, is_64 ? 62 : 50, 2);
  uint64_t offset_at = is_64 ? 24 : 16; /* of sh_offset in its header */
  uint64_t texts = get(mutator, table + names * mutator->header_bytes + offset_at, word);
  add_region(mutator, REGION_ANY, 0, is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
  add_region(mutator, REGION_SECTION_HEADERS, table, count * mutator->header_bytes);
  for (uint64_t i = 1; i < count; i++) {
    size_t header = (size_t)(table + i * mutator->header_bytes);
    if (get(mutator, header + 4, 4) == SHT_NOBITS) continue;
    add_region(mutator, kind_of(mutator, texts + get(mutator, header, 4)),
               get(mutator, header + offset_at, word),
               get(mutator, header + offset_at + word, word));
  }
}

/* ---- changes ---- */

static uint64_t odd_number(struct mutator *mutator, size_t at) {
  static const uint64_t numbers[] = {
      0,          1,          2,           0x7f,       0x80,
      0xff,       0x7fff,     0xffff,      0x7fffffff, 0x80000000,
      0xfffffff0, 0xffffffff, 0x100000000, INT64_MAX,  (uint64_t)INT64_MIN,
      UINT64_MAX};
  uint64_t which = below(mutator, sizeof numbers / sizeof *numbers + 4);
  if (which == 0) return at;
  if (which == 1) return mutator->len;
  if (which == 2) return below(mutator, mutator->len);
  if (which == 3) return next(mutator);
  return numbers[which - 4];
}

static void put_number(struct mutator *mutator, const struct region *region) {
  unsigned bytes = 1u << below(mutator, 4);
  size_t within = (size_t)below(mutator, region->len);
  uint64_t value = odd_number(mutator, within);
  if (below(mutator, 4) == 0) /* slightly more or less than the old value */
    value = get(mutator, region->at + within, bytes) + below(mutator, 9) - 4;
  put(mutator, region->at + within, bytes, value);
}

static void put_bytes(struct mutator *mutator, const struct region *region) {
  for (uint64_t left = 1 + below(mutator, 8); left > 0; left--) {
    uint8_t *byte = &mutator->file[region->at + below(mutator, region->len)];
    uint64_t how = below(mutator, 3);
    *byte = how == 0   ? (uint8_t)next(mutator)
            : how == 1 ? *byte ^ (uint8_t)(1u << below(mutator, 8))
                       : (uint8_t)below(mutator, 0x30); /* forms, tags, opcodes */
  }
}

static void copy_piece(struct mutator *mutator, const struct region *region) {
  const struct region *from = &mutator->regions[below(mutator, mutator->region_count)];
  if (below(mutator, 2) == 0) from = region;
  size_t to = (size_t)below(mutator, region->len), source = (size_t)below(mutator, from->len);
  size_t len = region->len - to, most = from->len - source;
  if (len > most) len = most;
  len = (size_t)below(mutator, len < 512 ? len + 1 : 512);
  if (from->at + source + len > mutator->len || region->at + to + len > mutator->len) return;
  memmove(mutator->file + region->at + to, mutator->file + from->at + source, len);
}

/* Moves everything behind a place, so offsets to it become wrong. */
static void shift(struct mutator *mutator, const struct region *region) {
  size_t at = region->at + (size_t)below(mutator, region->len);
  size_t by = 1 + (size_t)below(mutator, below(mutator, 4) == 0 ? 256 : 4);
  bool grows = below(mutator, 2) == 0 && mutator->len + by <= mutator->room;
  if (at + by >= mutator->len) return;
  if (grows) {
    memmove(mutator->file + at + by, mutator->file + at, mutator->len - at);
    mutator->len += by;
  } else {
    memmove(mutator->file + at, mutator->file + at + by, mutator->len - at - by);
    mutator->len -= by;
  }
}

static void lie_in_section_header(struct mutator *mutator, const struct region *region) {
  static const uint8_t fields_64[] = {0, 4, 8, 16, 24, 32, 40, 44, 48, 56};
  static const uint8_t fields_32[] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36};
  unsigned field = (unsigned)below(mutator, 10), word = mutator->is_64 ? 8 : 4;
  size_t header =
      (size_t)below(mutator, region->len / mutator->header_bytes) * mutator->header_bytes;
  size_t at = region->at + header + (mutator->is_64 ? fields_64 : fields_32)[field];
  bool is_small = field <= 1 || field == 6 || field == 7; /* name, type, link, info */
  uint64_t value = odd_number(mutator, at);
  if (field == 2 && below(mutator, 2) == 0) value = get(mutator, at, word) ^ SHF_COMPRESSED;
  if (field == 5 && below(mutator, 2) == 0) value = UINT64_C(1) << (31 + below(mutator, 3));
  put(mutator, at, is_small ? 4 : word, value);
}

/* The units of a section follow each other by their lengths. */
static void lie_in_unit(struct mutator *mutator, const struct region *region) {
  size_t within = 0;
  for (uint64_t left = below(mutator, UNITS_SKIPPED_MAX); left > 0; left--) {
    uint64_t bytes = get(mutator, region->at + within, 4) + 4;
    if (bytes > region->len - within || region->len - within - (size_t)bytes < 16) break;
    within += (size_t)bytes;
  }
  static const uint8_t fields[][2] = {{0, 4},  {4, 2},  {6, 1},  {7, 1},  {6, 4},  {8, 4}, {10, 1},
                                      {11, 1}, {12, 1}, {13, 1}, {14, 1}, {15, 1}, {12, 8}};
  size_t which = (size_t)below(mutator, sizeof fields / sizeof *fields);
  put(mutator, region->at + within + fields[which][0], fields[which][1],
      odd_number(mutator, within + fields[which][0]));
}

/* Writes a header of compressed bytes over the beginning of a section. */
static void claim_compressed(struct mutator *mutator, const struct region *region) {
  bool is_64 = mutator->is_64;
  put(mutator, region->at, 4, below(mutator, 3));
  put(mutator, region->at + (is_64 ? 8 : 4), is_64 ? 8 : 4, odd_number(mutator, region->len));
  put(mutator, region->at + (is_64 ? 16 : 8), is_64 ? 8 : 4, below(mutator, 9));
}

static const struct region *choose_region(struct mutator *mutator, enum region_kind kind) {
  for (int tries = 0; tries < 24; tries++) {
    const struct region *region = &mutator->regions[below(mutator, mutator->region_count)];
    bool is_dull = region->kind == REGION_ANY && below(mutator, 8) != 0;
    if (kind == REGION_ANY ? !is_dull : region->kind == kind) return region;
  }
  return &mutator->regions[below(mutator, mutator->region_count)];
}

static void change(struct mutator *mutator) {
  uint64_t what = below(mutator, 100);
  const struct region *region = choose_region(mutator, what < 12   ? REGION_SECTION_HEADERS
                                                       : what < 30 ? REGION_UNITS
                                                                   : REGION_ANY);
  if (region->at + region->len > mutator->len) return; /* the file became shorter */
  if (what < 12 && region->kind == REGION_SECTION_HEADERS)
    lie_in_section_header(mutator, region);
  else if (what < 30)
    lie_in_unit(mutator, region);
  else if (what < 55)
    put_number(mutator, region);
  else if (what < 80)
    put_bytes(mutator, region);
  else if (what < 90)
    copy_piece(mutator, region);
  else if (what < 94)
    shift(mutator, region);
  else if (what < 98)
    claim_compressed(mutator, region);
  else
    mutator->len = 1 + (size_t)below(mutator, mutator->len);
}

size_t elf_mutator_spoil(uint8_t *file, size_t len, uint64_t seed) {
  struct mutator mutator = {
      .file = file, .len = len, .room = len + MUTATOR_GROWTH_BYTES, .random = seed};
  if (len > sizeof(Elf64_Ehdr)) find_regions(&mutator);
  if (mutator.region_count == 0) add_region(&mutator, REGION_ANY, 0, len);
  for (uint64_t left = 1 + below(&mutator, CHANGES_MAX); left > 0; left--) change(&mutator);
  return mutator.len;
}
