/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the file that `run --output` writes. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include "paths.h"

#include <stdbool.h>
#include <stddef.h>

struct output_file {
  struct path path; /* absolute */
  int fd;           /* holds the lock against a second run; closed when this process ends */
  bool has_old;     /* an earlier profile was moved to PATH.old */
};

/* Creates GIVEN as an empty file, and renames an earlier profile to its name plus ".old".  Returns
   0, or -errno with WHY naming the file.  It fails if the file cannot be written, is written by
   another run, or if either file is not a profile. */
int output_file_prepare(const char *given, struct output_file *ret, char *why, size_t why_len);

/* Undoes output_file_prepare: nothing was sampled. */
void output_file_withdraw(const struct output_file *file);

#endif
