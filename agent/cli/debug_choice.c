/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_choice.h"

#include "complaint.h"
#include "elf/debug_folders.h"

#include <string.h>

_Static_assert((int)DEBUG_FOLDERS_MAX >= (int)OPTION_LIST_MAX, "room for all that can be given");

void debug_choice_pass_over(const char *command, int argc, char *const argv[],
                            struct option_list *list) {
  unsigned kept = 0;
  for (unsigned i = 0; i < list->count; i++) {
    const char *value = list->values[i];
    if (value[0] == '/' || options_is_on_line(argc, argv, value))
      list->values[kept++] = value;
    else
      complaint("%s: FLEETPROF_DEBUG (or `debug =` in a configuration file) is '%.200s', which is "
                "no path from / of a folder with debug files: passed over",
                command, value);
  }
  list->count = kept;
}

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
