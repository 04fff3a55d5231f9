/* SPDX-License-Identifier: Apache-2.0 */
/* A ring in ordinary memory, with samples of a program whose table does not exist yet. */
#include "drain/drain.h"
#include "targets/process_maps.h"

#include "common/clock.h"
#include "intake/perf_attr.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RING_BYTES = 64 << 10, EVENT = 42, CODE = 0x10000, PATIENCE_MS = 20000, STACK_BYTES = 64 };

struct fake_ring {
  struct perf_event_mmap_page page;
  uint8_t data[RING_BYTES];
};

static struct fake_ring *fake;
static struct perf_rings rings;
static struct targets targets;
static struct target *target;
static struct modules *modules;
static struct processes *processes;
static struct window *window;
static struct drain drain;
static struct counter_page *page;
static char path[64], go[64];

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

/* Reports that there is no table, once it is allowed to finish. */
static enum table_state build(const struct table_wanted *wanted, struct buf *ret, char *why) {
  (void)wanted, (void)ret, (void)why;
  for (int ms = 0; ms < PATIENCE_MS && access(go, F_OK) != 0; ms++) usleep(1000);
  return TABLE_NOTHING;
}

static void map_code(void) {
  const uint8_t id[20] = {7};
  struct batch_module module = {.path = "/some/module", .id = span_of(id, sizeof id)};
  struct process_map map = {
      .start = CODE, .end = 2 * CODE, .module = modules_adopt(modules, &module)};
  process_maps_insert(processes_get(processes, getpid(), 1, -1), &map);
}

static int make(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/perf-wait-%d", (int)getpid());
  snprintf(go, sizeof go, "/tmp/perf-wait-%d-go", (int)getpid());
  memset(&rings, 0, sizeof rings);
  memset(&targets, 0, sizeof targets);
  fake = calloc(1, sizeof *fake);
  rings.count = 1;
  rings.cpus[0] =
      (struct perf_ring){.fd = -1, .map = fake, .data = fake->data, .data_bytes = RING_BYTES};
  target = calloc(1, sizeof *target);
  target->held = (struct hold_target){
      .id = 1, .kind = HOLD_PERF, .pid = getpid(), .content = PERF_CONTENT_COPY, .service = "test"};
  targets.rows[0] = target;
  targets.count = 1;
  if (table_add(&targets.by_event, EVENT, 0) || modules_new(on_file, NULL, &modules) ||
      processes_new(modules, &processes) || window_new(modules, &window) ||
      counter_page_open(path, 9, &page))
    return -1;
  drain = (struct drain){.page = page,
                         .targets = &targets,
                         .processes = processes,
                         .modules = modules,
                         .window = window,
                         .perf = &rings};
  if (table_store_new(NULL, build, &drain.tables) || drain_init(&drain)) return -1;
  map_code();
  return 0;
}

static int unmake(void **state) {
  (void)state;
  drain_fini(&drain);
  table_store_free(drain.tables);
  window_free(window);
  processes_free(processes);
  modules_free(modules);
  counter_page_close(page);
  unlink(path);
  unlink(go);
  rate_fini(&target->rate);
  free(target);
  table_fini(&targets.by_event);
  free(fake);
  return 0;
}

static void put(uint8_t **at, uint64_t value) {
  memcpy(*at, &value, 8);
  *at += 8;
}

/* A sample at PC, whose stack is all zeros. */
static void sample(uint64_t time, uint64_t pc) {
  uint8_t bytes[512] = {0}, *at = bytes + 8;
  put(&at, EVENT);
  put(&at, pc);
  put(&at, (uint64_t)getpid() << 32 | (uint32_t)getpid());
  put(&at, time);
  put(&at, EVENT);
  put(&at, 1000);
  put(&at, 0); /* no chain */
  put(&at, PERF_SAMPLE_REGS_ABI_64);
  for (uint32_t i = 0; i < perf_walk_regs.count; i++)
    put(&at, (int)i == perf_walk_regs.pc ? pc : (int)i == perf_walk_regs.sp ? 0x7000 : 0);
  put(&at, STACK_BYTES);
  at += STACK_BYTES;
  put(&at, STACK_BYTES);
  struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, (uint16_t)(at - bytes)};
  memcpy(bytes, &header, sizeof header);
  for (ptrdiff_t i = 0; i < at - bytes; i++)
    fake->data[(fake->page.data_head + (uint64_t)i) % RING_BYTES] = bytes[i];
  fake->page.data_head += (uint64_t)(at - bytes);
}

static void let_it_be_made(void) {
  fclose(fopen(go, "w"));
  for (int ms = 0; ms < PATIENCE_MS && table_store_is_busy(drain.tables); ms++) {
    table_store_step(drain.tables);
    usleep(1000);
  }
}

static void a_sample_waits_in_its_ring_until_its_table_is_there(void **state) {
  (void)state;
  sample(10, CODE + 0x10);
  sample(20, CODE + 0x20);
  assert_int_equal(drain_run_patiently(&drain), 0);
  assert_true(drain.wait.is_on);
  assert_int_equal(fake->page.data_tail, 0);
  table_store_step(drain.tables);
  assert_int_equal(drain_run_patiently(&drain), 0);
  let_it_be_made();
  assert_int_equal(drain_run_patiently(&drain), 2);
  assert_false(drain.wait.is_on);
  assert_int_equal(target->records, 2);
}

static void who_closes_an_account_waits_for_nothing(void **state) {
  (void)state;
  sample(10, CODE + 0x10);
  assert_int_equal(drain_run_patiently(&drain), 0);
  assert_int_equal(drain_run(&drain), 1);
  assert_int_equal(fake->page.data_tail, fake->page.data_head);
}

static void a_sample_waits_only_so_long(void **state) {
  (void)state;
  sample(10, CODE + 0x10);
  assert_int_equal(drain_run_patiently(&drain), 0);
  table_store_step(drain.tables);
  drain.wait.since_ns -= NS_PER_SECOND;
  assert_int_equal(drain_run_patiently(&drain), 1);
  sample(20, CODE + 0x10); /* later samples do not wait, while that table is being made */
  assert_int_equal(drain_run_patiently(&drain), 1);
}

static void a_ring_that_is_nearly_full_is_emptied(void **state) {
  (void)state;
  while (fake->page.data_head < RING_BYTES / 4 * 3) sample(fake->page.data_head + 1, CODE + 0x10);
  assert_true(drain_run_patiently(&drain) > 0);
  assert_int_equal(fake->page.data_tail, fake->page.data_head);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_sample_waits_in_its_ring_until_its_table_is_there, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(who_closes_an_account_waits_for_nothing, make, unmake),
      cmocka_unit_test_setup_teardown(a_sample_waits_only_so_long, make, unmake),
      cmocka_unit_test_setup_teardown(a_ring_that_is_nearly_full_is_emptied, make, unmake),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
