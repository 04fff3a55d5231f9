/* SPDX-License-Identifier: Apache-2.0 */
/* The file that `run --output` writes. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include "paths.h"

#include <stdbool.h>
#include <stddef.h>

struct output_file {
  struct path path; /* absolute */
  int fd;           /* holds the lock that keeps a second run away; closed with this process */
  bool has_old;     /* an earlier profile was moved to PATH.old */
};

/* Makes GIVEN an empty file, keeping an earlier profile under its name with ".old".  Returns 0, or
   -errno with WHY naming the file: it cannot be written, another run writes it, or it (or what
   stands under the other name) holds something else than a profile. */
int output_file_prepare(const char *given, struct output_file *ret, char *why, size_t why_len);

/* Takes that back: nothing came to be sampled. */
void output_file_withdraw(const struct output_file *file);

#endif
