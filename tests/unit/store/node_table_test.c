/* SPDX-License-Identifier: Apache-2.0 */
/* Node identity: one row per node, in any order, and no row for two nodes. */
#include "store/node_table.h"

#include "store/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const uint8_t key[SIPHASH_KEY_BYTES] = "0123456789abcdef";
static const struct batch_module modules[] = {
    {{(const uint8_t *)"\x01", 1}, "/bin/a", 1, MODULE_ELF},
    {{(const uint8_t *)"\x02", 1}, "/bin/a", 1, MODULE_ELF},
    {{NULL, 0}, "[kernel]", 0, MODULE_PSEUDO},
};
static const struct batch_node nodes[] = {
    {BATCH_NONE, 0, 0x10}, {0, 0, 0x20}, {0, 1, 0x20}, {1, 0, 0x20}, {BATCH_NONE, 2, 0}, {4, 0, 16},
};
enum { MODULES = 3, NODES = 6 };
static const struct batch batch = {
    .module_count = MODULES, .modules = modules, .node_count = NODES, .nodes = nodes};

struct world {
  char path[64];
  sqlite3 *db;
  struct node_table table;
};

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  snprintf(world->path, sizeof world->path, "/tmp/node_table_test.XXXXXX");
  close(mkstemp(world->path));
  if (db_open(world->path, true, &world->db) != 0) return -1;
  if (db_schema(world->db, NODE_TABLE_SCHEMA, 1) != 0) return -1;
  *state = world;
  return node_table_open(world->db, key, 1000, &world->table);
}

static int tear_down(void **state) {
  struct world *world = *state;
  node_table_close(&world->table);
  db_close(world->db);
  unlink(world->path);
  free(world);
  return 0;
}

static void map(struct world *world, struct node_ref *refs) {
  struct module_ref module_refs[MODULES];
  assert_int_equal(node_table_map(&world->table, &batch, module_refs, refs), 0);
}

static void reopen_with(struct world *world, uint32_t max, const uint8_t *other_key) {
  node_table_close(&world->table);
  world->table = (struct node_table){0};
  assert_int_equal(node_table_open(world->db, other_key, max, &world->table), 0);
}

static void reopen(struct world *world, uint32_t max) {
  reopen_with(world, max, key);
}

static void parents_come_before_children_and_the_same_node_is_the_same_row(void **state) {
  struct world *world = *state;
  struct node_ref first[NODES], again[NODES];
  map(world, first);
  for (uint32_t i = 0; i < NODES; i++) {
    assert_int_equal(first[i].n, i + 1); /* all six differ */
    assert_true(nodes[i].parent == BATCH_NONE || first[nodes[i].parent].n < first[i].n);
  }
  map(world, again);
  for (uint32_t i = 0; i < NODES; i++) assert_int_equal(first[i].n, again[i].n);
  reopen(world, 1000); /* nothing in the cache */
  map(world, again);
  for (uint32_t i = 0; i < NODES; i++) {
    assert_int_equal(first[i].n, again[i].n);
    assert_true(first[i].hash == again[i].hash);
  }
  assert_int_equal(world->table.count, NODES);
  assert_int_equal(world->table.collisions, 0);
}

static void another_key_gives_other_hashes(void **state) {
  struct world *world = *state;
  struct node_ref first[NODES], other[NODES];
  map(world, first);
  reopen_with(world, 1000, (const uint8_t *)"fedcba9876543210");
  map(world, other);
  for (uint32_t i = 0; i < NODES; i++) assert_true(first[i].hash != other[i].hash);
}

static void a_collision_gets_a_row_of_its_own_and_is_counted(void **state) {
  struct world *world = *state;
  struct node_ref first[NODES], again[NODES];
  map(world, first);
  assert_int_equal(db_exec(world->db, "UPDATE node SET address=999 WHERE n=2"), 0);
  reopen(world, 1000);
  map(world, again);
  assert_int_equal(again[0].n, first[0].n);
  assert_int_equal(again[1].n, NODES + 1);
  assert_int_equal(again[3].n, NODES + 2); /* its child has another parent now */
  assert_int_equal(again[2].n, first[2].n);
  assert_int_equal(world->table.collisions, 2);
}

static void over_the_limit_frames_are_cut_and_stacks_go_to_other(void **state) {
  struct world *world = *state;
  struct node_ref refs[NODES];
  reopen(world, 2);
  map(world, refs);
  assert_int_equal(refs[0].n, 1);
  assert_int_equal(refs[1].n, 2);
  assert_int_equal(refs[2].n, 1); /* its parent's */
  assert_int_equal(refs[3].n, 2);
  assert_int_equal(refs[4].n, 3); /* [other] */
  assert_int_equal(refs[5].n, 3);
  assert_int_equal(world->table.cut, 4);
  assert_int_equal(world->table.count, 3);
}

static int looked_up(struct world *world) {
  return sqlite3_stmt_status(world->table.statements[NODE_FIND], SQLITE_STMTSTATUS_RUN, 1);
}

static void what_the_cache_has_room_for_is_looked_up_once(void **state) {
  enum { MANY = 20000 };
  struct world *world = *state;
  struct batch_node *many = calloc(MANY, sizeof *many);
  struct module_ref module_refs[MODULES];
  struct node_ref *refs = calloc(MANY, sizeof *refs);
  struct batch large = batch;
  for (uint32_t i = 0; i < MANY; i++) many[i] = (struct batch_node){BATCH_NONE, 0, 16 * i};
  large.node_count = MANY;
  large.nodes = many;
  reopen(world, MANY);
  assert_int_equal(db_exec(world->db, "BEGIN"), 0);
  assert_int_equal(node_table_map(&world->table, &large, module_refs, refs), 0);
  assert_int_equal(looked_up(world), MANY);
  assert_int_equal(node_table_map(&world->table, &large, module_refs, refs), 0);
  assert_in_range(looked_up(world), 0, MANY / 100);
  assert_int_equal(db_exec(world->db, "COMMIT"), 0);
  free(many);
  free(refs);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(parents_come_before_children_and_the_same_node_is_the_same_row),
      TEST(another_key_gives_other_hashes),
      TEST(a_collision_gets_a_row_of_its_own_and_is_counted),
      TEST(over_the_limit_frames_are_cut_and_stacks_go_to_other),
      TEST(what_the_cache_has_room_for_is_looked_up_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
