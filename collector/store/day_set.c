/* SPDX-License-Identifier: Apache-2.0 */
/* Almost every batch settles into today's file, some into yesterday's around midnight. A board that
   returns after weeks fills old days one after the other. Four open files serve all of these;
   opening another takes less than a millisecond.

   A file with a failed operation is closed rather than repaired: closing rolls back, and discards
   what was cached. */
#include "day_set.h"

#include "day_file.h"
#include "day_folder.h"

#include <errno.h>

static void close_slot(struct day_set *set, struct day_slot *slot) {
  if (slot->file == NULL) return;
  set->collisions += day_file_collisions(slot->file);
  set->cut += day_file_cut(slot->file);
  day_file_close(slot->file);
  *slot = (struct day_slot){0};
}

static struct day_slot *find(struct day_set *set, uint32_t day) {
  for (unsigned i = 0; i < DAY_SET_MAX; i++)
    if (set->slots[i].file != NULL && set->slots[i].day == day) return &set->slots[i];
  return NULL;
}

static struct day_slot *longest_unused(struct day_set *set) {
  struct day_slot *oldest = &set->slots[0];
  for (unsigned i = 0; i < DAY_SET_MAX; i++)
    if (set->slots[i].used < oldest->used) oldest = &set->slots[i]; /* free slots have 0 */
  return oldest;
}

/* Returns -ESTALE if the file was deleted or replaced before or during the commit. Then the caller
   must open it again and repeat what went into it. */
static int commit(struct day_set *set, struct day_slot *slot) {
  char path[DAY_PATH_BYTES];
  if (slot->file == NULL) return 0;
  int error = day_folder_path(set->dir, DAY_WINDOWS, slot->day, path);
  if (error == 0 && !day_file_is_at(slot->file, path)) error = -ESTALE;
  if (error == 0) error = day_file_commit(slot->file);
  if (error == 0 && !day_file_is_at(slot->file, path)) error = -ESTALE;
  if (error != 0) set->failed_day = slot->day;
  return error;
}

int day_set_get(struct day_set *set, uint32_t day, struct day_file **ret) {
  char path[DAY_PATH_BYTES];
  struct day_slot *slot = find(set, day);
  if (slot == NULL) {
    struct day_file *file = NULL;
    slot = longest_unused(set);
    int error = commit(set, slot);
    if (error != 0) return error;
    set->failed_day = day;
    error = day_folder_path(set->dir, DAY_WINDOWS, day, path);
    if (error == 0 && set->admit != NULL) error = set->admit(set->context, day);
    if (error == 0) error = day_file_open(path, set->key, set->epoch, &file);
    if (error != 0) return error;
    close_slot(set, slot);
    slot->file = file;
    slot->day = day;
  }
  slot->used = ++set->clock;
  *ret = slot->file;
  return 0;
}

int day_set_commit(struct day_set *set) {
  int error = 0;
  for (unsigned i = 0; i < DAY_SET_MAX && error == 0; i++) error = commit(set, &set->slots[i]);
  return error;
}

void day_set_forget(struct day_set *set, uint32_t day) {
  struct day_slot *slot = find(set, day);
  if (slot != NULL) close_slot(set, slot);
}

void day_set_forget_all(struct day_set *set) {
  for (unsigned i = 0; i < DAY_SET_MAX; i++) close_slot(set, &set->slots[i]);
}
