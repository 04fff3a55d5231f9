/* SPDX-License-Identifier: Apache-2.0 */
/* Handling of a DIR/access.db that is not the newest copy (access_marks.h), and of the authority by
 * the roots that it records. */
#ifndef IDENTITY_ACCESS_LOSS_H
#define IDENTITY_ACCESS_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access;

/* Accepts DIR's database as the newest, whatever its state. A missing, empty or damaged one is
   created anew; the damaged file is kept as access.db.corrupt. Returns 0 or -errno, with one line
   in ERROR. No process may have it open. */
int access_accept(const char *dir, char *error, size_t error_len);

/* Checks the authority's roots (certificate_id). FIRST must be recorded, unless no root is recorded
   yet; NEXT (0: none) is recorded from then on. With FIRST 0: only whether any is recorded. If
   ACCEPTS, the roots are recorded as they are. Returns 0; 1 with FIRST 0 if one is recorded; -EXDEV
   if FIRST is another collector's; or -errno. Any thread. */
int access_check_roots(struct access *access, uint64_t first, uint64_t next, bool accepts);

/* Calls ON_FAULT for each fault that prevents a collector from starting on DIR: access.db or the
   root certificate missing, older, or another collector's. Changes nothing. */
void access_check_marks(const char *dir,
                        void (*on_fault)(void *context, const char *name, const char *why),
                        void *context);

/* Returns why all access is denied since the file was changed during operation; NULL: no fault. Any
   thread. */
const char *access_fault(struct access *access);

#endif
