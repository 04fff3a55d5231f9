/* SPDX-License-Identifier: Apache-2.0 */
/* A frame's name depends on who asks: a debug file that one board sent names only that board's
   samples.  So addresses are remembered for one board and one forest at a time, which costs little
   because a scan shows a board's blocks of a day together.

   Functions are the same when name, module and source file are.  What has no symbol is called
   `module+0xaddress` and stays what it is: weight is never dropped for want of a name.  Addresses
   of callers already point into the call, so they are looked up as they are. */
#include "naming.h"

#include "common/arena.h"
#include "symbol/symbolizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum { UNKNOWN_NAME_BYTES = LIMIT_PATH_BYTES + 24 };

struct named_address {
  uint64_t address;
  uint32_t module, function;
};

int naming_init(struct naming *naming, struct symbolizer *symbolizer, struct arena *arena) {
  *naming = (struct naming){.symbolizer = symbolizer, .arena = arena};
  if (getrandom(&naming->seed, sizeof naming->seed, 0) < 0) return -errno;
  naming->functions = calloc(64, sizeof *naming->functions);
  if (naming->functions == NULL) return -ENOMEM;
  naming->function_room = 64;
  naming->functions[naming->function_count++] = (struct query_function){"root", "", NULL, 0};
  return 0;
}

void naming_fini(struct naming *naming) {
  table_fini(&naming->by_name);
  table_fini(&naming->by_address);
  free(naming->functions);
  free(naming->addresses);
}

void naming_turn(struct naming *naming) {
  table_clear(&naming->by_address);
  naming->address_count = 0;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static bool is_same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_same_function(const struct query_function *a, const struct query_function *b) {
  return is_same_text(a->name, b->name) && is_same_text(a->module, b->module) &&
         is_same_text(a->file, b->file);
}

static uint64_t hash_function(const struct naming *naming, const struct query_function *wanted) {
  uint64_t hash = table_hash(wanted->name, strlen(wanted->name), naming->seed);
  hash = table_hash(wanted->module, strlen(wanted->module), hash);
  return wanted->file != NULL ? table_hash(wanted->file, strlen(wanted->file), hash) : hash;
}

/* Adds WANTED; what does not outlive the scan is copied: the module always, the name when OWN. */
static int add_function(struct naming *naming, const struct query_function *wanted, bool own_name,
                        uint64_t hash) {
  if (naming->function_count == QUERY_FUNCTIONS_MAX) return -EOVERFLOW;
  if (naming->function_count == naming->function_room) {
    uint32_t room = naming->function_room * 2;
    struct query_function *more = reallocarray(naming->functions, room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    naming->functions = more;
    naming->function_room = room;
  }
  struct query_function copy = *wanted;
  copy.module = arena_string(naming->arena, wanted->module, strlen(wanted->module));
  if (own_name) copy.name = arena_string(naming->arena, wanted->name, strlen(wanted->name));
  if (copy.module == NULL || copy.name == NULL) return -ENOMEM;
  naming->functions[naming->function_count] = copy;
  return table_add(&naming->by_name, hash, naming->function_count++);
}

static int find_or_add(struct naming *naming, const struct query_function *wanted, bool own_name,
                       uint32_t *ret) {
  uint64_t hash = hash_function(naming, wanted);
  uint32_t cursor;
  uint32_t at = table_find(&naming->by_name, hash, &cursor);
  while (at != TABLE_NONE && !is_same_function(&naming->functions[at], wanted))
    at = table_next(&naming->by_name, hash, &cursor);
  if (at == TABLE_NONE) {
    int error = add_function(naming, wanted, own_name, hash);
    if (error != 0) return error;
    at = naming->function_count - 1;
  }
  *ret = at;
  return 0;
}

static int name_frame(struct naming *naming, const char *board, const struct store_module *module,
                      uint64_t address, uint32_t *ret) {
  char unknown[UNKNOWN_NAME_BYTES];
  struct symbol symbol;
  bool is_elf = module->kind == MODULE_ELF;
  struct query_function function = {.name = unknown,
                                    .module = is_elf ? base_name(module->path) : module->path};
  if (is_elf && naming->symbolizer != NULL &&
      symbolizer_find(naming->symbolizer, board, module->id, address, &symbol) == 0) {
    function.name = symbol.name;
    function.file = symbol.file;
    function.line = symbol.line;
    return find_or_add(naming, &function, false, ret);
  }
  if (is_elf || address != 0)
    snprintf(unknown, sizeof unknown, "%s+0x%llx", function.module, (unsigned long long)address);
  else
    function.name = module->path;
  return find_or_add(naming, &function, true, ret);
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
  uint64_t key = table_hash(words, sizeof words, naming->seed);
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
