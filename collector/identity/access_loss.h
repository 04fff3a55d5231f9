/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the rights in DIR/access.db, and of the authority whose roots it knows, when they
   are not the newest that there were (access_marks.h). */
#ifndef IDENTITY_ACCESS_LOSS_H
#define IDENTITY_ACCESS_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access;

/* Takes DIR's database as the newest, whatever it is; a missing, empty or damaged one is begun
   anew, the damaged one being set aside as access.db.corrupt.  Returns 0 or -errno, with one line
   in ERROR.  Nobody may have it open. */
int access_accept(const char *dir, char *error, size_t error_len);

/* Whether the authority's roots (certificate_id) are those that were here: FIRST must be known, or
   none at all yet; NEXT (0: none) is known from then on.  With FIRST 0: only whether any is known.
   Where ACCEPTS, what there is is taken.  Returns 0; 1 with FIRST 0 when one is known; -EXDEV when
   FIRST is another's; or -errno.  Any thread. */
int access_check_roots(struct access *access, uint64_t first, uint64_t next, bool accepts);

/* Calls ON_FAULT for what keeps a collector on DIR from starting: access.db or the root certificate
   gone, older, or another's.  Changes nothing. */
void access_check_marks(const char *dir,
                        void (*on_fault)(void *context, const char *name, const char *why),
                        void *context);

/* Why nobody may be let in since the file was changed under us; NULL: nothing is wrong.  Any
   thread. */
const char *access_fault(struct access *access);

#endif
