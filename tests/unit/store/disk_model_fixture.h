/* SPDX-License-Identifier: Apache-2.0 */
/* A disk under SQLite that records all operations, can lose power at any moment of the record, and
   can fail. It wraps SQLite's own files (a VFS); nothing is really flushed. */
#ifndef TESTS_DISK_MODEL_FIXTURE_H
#define TESTS_DISK_MODEL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

/* Uses the disk for every database that is opened from now on. */
void disk_install(void);

/* ---- recording ---- */

/* Clears the record and starts recording changes in DIR, whose present files count as durable. */
void disk_record(const char *dir);
/* Ends recording. Returns the number of operations. */
size_t disk_stop(void);

/* Notes that PATH was deleted by other means than SQLite's. */
void disk_unlinked(const char *path);

/* Records a promise at this moment: from now on VALUE is the promise. */
void disk_promise(uint64_t value);

enum disk_cut {
  DISK_LOSES_ALL,  /* nothing that was not flushed is on the disk */
  DISK_KEEPS_ALL,  /* everything is, as if only the process had died */
  DISK_KEEPS_SOME, /* any part of it is, sector by sector, in any order */
  DISK_CUTS
};

/* Fills DIR (empty) with the disk's content if the power fails before operation number AT. SEED
   selects the parts that DISK_KEEPS_SOME keeps. Returns the promise of that moment. */
uint64_t disk_cut(size_t at, enum disk_cut cut, unsigned seed, const char *dir);

/* ---- failing ---- */

/* COUNT writes or flushes, starting with the N-th from now on (1: the next), fail with CODE
   (SQLITE_FULL, SQLITE_IOERR_WRITE...); 0: none. Replaces earlier settings. */
void disk_fail(unsigned n, unsigned count, int code);
/* All writes and flushes of files whose names begin with PREFIX fail with CODE; NULL: none. */
void disk_fail_in(const char *prefix, int code);
/* The errno of these failures, for codes with several causes (EDQUOT...); 0: none. */
void disk_fail_by(int cause);
/* Writes and flushes of these files wait until this is called again; NULL: none. */
void disk_hold_in(const char *prefix);
/* Waits until one of them waits. */
void disk_await_held(void);
/* Whether all requested failures have happened. */
int disk_has_failed(void);

#endif
