/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts rows by node, without I/O. */
#ifndef STORE_ROW_SORT_H
#define STORE_ROW_SORT_H

#include "store_read.h"

/* Sorts ROWS by node, and those of one node by the weight of one record. SPARE has room for
   COUNT. */
void row_sort(struct store_row *rows, struct store_row *spare, size_t count);

#endif
