/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a collector's whole folder and checks it. */
#ifndef BACKUP_CHECK_H
#define BACKUP_CHECK_H

#include <stdint.h>

struct check_place {    /* progress */
  uint64_t bytes;       /* of the next file */
  uint64_t done, total; /* of all files; TOTAL as at the beginning */
};

struct check_wish {
  const char *dir;
  /* Called before each file. Returns 0, or an error to stop with. */
  int (*on_file)(void *context, const char *name, const struct check_place *place);
  void (*on_fault)(void *context, const char *name, const char *why);
  void (*on_misdated)(void *context, const char *name); /* NULL: only counts them */
  void *context;
};

struct check_report {
  uint64_t files, faults, set_aside; /* quarantined earlier, by their names */
  uint64_t misdated;                 /* of impossible days: valid, and passed to on_misdated */
};

/* Checks DIR without changing it; its collector may run. Returns 0, whatever the findings, or
   -errno if DIR cannot be read (-EINTR: from on_file). Single-threaded: no other thread of this
   process may use the store. */
int check_folder(const struct check_wish *wish, struct check_report *ret);

#endif
