/* SPDX-License-Identifier: Apache-2.0 */
/* wide.h, which has the contracts, on CPUs with only 32-bit atomic access. On other CPUs for the
   tests. */
#ifndef RING_WIDE_HALVES_H
#define RING_WIDE_HALVES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t wide_halves_load(const _Atomic uint64_t *word);
uint64_t wide_halves_near(const _Atomic uint64_t *word, uint64_t near);
void wide_halves_store(_Atomic uint64_t *word, uint64_t value);
void wide_halves_clear(_Atomic uint64_t *word);
void wide_halves_add(_Atomic uint64_t *word, uint64_t more);
bool wide_halves_swap(_Atomic uint64_t *word, uint64_t from, uint64_t to);

#endif
