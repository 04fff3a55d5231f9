/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers texts in the order of their first use. */
#ifndef VIEW_TEXT_IDS_H
#define VIEW_TEXT_IDS_H

#include "common/table.h"

#include <stdbool.h>

/* All-zero is empty.  Texts are borrowed. */
struct text_ids {
  struct table by_hash;
  const char **texts;
  uint32_t count, room;
  bool failed; /* memory was short; every later result is 0 */
};

/* Returns the number of TEXT, from 0. RET_IS_NEW (may be NULL): whether the number is new. */
uint32_t text_ids_of(struct text_ids *ids, const char *text, bool *ret_is_new);
void text_ids_fini(struct text_ids *ids);

#endif
