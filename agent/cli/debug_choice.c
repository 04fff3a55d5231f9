/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_choice.h"

#include "complaint.h"
#include "elf/debug_folders.h"

#include <string.h>

_Static_assert((int)DEBUG_FOLDERS_MAX >= (int)OPTION_LIST_MAX, "room for all that can be given");

int debug_choice_open(const char *command, const struct option_list *list,
                      struct debug_folders **ret) {
  const char *bad = "";
  int error = debug_folders_open(list->values, list->count, ret, &bad);
  if (error != 0) complaint("%s: --debug: %.500s: %s", command, bad, strerror(-error));
  return error != 0 ? 1 : 0;
}

void debug_choice_tell(const char *command, const struct debug_folders *folders) {
  if (debug_folders_is_cut(folders))
    complaint("%s: --debug: more than %d files: the rest was not looked at", command,
              DEBUG_FOLDERS_FILES_MAX);
}
