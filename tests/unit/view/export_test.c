/* SPDX-License-Identifier: Apache-2.0 */
/* Other tools read the tree's content from an export: sums, stacks, inclusive costs. */
#include "common/arena.h"
#include "common/buf.h"
#include "proto/varint.h"
#include "view/call_path.h"
#include "view/export.h"
#include "view/tree_builder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

/* main, walk and read; recursion through walk and through main. */
static const struct {
  const char *stack;
  uint64_t count, weight;
} samples[] = {{"m", 1, 10},     {"mw", 2, 20}, {"mwww", 3, 30}, {"mwwr", 4, 40},
               {"mwmwr", 5, 50}, {"r", 6, 60},  {"mrm", 7, 70}};

enum { WEIGHT = 280, COUNT = 28 };

struct world {
  struct arena arena;
  struct tree_builder builder;
  struct view_tree tree;
};

static uint32_t function_of(struct world *world, char letter) {
  static const char *const names[] = {"main", "walk", "re\nad;"};
  const struct view_function wanted = {.name = names[letter == 'm'   ? 0
                                                     : letter == 'w' ? 1
                                                                     : 2],
                                       .module = letter == 'r' ? "libc.so.6" : "tool",
                                       .file = letter == 'w' ? "walk.c" : NULL,
                                       .line = letter == 'w' ? 7 : 0};
  uint32_t ret;
  assert_int_equal(function_table_intern(&world->builder.functions, &wanted, false, &ret), 0);
  return ret;
}

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  arena_init(&world->arena, 1 << 20);
  assert_int_equal(tree_builder_init(&world->builder, &world->arena), 0);
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    uint32_t node = 0;
    for (const char *at = samples[i].stack; *at != '\0'; at++)
      assert_int_equal(tree_builder_child(&world->builder, node, function_of(world, *at), &node),
                       0);
    tree_builder_add(&world->builder, node, samples[i].count, samples[i].weight);
  }
  assert_int_equal(tree_builder_finish(&world->builder, &world->arena, &world->tree), 0);
  world->tree.loss[LOSS_RING_FULL] = 9;
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  tree_builder_fini(&world->builder);
  arena_fini(&world->arena);
  free(world);
  return 0;
}

static const struct view_origin origin = {"a title", "tool", 1000, 3000, 500};

/* ---- callgrind ---- */

enum { ENTRIES_MAX = 64 };

/* CPU_ns of a function number in the text. */
struct costs {
  char name[64];
  uint64_t self, calls, called; /* self; of its callees; of its callers' calls to it */
};

/* The number in LINE, `fn=(NUMBER) NAME`, whose name appears only the first time. */
static unsigned number_of(const char *line, struct costs *costs) {
  unsigned number = 0;
  const char *name = strchr(line, ')') + 1;
  assert_int_equal(sscanf(strchr(line, '('), "(%u", &number), 1);
  assert_in_range(number, 1, ENTRIES_MAX - 1);
  if (*name == ' ')
    snprintf(costs[number].name, sizeof costs->name, "%.*s", (int)strcspn(name, "\n") - 1,
             name + 1);
  return number;
}

/* Adds up as readers do: own lines, and the line behind each calls=. */
static void read_callgrind(const char *text, struct costs costs[ENTRIES_MAX]) {
  unsigned in = 0, callee = 0;
  bool is_call = false;
  for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
    uint64_t count, weight;
    if (strncmp(line, "fn=", 3) == 0) in = number_of(line, costs);
    if (strncmp(line, "cfn=", 4) == 0) callee = number_of(line, costs);
    if (strncmp(line, "totals:", 7) == 0) break;
    if (strncmp(line, "calls=", 6) == 0) is_call = true;
    if (*line < '0' || *line > '9') continue;
    assert_int_equal(sscanf(line, "%*u %lu %lu", &count, &weight), 2);
    *(is_call ? &costs[in].calls : &costs[in].self) += weight;
    if (is_call) costs[callee].called += weight;
    is_call = false;
  }
}

/* The own cost of NAME and of NAME'2, NAME'3, ...; the other costs of NAME alone. */
static struct costs costs_of(const struct costs *costs, const char *name) {
  struct costs sum = {.self = 0};
  size_t len = strlen(name);
  for (unsigned i = 1; i < ENTRIES_MAX; i++) {
    if (strncmp(costs[i].name, name, len) != 0) continue;
    bool is_again = costs[i].name[len] == '\'';
    assert_true(is_again || costs[i].name[len] == '\0');
    if (!is_again) sum.calls = costs[i].calls + costs[i].self, sum.called = costs[i].called;
    sum.self += costs[i].self;
  }
  return sum;
}

/* Each function of WORLD that is not the root of its stack has a caller, counted once a stack. */
static void callgrind_costs_are_those_of_the_table(void **state) {
  struct world *world = *state;
  struct buf out = {0};
  struct costs costs[ENTRIES_MAX] = {{.self = 0}};
  struct view_top_row *rows;
  uint32_t count;
  static const struct {
    const char *name;
    uint64_t outermost; /* weight of the stacks that begin with it */
  } roots[] = {{"main", 220}, {"walk", 0}, {"re ad;", 60}};
  assert_int_equal(view_callgrind(&world->tree, &origin, &world->arena, &out), 0);
  const char *text = buf_text(&out);
  assert_non_null(strstr(text, "\nsummary: 28 280\n"));
  assert_non_null(strstr(text, "\ntotals: 28 280\n"));
  assert_non_null(strstr(text, "\ncmd: a title\n"));
  read_callgrind(text, costs);
  assert_int_equal(view_top(&world->tree, &world->arena, &rows, &count), 0);
  assert_int_equal(count, 3);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = rows[i].function - 1;
    struct costs got = costs_of(costs, roots[at].name);
    assert_int_equal(got.self, rows[i].self_weight);
    assert_int_equal(got.calls, rows[i].total_weight);
    assert_int_equal(got.called + roots[at].outermost, rows[i].total_weight);
  }
  buf_fini(&out);
}

static void expect_path(const char *stack, const char *want) {
  struct world world = {.tree = {.total_weight = 0}};
  struct call_path path;
  char got[64] = "";
  uint32_t node = 0;
  arena_init(&world.arena, 1 << 20);
  assert_int_equal(tree_builder_init(&world.builder, &world.arena), 0);
  for (const char *at = stack; *at != '\0'; at++)
    assert_int_equal(tree_builder_child(&world.builder, node, function_of(&world, *at), &node), 0);
  assert_int_equal(tree_builder_finish(&world.builder, &world.arena, &world.tree), 0);
  assert_int_equal(call_path_init(&path, &world.tree, &world.arena), 0);
  for (int again = 0; again < 2; again++) {
    got[0] = '\0';
    call_path_set(&path, &world.tree, node);
    for (uint32_t i = 0; i < path.count; i++) {
      const char *name = world.tree.functions[path.places[i].function].name;
      size_t len = strlen(got);
      snprintf(got + len, sizeof got - len, path.places[i].level > 1 ? "%c%u" : "%c", name[0],
               path.places[i].level);
    }
    assert_string_equal(got, want);
  }
  tree_builder_fini(&world.builder);
  arena_fini(&world.arena);
}

static void a_loop_is_cut_out_unless_a_function_were_lost(void **state) {
  (void)state;
  expect_path("m", "m");
  expect_path("mwwwr", "mwr");
  expect_path("mwmr", "mwm2r");
  expect_path("mwmwr", "mwr"); /* the loop has lost main, which is above, too */
  expect_path("mwmwmwm", "mwm2");
  expect_path("mwmrmr", "mwm2r");
  expect_path("mwmrmw", "mwm2rm3w2"); /* read is nowhere else */
}

/* ---- speedscope ---- */

static uint64_t count_of(const char *text, const char *word) {
  uint64_t count = 0;
  for (; (text = strstr(text, word)) != NULL; text++) count++;
  return count;
}

static void speedscope_has_every_stack_root_first(void **state) {
  struct world *world = *state;
  struct buf out = {0};
  assert_int_equal(view_speedscope(&world->tree, &origin, &world->arena, &out), 0);
  const char *text = buf_text(&out);
  assert_non_null(strstr(text, "\"endValue\":280,"));
  assert_non_null(strstr(text, "\"unit\":\"nanoseconds\""));
  assert_int_equal(count_of(text, "{\"name\":"), 3);
  /* main is frame 0, walk 1, read 2 */
  assert_non_null(
      strstr(text, "\"samples\":[[0],[0,1],[0,1,1,1],[0,1,1,2],[0,1,0,1,2],[2],[0,2,0]]"));
  assert_non_null(strstr(text, "\"weights\":[10,20,30,40,50,60,70]"));
  assert_non_null(strstr(text, "\"file\":\"walk.c\",\"line\":7"));
  buf_fini(&out);
}

/* ---- pprof ---- */

static struct buf gunzip(const struct buf *packed) {
  struct buf out = {0};
  z_stream stream = {.next_in = packed->data, .avail_in = (uInt)packed->len};
  assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_out = buf_reserve(&out, 65536);
  stream.avail_out = 65536;
  assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.len = stream.total_out;
  inflateEnd(&stream);
  return out;
}

/* Takes one field off MESSAGE. */
static uint64_t take_field(struct span *message, uint64_t *ret_number, struct span *ret_bytes) {
  uint64_t key;
  *ret_bytes = span_of(NULL, 0);
  assert_int_equal(varint_decode(message, &key), 0);
  assert_int_equal(varint_decode(message, ret_number), 0);
  if ((key & 7) == 2) assert_true(span_take(message, *ret_number, ret_bytes));
  return key >> 3;
}

struct pprof_sums {
  uint64_t strings, samples, count, weight, functions, locations, mappings, depth_max;
  uint64_t duration, period, comments;
  char first_string[16];
};

static void add_sample(struct span sample, struct pprof_sums *sums) {
  struct span bytes;
  uint64_t number, depth = 0;
  assert_int_equal(take_field(&sample, &number, &bytes), 1);
  for (; bytes.len > 0; depth++) {
    assert_int_equal(varint_decode(&bytes, &number), 0);
    assert_in_range(number, 1, 3);
  }
  if (depth > sums->depth_max) sums->depth_max = depth;
  assert_int_equal(take_field(&sample, &number, &bytes), 2);
  assert_int_equal(varint_decode(&bytes, &number), 0);
  sums->count += number;
  assert_int_equal(varint_decode(&bytes, &number), 0);
  sums->weight += number;
  sums->samples++;
}

static struct pprof_sums sums_of(struct span message) {
  struct pprof_sums sums = {0};
  while (message.len > 0) {
    struct span bytes;
    uint64_t number, field = take_field(&message, &number, &bytes);
    if (field == 2) add_sample(bytes, &sums);
    if (field == 3) sums.mappings++;
    if (field == 4) sums.locations++;
    if (field == 5) sums.functions++;
    if (field == 6 && sums.strings++ == 0) assert_int_equal(bytes.len, 0);
    if (field == 10) sums.duration = number;
    if (field == 12) sums.period = number;
    if (field == 13) sums.comments++;
  }
  return sums;
}

static void pprof_holds_every_sample(void **state) {
  struct world *world = *state;
  struct buf packed = {0};
  assert_int_equal(view_pprof(&world->tree, &origin, &world->arena, &packed), 0);
  struct buf raw = gunzip(&packed);
  struct pprof_sums sums = sums_of(buf_span(&raw));
  assert_int_equal(sums.samples, 7);
  assert_int_equal(sums.count, COUNT);
  assert_int_equal(sums.weight, WEIGHT);
  assert_int_equal(sums.depth_max, 5);
  assert_int_equal(sums.functions, 3);
  assert_int_equal(sums.locations, 3);
  assert_int_equal(sums.mappings, 2);
  assert_int_equal(sums.duration, 2000);
  assert_int_equal(sums.period, 500);
  assert_int_equal(sums.comments, 1); /* the losses */
  buf_fini(&packed);
  buf_fini(&raw);
}

/* ---- perf script ---- */

/* Reads as stackcollapse-perf.pl does: a header's period is the weight of the frames below it. */
static void perf_script_has_every_stack_leaf_first(void **state) {
  struct world *world = *state;
  const struct view_origin mine = {.title = "/usr/bin/my tool", .start_ns = 5000000000};
  struct buf out = {0};
  assert_int_equal(view_perf_script(&world->tree, &mine, &world->arena, &out), 0);
  const char *text = buf_text(&out);
  uint64_t weight = 0, events = 0;
  for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
    unsigned long long seconds, us, period;
    if (sscanf(line, "my_tool 1 [000] %llu.%6llu: %llu cpu-clock: ", &seconds, &us, &period) != 3)
      continue;
    assert_int_equal(seconds * 1000000000 + us * 1000,
                     (5000000000 + weight + period / 2) / 1000 * 1000);
    weight += period;
    events++;
  }
  assert_int_equal(events, COUNT);
  assert_int_equal(weight, WEIGHT);
  assert_non_null(strstr(text, "         10 cpu-clock: \n"
                               "\t               0 re_ad; (libc.so.6)\n"
                               "\t               0 walk (tool)\n"
                               "\t               0 walk (tool)\n"
                               "\t               0 main (tool)\n\n"));
  buf_fini(&out);
}

/* One stack of SAMPLES samples, one of a tenth of their weight, one measured by a clock. */
static void perf_script_has_as_many_events_as_samples_within_a_limit(void **state) {
  static const struct {
    uint64_t samples, heavy, light, clock; /* events of each */
  } cases[] = {{1000, 1000, 100, 10}, {4000000, 18020, 1804, 182}};
  static const uint64_t sample_ns = 1ULL << 30;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct world world = {.tree = {.total_weight = 0}};
    struct buf out = {0};
    uint32_t nodes[3];
    uint64_t weight = cases[i].samples * sample_ns;
    arena_init(&world.arena, 1 << 20);
    assert_int_equal(tree_builder_init(&world.builder, &world.arena), 0);
    for (size_t n = 0; n < 3; n++)
      assert_int_equal(
          tree_builder_child(&world.builder, 0, function_of(&world, "mwr"[n]), &nodes[n]), 0);
    tree_builder_add(&world.builder, nodes[0], cases[i].samples, weight);
    tree_builder_add(&world.builder, nodes[1], cases[i].samples / 10, weight / 10);
    tree_builder_add(&world.builder, nodes[2], 0, weight / 100);
    assert_int_equal(tree_builder_finish(&world.builder, &world.arena, &world.tree), 0);
    assert_int_equal(view_perf_script(&world.tree, &origin, &world.arena, &out), 0);
    uint64_t total = 0;
    const char *text = buf_text(&out);
    for (const char *line = text; (line = strstr(line, " cpu-clock: ")) != NULL; line++) {
      const char *number = line;
      while (number[-1] != ' ') number--;
      total += strtoull(number, NULL, 10);
    }
    assert_int_equal(total, world.tree.total_weight);
    assert_in_range(count_of(text, " main ("), cases[i].heavy * 99 / 100, cases[i].heavy);
    assert_in_range(count_of(text, " walk ("), cases[i].light * 99 / 100, cases[i].light);
    assert_in_range(count_of(text, " re_ad; ("), cases[i].clock * 98 / 100, cases[i].clock);
    tree_builder_fini(&world.builder);
    arena_fini(&world.arena);
    buf_fini(&out);
  }
}

static void an_empty_tree_makes_valid_files(void **state) {
  struct tree_builder builder;
  struct view_tree tree;
  struct arena arena;
  struct buf out = {0};
  static const struct view_origin unknown = {0};
  (void)state;
  arena_init(&arena, 1 << 20);
  assert_int_equal(tree_builder_init(&builder, &arena), 0);
  assert_int_equal(tree_builder_finish(&builder, &arena, &tree), 0);
  assert_int_equal(view_callgrind(&tree, &unknown, &arena, &out), 0);
  assert_int_equal(view_speedscope(&tree, &unknown, &arena, &out), 0);
  buf_clear(&out);
  assert_int_equal(view_perf_script(&tree, &unknown, &arena, &out), 0);
  assert_int_equal(out.len, 0);
  assert_int_equal(view_pprof(&tree, &unknown, &arena, &out), 0);
  struct buf raw = gunzip(&out);
  assert_int_equal(sums_of(buf_span(&raw)).samples, 0);
  tree_builder_fini(&builder);
  arena_fini(&arena);
  buf_fini(&out);
  buf_fini(&raw);
}

static void no_file_is_longer_than_its_limit(void **state) {
  struct world *world = *state;
  static int (*const writers[])(const struct view_tree *, const struct view_origin *,
                                struct arena *, struct buf *) = {view_pprof, view_speedscope,
                                                                 view_callgrind, view_perf_script};
  for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
    struct buf out = {.limit = 50};
    assert_int_equal(writers[i](&world->tree, &origin, &world->arena, &out), -ENOMEM);
    assert_true(out.is_full);
    assert_true(out.len <= 50);
    buf_fini(&out);
  }
  struct buf folded = {.limit = 10};
  assert_int_equal(view_folded(&world->tree, &world->arena, &folded), -ENOMEM);
  assert_true(folded.is_full);
  buf_fini(&folded);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(callgrind_costs_are_those_of_the_table, set_up, tear_down),
      cmocka_unit_test(a_loop_is_cut_out_unless_a_function_were_lost),
      cmocka_unit_test_setup_teardown(speedscope_has_every_stack_root_first, set_up, tear_down),
      cmocka_unit_test_setup_teardown(pprof_holds_every_sample, set_up, tear_down),
      cmocka_unit_test_setup_teardown(no_file_is_longer_than_its_limit, set_up, tear_down),
      cmocka_unit_test_setup_teardown(perf_script_has_every_stack_leaf_first, set_up, tear_down),
      cmocka_unit_test(perf_script_has_as_many_events_as_samples_within_a_limit),
      cmocka_unit_test(an_empty_tree_makes_valid_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
