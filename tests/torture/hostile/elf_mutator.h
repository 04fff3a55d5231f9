/* SPDX-License-Identifier: Apache-2.0 */
/* Spoils ELF files where it hurts: headers, notes, symbol tables, DWARF; the same seed spoils
 * alike. */
#ifndef TORTURE_ELF_MUTATOR_H
#define TORTURE_ELF_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

enum { MUTATOR_GROWTH_BYTES = 4096 }; /* that a file may become longer */

/* Spoils the LEN bytes of FILE, which has MUTATOR_GROWTH_BYTES of room behind them, by SEED.
   Returns the new length, which is 1 at least. */
size_t elf_mutator_spoil(uint8_t *file, size_t len, uint64_t seed);

#endif
