/* SPDX-License-Identifier: Apache-2.0 */
/* A frame's name depends on who asks: a debug file that one board sent names only that board's
   samples.  So addresses are remembered for one board and one forest at a time, which costs little
   because a scan shows a board's blocks of a day together.

   What has no symbol is called `module+0xaddress` and stays what it is: weight is never dropped for
   want of a name.  Where the bounds of its function are known the address is the function's, so
   that a stripped program has one row a function too.  Addresses of callers already point into the
   call, so they are looked up as they are. */
#include "naming.h"

#include "common/path.h"
#include "names/symbolizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_NAME_BYTES = LIMIT_PATH_BYTES + 24 };

struct named_address {
  uint64_t address;
  uint32_t module, function;
};

void naming_init(struct naming *naming, struct symbolizer *symbolizer,
                 struct function_table *functions) {
  *naming = (struct naming){.symbolizer = symbolizer, .functions = functions};
}

void naming_fini(struct naming *naming) {
  table_fini(&naming->by_address);
  free(naming->addresses);
}

void naming_turn(struct naming *naming) {
  table_clear(&naming->by_address);
  naming->address_count = 0;
}

static int name_frame(struct naming *naming, const char *board, const struct store_module *module,
                      uint64_t address, uint32_t *ret) {
  char unknown[UNKNOWN_NAME_BYTES];
  struct symbol symbol = {.start = address};
  bool is_elf = module->kind == MODULE_ELF;
  struct view_function function = {.name = unknown,
                                   .module = is_elf ? path_name(module->path) : module->path};
  if (!is_elf) function.end = stack_end_of(module->path);
  bool is_found = is_elf && naming->symbolizer != NULL &&
                  symbolizer_find(naming->symbolizer, board, module->id, address, &symbol) == 0;
  if (is_found && symbol.name[0] != '\0') {
    function.name = symbol.name;
    function.file = symbol.file;
    function.line = symbol.line;
    return function_table_intern(naming->functions, &function, true, ret);
  }
  bool is_kernel = is_elf && module->path[0] == '['; /* nameless frames of it are one */
  if ((is_elf || address != 0) && !is_kernel)
    snprintf(unknown, sizeof unknown, "%s+0x%llx", function.module,
             (unsigned long long)symbol.start);
  else
    function.name = module->path;
  return function_table_intern(naming->functions, &function, false, ret);
}

static int remember(struct naming *naming, uint64_t key, const struct named_address *named) {
  if (naming->address_count == naming->address_room) {
    uint32_t room = naming->address_room > 0 ? naming->address_room * 2 : 1024;
    struct named_address *more = reallocarray(naming->addresses, room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    naming->addresses = more;
    naming->address_room = room;
  }
  naming->addresses[naming->address_count] = *named;
  return table_add(&naming->by_address, key, naming->address_count++);
}

int naming_find(struct naming *naming, const char *board, const struct store_forest *forest,
                const struct store_node *frame, uint32_t *ret_function) {
  const uint64_t words[2] = {frame->module, frame->address};
  uint64_t key = function_table_hash(naming->functions, words, sizeof words);
  uint32_t cursor;
  uint32_t at = table_find(&naming->by_address, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&naming->by_address, key, &cursor)) {
    const struct named_address *known = &naming->addresses[at];
    if (known->address != frame->address || known->module != frame->module) continue;
    *ret_function = known->function;
    return 0;
  }
  struct named_address named = {.address = frame->address, .module = frame->module};
  const struct store_module *module = &forest->modules[frame->module];
  int error = name_frame(naming, board, module, frame->address, &named.function);
  if (error == 0) error = remember(naming, key, &named);
  if (error == 0) *ret_function = named.function;
  return error;
}
