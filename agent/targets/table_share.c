/* SPDX-License-Identifier: Apache-2.0 */
/* Tables are appended and never removed, because a handler may be using any of them.

     header | entry: size, id, uid | table | entry | table | ...        used ─▶ end of the last

   `used` is stored when an entry is complete. So a worker killed in between leaves only bytes that
   the next one overwrites, and that worker reads the existing entries here. Only workers can write
   this memory. The entries are still checked, because half of one may be missing.

   A program may map more code than all tables have room for (ffmpeg: 216 files, 10 MB). So the last
   three eighths are for modules that walks need. If a user of a system-wide daemon has filled the
   part before, one of the three eighths is left: the user's share ends at six eighths.

   The first user with a program that needs a table adds it for all users. It stays for ever, so a
   user with a used-up share adds no more, not even tables that others need. A table without room in
   one user's share may fit another's, so it is tried again for each user.

   Pages are allocated before they are written: without memory the allocation fails, but a write
   would kill the worker. */
#include "table_share.h"

#include "common/array.h"
#include "proto/limits.h"
#include "ring/wide.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
  SHARE_MAGIC = 0x53545546, /* "FUTS" */
  ENTRY_ALIGN = 64,
  SHARE_OF_USER_NUMERATOR = 3, /* of bytes and of modules, as for rings (daemon/registrar.c) */
  SHARE_OF_USER_DENOMINATOR = 4,
  EARLY_NUMERATOR = 5, /* of bytes, for modules not needed by a walk yet: below a user's share */
  EARLY_DENOMINATOR = 8,
};

struct share_header {
  uint32_t magic, reserved;
  _Atomic uint64_t used;
};

struct share_entry {
  uint64_t table_bytes;
  uint32_t id_bytes;
  uint32_t uid; /* the user that added it */
  uint8_t id[LIMIT_MODULE_ID_BYTES];
};

struct table_share_row {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint32_t id_bytes;
  uint32_t uid;   /* the user that added it, or last had no room for it */
  uint64_t place; /* UNWIND_NO_TABLE: no room */
  uint64_t bytes; /* of the memory; 0: no room */
};

static uint64_t round_up(uint64_t bytes) {
  return (bytes + ENTRY_ALIGN - 1) / ENTRY_ALIGN * ENTRY_ALIGN;
}

static uint64_t table_of(uint64_t entry) {
  return entry + round_up(sizeof(struct share_entry));
}

static struct share_header *header_of(const struct table_share *share) {
  return (struct share_header *)(void *)share->memory->base;
}

static struct table_share_row *find(const struct table_share *share, struct span id) {
  uint32_t cursor;
  uint64_t key = table_hash(id.data, id.len, 0);
  for (uint32_t row = table_find(&share->by_id, key, &cursor); row != TABLE_NONE;
       row = table_next(&share->by_id, key, &cursor)) {
    struct table_share_row *found = &share->rows[row];
    if (span_is_equal(span_of(found->id, found->id_bytes), id)) return found;
  }
  return NULL;
}

static bool reserve(struct table_share *share) {
  if (share->count < share->room) return true;
  if (share->room == TABLE_SHARE_MODULES_MAX) return false;
  struct table_share_row *rows =
      array_grow(share->rows, share->count, &share->room, 16, sizeof *rows);
  if (rows == NULL) return false;
  share->rows = rows;
  return true;
}

/* Adds a row for module ID, requested by UID, without a place. NULL if memory is short. */
static struct table_share_row *note(struct table_share *share, struct span id, uint32_t uid) {
  if (!reserve(share) || table_add(&share->by_id, table_hash(id.data, id.len, 0), share->count) < 0)
    return NULL;
  struct table_share_row *row = &share->rows[share->count++];
  *row =
      (struct table_share_row){.id_bytes = (uint32_t)id.len, .uid = uid, .place = UNWIND_NO_TABLE};
  memcpy(row->id, id.data, id.len);
  share->left_out++;
  return row;
}

static void settle(struct table_share *share, struct table_share_row *row, uint64_t place,
                   uint64_t bytes) {
  row->place = place;
  row->bytes = bytes;
  share->left_out--;
}

/* Adds a row for the entry at AT. Returns the offset of the next entry, or 0 if it is invalid. */
static uint64_t take_entry(struct table_share *share, uint64_t at, uint64_t end) {
  const struct share_entry *entry = (const void *)(share->memory->base + at);
  uint64_t place = table_of(at);
  if (place > end || entry->id_bytes > sizeof entry->id || entry->table_bytes > end - place)
    return 0;
  const struct unwind_table *table = (const void *)(share->memory->base + place);
  if (unwind_table_check(table, entry->table_bytes, unwind_arch.machine) != 0) return 0;
  uint64_t next = round_up(place + entry->table_bytes);
  struct table_share_row *row = note(share, span_of(entry->id, entry->id_bytes), entry->uid);
  if (row != NULL) settle(share, row, place, next - at);
  return next;
}

void table_share_open(struct table_share *share, const struct table_memory *memory) {
  *share = (struct table_share){.memory = memory, .used = round_up(sizeof(struct share_header))};
  if (memory->base == NULL) return;
  const struct share_header *header = header_of(share);
  if (header->magic != SHARE_MAGIC) return;
  uint64_t end = wide_load(&header->used);
  if (end > memory->bytes || end < share->used) return;
  for (uint64_t at = share->used; at != 0 && at < end;) at = take_entry(share, at, end);
  share->used = end; /* also beyond invalid entries: a handler may be using them */
}

void table_share_close(struct table_share *share) {
  table_fini(&share->by_id);
  free(share->rows);
  memset(share, 0, sizeof *share);
}

static uint64_t share_of_user(uint64_t all) {
  return all / SHARE_OF_USER_DENOMINATOR * SHARE_OF_USER_NUMERATOR;
}

/* True if UID may add one more module, of BYTES (0: without room). */
static bool is_within_share(const struct table_share *share, uint32_t uid, uint64_t bytes) {
  uint64_t count = 1;
  if (uid == 0) return true;
  for (uint32_t i = 0; i < share->count; i++) {
    if (share->rows[i].uid != uid) continue;
    count++;
    bytes += share->rows[i].bytes;
  }
  return count <= share_of_user(TABLE_SHARE_MODULES_MAX) &&
         bytes <= share_of_user(share->memory->bytes);
}

/* Appends TABLE, of ROW, if there is room for it. */
static void append(struct table_share *share, struct table_share_row *row,
                   const struct unwind_table *table) {
  const struct table_memory *memory = share->memory;
  uint64_t at = share->used, place = table_of(at), end = round_up(place + table->total_bytes);
  if (end > memory->bytes || !is_within_share(share, row->uid, end - at) ||
      fallocate(memory->fd, 0, 0, (off_t)end) < 0)
    return;
  struct share_header *header = header_of(share);
  struct share_entry *entry = (void *)(memory->base + at);
  *entry = (struct share_entry){
      .table_bytes = table->total_bytes, .id_bytes = row->id_bytes, .uid = row->uid};
  memcpy(entry->id, row->id, row->id_bytes);
  memcpy(memory->base + place, table, table->total_bytes);
  header->magic = SHARE_MAGIC;
  /* Release: a reader that sees `used` sees a complete entry. */
  wide_store(&header->used, end);
  share->used = end;
  settle(share, row, place, end - at);
}

uint64_t table_share_place(struct table_share *share, const struct table_share_request *request,
                           const struct unwind_table *table) {
  struct span id = request->id;
  uint32_t uid = request->uid;
  if (share->memory->base == NULL || id.len > LIMIT_MODULE_ID_BYTES) return UNWIND_NO_TABLE;
  struct table_share_row *row = find(share, id);
  bool is_asked_again = row != NULL && (row->place != UNWIND_NO_TABLE || row->uid == uid);
  if (is_asked_again) return row->place;
  bool is_early = share->used + table->total_bytes <=
                  share->memory->bytes / EARLY_DENOMINATOR * EARLY_NUMERATOR;
  if (!is_early && !request->is_needed) return UNWIND_NO_TABLE;
  if (row == NULL && is_within_share(share, uid, 0)) row = note(share, id, uid);
  if (row == NULL) return UNWIND_NO_TABLE;
  row->uid = uid;
  append(share, row, table);
  return row->place;
}
