/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4: a keyed 64-bit hash. Collisions cannot be constructed without the key. */
#ifndef STORE_SIPHASH_H
#define STORE_SIPHASH_H

#include "common/span.h"

enum { SIPHASH_KEY_BYTES = 16 };

/* Any thread. */
uint64_t siphash(const uint8_t key[SIPHASH_KEY_BYTES], struct span bytes);

#endif
