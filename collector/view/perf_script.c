/* SPDX-License-Identifier: Apache-2.0 */
/* The output format of `perf script`, for readers of only that format (stackcollapse-perf.pl,
   the Firefox profiler, speedscope):

     comm pid [cpu] seconds.usec:     period event:
     <TAB>          address symbol (module)              leaf first
     <empty line>

   A sum no longer has single samples, so events are generated: for each different stack a number
   by its weight, whose periods add up exactly to its weight. Readers weigh by period, by the
   number of events, or by the time between them (one stack ends and the next begins halfway
   between two events): all three find the shares. A profile with more samples than EVENTS_MAX
   has fewer and heavier events.

   Addresses are relative to the module, as in its symbols; those of callers are inside the call
   instruction; those not requested are 0. Frames follow perf: `[unknown]` without a name,
   symbol+0xoffset if the offset in the symbol is known, and `inlined` for the module of an
   inlined function. There is no process, so all is process 1. */
#include "export.h"

#include "common/buf.h"
#include "common/cutoff.h"
#include "common/number_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMM_BYTES_MAX = 15, NS_PER_US = 1000, US_PER_S = 1000000, EVENTS_MAX = 20000 };

/* Appends at most LIMIT bytes of TEXT; if IS_WORD, characters that are not of one word become
   '_'. */
static void put_text(struct buf *out, const char *text, size_t limit, bool is_word) {
  size_t first = 0, i = 0; /* bytes from FIRST on are not written yet */
  for (; text[i] != '\0' && i < limit; i++) {
    bool is_odd = iscntrl((unsigned char)text[i]) != 0;
    if (is_word) is_odd |= text[i] == ' ' || text[i] == '/';
    if (!is_odd) continue;
    buf_append(out, text + first, i - first);
    buf_append_byte(out, '_');
    first = i + 1;
  }
  buf_append(out, text + first, i - first);
}

/* Readers require at least two letters. */
static void put_comm(struct buf *out, const char *title) {
  const char *slash = title != NULL ? strrchr(title, '/') : NULL;
  const char *name = slash != NULL ? slash + 1 : title != NULL ? title : "";
  if (strlen(name) < 2) buf_append_string(out, "all");
  put_text(out, name, COMM_BYTES_MAX, true);
}

static void put_header(struct buf *out, const struct view_origin *origin, uint64_t at_ns,
                       uint64_t weight) {
  uint64_t us = at_ns / NS_PER_US;
  put_comm(out, origin->main_module != NULL ? origin->main_module : origin->title);
  buf_printf(out, " 1 [000] %llu.%06llu: %10llu cpu-clock: \n", (unsigned long long)(us / US_PER_S),
             (unsigned long long)(us % US_PER_S), (unsigned long long)weight);
}

/* Whether NAME is MODULE+0xOFFSET, and that offset. */
static bool find_offset(const struct view_function *function, uint64_t *ret) {
  size_t len = strlen(function->module);
  if (strncmp(function->name, function->module, len) != 0) return false;
  if (strncmp(function->name + len, "+0x", 3) != 0) return false;
  *ret = strtoull(function->name + len + 1, NULL, 16);
  return true;
}

/* 16 columns, right-aligned, between a tab and a blank. */
static void put_address(struct buf *out, uint64_t address) {
  static const char blanks[] = "               "; /* one fewer: the number has a digit */
  unsigned digits = 1;
  for (uint64_t rest = address >> 4; rest > 0; rest >>= 4) digits++;
  buf_append_byte(out, '\t');
  buf_append(out, blanks, 16 - digits);
  number_text_hex(address, out);
  buf_append_byte(out, ' ');
}

static void put_offset(struct buf *out, uint64_t offset) {
  buf_append_string(out, "+0x");
  number_text_hex(offset, out);
}

static void put_frame(struct buf *out, const struct view_tree *tree, const struct view_node *node) {
  const struct view_function *function = &tree->functions[node->function];
  const struct view_place *place = &tree->places[node->place];
  uint64_t address = 0;
  bool is_unknown = find_offset(function, &address);
  if (place->build != 0) address = place->address;
  put_address(out, address);
  put_text(out, is_unknown ? "[unknown]" : function->name, SIZE_MAX, false);
  if (!is_unknown && !node->is_inlined && place->start > 0 && place->start <= address)
    put_offset(out, address - place->start);
  buf_append_string(out, " (");
  put_text(out, node->is_inlined ? "inlined" : function->module, SIZE_MAX, false);
  buf_append_string(out, ")\n");
}

/* The weight of one event. */
static uint64_t event_weight(const struct view_tree *tree) {
  uint64_t events = tree->total_count < EVENTS_MAX ? tree->total_count : EVENTS_MAX;
  wide_sum weight = events > 0 ? tree->total_weight / events : tree->total_weight;
  return weight > 0 ? wide_sum_cut(weight) : 1;
}

/* Puts WEIGHT of the stack FRAMES from AT_NS on, in events of about EACH. */
static void put_events(struct buf *out, const struct view_origin *origin, struct span frames,
                       uint64_t at_ns, const uint64_t weight_and_each[2]) {
  uint64_t weight = weight_and_each[0], each = weight_and_each[1];
  uint64_t events = weight / each + (weight % each >= each - each / 2);
  if (events == 0) events = 1;
  uint64_t period = weight / events;
  for (uint64_t i = 0; i < events; i++) {
    uint64_t mine = i + 1 < events ? period : weight - i * period;
    put_header(out, origin, at_ns + i * period + period / 2, mine);
    buf_append(out, frames.data, frames.len);
    buf_append_byte(out, '\n');
  }
}

int view_perf_script(const struct view_tree *tree, const struct view_origin *origin,
                     struct arena *arena, struct buf *ret) {
  uint64_t at_ns = origin->start_ns, each = event_weight(tree);
  struct buf frames = {0};
  (void)arena;
  int error = 0;
  for (uint32_t i = 1; i < tree->node_count && error == 0 && !ret->failed && !frames.failed; i++) {
    if (cutoff_is_at(tree->cutoff, i)) error = -ETIMEDOUT;
    uint64_t weight = wide_sum_cut(tree->nodes[i].self_weight);
    if (weight == 0) continue;
    buf_clear(&frames);
    for (uint32_t at = i; at != 0; at = tree->nodes[at].parent)
      put_frame(&frames, tree, &tree->nodes[at]);
    put_events(ret, origin, buf_span(&frames), at_ns, (uint64_t[2]){weight, each});
    at_ns = sum_of(at_ns, weight);
  }
  bool is_whole = !ret->failed && !frames.failed;
  buf_fini(&frames);
  return is_whole ? error : -ENOMEM;
}
