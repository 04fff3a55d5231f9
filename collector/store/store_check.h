/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the files of a store belong together, for programs other than its collector. */
#ifndef STORE_STORE_CHECK_H
#define STORE_STORE_CHECK_H

#include <stddef.h>

/* Checks DIR, with or without a running collector, for missing files, older copies and another
   collector's files, and for losses reported earlier. Calls ON_FAULT for each. Changes nothing.
   Does not report damaged files, which their readers detect. Returns 0 or -errno. */
int store_check_marks(const char *dir,
                      void (*on_fault)(void *context, const char *name, const char *why),
                      void *context);

/* Accepts the present files of DIR: losses so far are no longer reported. Calls ON_FAULT for each
   of them. No collector may run on DIR. Returns 0, or -errno with one line in ERROR. */
int store_accept_loss(const char *dir,
                      void (*on_fault)(void *context, const char *name, const char *why),
                      void *context, char *error, size_t error_len);

#endif
