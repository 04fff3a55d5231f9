/* SPDX-License-Identifier: Apache-2.0 */
/* A frame becomes one function, or several if some were inlined, and a path becomes tree nodes.
   Paths that differ only in addresses are merged.

   A path that ends in a link register needs the functions to interpret it (pair_caller).  If it
   gives no caller, the sample has none.

   Module paths come from the file, so they are cleaned here; all other texts have been cleaned. */
#include "named_tree.h"
#include "best_name.h"
#include "pair_caller.h"

#include "common/array.h"
#include "common/buf.h"
#include "symbol/name_text.h"
#include "symbol/symbol_index.h"
#include "symbol/told_frames.h"
#include "translate/answer_lines.h"
#include "view/marks.h"
#include "view/tree_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 4096 };

/* The collector's terms. */
static const char *const quality_words[] = {"none", "bounds", "dynsym", "symtab", "dwarf"};

/* The functions at a frame: a range of the steps, outermost first. */
struct frame_chain {
  uint32_t first, count;
};

struct naming {
  struct profile *profile;
  struct namer *namer;
  const struct answer *names; /* or NULL */
  struct tree_builder *tree;
  struct frame_chain *chains; /* by frame */
  struct tree_step *steps;
  uint32_t step_count, step_room;
  struct view_place spot;       /* of the current frame: build, address and start */
  struct buf module, own, name; /* cleaned texts of the current frame */
};

static const char *clean(struct buf *buf, const char *text) {
  buf_clear(buf);
  name_text_append(span_of_string(text), NAME_BYTES_MAX, buf);
  return buf->failed ? "" : (const char *)buf->data;
}

/* The name of an unnamed function of MODULE, displayed as SHOWN, by its start. */
static const char *unknown_name(struct naming *naming, const struct profile_module *module,
                                const char *shown, uint64_t address) {
  if (module->build != NULL) shown = clean(&naming->own, profile_module_name(module));
  buf_clear(&naming->name);
  buf_printf(&naming->name, "%s+0x%llx", shown, (unsigned long long)address);
  if (module->build != NULL) buf_printf(&naming->name, " [%s]", module->build);
  return buf_text(&naming->name);
}

/* Adds FUNCTION to the current frame with the other fields of MORE_OF; its texts outlive the tree
   if IS_LASTING. */
static int add_step(struct naming *naming, const struct view_function *function, bool is_lasting,
                    const struct tree_step *more_of) {
  struct tree_step step = *more_of;
  if (function->name == NULL) return -ENOMEM;
  struct tree_step *more =
      array_grow(naming->steps, naming->step_count, &naming->step_room, 1024, sizeof *more);
  if (more == NULL) return -ENOMEM;
  naming->steps = more;
  int error = function_table_intern(&naming->tree->functions, function, is_lasting, &step.function);
  if (error == 0) naming->steps[naming->step_count++] = step;
  return error;
}

/* Finds the place of the current frame, at LINE of FILE. */
static int find_place(struct naming *naming, const char *file, uint32_t line, uint32_t *ret) {
  struct view_place place = naming->spot;
  place.file = file;
  place.line = line;
  return place_table_intern(&naming->tree->places, &place, ret);
}

/* START: of the function, if it is known, else the address itself. */
static int add_nameless(struct naming *naming, const struct profile_frame *frame, uint64_t start,
                        struct view_function *function) {
  const struct profile_module *module = &naming->profile->modules[frame->module];
  bool is_nameless = module->kind == MODULE_ELF || frame->address != 0;
  function->name = function->module;
  if (is_nameless) function->name = unknown_name(naming, module, function->module, start);
  function->is_apart = is_nameless && module->build != NULL;
  struct tree_step step = {.place = 0};
  int error = find_place(naming, NULL, 0, &step.place);
  return error != 0 ? error : add_step(naming, function, false, &step);
}

/* Adds COUNT functions of one address, innermost first. */
static int add_chain(struct naming *naming, const struct symbol_frame *frames, int count,
                     struct view_function *function) {
  int error = 0;
  for (int i = count; i-- > 0 && error == 0;) {
    function->name = frames[i].name;
    function->system_name = symbol_frame_system_name(&frames[i]);
    function->file = frames[i].decl_file;
    function->line = frames[i].decl_line;
    struct tree_step step = {.is_inlined = i + 1 < count};
    error = find_place(naming, frames[i].file, frames[i].line, &step.place);
    if (error == 0) error = add_step(naming, function, true, &step);
  }
  return error;
}

/* Copies the translator's answer for frame number AT, if any. */
static int take_answer(const struct naming *naming, uint32_t at, struct symbol_frame *frames) {
  struct symbol_frame known[SYMBOL_CHAIN_MAX];
  enum names_quality quality;
  if (naming->names == NULL || naming->names[at].count == 0) return 0;
  const struct answer *answer = &naming->names[at];
  memcpy(frames, answer->frames, answer->count * sizeof *frames);
  int known_count = best_name_chain(naming->profile, naming->namer, &naming->profile->frames[at],
                                    known, &quality);
  told_frames_declare(frames, (int)answer->count, known, known_count);
  return (int)answer->count;
}

/* FUNCTION already has the module, which applies to each function. */
static int add_functions(struct naming *naming, uint32_t at, struct view_function *function) {
  const struct profile_frame *frame = &naming->profile->frames[at];
  bool is_elf = naming->profile->modules[frame->module].kind == MODULE_ELF;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  int count = take_answer(naming, at, frames);
  enum names_quality quality = NAMES_NONE;
  function->quality = "translator";
  if (count == 0) {
    count = best_name_chain(naming->profile, naming->namer, frame, frames, &quality);
    function->quality = is_elf ? quality_words[quality] : NULL;
  }
  if (count <= 0) return add_nameless(naming, frame, frame->address, function);
  naming->spot.start = frames[count - 1].start;
  if (frames[count - 1].name[0] == '\0')
    return add_nameless(naming, frame, frames[count - 1].start, function);
  return add_chain(naming, frames, count, function);
}

static int name_frame(struct naming *naming, uint32_t at) {
  struct profile_frame *frame = &naming->profile->frames[at];
  struct frame_chain *chain = &naming->chains[at];
  struct view_function function = {.name = NULL};
  const struct profile_module *module = &naming->profile->modules[frame->module];
  const char *shown = module->shown != NULL ? module->shown : profile_module_name(module);
  function.module = clean(&naming->module, shown);
  if (module->kind == MODULE_PSEUDO) function.end = stack_end_of(module->path);
  chain->first = naming->step_count;
  naming->spot = (struct view_place){.address = frame->address};
  int error = 0;
  if (module->kind == MODULE_ELF)
    error = place_table_build(&naming->tree->places, module->id, &naming->spot.build);
  if (error == 0) error = add_functions(naming, at, &function);
  chain->count = naming->step_count - chain->first;
  if (error == 0) frame->function = naming->steps[chain->first].function;
  return error;
}

static int name_frames(struct naming *naming) {
  int error = 0;
  naming->chains = calloc((size_t)naming->profile->frame_count + 1, sizeof *naming->chains);
  if (naming->chains == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < naming->profile->frame_count && error == 0; i++)
    error = name_frame(naming, i);
  return error;
}

/* The tree node that becomes the parent of NODE's path. */
static uint32_t parent_of(const struct profile *profile, struct namer *namer,
                          const struct profile_node *node, const uint32_t *ours) {
  if (node->parent == BATCH_NONE) return 0;
  return node->is_lr && !pair_caller_is_told(profile, namer, node) ? 0 : ours[node->parent];
}

/* Adds the functions of FRAME below PARENT.  RET: the innermost. */
static int descend(const struct naming *naming, uint32_t frame, uint32_t parent, uint32_t *ret) {
  const struct frame_chain *chain = &naming->chains[frame];
  int error = 0;
  for (uint32_t i = 0; i < chain->count && error == 0; i++)
    error = tree_builder_step(naming->tree, parent, &naming->steps[chain->first + i], &parent);
  if (error == 0) *ret = parent;
  return error;
}

/* Adds the weight of each time group to the tree; OURS maps nodes to tree nodes. */
static int add_groups(const struct naming *naming, const uint32_t *ours) {
  const struct profile *profile = naming->profile;
  const struct groups *groups = &profile->groups;
  int error = 0;
  if (profile->has_no_groups) return 0;
  for (unsigned group = 0; group < groups->count && error == 0; group++) {
    uint64_t start_ms = groups->group[group].id * groups->length_ms;
    tree_builder_turn(naming->tree, "", start_ms, start_ms + groups->length_ms);
    groups_add_evidence(&naming->tree->groups, &groups->group[group].evidence);
    for (uint32_t i = 0; i < profile->node_count && error == 0; i++) {
      uint64_t weight = groups_weight(groups, group, i);
      if (weight > 0) error = groups_add(&naming->tree->groups, ours[i], weight);
    }
  }
  return error;
}

static int add_nodes(const struct naming *naming) {
  const struct profile *profile = naming->profile;
  struct tree_builder *tree = naming->tree;
  uint32_t *ours = calloc(profile->node_count + 1, sizeof *ours);
  int error = ours == NULL ? -ENOMEM : 0;
  for (uint32_t i = 0; i < profile->node_count && error == 0; i++) {
    const struct profile_node *node = &profile->nodes[i];
    error = descend(naming, node->frame, parent_of(profile, naming->namer, node, ours), &ours[i]);
    if (error != 0) break;
    tree_builder_add(tree, ours[i], node->count, node->weight);
    tree_builder_note_end(tree, ours[i], true, node->told_weight);
    tree_builder_note_end(tree, ours[i], false, node->untold_weight);
  }
  if (error == 0) error = add_groups(naming, ours);
  free(ours);
  return error;
}

static int add_marks(const struct profile *profile, struct arena *arena, struct view_tree *tree) {
  struct marks marks = {.count = 0};
  if (profile->marks == 0) return 0;
  int error = marks_add(&marks, profile->service, profile->marks);
  if (error == 0) error = marks_copy(&marks, arena, &tree->marks, &tree->mark_count);
  marks_fini(&marks);
  return error;
}

int named_tree_build(struct profile *profile, struct namer *namer, const struct answer *names,
                     struct arena *arena, struct view_tree *ret) {
  struct tree_builder tree;
  struct naming naming = {.profile = profile, .namer = namer, .names = names, .tree = &tree};
  int error = tree_builder_init(&tree, arena);
  tree.places.parts = profile->places;
  if (error == 0) error = name_frames(&naming);
  if (error == 0) error = add_nodes(&naming);
  if (error == 0) error = tree_builder_finish(&tree, arena, ret);
  if (error == 0) {
    profile_loss(profile, ret->loss);
    ret->evidence = profile->evidence; /* from single batches; nodes are sums of them */
  }
  if (error == 0) error = add_marks(profile, arena, ret);
  tree_builder_fini(&tree);
  free(naming.chains);
  free(naming.steps);
  buf_fini(&naming.module);
  buf_fini(&naming.own);
  buf_fini(&naming.name);
  return error;
}
