/* SPDX-License-Identifier: Apache-2.0 */
/* A board's identity on disk, which is replaced atomically. */
#ifndef CREDENTIALS_CREDENTIAL_FILES_H
#define CREDENTIALS_CREDENTIAL_FILES_H

#include "common/span.h"

struct credential_files {
  struct span key, certificate, ca; /* PEM */
  struct span collector;            /* HOST:PORT and a newline */
};

/* Creates STATE (0700, with its parents) if it is missing, and checks that it is writable.  Returns
   0 or -errno. */
int credential_files_prepare(const char *state);

/* Stores FILES in STATE as board.key, board.pem, ca.pem and collector.  Returns 0, -EBUSY if
   another enrolment is active, or -errno: then the earlier files are unchanged. */
int credential_files_install(const char *state, const struct credential_files *files);

#endif
