/* SPDX-License-Identifier: Apache-2.0 */
/* The revoked boards, read from the database a few seconds ago. Safe to query on the loop and
   inside a TLS handshake. */
#ifndef INGEST_REVOCATIONS_H
#define INGEST_REVOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct access;
struct revocations;

/* Reads the list. Returns 0, -EOVERFLOW if it exceeds the limit, or -errno. Blocks: not on the
   loop. */
int revocations_read(struct access *access, struct revocations **ret);
void revocations_free(struct revocations *revocations);

/* Return whether BOARD is in the list, and since when (seconds since 1970; 0 if it is not). A NULL
   list is empty. */
bool revocations_has(const struct revocations *revocations, const char *board);
int64_t revocations_since_s(const struct revocations *revocations, const char *board);

/* Calls TELL with each board that is in NEW and not in OLD. */
void revocations_each_new(const struct revocations *old, const struct revocations *new,
                          void (*tell)(void *context, const char *board), void *context);

#endif
