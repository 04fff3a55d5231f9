/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a collector's folder, by listing it. */
#ifndef BACKUP_FOLDER_WALK_H
#define BACKUP_FOLDER_WALK_H

#include <limits.h>
#include <stdint.h>

enum folder_kind {
  FOLDER_DATABASE, /* SQLite's; read it only through SQLite */
  FOLDER_FILE,     /* any other file that is kept */
  FOLDER_PASSING,  /* lock, WAL, incomplete file, or set aside: not kept */
  FOLDER_STRANGE,  /* a link or a device: not a collector's file */
};

/* This file exists until a restore into the folder is complete. */
#define FOLDER_RESTORING "restoring"

struct folder_entry {
  enum folder_kind kind;
  const char *name; /* relative to the root of the walk */
  const char *path;
  uint64_t bytes;
};

/* Returns the kind of a regular file NAME (its last part, or more of its path). */
enum folder_kind folder_kind_of(const char *name);

/* Calls ON_ENTRY for each file of DIR and its subfolders, in no order, until it returns other than
   0. Returns that, -ELOOP if folders are nested too deep, or -errno. */
int folder_walk(const char *dir, int (*on_entry)(void *context, const struct folder_entry *entry),
                void *context);

/* Sets mode 0600 for each file of DIR and its subfolders, including incomplete ones. Failures are
   ignored. Returns how many files were changed. */
unsigned folder_make_private(const char *dir);

#endif
