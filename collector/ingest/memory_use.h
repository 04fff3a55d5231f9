/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process has, and may have. */
#ifndef INGEST_MEMORY_USE_H
#define INGEST_MEMORY_USE_H

#include <stdint.h>

/* What is this process's own (RssAnon), or 0 when the kernel does not tell. */
uint64_t memory_use_bytes(void);

/* Four fifths of what the machine has or its control group may have, the less of them; 0 when
   nobody tells. */
uint64_t memory_use_allowed(void);

#endif
