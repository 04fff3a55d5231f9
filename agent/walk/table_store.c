/* SPDX-License-Identifier: Apache-2.0 */
/* Tables are mapped from files in the folder. Their pages belong to the page cache, which the
   kernel can reclaim. Without a folder a table stays in the memory in which it arrived. In both
   cases their total is limited to a share of the board's memory. A table that does not fit waits
   until the least recently used ones are evicted. That happens at most once a minute, because all
   tables still in use are then loaded again.

     asked for ──▶ on the disk? ──▶ READY, NOTHING or REFUSED
                       │ no
                       ▼
                     queue ──▶ child ──▶ one of these; UNREADABLE; FAILED

   A result is kept as long as this worker lives. UNREADABLE and FAILED may be temporary (the
   program was gone, no memory). So a later request retries them, each time after twice the delay: a
   file that kills its child does so about ten times a day.

   The store hands out addresses of tables, so it unmaps only in a step, which changes the serial.
   Users that have collected tables check the serial first. */
#include "table_store.h"
#include "vdso_table.h"

#include "common/array.h"
#include "common/clock.h"
#include "common/path.h"
#include "common/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
  ROOM_MS = 60000, /* minimum time between two evictions */
  DOUBLINGS_MAX = 8,
  QUEUE_SHARE = 30,  /* of again_ms, for a request that only found the queue full */
  MEMORY_SHARE = 32, /* of the board's memory */
  DISK_SHARE = 16,   /* of the file system with the folder */
  MAPPED_BYTES_MIN = 1 << 20,
};

struct entry {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint32_t id_bytes;
  enum table_state state;
  const struct unwind_table *table;
  uint64_t used;     /* sequence number of the last request */
  uint64_t again_ns; /* UNREADABLE, FAILED: earliest retry (CLOCK_MONOTONIC) */
  uint32_t failures; /* consecutive */
};

struct table_store {
  char *folder; /* NULL: none */
  table_build *build;
  struct entry *entries;
  uint32_t count, room;
  struct table by_id;
  struct table_wanted
      *queue[TABLE_STORE_QUEUE_MAX]; /* [0]: being made by the child, if there is one */
  uint32_t queued;
  struct table_job job;
  uint64_t serial, clock;
  uint32_t made, left_out;
  struct table_store_limits limits;
  uint64_t mapped_bytes;
  bool is_crowded;                /* a table found no room in mapped_bytes */
  uint64_t crowded_ns;            /* time of the last eviction for that */
  uint64_t again_ns;              /* the earliest again_ns; 0: none */
  struct table_file last_refused; /* for its reason */
  char last_path[LIMIT_PATH_BYTES + 1];
  char functions_why[TABLE_FILE_WHY_BYTES]; /* the last table without all of its functions */
  char functions_path[LIMIT_PATH_BYTES + 1];
  struct buf vdso;
  bool has_vdso;
};

static uint64_t memory_of_board(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

void table_store_limits_of_board(const char *folder, struct table_store_limits *ret) {
  struct statvfs disk;
  uint64_t mapped = memory_of_board() / MEMORY_SHARE, cache = mapped;
  /* For a file system in memory this is a smaller share of that memory. A file system that reports
     no size is in memory. */
  if (folder != NULL && statvfs(folder, &disk) == 0 && disk.f_blocks > 0)
    cache = (uint64_t)disk.f_blocks * disk.f_frsize / DISK_SHARE;
  *ret = (struct table_store_limits){
      .mapped_bytes = mapped > MAPPED_BYTES_MIN ? mapped : MAPPED_BYTES_MIN,
      .cache_bytes = cache < UNWIND_CACHE_BYTES_MAX ? cache : UNWIND_CACHE_BYTES_MAX,
      .again_ms = TABLE_STORE_AGAIN_MS};
}

void table_store_set_limits(struct table_store *store, const struct table_store_limits *limits) {
  store->limits = *limits;
}

int table_store_new(const char *folder, table_build *build, struct table_store **ret) {
  struct table_store *store = calloc(1, sizeof *store);
  if (store == NULL) return -ENOMEM;
  store->build = build;
  store->serial = 1;
  if (folder != NULL && path_make_dirs(folder, 0700) == 0) store->folder = strdup(folder);
  table_store_limits_of_board(store->folder, &store->limits);
  *ret = store;
  return 0;
}

static void unmap(struct table_store *store, struct entry *entry) {
  struct table_file file = {.table = entry->table};
  if (entry->table != NULL) store->mapped_bytes -= entry->table->total_bytes;
  table_file_unmap(&file);
  entry->table = NULL;
}

void table_store_free(struct table_store *store) {
  if (store == NULL) return;
  table_job_stop(&store->job);
  for (uint32_t i = 0; i < store->count; i++) unmap(store, &store->entries[i]);
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
  struct entry *entries =
      array_grow(store->entries, store->count, &store->room, 16, sizeof *entries);
  if (entries == NULL) return false;
  store->entries = entries;
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

static bool is_of_the_moment(enum table_state state) {
  return state == TABLE_UNREADABLE || state == TABLE_FAILED;
}

static void try_again_in(struct table_store *store, struct entry *entry, uint64_t ms) {
  entry->again_ns = clock_monotonic_ns() + ms * NS_PER_MS;
  if (store->again_ns == 0 || entry->again_ns < store->again_ns) store->again_ns = entry->again_ns;
}

static void note_failure(struct table_store *store, struct entry *entry) {
  unsigned doublings = entry->failures < DOUBLINGS_MAX ? entry->failures : DOUBLINGS_MAX;
  try_again_in(store, entry, (uint64_t)store->limits.again_ms << doublings);
  entry->failures++;
}

/* Keeps FILE, which is READY, if its table fits. */
static bool has_room_for(struct table_store *store, struct table_file *file) {
  uint64_t bytes = file->table->total_bytes;
  if (bytes <= store->limits.mapped_bytes - store->mapped_bytes) {
    store->mapped_bytes += bytes;
    return true;
  }
  table_file_unmap(file);
  file->state = TABLE_FAILED;
  snprintf(file->why, sizeof file->why, "the tables of others leave no room for its own");
  store->is_crowded = true;
  return false;
}

/* Takes over FILE. */
static void settle_take(struct table_store *store, struct entry *entry, struct table_file *file,
                        const char *path) {
  if (file->state == TABLE_READY && has_room_for(store, file)) entry->table = file->table;
  entry->state = file->state;
  store->serial++;
  if (file->state == TABLE_READY && file->why[0] != '\0') {
    memcpy(store->functions_why, file->why, sizeof store->functions_why);
    snprintf(store->functions_path, sizeof store->functions_path, "%s", path);
  }
  if (is_of_the_moment(file->state)) note_failure(store, entry);
  if (file->state == TABLE_READY || file->state == TABLE_NOTHING) return;
  store->last_refused = *file;
  snprintf(store->last_path, sizeof store->last_path, "%s", path);
}

/* Reads the file of ID in the folder, if it is valid. */
static bool read_kept(const struct table_store *store, struct span id, struct table_file *ret) {
  int fd = store->folder != NULL ? table_file_open(store->folder, id) : -ENOENT;
  if (fd < 0) return false;
  int error = table_file_read(fd, id, ret);
  close(fd);
  /* Corrupt, or of another version. Other errors (no memory) are not the file's fault. */
  if (error == -EBADMSG || error == -EPROTO) table_file_remove(store->folder, id);
  return error == 0;
}

static bool take_kept(struct table_store *store, struct entry *entry, const char *path) {
  struct table_file file;
  if (!read_kept(store, span_of(entry->id, entry->id_bytes), &file)) return false;
  settle_take(store, entry, &file, path);
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

/* ENTRY is new, or its result is to be retried. */
static void look_for(struct table_store *store, struct entry *entry,
                     const struct table_wanted *wanted) {
  if (take_kept(store, entry, wanted->path)) return;
  if (enqueue(store, wanted)) {
    entry->state = TABLE_WAITING;
    return;
  }
  store->left_out += entry->state == TABLE_WAITING; /* only if it is new */
  entry->state = TABLE_FAILED;
  try_again_in(store, entry, store->limits.again_ms / QUEUE_SHARE);
}

enum table_state table_store_find(struct table_store *store, const struct table_wanted *wanted,
                                  const struct unwind_table **ret) {
  struct entry *entry = find_entry(store, wanted);
  bool is_new = entry == NULL;
  if (is_new) entry = add_entry(store, wanted);
  if (entry == NULL) return TABLE_FAILED; /* until the next step makes room */
  if (is_new || (is_of_the_moment(entry->state) && clock_monotonic_ns() >= entry->again_ns))
    look_for(store, entry, wanted);
  entry->used = ++store->clock;
  if (entry->state == TABLE_READY) *ret = entry->table;
  return entry->state;
}

static int compare_uses(const void *a, const void *b) {
  uint64_t left = ((const struct entry *)a)->used, right = ((const struct entry *)b)->used;
  return (left > right) - (left < right);
}

/* Evicts the least recently used half. */
static void make_room(struct table_store *store) {
  uint32_t gone = 0;
  qsort(store->entries, store->count, sizeof *store->entries, compare_uses);
  for (uint32_t i = 0; i < store->count; i++) {
    struct entry *entry = &store->entries[i];
    if (gone < store->count / 2 && entry->state != TABLE_WAITING) {
      unmap(store, entry);
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

/* Writes WANTED's result to disk; FILE is then mapped from there. On a full or missing disk the
   table is only made again another day. */
static void keep(const struct table_store *store, const struct table_wanted *wanted,
                 struct table_file *file) {
  struct table_file kept;
  struct table_mark mark = {.state = file->state, .id_bytes = wanted->id_bytes};
  size_t bytes = file->table != NULL ? file->table->total_bytes : 0;
  if (store->folder == NULL || is_of_the_moment(file->state)) return;
  memcpy(mark.id, wanted->id, sizeof mark.id);
  memcpy(mark.why, file->why, sizeof mark.why);
  if (table_file_keep(store->folder, span_of(file->table, bytes), &mark,
                      store->limits.cache_bytes) != 0)
    return;
  if (!read_kept(store, span_of(wanted->id, wanted->id_bytes), &kept)) return;
  table_file_unmap(file);
  *file = kept;
}

static void take_outcome(struct table_store *store) {
  struct table_wanted *wanted = store->queue[0];
  struct table_file file;
  if (!table_job_step(&store->job, span_of(wanted->id, wanted->id_bytes), &file)) return;
  keep(store, wanted, &file);
  struct entry *entry = find_entry(store, wanted);
  store->made += file.state == TABLE_READY;
  if (entry != NULL)
    settle_take(store, entry, &file, wanted->path);
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
  if (entry != NULL) settle_take(store, entry, &file, wanted->path);
  free(wanted);
  store->queued--;
  memmove(store->queue, store->queue + 1, store->queued * sizeof *store->queue);
}

/* Changes the serial when a temporary result may be retried, so that users request it again. */
static void look_for_due(struct table_store *store) {
  uint64_t now = clock_monotonic_ns();
  if (store->again_ns == 0 || now < store->again_ns) return;
  store->serial++;
  store->again_ns = 0;
  for (uint32_t i = 0; i < store->count; i++) {
    const struct entry *entry = &store->entries[i];
    bool is_to_come = is_of_the_moment(entry->state) && entry->again_ns > now;
    if (is_to_come && (store->again_ns == 0 || entry->again_ns < store->again_ns))
      store->again_ns = entry->again_ns;
  }
}

static bool must_make_room(struct table_store *store) {
  if (store->count == TABLE_STORE_TABLES_MAX) return true;
  uint64_t now = clock_monotonic_ns();
  bool is_now = store->is_crowded &&
                (store->crowded_ns == 0 || now - store->crowded_ns >= ROOM_MS * NS_PER_MS);
  if (is_now) store->crowded_ns = now;
  if (is_now) store->is_crowded = false;
  return is_now;
}

void table_store_step(struct table_store *store) {
  if (store->job.child != 0) take_outcome(store);
  if (must_make_room(store)) make_room(store);
  look_for_due(store);
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
  ret->mapped_bytes = store->mapped_bytes;
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
