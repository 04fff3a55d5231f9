/* SPDX-License-Identifier: Apache-2.0 */
#include "common/arena.h"
#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/limits.h"
#include "random_batch_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct random_sizes usual = {12, 3, 6, 370, 450, 60};

static struct buf bytes;
static struct arena arena;
static struct batch decoded;
static char why[256];

static int reset(void **state) {
  (void)state;
  buf_fini(&bytes);
  arena_fini(&arena);
  return 0;
}

static int decode(struct span from) {
  arena_fini(&arena);
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  why[0] = '\0';
  return batch_decode(from, &arena, &decoded, why, sizeof why);
}

/* The meaning of a sample, independent of the nodes' order: its whole stack, mixed into a number.
 */
struct meaning {
  uint64_t stack;
  uint32_t thread, type;
  uint64_t count, weight;
};

static int compare(const void *a, const void *b) {
  return memcmp(a, b, sizeof(struct meaning));
}

static struct meaning *meanings(const struct batch *batch) {
  uint64_t *stacks = calloc(batch->node_count + 1, sizeof *stacks);
  struct meaning *list = calloc(batch->sample_count + 1, sizeof *list);
  for (uint32_t i = 0; i < batch->node_count; i++) {
    const struct batch_node *node = &batch->nodes[i];
    assert_true(node->parent == BATCH_NONE || node->parent < i);
    uint64_t mixed = (node->parent == BATCH_NONE ? 1 : stacks[node->parent]) ^ node->address;
    mixed += (uint64_t)node->module << 40;
    stacks[i] = random_next(&mixed);
  }
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    const struct batch_sample *sample = &batch->samples[i];
    list[i] = (struct meaning){stacks[sample->node], sample->thread, sample->type, sample->count,
                               sample->weight};
  }
  qsort(list, batch->sample_count, sizeof *list, compare);
  free(stacks);
  return list;
}

static void expect_same_samples(const struct batch *a, const struct batch *b) {
  assert_int_equal(a->node_count, b->node_count);
  assert_int_equal(a->sample_count, b->sample_count);
  struct meaning *left = meanings(a), *right = meanings(b);
  assert_memory_equal(left, right, a->sample_count * sizeof *left);
  free(left);
  free(right);
}

static void expect_same_names(const struct batch *a, const struct batch *b) {
  assert_int_equal(a->module_count, b->module_count);
  for (uint32_t i = 0; i < a->module_count; i++) {
    assert_true(span_is_equal(a->modules[i].id, b->modules[i].id));
    assert_string_equal(a->modules[i].path, b->modules[i].path);
    assert_int_equal(a->modules[i].size_bytes, b->modules[i].size_bytes);
    assert_int_equal(a->modules[i].kind, b->modules[i].kind);
  }
  assert_int_equal(a->target_count, b->target_count);
  for (uint32_t i = 0; i < a->target_count; i++) {
    const struct batch_target *left = &a->targets[i], *right = &b->targets[i];
    assert_string_equal(left->service, right->service);
    assert_string_equal(left->exe, right->exe);
    assert_string_equal(left->sampler, right->sampler);
    assert_string_equal(left->why, right->why);
    assert_int_equal(left->module, right->module);
    assert_int_equal(left->asked_mhz, right->asked_mhz);
    assert_int_equal(left->achieved_mhz, right->achieved_mhz);
    assert_int_equal(left->marks, right->marks);
    assert_int_equal(left->label_count, right->label_count);
    for (uint32_t j = 0; j < left->label_count; j++) {
      assert_string_equal(left->labels[j].name, right->labels[j].name);
      assert_string_equal(left->labels[j].value, right->labels[j].value);
    }
  }
  assert_int_equal(a->thread_count, b->thread_count);
  for (uint32_t i = 0; i < a->thread_count; i++) {
    assert_int_equal(a->threads[i].target, b->threads[i].target);
    assert_string_equal(a->threads[i].name, b->threads[i].name);
  }
}

static void expect_round_trip(const struct batch *batch) {
  buf_clear(&bytes);
  assert_int_equal(batch_encode(batch, &bytes), 0);
  if (decode(buf_span(&bytes)) != 0) fail_msg("%s", why);
  assert_memory_equal(batch->boot_id, decoded.boot_id, BATCH_BOOT_ID_BYTES);
  assert_true(batch->start_boottime_ns == decoded.start_boottime_ns);
  assert_true(batch->end_boottime_ns == decoded.end_boottime_ns);
  assert_true(batch->start_walltime_ns == decoded.start_walltime_ns);
  assert_true(batch->end_walltime_ns == decoded.end_walltime_ns);
  assert_memory_equal(&batch->counters, &decoded.counters, offsetof(struct counters, final));
  assert_int_equal(batch->counters.final, decoded.counters.final);
  bool has_effort = batch->effort.budget_state != NULL;
  assert_string_equal(decoded.effort.budget_state, has_effort ? "within" : "");
  assert_string_equal(decoded.effort.rate_reason, has_effort ? "asked" : "");
  assert_int_equal(decoded.effort.sample_ns, has_effort ? batch->effort.sample_ns : 0);
  expect_same_names(batch, &decoded);
  expect_same_samples(batch, &decoded);
  assert_true(batch_record_count(batch) == batch_record_count(&decoded));
}

static void random_batches_come_back(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    uint64_t at = seed;
    const struct random_sizes sizes = {1 + random_below(&at, 20), 1 + random_below(&at, 4),
                                       1 + random_below(&at, 9),  1 + random_below(&at, 500),
                                       random_below(&at, 600),    1 + random_below(&at, 128)};
    struct random_batch made;
    random_batch_make(&made, &sizes, seed);
    expect_round_trip(&made.batch);
    random_batch_fini(&made);
  }
}

static void the_bytes_do_not_depend_on_the_order_of_growth(void **state) {
  (void)state;
  const struct batch_node one[] = {{BATCH_NONE, 0, 10}, {0, 0, 30}, {0, 0, 20}, {1, 1, 0}};
  const struct batch_node two[] = {{BATCH_NONE, 0, 10}, {0, 0, 20}, {0, 0, 30}, {2, 1, 0}};
  struct random_batch made;
  struct buf other = {0};
  random_batch_make(&made, &(struct random_sizes){2, 1, 1, 4, 0, 9}, 1);
  made.batch.nodes = one;
  assert_int_equal(batch_encode(&made.batch, &bytes), 0);
  made.batch.nodes = two;
  assert_int_equal(batch_encode(&made.batch, &other), 0);
  assert_true(span_is_equal(buf_span(&bytes), buf_span(&other)));
  buf_fini(&other);
  random_batch_fini(&made);
}

static void an_empty_batch_comes_back(void **state) {
  (void)state;
  const struct batch batch = {.counters = {.run = UINT64_MAX, .final = 1}};
  expect_round_trip(&batch);
}

static void the_largest_batch_comes_back(void **state) {
  (void)state;
  const struct random_sizes sizes = {LIMIT_BATCH_MODULES, LIMIT_BATCH_TARGETS, LIMIT_BATCH_THREADS,
                                     LIMIT_BATCH_NODES,   LIMIT_BATCH_SAMPLES, LIMIT_STACK_DEPTH};
  struct random_batch made;
  random_batch_make(&made, &sizes, 1);
  expect_round_trip(&made.batch);
  assert_true(arena.used_bytes <= LIMIT_BATCH_UNPACK_BYTES);
  random_batch_fini(&made);
}

static void extreme_numbers_come_back(void **state) {
  (void)state;
  const struct batch_module modules[] = {
      {span_of(random_ids, 1), "", INT64_MAX, MODULE_ELF},
      {{0}, "[anon]", 0, MODULE_PSEUDO},
  };
  const struct batch_target targets[] = {{.service = "", .module = BATCH_NONE}};
  const struct batch_thread threads[] = {{0, NULL}};
  const struct batch_node nodes[] = {{BATCH_NONE, 0, 0},
                                     {BATCH_NONE, 0, UINT64_MAX},
                                     {0, 0, 1},
                                     {1, 1, 0},
                                     {0, 0, UINT64_C(1) << 63}};
  const struct batch_sample samples[] = {{4, 0, SAMPLE_CPU, 0, 77},
                                         {0, 0, SAMPLE_CPU, 0, 0},
                                         {3, 0, SAMPLE_CPU, INT64_MAX - 5, 3},
                                         {2, 0, SAMPLE_CPU, 5, INT64_MAX - 80}};
  const struct batch batch = {.end_boottime_ns = INT64_MAX,
                              .end_walltime_ns = INT64_MAX,
                              .counters = {.produced = INT64_MAX, .shipped = INT64_MAX},
                              .module_count = 2,
                              .target_count = 1,
                              .thread_count = 1,
                              .node_count = 5,
                              .sample_count = 4,
                              .modules = modules,
                              .targets = targets,
                              .threads = threads,
                              .nodes = nodes,
                              .samples = samples};
  buf_clear(&bytes);
  assert_int_equal(batch_encode(&batch, &bytes), 0);
  if (decode(buf_span(&bytes)) != 0) fail_msg("%s", why);
  expect_same_samples(&batch, &decoded);
  assert_string_equal(decoded.threads[0].name, "");
  assert_true(batch_record_count(&decoded) == INT64_MAX);
}

static void every_truncation_is_refused(void **state) {
  (void)state;
  const struct random_sizes small = {3, 2, 3, 40, 30, 20};
  struct random_batch made;
  random_batch_make(&made, &small, 7);
  assert_int_equal(batch_encode(&made.batch, &bytes), 0);
  for (size_t len = 0; len < bytes.len; len++) {
    if (decode(span_of(bytes.data, len)) != -EBADMSG) fail_msg("taken when cut at %zu", len);
    assert_true(why[0] != '\0');
  }
  assert_int_equal(decode(buf_span(&bytes)), 0);
  random_batch_fini(&made);
}

static void no_changed_byte_does_harm(void **state) {
  (void)state;
  const struct random_sizes small = {3, 2, 3, 40, 30, 20};
  struct random_batch made;
  random_batch_make(&made, &small, 8);
  assert_int_equal(batch_encode(&made.batch, &bytes), 0);
  uint8_t *exact = malloc(bytes.len);
  for (size_t at = 0; at < bytes.len; at++) {
    for (unsigned bit = 0; bit < 8; bit++) {
      memcpy(exact, bytes.data, bytes.len);
      exact[at] ^= (uint8_t)(1U << bit);
      int got = decode(span_of(exact, bytes.len));
      assert_true(got == 0 || why[0] != '\0');
      if (got == 0) free(meanings(&decoded)); /* every index is inside its table */
    }
  }
  free(exact);
  random_batch_fini(&made);
}

static void nothing_is_written_when_a_batch_is_refused(void **state) {
  (void)state;
  struct random_batch made;
  random_batch_make(&made, &usual, 3);
  made.nodes[100].module = 12;
  buf_append_string(&bytes, "before");
  assert_int_equal(batch_encode(&made.batch, &bytes), -EINVAL);
  assert_int_equal(bytes.len, 6);
  decoded.node_count = 4711;
  assert_int_equal(decode(span_of("\xff", 1)), -EBADMSG);
  assert_int_equal(decoded.node_count, 4711);
  random_batch_fini(&made);
}

/* Changes the batch made from seed 5 and expects the encoder's ERROR. */
#define expect_encode(error, change)                            \
  do {                                                          \
    struct random_batch made;                                   \
    random_batch_make(&made, &usual, 5);                        \
    change;                                                     \
    buf_clear(&bytes);                                          \
    assert_int_equal(batch_encode(&made.batch, &bytes), error); \
    random_batch_fini(&made);                                   \
  } while (0)

static char long_text[LIMIT_PATH_BYTES + 2];

static const char *text_of(size_t len) {
  memset(long_text, 'x', sizeof long_text);
  long_text[len] = '\0';
  return long_text;
}

static void the_encoder_keeps_every_limit(void **state) {
  (void)state;
  expect_encode(-EOVERFLOW, made.batch.module_count = LIMIT_BATCH_MODULES + 1);
  expect_encode(-EOVERFLOW, made.batch.target_count = LIMIT_BATCH_TARGETS + 1);
  expect_encode(-EOVERFLOW, made.batch.thread_count = LIMIT_BATCH_THREADS + 1);
  expect_encode(-EOVERFLOW, made.batch.node_count = LIMIT_BATCH_NODES + 1);
  expect_encode(-EOVERFLOW, made.batch.sample_count = LIMIT_BATCH_SAMPLES + 1);
  expect_encode(-EOVERFLOW, made.targets[1].label_count = LIMIT_LABELS + 1);
  expect_encode(0, made.modules[0].path = text_of(LIMIT_PATH_BYTES));
  expect_encode(-EOVERFLOW, made.modules[0].path = text_of(LIMIT_PATH_BYTES + 1));
  expect_encode(0, made.threads[0].name = text_of(LIMIT_NAME_BYTES));
  expect_encode(-EOVERFLOW, made.threads[0].name = text_of(LIMIT_NAME_BYTES + 1));
  expect_encode(-EOVERFLOW, made.targets[0].service = text_of(LIMIT_NAME_BYTES + 1));
  expect_encode(-EOVERFLOW, made.targets[0].why = text_of(LIMIT_VALUE_BYTES + 1));
  expect_encode(-EOVERFLOW, made.modules[0].id = span_of(text_of(65), LIMIT_MODULE_ID_BYTES + 1));
  expect_encode(-EOVERFLOW, made.samples[0].weight = UINT64_MAX);
  expect_encode(-EOVERFLOW, made.samples[9].count = (uint64_t)INT64_MAX + 1);
}

static void the_encoder_refuses_what_points_nowhere(void **state) {
  (void)state;
  expect_encode(-EINVAL, made.nodes[5].parent = 5);
  expect_encode(-EINVAL, made.nodes[5].parent = 300);
  expect_encode(-EINVAL, made.samples[5].node = 370);
  expect_encode(-EINVAL, made.samples[5].thread = 6);
  expect_encode(-EINVAL, made.samples[5].type = SAMPLE_TYPE_COUNT);
  expect_encode(-EINVAL, made.threads[5].target = 3);
  expect_encode(-EINVAL, made.targets[0].module = 12);
  expect_encode(-EINVAL, made.modules[0].id.len = 0);
  expect_encode(-EINVAL, made.modules[11].id = span_of(random_ids, 20));
}

static void a_stack_at_the_limit_passes_and_one_deeper_does_not(void **state) {
  (void)state;
  for (uint32_t depth = LIMIT_STACK_DEPTH; depth <= LIMIT_STACK_DEPTH + 1; depth++) {
    struct random_batch made;
    random_batch_make(&made, &usual, 5);
    for (uint32_t i = 0; i < depth; i++) made.nodes[i].parent = i == 0 ? BATCH_NONE : i - 1;
    for (uint32_t i = depth; i < usual.nodes; i++) made.nodes[i].parent = BATCH_NONE;
    buf_clear(&bytes);
    int wanted = depth <= LIMIT_STACK_DEPTH ? 0 : -EOVERFLOW;
    assert_int_equal(batch_encode(&made.batch, &bytes), wanted);
    if (wanted == 0) assert_int_equal(decode(buf_span(&bytes)), 0);
    random_batch_fini(&made);
  }
}

static void odd_names_are_sent_clean(void **state) {
  (void)state;
  struct random_batch made;
  random_batch_make(&made, &usual, 5);
  made.threads[0].name = "evil\n\xff name";
  made.modules[0].path = "/tmp/\x1b[31mred (deleted)";
  assert_int_equal(batch_encode(&made.batch, &bytes), 0);
  assert_int_equal(decode(buf_span(&bytes)), 0);
  assert_string_equal(decoded.threads[0].name, "evil?? name");
  assert_string_equal(decoded.modules[0].path, "/tmp/?[31mred (deleted)");
  random_batch_fini(&made);
}

static void record_counts_add_up_without_wrapping(void **state) {
  (void)state;
  const struct batch_sample samples[] = {{.count = 3}, {.count = 4}, {.count = UINT64_MAX - 5}};
  struct batch batch = {.samples = samples, .sample_count = 2};
  assert_int_equal(batch_record_count(&batch), 7);
  batch.sample_count = 3;
  assert_true(batch_record_count(&batch) == UINT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(random_batches_come_back, reset),
      cmocka_unit_test_teardown(the_bytes_do_not_depend_on_the_order_of_growth, reset),
      cmocka_unit_test_teardown(an_empty_batch_comes_back, reset),
      cmocka_unit_test_teardown(the_largest_batch_comes_back, reset),
      cmocka_unit_test_teardown(extreme_numbers_come_back, reset),
      cmocka_unit_test_teardown(every_truncation_is_refused, reset),
      cmocka_unit_test_teardown(no_changed_byte_does_harm, reset),
      cmocka_unit_test_teardown(nothing_is_written_when_a_batch_is_refused, reset),
      cmocka_unit_test_teardown(the_encoder_keeps_every_limit, reset),
      cmocka_unit_test_teardown(the_encoder_refuses_what_points_nowhere, reset),
      cmocka_unit_test_teardown(a_stack_at_the_limit_passes_and_one_deeper_does_not, reset),
      cmocka_unit_test_teardown(odd_names_are_sent_clean, reset),
      cmocka_unit_test_teardown(record_counts_add_up_without_wrapping, reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
