/* SPDX-License-Identifier: Apache-2.0 */
/* Each format of a few trees, byte for byte as in tests/golden/exports (README.md there): addresses
   of two builds, weights beyond a double's range, a tree of one node, an empty one. With
   FLEETPROF_GOLDEN=DIR the files are written to DIR instead of compared. */
#include "common/arena.h"
#include "common/buf.h"
#include "common/json.h"
#include "view/export.h"
#include "view/tree_builder.h"
#include "view/tree_json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

enum { FILE_BYTES_MAX = 65536 };

struct world {
  struct arena arena;
  struct tree_builder builder;
  struct view_tree tree;
};

/* A frame at ADDRESS of its build, in a symbol that begins at START. */
struct step {
  const char *name, *system_name, *module, *file;
  uint32_t line, build;
  uint64_t address, start;
  bool is_inlined;
};

static uint32_t add(struct world *world, uint32_t parent, const struct step *step, uint64_t count,
                    uint64_t weight) {
  const struct view_function function = {.name = step->name,
                                         .system_name = step->system_name,
                                         .module = step->module,
                                         .file = step->file,
                                         .line = step->line > 2 ? step->line - 2 : 0,
                                         .quality = "dwarf"};
  const struct view_place place = {step->file, step->line, step->build, step->address, step->start};
  struct tree_step mine = {.is_inlined = step->is_inlined};
  uint32_t node;
  assert_int_equal(
      function_table_intern(&world->builder.functions, &function, true, &mine.function), 0);
  assert_int_equal(place_table_intern(&world->builder.places, &place, &mine.place), 0);
  assert_int_equal(tree_builder_step(&world->builder, parent, &mine, &node), 0);
  if (weight > 0) tree_builder_add(&world->builder, node, count, weight);
  return node;
}

/* The same program twice, rebuilt: main calls walk, into which read is inlined; a function without
   a name; the kernel, and time that no sample explains. */
static void fill_code(struct world *world) {
  static const struct step main_of[] = {
      {"main", NULL, "tool", "main.c", 8, 1, 0x401136, 0x401120, false},
      {"main", NULL, "tool", "main.c", 8, 2, 0x401146, 0x401130, false}};
  static const struct step walk_of[] = {
      {"ns::walk(int)", "_ZN2ns4walkEi", "tool", "walk.cc", 12, 1, 0x401210, 0x401200, false},
      {"ns::walk(int)", "_ZN2ns4walkEi", "tool", "walk.cc", 12, 2, 0x401310, 0x401300, false}};
  static const struct step read_of[] = {
      {"read;all", NULL, "tool", "read.h", 5, 1, 0x401210, 0x401200, true},
      {"read;all", NULL, "tool", "read.h", 5, 2, 0x401310, 0x401300, true}};
  static const struct step nameless = {
      "libz.so.1+0x4f00", NULL, "libz.so.1", NULL, 0, 3, 0x4f32, 0x4f00, false};
  static const struct step kernel = {"[kernel]", NULL, "[kernel]", NULL, 0, 4, 0x2014e, 0, false};
  static const struct step unsampled = {"[unsampled]", NULL, "[unsampled]", NULL, 0, 0, 0, 0,
                                        false};
  for (unsigned i = 0; i < 2; i++) {
    uint32_t in_main = add(world, 0, &main_of[i], 1, 10);
    uint32_t in_walk = add(world, in_main, &walk_of[i], 2, 20);
    add(world, in_walk, &read_of[i], 3, 30 + i);
    if (i == 0) add(world, in_walk, &nameless, 4, 40);
  }
  add(world, 0, &kernel, 5, 50);
  add(world, 0, &unsampled, 0, 7);
  world->tree.loss[LOSS_RING_FULL] = 9;
}

/* Beyond a double's precision: 2^60 + 1. */
static void fill_heavy(struct world *world) {
  static const struct step outer = {"main", NULL, "tool", NULL, 0, 0, 0, 0, false},
                           inner = {"spin", NULL, "tool", NULL, 0, 0, 0, 0, false};
  uint32_t node = add(world, 0, &outer, 1, 1ULL << 60);
  add(world, node, &inner, 1, (1ULL << 60) + 1);
}

static void fill_one(struct world *world) {
  static const struct step only = {"main", NULL, "tool", "main.c", 3, 1, 0x1234, 0x1200, false};
  add(world, 0, &only, 1, 10101010);
}

static void fill_nothing(struct world *world) {
  (void)world;
}

static const struct {
  const char *name;
  void (*fill)(struct world *);
} trees[] = {
    {"code", fill_code}, {"heavy", fill_heavy}, {"one", fill_one}, {"empty", fill_nothing}};

static void set_up(struct world *world, void (*fill)(struct world *)) {
  static const uint8_t ids[] = {0xa1, 0xb2, 0xc3, 0xd4};
  *world = (struct world){.tree = {.total_weight = 0}};
  arena_init(&world->arena, 1 << 20);
  assert_int_equal(tree_builder_init(&world->builder, &world->arena), 0);
  world->builder.places.parts = PLACE_LINES | PLACE_CODE;
  for (uint32_t i = 0; i < sizeof ids; i++) {
    const uint8_t id[3] = {ids[i], 0, 0xff};
    uint32_t build, again;
    assert_int_equal(place_table_build(&world->builder.places, span_of(id, sizeof id), &build), 0);
    assert_int_equal(place_table_build(&world->builder.places, span_of(id, sizeof id), &again), 0);
    assert_int_equal(build, i + 1);
    assert_int_equal(again, build);
  }
  fill(world);
  struct view_tree loss = world->tree;
  assert_int_equal(tree_builder_finish(&world->builder, &world->arena, &world->tree), 0);
  memcpy(world->tree.loss, loss.loss, sizeof loss.loss);
}

static void tear_down(struct world *world) {
  tree_builder_fini(&world->builder);
  arena_fini(&world->arena);
}

/* ---- forms ---- */

/* Whole numbers alone: the last digits of a share are the machine's. */
static int write_json(const struct view_tree *tree, const struct view_origin *origin,
                      struct arena *arena, struct buf *ret) {
  struct json json;
  uint32_t *index = arena_array(arena, tree->node_count, sizeof *index);
  assert_non_null(index);
  for (uint32_t i = 0; i < tree->node_count; i++) index[i] = i;
  (void)origin;
  json_init(&json, ret, SIZE_MAX);
  json_open(&json, '{');
  assert_int_equal(tree_json_nodes(&json, tree, index, arena), 0);
  json_close(&json, '}');
  buf_append_byte(ret, '\n');
  return 0;
}

static int write_folded(const struct view_tree *tree, const struct view_origin *origin,
                        struct arena *arena, struct buf *ret) {
  (void)origin;
  return view_folded(tree, arena, ret);
}

/* The message without compression: its compressed size depends on zlib. */
static int write_pprof(const struct view_tree *tree, const struct view_origin *origin,
                       struct arena *arena, struct buf *ret) {
  struct buf packed = {0};
  assert_int_equal(view_pprof(tree, origin, arena, &packed), 0);
  z_stream stream = {.next_in = packed.data, .avail_in = (uInt)packed.len};
  assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_out = buf_reserve(ret, FILE_BYTES_MAX);
  stream.avail_out = FILE_BYTES_MAX;
  assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
  ret->len = stream.total_out;
  inflateEnd(&stream);
  buf_fini(&packed);
  return 0;
}

static const struct {
  const char *extension;
  int (*write)(const struct view_tree *, const struct view_origin *, struct arena *, struct buf *);
} forms[] = {{"json", write_json},          {"folded", write_folded},
             {"pprof", write_pprof},        {"speedscope.json", view_speedscope},
             {"callgrind", view_callgrind}, {"perf.txt", view_perf_script}};

/* OUT with VERSION in place of the version being built. */
static void hide_version(struct buf *out) {
  struct buf hidden = {0};
  const char *rest = buf_text(out);
  size_t left = out->len;
  for (const char *at;
       (at = memmem(rest, left, FLEETPROF_VERSION, strlen(FLEETPROF_VERSION))) != NULL;) {
    buf_append(&hidden, rest, (size_t)(at - rest));
    buf_append_string(&hidden, "VERSION");
    left -= (size_t)(at - rest) + strlen(FLEETPROF_VERSION);
    rest = at + strlen(FLEETPROF_VERSION);
  }
  buf_append(&hidden, rest, left);
  buf_fini(out);
  *out = hidden;
}

static void compare(const char *name, const struct buf *got) {
  static uint8_t want[FILE_BYTES_MAX];
  char path[4096];
  snprintf(path, sizeof path, "%s/golden/exports/%s", TEST_DATA, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("%s: %s", path, strerror(errno));
  size_t len = fread(want, 1, sizeof want, file);
  fclose(file);
  bool is_equal = len == got->len && (len == 0 || memcmp(want, got->data, len) == 0);
  if (!is_equal) fail_msg("%s is not what is written: %.*s", name, (int)got->len, got->data);
}

static void keep(const char *dir, const char *name, const struct buf *got) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  if (got->len > 0) assert_int_equal(fwrite(got->data, 1, got->len, file), got->len);
  assert_int_equal(fclose(file), 0);
}

static void each_form_of_each_tree_is_as_it_was(void **state) {
  static const struct view_origin origin = {"a title", "tool", 1000, 3000, 500};
  const char *dir = getenv("FLEETPROF_GOLDEN");
  struct world world;
  (void)state;
  for (size_t tree = 0; tree < sizeof trees / sizeof *trees; tree++) {
    set_up(&world, trees[tree].fill);
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
      struct buf out = {0};
      char name[64];
      snprintf(name, sizeof name, "%s.%s", trees[tree].name, forms[form].extension);
      assert_int_equal(forms[form].write(&world.tree, &origin, &world.arena, &out), 0);
      hide_version(&out);
      if (dir != NULL)
        keep(dir, name, &out);
      else
        compare(name, &out);
      buf_fini(&out);
    }
    tear_down(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_form_of_each_tree_is_as_it_was)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
