/* SPDX-License-Identifier: Apache-2.0 */
/* The calls by which a spool changes its disk, under the test's control. The nth may fail, and all
   can be recorded, to construct the state after a power cut at any moment. Only calls on the
   watched folder's file system count. A test that uses none of this has the real calls. */
#ifndef TESTS_DISK_FIXTURE_H
#define TESTS_DISK_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

/* From now on call NTH (from 1; 0: none) on the file system of DIR fails with ERROR, and with
   IS_LASTING every later call too, until disk_heal. */
void disk_fail(const char *dir, unsigned nth, int error, bool is_lasting);
/* From now on, until disk_heal, the files of DIR together get no larger than BYTES: others have the
   rest of the disk. */
void disk_fill(const char *dir, uint64_t bytes);
void disk_heal(void);
unsigned disk_calls(void); /* calls since disk_fail */

/* Records changes of the files of DIR from now on; existing content counts as synced. Syncs are
   recorded but not done. */
void disk_record(const char *dir);
void disk_stop(void);
unsigned disk_steps(void); /* written down so far */

enum disk_cut {
  CUT_KEEPS_NOTHING, /* that was not synced */
  CUT_KEEPS_ALL,     /* as kill -9 does */
  CUT_IS_RANDOM,     /* from here on: each unsynced step is there, or not, or torn; by this seed */
};

/* Makes DIR a possible state after a power cut following the first STEPS steps. */
void disk_cut(const char *dir, unsigned steps, unsigned cut);

#endif
