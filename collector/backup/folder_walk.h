/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a collector's folder, by the folder's own list. */
#ifndef BACKUP_FOLDER_WALK_H
#define BACKUP_FOLDER_WALK_H

#include <limits.h>
#include <stdint.h>

enum folder_kind {
  FOLDER_DATABASE, /* SQLite's, to be read through SQLite only */
  FOLDER_FILE,     /* any other that is kept */
  FOLDER_PASSING,  /* lock, WAL, something half made, something set aside: not kept */
  FOLDER_STRANGE,  /* a link, a device: not ours */
};

/* A file that is there while a restore into the folder has not ended. */
#define FOLDER_RESTORING "restoring"

struct folder_entry {
  enum folder_kind kind;
  const char *name; /* relative to the folder walked */
  const char *path;
  uint64_t bytes;
};

/* Kind of a regular file called NAME (its last part, or more of it). */
enum folder_kind folder_kind_of(const char *name);

/* Calls ON_ENTRY for each file of DIR and of the folders in it, in no order, until it returns other
   than 0.  Returns that, -ELOOP when folders are nested too deep, or -errno. */
int folder_walk(const char *dir, int (*on_entry)(void *context, const struct folder_entry *entry),
                void *context);

/* Gives each file of DIR and of the folders in it mode 0600, the half made ones, too.  What cannot
   be changed stays.  Returns how many had another. */
unsigned folder_make_private(const char *dir);

#endif
