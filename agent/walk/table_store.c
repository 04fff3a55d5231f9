/* SPDX-License-Identifier: Apache-2.0 */
/* A table is mapped from its file, so its pages are the page cache's: they cost the daemon nothing
   that the machine could not take back, and are shared by all who map them.

     asked for ──▶ on the disk? ──▶ READY, NOTHING or REFUSED
                       │ no
                       ▼
                     queue ──▶ child ──▶ one of these; UNREADABLE; FAILED

   What came out is kept in mind for as long as this worker lives, so that a file which kills its
   child does so once.  (On the disk a FAILED one is not: the next daemon may have more memory.)

   Addresses of tables are handed out, so nothing is unmapped but in a step, which changes the
   serial: whoever has put tables together looks at that first. */
#include "table_store.h"
#include "vdso_table.h"

#include "common/path.h"
#include "common/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint32_t id_bytes;
  enum table_state state;
  const struct unwind_table *table;
  uint64_t used; /* serial number of the last time it was asked for */
};

struct table_store {
  char *folder; /* NULL: none */
  table_build *build;
  struct entry *entries;
  uint32_t count, room;
  struct table by_id;
  struct table_wanted
      *queue[TABLE_STORE_QUEUE_MAX]; /* [0]: that the child is at, when there is one */
  uint32_t queued;
  struct table_job job;
  uint64_t serial, clock;
  uint32_t made, left_out;
  struct table_file last_refused; /* its words */
  char last_path[LIMIT_PATH_BYTES + 1];
  char functions_why[TABLE_FILE_WHY_BYTES]; /* of the last table that is not all of its file's */
  char functions_path[LIMIT_PATH_BYTES + 1];
  struct buf vdso;
  bool has_vdso;
};

int table_store_new(const char *folder, table_build *build, struct table_store **ret) {
  struct table_store *store = calloc(1, sizeof *store);
  if (store == NULL) return -ENOMEM;
  store->build = build;
  store->serial = 1;
  if (folder != NULL && path_make_dirs(folder, 0700) == 0) store->folder = strdup(folder);
  *ret = store;
  return 0;
}

static void unmap(struct entry *entry) {
  struct table_file file = {.table = entry->table};
  table_file_unmap(&file);
  entry->table = NULL;
}

void table_store_free(struct table_store *store) {
  if (store == NULL) return;
  table_job_stop(&store->job);
  for (uint32_t i = 0; i < store->count; i++) unmap(&store->entries[i]);
  for (uint32_t i = 0; i < store->queued; i++) free(store->queue[i]);
  table_fini(&store->by_id);
  buf_fini(&store->vdso);
  free(store->entries);
  free(store->folder);
  free(store);
}

static struct entry *find_entry(const struct table_store *store, const struct table_wanted *of) {
  uint32_t cursor;
  uint64_t key = table_hash(of->id, of->id_bytes, 0);
  for (uint32_t row = table_find(&store->by_id, key, &cursor); row != TABLE_NONE;
       row = table_next(&store->by_id, key, &cursor)) {
    struct entry *entry = &store->entries[row];
    if (entry->id_bytes == of->id_bytes && memcmp(entry->id, of->id, of->id_bytes) == 0)
      return entry;
  }
  return NULL;
}

static bool reserve(struct table_store *store) {
  if (store->count < store->room) return true;
  if (store->room == TABLE_STORE_TABLES_MAX) return false;
  uint32_t room = store->room ? store->room * 2 : 16;
  struct entry *entries = realloc(store->entries, room * sizeof *entries);
  if (entries == NULL) return false;
  store->entries = entries;
  store->room = room;
  return true;
}

static struct entry *add_entry(struct table_store *store, const struct table_wanted *of) {
  if (!reserve(store)) return NULL;
  if (table_add(&store->by_id, table_hash(of->id, of->id_bytes, 0), store->count) < 0) return NULL;
  struct entry *entry = &store->entries[store->count++];
  *entry = (struct entry){.id_bytes = of->id_bytes, .state = TABLE_WAITING};
  memcpy(entry->id, of->id, sizeof entry->id);
  return entry;
}

static void settle(struct table_store *store, struct entry *entry, const struct table_file *file,
                   const char *path) {
  entry->state = file->state;
  entry->table = file->table;
  store->serial++;
  if (file->state == TABLE_READY && file->why[0] != '\0') {
    memcpy(store->functions_why, file->why, sizeof store->functions_why);
    snprintf(store->functions_path, sizeof store->functions_path, "%s", path);
  }
  if (file->state == TABLE_READY || file->state == TABLE_NOTHING) return;
  store->last_refused = *file;
  snprintf(store->last_path, sizeof store->last_path, "%s", path);
}

/* Takes the file of ENTRY from the disk when there is a good one. */
static bool take_kept(struct table_store *store, struct entry *entry, const char *path) {
  struct table_file file;
  struct span id = span_of(entry->id, entry->id_bytes);
  int fd = store->folder != NULL ? table_file_open(store->folder, id) : -ENOENT;
  if (fd < 0) return false;
  int error = table_file_read(fd, id, &file);
  close(fd);
  if (error) { /* spoilt, or another version's */
    table_file_remove(store->folder, id);
    return false;
  }
  settle(store, entry, &file, path);
  return true;
}

static bool enqueue(struct table_store *store, const struct table_wanted *wanted) {
  if (store->queued == TABLE_STORE_QUEUE_MAX) return false;
  struct table_wanted *copy = malloc(sizeof *copy);
  if (copy == NULL) return false;
  *copy = *wanted;
  store->queue[store->queued++] = copy;
  return true;
}

enum table_state table_store_find(struct table_store *store, const struct table_wanted *wanted,
                                  const struct unwind_table **ret) {
  struct entry *entry = find_entry(store, wanted);
  if (entry == NULL) {
    bool has_room = store->queued < TABLE_STORE_QUEUE_MAX;
    entry = has_room ? add_entry(store, wanted) : NULL;
    if (entry == NULL || (!take_kept(store, entry, wanted->path) && !enqueue(store, wanted))) {
      store->left_out += entry == NULL;
      return TABLE_FAILED;
    }
  }
  entry->used = ++store->clock;
  if (entry->state == TABLE_READY) *ret = entry->table;
  return entry->state;
}

static int compare_uses(const void *a, const void *b) {
  uint64_t left = ((const struct entry *)a)->used, right = ((const struct entry *)b)->used;
  return (left > right) - (left < right);
}

/* Forgets the half that was not asked for the longest, so that there is room again. */
static void make_room(struct table_store *store) {
  uint32_t gone = 0;
  qsort(store->entries, store->count, sizeof *store->entries, compare_uses);
  for (uint32_t i = 0; i < store->count; i++) {
    struct entry *entry = &store->entries[i];
    if (gone < store->count / 2 && entry->state != TABLE_WAITING) {
      unmap(entry);
      gone++;
    } else {
      store->entries[i - gone] = *entry;
    }
  }
  store->count -= gone;
  table_clear(&store->by_id);
  for (uint32_t i = 0; i < store->count; i++) {
    const struct entry *entry = &store->entries[i];
    if (table_add(&store->by_id, table_hash(entry->id, entry->id_bytes, 0), i) < 0) return;
  }
  store->serial++;
}

/* Leaves what was made of WANTED on the disk.  One that is full or gone costs only that it is made
   again another day. */
static void keep(const struct table_store *store, const struct table_wanted *wanted,
                 const struct table_file *file) {
  struct table_mark mark = {.state = file->state, .id_bytes = wanted->id_bytes};
  size_t bytes = file->table != NULL ? file->table->total_bytes : 0;
  if (store->folder == NULL || file->state == TABLE_UNREADABLE || file->state == TABLE_FAILED)
    return;
  memcpy(mark.id, wanted->id, sizeof mark.id);
  memcpy(mark.why, file->why, sizeof mark.why);
  table_file_keep(store->folder, span_of(file->table, bytes), &mark, UNWIND_CACHE_BYTES_MAX);
}

static void take_outcome(struct table_store *store) {
  struct table_wanted *wanted = store->queue[0];
  struct table_file file;
  if (!table_job_step(&store->job, span_of(wanted->id, wanted->id_bytes), &file)) return;
  keep(store, wanted, &file);
  struct entry *entry = find_entry(store, wanted);
  store->made += file.state == TABLE_READY;
  if (entry != NULL)
    settle(store, entry, &file, wanted->path);
  else
    table_file_unmap(&file);
  free(wanted);
  store->queued--;
  memmove(store->queue, store->queue + 1, store->queued * sizeof *store->queue);
}

static void give_up_first(struct table_store *store, int error) {
  struct table_wanted *wanted = store->queue[0];
  struct table_file file = {.state = TABLE_FAILED};
  struct entry *entry = find_entry(store, wanted);
  snprintf(file.why, sizeof file.why, "no process for its table: %s", strerror(-error));
  if (entry != NULL) settle(store, entry, &file, wanted->path);
  free(wanted);
  store->queued--;
  memmove(store->queue, store->queue + 1, store->queued * sizeof *store->queue);
}

void table_store_step(struct table_store *store) {
  if (store->job.child != 0) take_outcome(store);
  if (store->count == TABLE_STORE_TABLES_MAX) make_room(store);
  if (store->job.child != 0 || store->queued == 0) return;
  int error = table_job_start(&store->job, store->queue[0], store->build);
  if (error) give_up_first(store, error);
}

bool table_store_is_busy(const struct table_store *store) {
  return store->queued > 0;
}

uint64_t table_store_serial(const struct table_store *store) {
  return store->serial;
}

static void count_functions(const struct unwind_table *table, struct table_store_figures *ret) {
  ret->mapped_bytes += table->total_bytes;
  ret->functions_refused += table->functions_refused;
  ret->functions_left += table->functions_left;
  ret->untold_rows += table->untold_rows;
}

static void count_states(const struct table_store *store, struct table_store_figures *ret) {
  uint32_t *const counts[] = {
      [TABLE_WAITING] = &ret->waiting,       [TABLE_READY] = &ret->ready,
      [TABLE_NOTHING] = &ret->nothing,       [TABLE_REFUSED] = &ret->refused,
      [TABLE_UNREADABLE] = &ret->unreadable, [TABLE_FAILED] = &ret->failed};
  for (uint32_t i = 0; i < store->count; i++) {
    const struct entry *entry = &store->entries[i];
    ++*counts[entry->state];
    if (entry->table != NULL) count_functions(entry->table, ret);
  }
}

void table_store_figures(const struct table_store *store, struct table_store_figures *ret) {
  memset(ret, 0, sizeof *ret);
  count_states(store, ret);
  ret->made = store->made;
  ret->left_out = store->left_out;
  memcpy(ret->why, store->last_refused.why, sizeof ret->why);
  memcpy(ret->path, store->last_path, sizeof ret->path);
  memcpy(ret->functions_why, store->functions_why, sizeof ret->functions_why);
  memcpy(ret->functions_path, store->functions_path, sizeof ret->functions_path);
}

const struct unwind_table *table_store_vdso(struct table_store *store) {
  if (!store->has_vdso && vdso_table_make(&store->vdso) != 0) buf_clear(&store->vdso);
  store->has_vdso = true;
  return store->vdso.len > 0 ? (const struct unwind_table *)(const void *)store->vdso.data : NULL;
}
