/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that this process uses, and may use. */
#ifndef INGEST_MEMORY_USE_H
#define INGEST_MEMORY_USE_H

#include <stdint.h>

/* Returns this process's anonymous memory (RssAnon) in bytes, or 0 if unknown. */
uint64_t memory_use_bytes(void);

/* Returns four fifths of the machine's memory or the control group's limit, whichever is less; 0 if
   both are unknown. */
uint64_t memory_use_allowed(void);

#endif
