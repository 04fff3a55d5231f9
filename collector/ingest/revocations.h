/* SPDX-License-Identifier: Apache-2.0 */
/* The revoked boards, as read from the database a few seconds ago: what may be asked on the loop
   and inside a TLS handshake. */
#ifndef INGEST_REVOCATIONS_H
#define INGEST_REVOCATIONS_H

#include <stdbool.h>

struct access;
struct revocations;

/* Reads the list.  Returns 0, -EOVERFLOW when it is longer than we hold, or -errno.  Blocks: not on
   the loop. */
int revocations_read(struct access *access, struct revocations **ret);
void revocations_free(struct revocations *revocations);

/* Returns whether BOARD is in the list; an absent list (NULL) holds nobody. */
bool revocations_has(const struct revocations *revocations, const char *board);

#endif
