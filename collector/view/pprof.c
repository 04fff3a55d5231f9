/* SPDX-License-Identifier: Apache-2.0 */
/* pprof's profile.proto, written field by field.
 *
 * A message of that schema is a row of (field, value) cells, so a writer needs varints and lengths
   and no generated code.  Numbers of fields (github.com/google/pprof, proto/profile.proto):
 *
 * Profile   1 sample_type  2 sample  3 mapping  4 location  5 function  6 string_table
               9 time_nanos  10 duration_nanos  11 period_type  12 period  13 comment
               14 default_sample_type
     Sample    1 location_id, leaf first  2 value        ValueType 1 type  2 unit
     Mapping   1 id  2 memory_start  3 memory_limit  4 file_offset  5 filename  6 build_id
               7 has_functions  8 has_filenames  9 has_line_numbers  10 has_inline_frames
     Location  1 id  2 mapping_id  3 address  4 line, callee first
     Line      1 function_id  2 line
     Function  1 id  2 name  3 system_name  4 filename  5 start_line
 *
 * A location is a place in a function together with the functions it was inlined into
 * (pprof_places.c), and belongs to a build of a module. Its address is relative to the file;
 * that of a call lies inside the call instruction. So each mapping starts at 0 and covers the
 * whole address space: readers then subtract no base. Without requested addresses they are 0,
 * which is valid for locations with lines. By convention the first mapping is the main binary. A
 * reader looks names up itself unless the mapping's has_* fields are set, so these report what
 * the mapping's locations have. */
#include "export.h"
#include "gzip.h"
#include "marks.h"
#include "pprof_mappings.h"
#include "pprof_places.h"
#include "text_ids.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/cutoff.h"
#include "common/hex_text.h"
#include "proto/varint.h"

#include <errno.h>
#include <stdio.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, GZIP_LEVEL = 6 };

struct pprof {
  const struct view_tree *tree;
  const struct view_origin *origin;
  struct arena *arena;
  struct text_ids strings;
  struct pprof_mappings mappings;
  struct pprof_places places;
  struct buf out, part, packed; /* PART: the message being built, PACKED: a list in it */
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
  varint_encode(&pprof->packed, wide_sum_cut(nodes[leaf].self_weight));
  put_bytes(&pprof->part, 2, buf_span(&pprof->packed));
  put_part(pprof, 2);
}

/* A location is in the module of its outermost function. */
static void put_location(struct pprof *pprof, uint32_t id) {
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
  place = &pprof->places.locations[id];
  uint32_t mapping = pprof_mappings_of(
      &pprof->mappings, pprof->tree->functions[function->function].module, place->build);
  put_number(&pprof->part, 2, mapping);
  put_number(&pprof->part, 3, place->address);
  put_part(pprof, 4);
  if (mapping > 0) pprof->mappings.mappings[mapping].has |= has;
}

static void put_function(struct pprof *pprof, uint32_t id) {
  const struct pprof_function *mine = &pprof->places.functions[id];
  const struct view_function *function = &pprof->tree->functions[mine->function];
  const char *system_name = function->system_name != NULL ? function->system_name : function->name;
  put_number(&pprof->part, 1, id);
  put_number(&pprof->part, 2, string_of(pprof, function->name));
  put_number(&pprof->part, 3, string_of(pprof, system_name));
  if (mine->file != NULL) put_number(&pprof->part, 4, string_of(pprof, mine->file));
  put_number(&pprof->part, 5, mine->start_line);
  put_part(pprof, 5);
}

/* The text of BUILD in hexadecimal; "" if unknown. */
static const char *build_text(struct pprof *pprof, uint32_t build) {
  const struct view_build *id = &pprof->tree->builds[build];
  char text[2 * LIMIT_MODULE_ID_BYTES + 1];
  if (build == 0) return "";
  size_t len = hex_text_print(span_of(id->id, id->id_len), text, sizeof text);
  const char *kept = arena_string(pprof->arena, text, len);
  if (kept == NULL) pprof->strings.failed = true;
  return kept != NULL ? kept : "";
}

static void put_mapping(struct pprof *pprof, uint32_t id) {
  const struct pprof_mapping *mapping = &pprof->mappings.mappings[id];
  put_number(&pprof->part, 1, id);
  if (mapping->build != 0) put_number(&pprof->part, 3, UINT64_MAX);
  put_number(&pprof->part, 5, string_of(pprof, mapping->module));
  put_number(&pprof->part, 6, string_of(pprof, build_text(pprof, mapping->build)));
  put_number(&pprof->part, 7, (mapping->has & PPROF_HAS_NAMES) != 0);
  put_number(&pprof->part, 8, (mapping->has & PPROF_HAS_FILES) != 0);
  put_number(&pprof->part, 9, (mapping->has & PPROF_HAS_LINES) != 0);
  put_number(&pprof->part, 10, (mapping->has & PPROF_HAS_INLINES) != 0);
  put_part(pprof, 3);
}

/* Puts mappings of the main binary first; others have no particular order. */
static void put_mappings(struct pprof *pprof) {
  const struct pprof_mappings *mappings = &pprof->mappings;
  const char *main_module = pprof->origin->main_module;
  bool has_main = main_module != NULL && main_module[0] != '\0';
  for (int round = has_main ? 0 : 1; round < 2; round++)
    for (uint32_t i = 1; i < mappings->count; i++) {
      bool is_main = has_main && strcmp(mappings->mappings[i].module, main_module) == 0;
      if (is_main == (round == 0)) put_mapping(pprof, i);
    }
}

/* Locations, their functions and their builds. */
static void put_places(struct pprof *pprof) {
  const struct pprof_places *places = &pprof->places;
  for (uint32_t i = 1; i < places->location_count; i++) put_location(pprof, i);
  for (uint32_t i = 1; i < places->function_count; i++) put_function(pprof, i);
  put_mappings(pprof);
}

/* Losses and warnings are written as comments. */
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
  string_of(pprof, ""); /* string 0 must be empty */
  put_type(pprof, 1, samples);
  put_type(pprof, 1, cpu);
  for (uint32_t i = 1; i < tree->node_count; i++) {
    if (tree->nodes[i].self_weight > 0 || tree->nodes[i].self_count > 0) put_sample(pprof, i);
    if (cutoff_is_at(tree->cutoff, i)) return -ETIMEDOUT;
  }
  put_places(pprof);
  put_times(pprof);
  put_comments(pprof);
  for (uint32_t i = 0; i < pprof->strings.count; i++)
    put_bytes(&pprof->out, 6, span_of_string(pprof->strings.texts[i]));
  return 0;
}

int view_pprof(const struct view_tree *tree, const struct view_origin *origin, struct arena *arena,
               struct buf *ret) {
  struct pprof pprof = {.tree = tree, .origin = origin, .arena = arena};
  pprof.out.limit = ret->limit; /* for the packed bytes: the packed size is known too late */
  int error = put_all(&pprof);
  ret->is_full = pprof.out.is_full;
  bool is_whole = !pprof.out.failed && !pprof.part.failed && !pprof.packed.failed &&
                  !pprof.strings.failed && !pprof.mappings.failed && !pprof.places.failed;
  if (error == 0)
    error = is_whole ? gzip(buf_span(&pprof.out), GZIP_LEVEL, tree->cutoff, ret) : -ENOMEM;
  buf_fini(&pprof.out);
  buf_fini(&pprof.part);
  buf_fini(&pprof.packed);
  text_ids_fini(&pprof.strings);
  pprof_mappings_fini(&pprof.mappings);
  pprof_places_fini(&pprof.places);
  return error;
}
