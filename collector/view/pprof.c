/* SPDX-License-Identifier: Apache-2.0 */
/* pprof's profile.proto, written field by field.

   A message of that schema is a row of (field, value) cells, so a writer needs varints and lengths
   and no generated code.  Numbers of fields (github.com/google/pprof, proto/profile.proto):

     Profile   1 sample_type  2 sample  3 mapping  4 location  5 function  6 string_table
               9 time_nanos  10 duration_nanos  11 period_type  12 period  13 comment
               14 default_sample_type
     Sample    1 location_id, leaf first  2 value        ValueType 1 type  2 unit
     Mapping   1 id  5 filename  7 has_functions  8 has_filenames  9 has_line_numbers
               10 has_inline_frames                  Location  1 id  2 mapping_id  4 line, callee
   first Line      1 function_id  2 line                 Function  1 id  2 name  3 system_name 4
   filename  5 start_line

   A location is a place in a function together with what it was inlined into (pprof_places.c).  A
   tree is a sum over builds and has no addresses, so nor have locations; that is allowed where they
   have lines.  The first mapping is the main binary, by convention.  What a mapping is said to have
   decides whether a reader looks for names itself: it has what its locations have. */
#include "export.h"
#include "gzip.h"
#include "marks.h"
#include "pprof_places.h"
#include "text_ids.h"

#include "common/arena.h"
#include "common/buf.h"
#include "proto/varint.h"

#include <errno.h>
#include <stdio.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

struct pprof {
  const struct view_tree *tree;
  const struct view_origin *origin;
  struct arena *arena;
  struct text_ids strings, modules;
  struct pprof_places places;
  struct buf out, part, packed; /* PART: the message in hand, PACKED: a list in it */
};

static void put_number(struct buf *buf, unsigned field, uint64_t value) {
  if (value == 0) return; /* proto3: absent is zero */
  varint_encode(buf, field << 3 | WIRE_VARINT);
  varint_encode(buf, value);
}

static void put_bytes(struct buf *buf, unsigned field, struct span bytes) {
  varint_encode(buf, field << 3 | WIRE_BYTES);
  varint_encode(buf, bytes.len);
  buf_append(buf, bytes.data, bytes.len);
}

static uint32_t string_of(struct pprof *pprof, const char *text) {
  return text_ids_of(&pprof->strings, text, NULL);
}

/* Ends the message in PART as FIELD of the profile. */
static void put_part(struct pprof *pprof, unsigned field) {
  put_bytes(&pprof->out, field, buf_span(&pprof->part));
  buf_clear(&pprof->part);
}

static void put_type(struct pprof *pprof, unsigned field, const char *const type_and_unit[2]) {
  put_number(&pprof->part, 1, string_of(pprof, type_and_unit[0]));
  put_number(&pprof->part, 2, string_of(pprof, type_and_unit[1]));
  put_part(pprof, field);
}

static void put_sample(struct pprof *pprof, uint32_t leaf) {
  const struct view_node *nodes = pprof->tree->nodes;
  buf_clear(&pprof->packed);
  for (uint32_t at = leaf; at != 0;) {
    varint_encode(&pprof->packed, pprof_places_location(&pprof->places, at));
    while (nodes[at].is_inlined && nodes[at].parent != 0) at = nodes[at].parent;
    at = nodes[at].parent;
  }
  put_bytes(&pprof->part, 1, buf_span(&pprof->packed));
  buf_clear(&pprof->packed);
  varint_encode(&pprof->packed, nodes[leaf].self_count);
  varint_encode(&pprof->packed, nodes[leaf].self_weight);
  put_bytes(&pprof->part, 2, buf_span(&pprof->packed));
  put_part(pprof, 2);
}

/* A location is in the module of its outermost function. */
static void put_location(struct pprof *pprof, uint32_t id, uint32_t *module_has) {
  const struct pprof_place *place = &pprof->places.locations[id];
  const struct pprof_function *function = NULL;
  uint32_t has = place->outer != 0 ? PPROF_HAS_INLINES : 0;
  put_number(&pprof->part, 1, id);
  for (uint32_t at = id; at != 0; at = pprof->places.locations[at].outer) {
    place = &pprof->places.locations[at];
    function = &pprof->places.functions[place->function];
    has |= function->has | (place->line > 0 ? PPROF_HAS_LINES : 0);
    buf_clear(&pprof->packed);
    put_number(&pprof->packed, 1, place->function);
    put_number(&pprof->packed, 2, place->line);
    put_bytes(&pprof->part, 4, buf_span(&pprof->packed));
  }
  uint32_t module =
      text_ids_of(&pprof->modules, pprof->tree->functions[function->function].module, NULL);
  put_number(&pprof->part, 2, module + 1);
  put_part(pprof, 4);
  module_has[module] |= has;
}

static void put_function(struct pprof *pprof, uint32_t id) {
  const struct pprof_function *mine = &pprof->places.functions[id];
  const struct view_function *function = &pprof->tree->functions[mine->function];
  uint32_t name = string_of(pprof, function->name);
  put_number(&pprof->part, 1, id);
  put_number(&pprof->part, 2, name);
  put_number(&pprof->part, 3, name);
  if (mine->file != NULL) put_number(&pprof->part, 4, string_of(pprof, mine->file));
  put_number(&pprof->part, 5, mine->start_line);
  put_part(pprof, 5);
}

static void put_mapping(struct pprof *pprof, uint32_t module, uint32_t has) {
  put_number(&pprof->part, 1, module + 1);
  put_number(&pprof->part, 5, string_of(pprof, pprof->modules.texts[module]));
  put_number(&pprof->part, 7, (has & PPROF_HAS_NAMES) != 0);
  put_number(&pprof->part, 8, (has & PPROF_HAS_FILES) != 0);
  put_number(&pprof->part, 9, (has & PPROF_HAS_LINES) != 0);
  put_number(&pprof->part, 10, (has & PPROF_HAS_INLINES) != 0);
  put_part(pprof, 3);
}

/* Locations, their functions, and their modules, which all come before any of them is described. */
static int put_places(struct pprof *pprof) {
  const char *main_module = pprof->origin->main_module;
  const struct pprof_places *places = &pprof->places;
  if (main_module != NULL && main_module[0] != '\0')
    text_ids_of(&pprof->modules, main_module, NULL);
  for (uint32_t i = 1; i < pprof->tree->function_count; i++)
    text_ids_of(&pprof->modules, pprof->tree->functions[i].module, NULL);
  uint32_t *has = arena_array(pprof->arena, pprof->modules.count + 1, sizeof *has);
  if (has == NULL) return -ENOMEM;
  for (uint32_t i = 1; i < places->location_count; i++) put_location(pprof, i, has);
  for (uint32_t i = 1; i < places->function_count; i++) put_function(pprof, i);
  for (uint32_t i = 0; i < pprof->modules.count; i++) put_mapping(pprof, i, has[i]);
  return 0;
}

/* What was lost, and what is to be doubted, travels as comments. */
static void put_comments(struct pprof *pprof) {
  char text[400];
  for (unsigned i = 0; i < LOSS_REASON_COUNT + pprof->tree->mark_count; i++) {
    if (i >= LOSS_REASON_COUNT) {
      struct mark_text mark = marks_text(pprof->tree->marks[i - LOSS_REASON_COUNT].marks);
      snprintf(text, sizeof text, "%s %s: %s", mark.mark, mark.certainty, mark.meaning);
    } else if (pprof->tree->loss[i] > 0) {
      snprintf(text, sizeof text, "%llu samples lost: %s", (unsigned long long)pprof->tree->loss[i],
               loss_name(i));
    } else {
      continue;
    }
    const char *kept = arena_string(pprof->arena, text, strlen(text));
    put_number(&pprof->out, 13, kept != NULL ? string_of(pprof, kept) : 0);
  }
}

static void put_times(struct pprof *pprof) {
  const struct view_origin *origin = pprof->origin;
  static const char *const cpu[2] = {"cpu", "nanoseconds"};
  put_number(&pprof->out, 9, origin->start_ns);
  if (origin->end_ns > origin->start_ns)
    put_number(&pprof->out, 10, origin->end_ns - origin->start_ns);
  put_type(pprof, 11, cpu);
  put_number(&pprof->out, 12, origin->period_ns);
  put_number(&pprof->out, 14, string_of(pprof, cpu[0]));
}

static int put_all(struct pprof *pprof) {
  static const char *const samples[2] = {"samples", "count"}, *const cpu[2] = {"cpu",
                                                                               "nanoseconds"};
  const struct view_tree *tree = pprof->tree;
  int error = pprof_places_init(&pprof->places, tree, pprof->arena);
  if (error != 0) return error;
  string_of(pprof, ""); /* number 0 has to be the empty one */
  put_type(pprof, 1, samples);
  put_type(pprof, 1, cpu);
  for (uint32_t i = 1; i < tree->node_count; i++)
    if (tree->nodes[i].self_weight > 0 || tree->nodes[i].self_count > 0) put_sample(pprof, i);
  error = put_places(pprof);
  put_times(pprof);
  put_comments(pprof);
  for (uint32_t i = 0; i < pprof->strings.count; i++)
    put_bytes(&pprof->out, 6, span_of_string(pprof->strings.texts[i]));
  return error;
}

int view_pprof(const struct view_tree *tree, const struct view_origin *origin, struct arena *arena,
               struct buf *ret) {
  struct pprof pprof = {.tree = tree, .origin = origin, .arena = arena};
  pprof.out.limit = ret->limit; /* of what is packed: the packed size is known too late */
  int error = put_all(&pprof);
  ret->is_full = pprof.out.is_full;
  bool is_whole = !pprof.out.failed && !pprof.part.failed && !pprof.packed.failed &&
                  !pprof.strings.failed && !pprof.modules.failed && !pprof.places.failed;
  if (error == 0) error = is_whole ? gzip(buf_span(&pprof.out), ret) : -ENOMEM;
  buf_fini(&pprof.out);
  buf_fini(&pprof.part);
  buf_fini(&pprof.packed);
  text_ids_fini(&pprof.strings);
  text_ids_fini(&pprof.modules);
  pprof_places_fini(&pprof.places);
  return error;
}
