/* SPDX-License-Identifier: Apache-2.0 */
/* The arch of each board, remembered. */
#ifndef COLLECTOR_BOARD_ARCH_H
#define COLLECTOR_BOARD_ARCH_H

#include <stddef.h>

struct board_arch;
struct store;

/* Borrows STORE.  Returns NULL without memory. */
struct board_arch *board_arch_new(struct store *store);
void board_arch_free(struct board_arch *arches);

/* Tells the arch of BOARD (CONTEXT is the struct board_arch), "" when it is not known.  Any thread.
 */
void board_arch_find(void *context, const char *board, char *ret, size_t ret_len);

#endif
