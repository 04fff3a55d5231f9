/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a collector's folder through, to the last byte. */
#ifndef BACKUP_CHECK_H
#define BACKUP_CHECK_H

#include <stdint.h>

struct check_place {    /* how far it is */
  uint64_t bytes;       /* of the file that comes next */
  uint64_t done, total; /* of all files; TOTAL as it was in the beginning */
};

struct check_wish {
  const char *dir;
  /* Told before each file.  Returns 0, or what to fail with. */
  int (*on_file)(void *context, const char *name, const struct check_place *place);
  void (*on_fault)(void *context, const char *name, const char *why);
  void (*on_misdated)(void *context, const char *name); /* NULL: counted alone */
  void *context;
};

struct check_report {
  uint64_t files, faults, set_aside; /* set aside earlier: named like that */
  uint64_t misdated;                 /* of days that cannot be: sound, and on_misdated was told */
};

/* Checks DIR, beside its collector or without one, and changes nothing.  Returns 0, whatever was
   found, or -errno when it cannot be looked at (-EINTR: on_file said so).  One thread: nothing else
   may use the store in this process. */
int check_folder(const struct check_wish *wish, struct check_report *ret);

#endif
