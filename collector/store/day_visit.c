/* SPDX-License-Identifier: Apache-2.0 */
/* A day's files are opened from the coarsest to the finest, one after the other. Windows summed
   up in between are still in the finer file, after the id that the coarser one records; windows
   that arrived in between are read there.

   No file is renamed or deleted during the walk. A damaged one is noted and set aside after it;
   the other days are served. */
#include "day_visit.h"

#include "day_folder.h"
#include "day_pool.h"
#include "day_reader.h"
#include "faults.h"
#include "landing.h"
#include "settle.h"
#include "store_state.h"

#include "common/cutoff.h"

#include <errno.h>
#include <stdlib.h>

void day_damage_add(struct day_damage *damage, uint32_t day, enum day_kind kind) {
  if (damage->count < sizeof damage->files / sizeof damage->files[0])
    damage->files[damage->count++] = (struct damaged_file){day, kind};
}

/* Opens DAY's file of KIND, if there is one. */
static int open_file(struct store *store, uint32_t day, enum day_kind kind,
                     struct day_files *files) {
  char path[DAY_PATH_BYTES];
  files->failed = kind;
  int error = day_folder_path(store->dir, kind, day, path);
  if (error == 0)
    error = day_pool_take(settle_pool(store->settle), &(struct day_pool_key){day, kind}, path,
                          &files->readers[kind]);
  return error == -ENOENT ? 0 : error;
}

static int read_state(struct day_files *files, uint32_t day) {
  struct tier_rolled *const rolled[DAY_KINDS] = {
      [DAY_MINUTES] = &files->state.minutes, [DAY_HOURS] = &files->state.hours};
  int error = 0;
  files->state.day_ms = (uint64_t)day * DAY_MS;
  files->failed = DAY_WINDOWS;
  if (files->readers[DAY_WINDOWS] != NULL)
    error = day_reader_windows(files->readers[DAY_WINDOWS], &files->state.windows);
  for (unsigned kind = DAY_MINUTES; kind < DAY_KINDS && error == 0; kind++) {
    if (files->readers[kind] == NULL) continue;
    files->failed = kind;
    error = day_reader_rolled(files->readers[kind], day, files->state.windows.source, rolled[kind]);
  }
  return error;
}

static int visit(struct store *store, uint32_t day, struct day_visitor *visitor) {
  struct day_files *files = calloc(1, sizeof *files);
  int error = files != NULL ? 0 : -ENOMEM;
  for (unsigned kind = DAY_KINDS; kind-- > 0 && error == 0;)
    error = open_file(store, day, kind, files);
  if (error == 0) error = read_state(files, day);
  if (error == 0) error = visitor->on_day(visitor->context, day, files);
  for (unsigned kind = 0; kind < DAY_KINDS && files != NULL; kind++)
    if (error == -EUCLEAN)
      day_reader_close(files->readers[kind]);
    else
      day_pool_give(settle_pool(store->settle), &(struct day_pool_key){day, kind},
                    files->readers[kind]);
  if (error == -EUCLEAN) {
    day_damage_add(&visitor->damage, day, files->failed);
    error = 0;
  }
  free(files);
  return error;
}

static int visit_all(struct store *store, const uint64_t range_ms[2], struct day_visitor *visitor) {
  uint32_t *days = NULL;
  size_t count = 0;
  int error = day_folder_list(store->dir, DAY_KINDS, &days, &count);
  for (size_t i = 0; i < count && error == 0; i++) {
    if (days[i] < day_of(range_ms[0]) || days[i] > day_of(range_ms[1] - 1)) continue;
    error = cutoff_is_past(visitor->cutoff) ? -ETIMEDOUT : visit(store, days[i], visitor);
  }
  free(days);
  int ended = visitor->on_end != NULL ? visitor->on_end(visitor->context, error) : 0;
  return error != 0 ? error : ended;
}

/* Whether ERROR, of appending or settling, is an error of the disk, which may last. */
static bool is_disk_fault(int error) {
  return error == -EIO || error == -ENOSPC || error == -EROFS || error == -EDQUOT ||
         error == -EBUSY || error == -EACCES || error == -EPERM || error == -ESTALE ||
         error == -EUCLEAN;
}

static void count(_Atomic uint64_t *reads) {
  atomic_fetch_add_explicit(reads, 1, memory_order_relaxed);
}

/* Waits until all appended rows have settled. While the disk fails, or the backlog exceeds a
   reader's wait, the read goes on without them. */
static int wait_for_all(struct store *store, const struct cutoff *cutoff) {
  struct landing_figures landed;
  landing_figures(store->landing, &landed);
  int error = settle_wait(store->settle, landed.newest_id, cutoff);
  if (cutoff_is_past(cutoff)) return -ETIMEDOUT;
  if (error == 0 && is_disk_fault(landed.append_error)) error = landed.append_error;
  if (error == 0 || (error != -ETIMEDOUT && !is_disk_fault(error))) return error;
  count(&store->stale_reads);
  if (error == -ETIMEDOUT) count(&store->late_reads);
  if (error == -ENOSPC || error == -EDQUOT) count(&store->full_reads);
  return 0;
}

int day_visit(struct store *store, const uint64_t range_ms[2], struct day_visitor *visitor) {
  if (range_ms[1] <= range_ms[0]) return 0;
  int error = visitor->is_of_settled ? 0 : wait_for_all(store, visitor->cutoff);
  if (error != 0) return error;
  if (faults_touch(store->landing, day_of(range_ms[0]), day_of(range_ms[1] - 1)))
    count(&store->incomplete_reads);
  error = settle_lock_files(store->settle, visitor->cutoff);
  if (error != 0) return error;
  error = visit_all(store, range_ms, visitor);
  settle_unlock_files(store->settle);
  for (unsigned i = 0; i < visitor->damage.count; i++)
    settle_set_aside_day(store->settle, visitor->damage.files[i].kind,
                         visitor->damage.files[i].day);
  return error;
}
