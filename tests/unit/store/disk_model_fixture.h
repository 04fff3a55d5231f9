/* SPDX-License-Identifier: Apache-2.0 */
/* A disk under SQLite that remembers what was done to it, can be cut from its power at any moment
   of that, and can fail.  It stands before SQLite's own files (a VFS); nothing is really flushed.
 */
#ifndef TESTS_DISK_MODEL_FIXTURE_H
#define TESTS_DISK_MODEL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

/* Puts the disk before every database that is opened from now on. */
void disk_install(void);

/* ---- remembering ---- */

/* Forgets all and begins to remember what happens in DIR, whose files are durable as they are. */
void disk_record(const char *dir);
/* Ends remembering.  Returns how many things happened. */
size_t disk_stop(void);

/* Notes that PATH was deleted by other means than SQLite's. */
void disk_unlinked(const char *path);

/* Notes that something was promised at this moment: from here on VALUE is the promise. */
void disk_promise(uint64_t value);

enum disk_cut {
  DISK_LOSES_ALL,  /* nothing that was not flushed has arrived */
  DISK_KEEPS_ALL,  /* all has, as if only the process had died */
  DISK_KEEPS_SOME, /* any part of it, sector by sector, in any order */
  DISK_CUTS
};

/* Makes DIR (empty) what the disk holds when the power goes before thing number AT.  SEED says what
   DISK_KEEPS_SOME keeps.  Returns the promise of that moment. */
uint64_t disk_cut(size_t at, enum disk_cut cut, unsigned seed, const char *dir);

/* ---- failing ---- */

/* From the N-th write or flush from now on (1: the next), COUNT of them fail with CODE
   (SQLITE_FULL, SQLITE_IOERR_WRITE...); 0 none.  Returns nothing that was left of an earlier one.
 */
void disk_fail(unsigned n, unsigned count, int code);
/* All writes and flushes of files whose names begin with PREFIX fail with CODE; NULL: none. */
void disk_fail_in(const char *prefix, int code);
/* What the system says of that, for the codes that leave it open (EDQUOT...); 0: nothing. */
void disk_fail_by(int cause);
/* They wait, until this is called again; NULL: none. */
void disk_hold_in(const char *prefix);
/* Whether all that were to fail have. */
int disk_has_failed(void);

#endif
