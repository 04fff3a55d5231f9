/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the files of a store are those that know each other, for whoever does not run it. */
#ifndef STORE_STORE_CHECK_H
#define STORE_STORE_CHECK_H

#include <stddef.h>

/* Looks through DIR, beside its collector or without one, for files that are gone, older than
   another knows them, or another collector's, and for what was lost earlier; calls ON_FAULT for
   each.  Changes nothing; damaged files are left to who reads them.  Returns 0 or -errno. */
int store_check_marks(const char *dir,
                      void (*on_fault)(void *context, const char *name, const char *why),
                      void *context);

/* Takes the files of DIR as they are: losses up to now are no longer reported.  Calls ON_FAULT for
   each of these.  No collector may run on DIR.  Returns 0 or -errno, with one line in ERROR. */
int store_accept_loss(const char *dir,
                      void (*on_fault)(void *context, const char *name, const char *why),
                      void *context, char *error, size_t error_len);

#endif
