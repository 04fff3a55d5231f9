/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of each board's architecture. */
#ifndef COLLECTOR_BOARD_ARCH_H
#define COLLECTOR_BOARD_ARCH_H

#include <stddef.h>

struct board_arch;
struct store;

/* Borrows STORE. Returns NULL if memory is out. */
struct board_arch *board_arch_new(struct store *store);
void board_arch_free(struct board_arch *arches);

/* Sets RET to the architecture of BOARD, "" if unknown. CONTEXT is the struct board_arch. Any
   thread. */
void board_arch_find(void *context, const char *board, char *ret, size_t ret_len);

#endif
