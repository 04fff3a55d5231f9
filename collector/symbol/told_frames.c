/* SPDX-License-Identifier: Apache-2.0 */
/* The declaring file distinguishes functions of the same name. Translators return the file of a
   line, which differs where code was included into the function: glibc's vfprintf is declared in
   vfprintf-internal.c and has lines of vfprintf-process-arg.c. So the index's declaration takes
   precedence. */
#include "told_frames.h"

#include "symbol_index.h"

#include <stddef.h>
#include <string.h>

static const struct symbol_frame *find_known(const char *name, const struct symbol_frame *known,
                                             int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(name, known[i].name) == 0 || strcmp(name, symbol_frame_system_name(&known[i])) == 0)
      return &known[i];
  return NULL;
}

void told_frames_declare(struct symbol_frame *told, int count, const struct symbol_frame *known,
                         int known_count) {
  for (int i = 0; i < count; i++) {
    const struct symbol_frame *same = find_known(told[i].name, known, known_count);
    bool is_declared = same != NULL && same->decl_file != NULL;
    told[i].decl_file = is_declared ? same->decl_file : told[i].file;
    told[i].decl_line = is_declared ? same->decl_line : 0;
  }
}
