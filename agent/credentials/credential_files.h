/* SPDX-License-Identifier: Apache-2.0 */
/* A board's identity on disk, replaced as a whole or not at all. */
#ifndef CREDENTIALS_CREDENTIAL_FILES_H
#define CREDENTIALS_CREDENTIAL_FILES_H

#include "common/span.h"

struct credential_files {
  struct span key, certificate, ca; /* PEM */
  struct span collector;            /* HOST:PORT and a newline */
};

/* Makes STATE (0700, parents too) where it is missing, and tries whether it can be written.
   Returns 0 or -errno. */
int credential_files_prepare(const char *state);

/* Puts FILES into STATE as board.key, board.pem, ca.pem and collector.  Returns 0, -EBUSY when
   another enrolment is at it, or -errno: then what was there before is untouched. */
int credential_files_install(const char *state, const struct credential_files *files);

#endif
