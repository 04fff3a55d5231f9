/* SPDX-License-Identifier: Apache-2.0 */
/* A stalled worker is no evidence against its file: the whole machine may be stalled. But an
   attacker in a compromised worker can stall it too, and each retry delays other files by a
   deadline. So a file has a limited number of tries. */
#include "stall_list.h"

#include <string.h>

static int find(const struct stall_list *list, struct span key) {
  if (key.len != STALL_LIST_KEY_BYTES) return -1;
  for (int i = 0; i < STALL_LIST_FILES_MAX; i++)
    if (list->files[i].count > 0 && memcmp(list->files[i].key, key.data, key.len) == 0) return i;
  return -1;
}

void stall_list_add(struct stall_list *list, struct span key) {
  if (key.len != STALL_LIST_KEY_BYTES) return;
  int at = find(list, key);
  if (at < 0) {
    at = (int)list->next;
    list->next = (list->next + 1) % STALL_LIST_FILES_MAX;
    memcpy(list->files[at].key, key.data, key.len);
    list->files[at].count = 0;
  }
  list->files[at].count++;
}

bool stall_list_is_hopeless(const struct stall_list *list, struct span key) {
  int at = find(list, key);
  return at >= 0 && list->files[at].count >= STALL_LIST_TRIES_MAX;
}
