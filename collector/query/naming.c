/* SPDX-License-Identifier: Apache-2.0 */
/* Frame names depend on the board: a debug file sent by one board names only that board's
   samples. But most boards of a fleet have the same files, and a set of files is one pointer
   (symbolizer_sources). So names found for one board hold for another while all modules looked
   at have the same sets of files for it. Otherwise all names are looked up again, for each board
   and forest.

   An address lies in one function and in all functions inlined there, so a frame is a chain: the
   outermost is the machine's function, the innermost the source's. Each is a row and a node of
   its own; the time belongs to the innermost.

   A frame without a symbol is called `module+0xaddress` and is kept: weight is never dropped for
   want of a name. If the bounds of its function are known, the address is the function's start,
   so that a stripped program has one row for each function, too. An address belongs to one
   build: without a symbol it is another function in each. Addresses of callers already point
   into the call instruction, so they are looked up unchanged. */
#include "naming.h"

#include "common/array.h"
#include "common/cutoff.h"
#include "common/path.h"
#include "names/lookup_counts.h"
#include "names/name_sources.h"
#include "names/symbolizer.h"
#include "naming_order.h"
#include "symbol/symbol_index.h"
#include "symbol/told_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_NAME_BYTES = LIMIT_PATH_BYTES + 24 };

struct named_address {
  uint64_t address;
  uint32_t module;
  uint32_t first_step, step_count;
};

/* The sources of names for a module of the forest. */
struct naming_module {
  const struct name_sources *sources; /* NULL: none */
  const struct view_module *of;       /* of the function table; NULL: in no file */
  bool is_known, has_build;
  uint32_t build; /* of the place table; 0: not looked up, or in no file */
};

/* Names are pointers that stay valid, so a function seen again is found by its pointers, without
   comparing texts. */
struct known_text {
  const char *name, *file;
  uint32_t module;
  uint32_t function;
};

void naming_init(struct naming *naming, struct symbolizer *symbolizer,
                 struct function_table *functions, struct place_table *places) {
  *naming = (struct naming){.symbolizer = symbolizer, .functions = functions, .places = places};
}

void naming_fini(struct naming *naming) {
  if (naming->order != NULL) naming_order_fini(naming->order);
  free(naming->order);
  free(naming->board);
  free(naming->cursor);
  free(naming->of_node);
  table_fini(&naming->by_address);
  table_fini(&naming->by_text);
  translated_fini(&naming->translated);
  free(naming->modules);
  free(naming->texts);
  free(naming->addresses);
  free(naming->steps);
}

/* Makes *ARRAY one of COUNT zeroed entries. */
static int begin(void **array, uint32_t count, uint32_t *room, size_t entry_bytes) {
  if (count > *room) {
    void *more = reallocarray(*array, count, entry_bytes);
    if (more == NULL) return -ENOMEM;
    *array = more;
    *room = count;
  }
  if (count > 0) memset(*array, 0, count * entry_bytes);
  return 0;
}

/* Forgets all names and prepares for FOREST. */
static int forget(struct naming *naming, const struct store_forest *forest) {
  void *modules = naming->modules, *of_node = naming->of_node;
  table_clear(&naming->by_address);
  table_clear(&naming->by_text);
  translated_turn(&naming->translated);
  naming->text_count = 0;
  naming->address_count = 0;
  naming->step_count = 0;
  naming->module_count = 0;
  if (naming->order == NULL) naming->order = calloc(1, sizeof *naming->order);
  int error = naming->order == NULL ? -ENOMEM : 0;
  if (error == 0)
    error = begin(&modules, forest->module_count, &naming->module_room, sizeof *naming->modules);
  naming->modules = modules;
  if (error == 0)
    error = begin(&of_node, forest->node_count, &naming->node_room, sizeof *naming->of_node);
  naming->of_node = of_node;
  if (error == 0) naming->module_count = forest->module_count;
  return error;
}

/* Whether all modules of FOREST that were looked at have the same files for BOARD. Translators
   are chosen for each board. */
static bool has_same_sources(const struct naming *naming, const char *board,
                             const struct store_forest *forest) {
  struct symbolizer *symbolizer = naming->symbolizer;
  if (symbolizer == NULL) return true;
  if (symbolizer_translators(symbolizer) != NULL) return false;
  for (uint32_t i = 0; i < naming->module_count; i++) {
    const struct naming_module *known = &naming->modules[i];
    if (known->is_known &&
        known->sources != symbolizer_sources(symbolizer, board, forest->modules[i].id))
      return false;
  }
  return true;
}

int naming_turn(struct naming *naming, const char *board, const struct store_forest *forest) {
  bool is_first = naming->board == NULL, is_same = !is_first && strcmp(naming->board, board) == 0;
  bool holds = !is_first && naming->forest_id == forest->id &&
               (is_same || has_same_sources(naming, board, forest));
  if (!is_same) {
    char *copy = strdup(board);
    if (copy == NULL) return -ENOMEM;
    free(naming->board);
    naming->board = copy;
  }
  naming->forest_id = forest->id;
  return holds ? 1 : forget(naming, forest);
}

static int add_step(struct naming *naming, const struct tree_step *step) {
  void *steps =
      array_grow(naming->steps, naming->step_count, &naming->step_room, 1024, sizeof *step);
  if (steps == NULL) return -ENOMEM;
  naming->steps = steps;
  naming->steps[naming->step_count++] = *step;
  return 0;
}

static int remember_text(struct naming *naming, uint64_t key, const struct known_text *text) {
  void *texts =
      array_grow(naming->texts, naming->text_count, &naming->text_room, 1024, sizeof *text);
  if (texts == NULL) return -ENOMEM;
  naming->texts = texts;
  naming->texts[naming->text_count] = *text;
  return table_add(&naming->by_text, key, naming->text_count++);
}

static struct known_text *find_text(const struct naming *naming, uint64_t key,
                                    const struct known_text *wanted) {
  uint32_t cursor;
  uint32_t at = table_find(&naming->by_text, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&naming->by_text, key, &cursor)) {
    struct known_text *known = &naming->texts[at];
    if (known->name == wanted->name && known->file == wanted->file &&
        known->module == wanted->module)
      return known;
  }
  return NULL;
}

/* Finds the row of FUNCTION, of MODULE of the forest, whose texts outlive the query. A result
   for a function without a file is valid only while its row has none; then the row may be
   another. */
static int find_function(struct naming *naming, const struct view_function *function,
                         uint32_t module, uint32_t *ret) {
  struct known_text text = {function->name, function->file, module, 0};
  const uint64_t words[3] = {(uintptr_t)text.name, (uintptr_t)text.file, module};
  uint64_t key = function_table_hash(naming->functions, words, sizeof words);
  struct known_text *known = find_text(naming, key, &text);
  bool holds = known != NULL &&
               (text.file != NULL || naming->functions->functions[known->function].file == NULL);
  if (holds) {
    *ret = known->function;
    return 0;
  }
  int error = function_table_intern(naming->functions, function, true, ret);
  text.function = *ret;
  if (error != 0) return error;
  if (known == NULL) return remember_text(naming, key, &text);
  *known = text;
  return 0;
}

/* Finds the place of the current frame, in LINE of FILE. */
static int find_place(struct naming *naming, const char *file, uint32_t line, uint32_t *ret) {
  struct view_place place = naming->spot;
  if (naming->places == NULL) return 0;
  place.file = file;
  place.line = line;
  return place_table_intern(naming->places, &place, ret);
}

/* Adds one of the functions at an address in MODULE of the forest; its texts outlive the query.
   FUNCTION has the data common to all of them: module and quality. */
static int add_named(struct naming *naming, struct view_function function, uint32_t module,
                     const struct symbol_frame *frame, bool is_inlined) {
  function.name = frame->name;
  function.file = frame->decl_file;
  function.line = frame->decl_line;
  function.system_name = symbol_frame_system_name(frame);
  struct tree_step step = {.is_inlined = is_inlined};
  int error = find_function(naming, &function, module, &step.function);
  if (error == 0) error = find_place(naming, frame->file, frame->line, &step.place);
  return error != 0 ? error : add_step(naming, &step);
}

/* Nameless frames of all kernels share one row. */
static bool is_of_kernel(const struct store_module *module) {
  return module->path[0] == '[';
}

/* START: of its function, if that is known (QUALITY: bounds), else the address itself. OF: its
   build. */
static int add_nameless(struct naming *naming, const struct store_module *module,
                        const struct view_module *of, uint64_t start, enum debug_quality quality) {
  char unknown[UNKNOWN_NAME_BYTES];
  struct tree_step step = {.function = 0};
  bool is_elf = module->kind == MODULE_ELF;
  struct view_function function = {.name = module->path,
                                   .module = is_elf ? path_name(module->path) : module->path};
  if (!is_elf) function.end = stack_end_of(module->path);
  if (is_elf) function.quality = debug_quality_name(quality);
  if ((is_elf || start != 0) && !(is_elf && is_of_kernel(module))) {
    snprintf(unknown, sizeof unknown, "%s+0x%llx", function.module, (unsigned long long)start);
    function.name = unknown;
    function.of = of;
  }
  int error = function_table_intern(naming->functions, &function, false, &step.function);
  if (error == 0) error = find_place(naming, NULL, 0, &step.place);
  return error != 0 ? error : add_step(naming, &step);
}

/* The files that name MODULE of FOREST; NULL: none. */
static const struct name_sources *find_sources(struct naming *naming,
                                               const struct store_forest *forest, uint32_t module) {
  struct span id = forest->modules[module].id;
  if (naming->symbolizer == NULL || forest->modules[module].kind != MODULE_ELF) return NULL;
  struct naming_module *known = &naming->modules[module];
  if (!known->is_known) known->sources = symbolizer_sources(naming->symbolizer, naming->board, id);
  known->is_known = true;
  return known->sources;
}

/* Sets the place of FRAME, as far as requested. */
static int find_spot(struct naming *naming, const struct store_forest *forest,
                     const struct store_node *frame) {
  const struct store_module *module = &forest->modules[frame->module];
  naming->spot = (struct view_place){.address = frame->address};
  if (naming->places == NULL || (naming->places->parts & PLACE_CODE) == 0) return 0;
  if (module->kind != MODULE_ELF) return 0;
  struct naming_module *known = &naming->modules[frame->module];
  int error = known->build == 0 ? place_table_build(naming->places, module->id, &known->build) : 0;
  naming->spot.build = known->build;
  return error;
}

/* The names in SOURCES for ADDRESS; uses the cursor of the last lookup. */
static int find_names(struct naming *naming, const struct name_sources *sources, uint64_t address,
                      struct symbol_frame *frames, enum debug_quality *ret_quality) {
  if (naming->cursor == NULL) naming->cursor = calloc(1, sizeof *naming->cursor);
  if (naming->cursor == NULL) return name_sources_chain(sources, address, frames, ret_quality);
  if (naming->cursor->sources != sources) name_cursor_init(naming->cursor, sources);
  return name_cursor_chain(naming->cursor, address, frames, ret_quality);
}

/* The build of module AT of FOREST; NULL: none that is distinguished. */
static int find_build(struct naming *naming, const struct store_forest *forest, uint32_t at,
                      const struct view_module **ret) {
  const struct store_module *module = &forest->modules[at];
  *ret = NULL;
  if (module->kind != MODULE_ELF || is_of_kernel(module)) return 0;
  struct naming_module *known = &naming->modules[at];
  int error = 0;
  if (!known->has_build)
    error = module_builds_find(&naming->functions->builds, path_name(module->path), module->id,
                               &known->of);
  known->has_build = error == 0;
  *ret = known->of;
  return error;
}

/* A translator's names for FRAME, unless its module's files contradict them or have a better
   name of the same function. */
static int ask_translator(struct naming *naming, const struct store_forest *forest,
                          const struct store_node *frame, struct symbol_frame *frames) {
  int count = translated_chain(&naming->translated, naming->symbolizer, naming->board, forest,
                               frame, frames);
  struct symbol_frame known[SYMBOL_CHAIN_MAX];
  enum debug_quality quality;
  int known_count = 0;
  if (count <= 0) return count;
  const struct name_sources *sources = find_sources(naming, forest, frame->module);
  if (sources != NULL && count == 1) {
    bool is_false = name_sources_refute(sources, frame->address, frames);
    if (is_false) translated_refuse(&naming->translated, naming->symbolizer, frame->module);
    if (is_false || name_sources_has_alias(sources, frame->address, frames)) return -ENOENT;
  }
  if (sources != NULL) known_count = find_names(naming, sources, frame->address, known, &quality);
  told_frames_declare(frames, count, known, known_count);
  return count;
}

static int name_frame(struct naming *naming, const struct store_forest *forest,
                      const struct store_node *frame) {
  const struct store_module *module = &forest->modules[frame->module];
  uint64_t address = frame->address;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  enum debug_quality quality = DEBUG_NONE;
  const struct view_module *of;
  int error = find_spot(naming, forest, frame);
  if (error == 0) error = find_build(naming, forest, frame->module, &of);
  if (error != 0) return error;
  int count = ask_translator(naming, forest, frame, frames);
  bool is_translated = count > 0;
  const struct name_sources *sources = NULL;
  if (!is_translated) sources = find_sources(naming, forest, frame->module);
  if (sources != NULL) count = find_names(naming, sources, address, frames, &quality);
  if (module->kind == MODULE_ELF)
    lookup_counts_add(count > 0 ? quality : DEBUG_NONE, is_translated);
  if (count <= 0) return add_nameless(naming, module, of, address, DEBUG_NONE);
  naming->spot.start = frames[count - 1].start;
  if (frames[count - 1].name[0] == '\0')
    return add_nameless(naming, module, of, frames[count - 1].start, quality);
  const struct view_function function = {.module = path_name(module->path),
                                         .quality = is_translated ? "translator"
                                                                  : debug_quality_name(quality)};
  for (int i = count; i-- > 0 && error == 0;)
    error = add_named(naming, function, frame->module, &frames[i], i + 1 < count);
  return error;
}

static int remember(struct naming *naming, uint64_t key, const struct named_address *named) {
  void *addresses = array_grow(naming->addresses, naming->address_count, &naming->address_room,
                               1024, sizeof *named);
  if (addresses == NULL) return -ENOMEM;
  naming->addresses = addresses;
  naming->addresses[naming->address_count] = *named;
  return table_add(&naming->by_address, key, naming->address_count++);
}

/* Names FRAME, or finds the earlier result for its address. */
static int find_address(struct naming *naming, const struct store_forest *forest,
                        const struct store_node *frame, uint32_t *ret) {
  const uint64_t words[2] = {frame->module, frame->address};
  uint64_t key = function_table_hash(naming->functions, words, sizeof words);
  uint32_t cursor;
  uint32_t at = table_find(&naming->by_address, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&naming->by_address, key, &cursor)) {
    const struct named_address *known = &naming->addresses[at];
    if (known->address != frame->address || known->module != frame->module) continue;
    *ret = at;
    return 0;
  }
  struct named_address named = {
      .address = frame->address, .module = frame->module, .first_step = naming->step_count};
  int error = name_frame(naming, forest, frame);
  named.step_count = naming->step_count - named.first_step;
  *ret = naming->address_count;
  return error != 0 ? error : remember(naming, key, &named);
}

/* ---- nodes ---- */

enum { NAMES_A_LOOK = 1024 }; /* between two checks of the cutoff: a name takes some microseconds */
enum { NO_ADDRESS = 0, IN_ORDER = UINT32_MAX }; /* of_node: otherwise the address' number + 1 */

/* Adds to the order the frames of NODE that have no address yet. */
static int collect(struct naming *naming, const struct store_forest *forest, uint32_t node,
                   bool with_callers) {
  for (; node != BATCH_NONE && naming->of_node[node] == NO_ADDRESS;
       node = with_callers ? forest->nodes[node].parent : BATCH_NONE) {
    int error = naming_order_add(naming->order, forest, node);
    if (error != 0) return error;
    naming->of_node[node] = IN_ORDER;
  }
  return 0;
}

/* After an ERROR no frame gets an address. */
static int name_in_order(struct naming *naming, const struct store_forest *forest, int error) {
  uint32_t at = 0;
  const struct store_node *last = NULL;
  naming_order_sort(naming->order);
  for (uint32_t i = 0; i < naming->order->count; i++) {
    uint32_t node = naming->order->frames[i].node;
    const struct store_node *frame = &forest->nodes[node];
    if (error == 0 && i % NAMES_A_LOOK == 0 && cutoff_is_past(naming->cutoff)) error = -ETIMEDOUT;
    bool is_last = last != NULL && last->address == frame->address && last->module == frame->module;
    if (error == 0 && !is_last) error = find_address(naming, forest, frame, &at);
    naming->of_node[node] = error == 0 ? at + 1 : NO_ADDRESS;
    last = frame;
  }
  return error;
}

int naming_prepare(struct naming *naming, const struct store_forest *forest,
                   const struct store_row *rows, size_t count, bool with_callers) {
  int error = 0;
  naming->order->count = 0;
  for (size_t i = 0; i < count && error == 0; i++)
    error = collect(naming, forest, rows[i].node, with_callers);
  return name_in_order(naming, forest, error);
}

int naming_chain(struct naming *naming, const struct store_forest *forest,
                 const struct store_node *frame, struct naming_chain *ret) {
  uint32_t node = (uint32_t)(frame - forest->nodes);
  if (naming->of_node[node] == NO_ADDRESS) {
    const struct store_row row = {.node = node};
    int error = naming_prepare(naming, forest, &row, 1, false);
    if (error != 0) return error;
  }
  const struct named_address *named = &naming->addresses[naming->of_node[node] - 1];
  *ret = (struct naming_chain){&naming->steps[named->first_step], named->step_count};
  return 0;
}

int naming_find(struct naming *naming, const struct store_forest *forest,
                const struct store_node *frame, uint32_t *ret_function) {
  struct naming_chain chain;
  int error = naming_chain(naming, forest, frame, &chain);
  if (error == 0) *ret_function = chain.steps[chain.count - 1].function;
  return error;
}
