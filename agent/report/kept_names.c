/* SPDX-License-Identifier: Apache-2.0 */
/* Each file of a sum has the same program, with the addresses sampled in that run.  So each address
   is kept once, with the best names of any file, and each text once.  A sum of a thousand files
   takes hardly more memory than one file, at most the arena's limit.

      payload ─▶ its places, in scratch memory ─▶ those that are new or better, copied

   An address without names of its own (of a run that was killed) may lie in a function with a known
   name.  Functions may be nested (an assembler's label, a part that was moved).  So the nearest
   start below an address may not be its function: the innermost function that contains it is.  The
   search backwards is bounded, because the file is untrusted; names beyond that bound are not
   found. */
#include "kept_names.h"

#include "common/array.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <stdlib.h>

#define NAMES_BYTES_MAX ((size_t)256 << 20)  /* about a million addresses */
#define SCRATCH_BYTES_MAX ((size_t)64 << 20) /* for one payload, which has 256 KiB */

enum {
  FIRST_ROOM = 64,
  NESTED_MAX = 32, /* functions that may begin between a function and an address in it */
};

struct kept_place {
  uint32_t module, count;
  uint64_t address;
  const struct symbol_frame *frames;
  enum names_quality quality;
};

struct kept_function {
  uint32_t module;
  enum names_quality quality;
  const struct symbol_frame *frame; /* of one of its places */
};

struct kept_text {
  const char *text;
  size_t len;
};

void kept_names_init(struct kept_names *kept, uint64_t seed) {
  *kept = (struct kept_names){.seed = seed};
  arena_init(&kept->arena, NAMES_BYTES_MAX);
}

void kept_names_fini(struct kept_names *kept) {
  table_fini(&kept->by_id);
  table_fini(&kept->by_address);
  table_fini(&kept->by_bounds);
  table_fini(&kept->by_text);
  free(kept->modules);
  free(kept->places);
  free(kept->functions);
  free(kept->texts);
  free(kept->by_start);
  arena_fini(&kept->arena);
}

static int out_of_room(const struct kept_names *kept, size_t len) {
  return arena_is_over(&kept->arena, len) ? -EOVERFLOW : -ENOMEM;
}

enum names_quality names_quality_of(const struct symbol_frame *root, enum names_quality quality) {
  return root->name[0] == '\0' ? NAMES_BOUNDS : quality;
}

/* ---- texts ---- */

/* Sets *TEXT, of LEN bytes, to the kept copy. */
static int keep_text(struct kept_names *kept, const char **text, size_t len) {
  uint64_t hash = table_hash(*text, len, kept->seed);
  uint32_t cursor, at = table_find(&kept->by_text, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&kept->by_text, hash, &cursor)) {
    const struct kept_text *known = &kept->texts[at];
    if (known->len != len || memcmp(known->text, *text, len) != 0) continue;
    *text = known->text;
    return 0;
  }
  void *texts =
      array_grow(kept->texts, kept->text_count, &kept->text_room, FIRST_ROOM, sizeof *kept->texts);
  if (texts == NULL) return -ENOMEM;
  kept->texts = texts;
  const char *copy = arena_string(&kept->arena, *text, len);
  if (copy == NULL) return out_of_room(kept, len + 1);
  kept->texts[kept->text_count] = (struct kept_text){copy, len};
  *text = copy;
  return table_add(&kept->by_text, hash, kept->text_count++);
}

static int keep_texts(struct kept_names *kept, struct symbol_frame *frame) {
  size_t len = strlen(frame->name);
  if (frame->is_readable) len += 1 + strlen(symbol_frame_system_name(frame));
  int error = keep_text(kept, &frame->name, len);
  if (error == 0 && frame->file != NULL) error = keep_text(kept, &frame->file, strlen(frame->file));
  if (error == 0 && frame->decl_file != NULL)
    error = keep_text(kept, &frame->decl_file, strlen(frame->decl_file));
  return error;
}

/* ---- modules ---- */

static uint32_t find_module(const struct kept_names *kept, struct span id) {
  uint64_t hash = table_hash(id.data, id.len, kept->seed);
  uint32_t cursor, at = table_find(&kept->by_id, hash, &cursor);
  while (at != TABLE_NONE && !span_is_equal(kept->modules[at], id))
    at = table_next(&kept->by_id, hash, &cursor);
  return at;
}

static int add_module(struct kept_names *kept, struct span id, uint32_t *ret) {
  if (kept->module_count == KEPT_NAMES_MODULES_MAX) return -EOVERFLOW;
  void *modules = array_grow(kept->modules, kept->module_count, &kept->module_room, FIRST_ROOM,
                             sizeof *kept->modules);
  if (modules == NULL) return -ENOMEM;
  kept->modules = modules;
  const char *copy = arena_string(&kept->arena, id.data, id.len);
  if (copy == NULL) return out_of_room(kept, id.len + 1);
  int error = table_add(&kept->by_id, table_hash(id.data, id.len, kept->seed), kept->module_count);
  if (error != 0) return error;
  kept->modules[kept->module_count] = span_of(copy, id.len);
  *ret = kept->module_count++;
  return 0;
}

/* ---- places and their functions ---- */

static uint64_t hash_of_address(const struct kept_names *kept, uint32_t module, uint64_t address) {
  const uint64_t words[2] = {module, address};
  return table_hash(words, sizeof words, kept->seed);
}

static struct kept_place *find_place(const struct kept_names *kept, uint32_t module,
                                     uint64_t address) {
  uint64_t hash = hash_of_address(kept, module, address);
  uint32_t cursor, at = table_find(&kept->by_address, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&kept->by_address, hash, &cursor))
    if (kept->places[at].address == address && kept->places[at].module == module)
      return &kept->places[at];
  return NULL;
}

static uint64_t hash_of_bounds(const struct kept_names *kept, uint32_t module,
                               const struct symbol_frame *frame) {
  const uint64_t words[3] = {module, frame->start, frame->size};
  return table_hash(words, sizeof words, kept->seed);
}

/* The function of MODULE with the bounds of FRAME, or NULL. */
static struct kept_function *find_bounds(const struct kept_names *kept, uint32_t module,
                                         const struct symbol_frame *frame) {
  uint64_t hash = hash_of_bounds(kept, module, frame);
  uint32_t cursor, at = table_find(&kept->by_bounds, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&kept->by_bounds, hash, &cursor)) {
    struct kept_function *known = &kept->functions[at];
    if (known->module == module && known->frame->start == frame->start &&
        known->frame->size == frame->size)
      return known;
  }
  return NULL;
}

static int new_function(struct kept_names *kept, const struct kept_function *function) {
  void *functions = array_grow(kept->functions, kept->function_count, &kept->function_room,
                               FIRST_ROOM, sizeof *kept->functions);
  if (functions == NULL) return -ENOMEM;
  kept->functions = functions;
  kept->functions[kept->function_count] = *function;
  return table_add(&kept->by_bounds, hash_of_bounds(kept, function->module, function->frame),
                   kept->function_count++);
}

static int new_place(struct kept_names *kept, const struct kept_place *place) {
  void *places = array_grow(kept->places, kept->place_count, &kept->place_room, FIRST_ROOM,
                            sizeof *kept->places);
  if (places == NULL) return -ENOMEM;
  kept->places = places;
  kept->places[kept->place_count] = *place;
  return table_add(&kept->by_address, hash_of_address(kept, place->module, place->address),
                   kept->place_count++);
}

static int copy_frames(struct kept_names *kept, const struct place_name *place,
                       const struct symbol_frame **ret) {
  struct symbol_frame *frames = arena_array(&kept->arena, place->count, sizeof *frames);
  int error = frames == NULL ? out_of_room(kept, place->count * sizeof *frames) : 0;
  for (uint32_t i = 0; i < place->count && error == 0; i++) {
    frames[i] = place->frames[i];
    error = keep_texts(kept, &frames[i]);
  }
  *ret = frames;
  return error;
}

static int put_place(struct kept_names *kept, const struct kept_place *place,
                     struct kept_place *known) {
  if (known == NULL) return new_place(kept, place);
  *known = *place;
  return 0;
}

static int put_function(struct kept_names *kept, const struct kept_function *function,
                        struct kept_function *known) {
  if (known == NULL) return new_function(kept, function);
  *known = *function;
  return 0;
}

/* Adds the parts of PLACE of module number MODULE that are better than the known ones.  These are
   the function and, unless NAMES has only functions, the address. */
static int add_place(struct kept_names *kept, uint32_t module, const struct module_names *names,
                     const struct place_name *place) {
  const struct symbol_frame *root = &place->frames[place->count - 1], *frames;
  enum names_quality quality = names_quality_of(root, names->quality);
  struct kept_function *function = find_bounds(kept, module, root);
  struct kept_place *known = find_place(kept, module, place->address);
  bool is_better = !names->is_of_functions && (known == NULL || known->quality < quality);
  bool is_better_function = function == NULL || function->quality < quality;
  if (!is_better && !is_better_function) return 0;
  int error = copy_frames(kept, place, &frames);
  const struct kept_place new = {module, place->count, place->address, frames, quality};
  if (error == 0 && is_better) error = put_place(kept, &new, known);
  const struct kept_function new_root = {module, quality, frames + place->count - 1};
  if (error == 0 && is_better_function) error = put_function(kept, &new_root, function);
  return error;
}

static int add_places(struct kept_names *kept, const struct module_names *names) {
  uint32_t module = find_module(kept, names->id);
  int error = module == TABLE_NONE ? add_module(kept, names->id, &module) : 0;
  for (uint32_t i = 0; i < names->count && error == 0; i++)
    error = add_place(kept, module, names, &names->places[i]);
  return error;
}

int kept_names_add(struct kept_names *kept, struct span payload) {
  struct arena scratch;
  struct module_names *modules;
  uint32_t count = 0;
  arena_init(&scratch, SCRATCH_BYTES_MAX);
  int error = function_names_decode(payload, &scratch, &modules, &count);
  for (uint32_t i = 0; error == 0 && i < count; i++) error = add_places(kept, &modules[i]);
  arena_fini(&scratch);
  return error;
}

/* ---- search ---- */

static int by_start(const void *left, const void *right, void *context) {
  const struct kept_names *kept = context;
  const struct kept_function *a = &kept->functions[*(const uint32_t *)left];
  const struct kept_function *b = &kept->functions[*(const uint32_t *)right];
  if (a->module != b->module) return a->module < b->module ? -1 : 1;
  if (a->frame->start != b->frame->start) return a->frame->start < b->frame->start ? -1 : 1;
  return a->frame->size > b->frame->size ? -1 : a->frame->size < b->frame->size;
}

int kept_names_sort(struct kept_names *kept) {
  if (kept->function_count == 0) return 0;
  uint32_t *order = reallocarray(kept->by_start, kept->function_count, sizeof *order);
  if (order == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < kept->function_count; i++) order[i] = i;
  qsort_r(order, kept->function_count, sizeof *order, by_start, kept);
  kept->by_start = order;
  kept->sorted_count = kept->function_count;
  return 0;
}

/* The number of sorted functions of modules before MODULE, or of MODULE that begin at ADDRESS or
   below. */
static uint32_t count_until(const struct kept_names *kept, uint32_t module, uint64_t address) {
  uint32_t low = 0, high = kept->sorted_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const struct kept_function *function = &kept->functions[kept->by_start[middle]];
    bool is_before = function->module < module ||
                     (function->module == module && function->frame->start <= address);
    low = is_before ? middle + 1 : low;
    high = is_before ? high : middle;
  }
  return low;
}

/* The best function of MODULE that contains ADDRESS, of equals the innermost; or NULL. */
static const struct kept_function *find_function(const struct kept_names *kept, uint32_t module,
                                                 uint64_t address) {
  uint32_t end = count_until(kept, module, address);
  const struct kept_function *best = NULL;
  for (uint32_t back = 0; back < NESTED_MAX && back < end; back++) {
    const struct kept_function *function = &kept->functions[kept->by_start[end - 1 - back]];
    if (function->module != module) break;
    if (address - function->frame->start >= function->frame->size) continue;
    if (best == NULL || function->quality > best->quality) best = function;
  }
  return best;
}

int kept_names_find(const struct kept_names *kept, struct span id, uint64_t address,
                    struct kept_match *ret) {
  uint32_t module = find_module(kept, id);
  if (module == TABLE_NONE) return -ENOENT;
  const struct kept_place *place = find_place(kept, module, address);
  const struct kept_function *function = find_function(kept, module, address);
  if (place != NULL && (function == NULL || place->quality >= function->quality))
    *ret = (struct kept_match){place->quality, place->count, place->frames, true};
  else if (function != NULL)
    *ret = (struct kept_match){function->quality, 1, function->frame, false};
  else
    return -ENOENT;
  return 0;
}
