/* SPDX-License-Identifier: Apache-2.0 */
/* The calls by which a spool changes its disk, in the test's hands: the nth may fail, and all can
   be written down, so that what a power cut at any moment leaves can be made from it.  Only what
   lies on the watched folder's file system counts: memory stays memory.  A test that uses none of
   it has the real calls. */
#ifndef TESTS_DISK_FIXTURE_H
#define TESTS_DISK_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

/* From now on call NTH (from 1; 0: none) on the file system of DIR fails with ERROR, and with
   IS_LASTING every one after it, until disk_heal. */
void disk_fail(const char *dir, unsigned nth, int error, bool is_lasting);
/* From now on, until disk_heal, the files of DIR together get no larger than BYTES: others have the
   rest of the disk. */
void disk_fill(const char *dir, uint64_t bytes);
void disk_heal(void);
unsigned disk_calls(void); /* so many came by since disk_fail */

/* Writes down what is done to the files of DIR from now on; what is there counts as synced.  Syncs
   are noted and not done. */
void disk_record(const char *dir);
void disk_stop(void);
unsigned disk_steps(void); /* written down so far */

enum disk_cut {
  CUT_KEEPS_NOTHING, /* that was not synced */
  CUT_KEEPS_ALL,     /* as kill -9 does */
  CUT_IS_RANDOM,     /* from here on: each unsynced step is there, or not, or torn; by this seed */
};

/* Makes DIR what a power cut after the first STEPS of them may have left. */
void disk_cut(const char *dir, unsigned steps, unsigned cut);

#endif
