/* SPDX-License-Identifier: Apache-2.0 */
#include "kept_fixture.h"

#include "proc/proc_stat.h"

#include <fcntl.h>

struct kept kept;

static void kept_on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static void kept_on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  (void)context, (void)run;
  counter_page_unship(kept.page, reason, records);
}

static struct spool *kept_open_spool(void) {
  char path[80];
  struct spool *spool;
  struct spool_limits limits = {64 << 20, 1 << 20, 3600000000000ULL, 0};
  snprintf(path, sizeof path, "%s/spool", kept.dir);
  assert_int_equal(spool_open(path, &limits, kept_on_loss, NULL, &spool), 0);
  return spool;
}

void kept_open(struct kept_pipeline *p) {
  memset(p, 0, sizeof *p);
  targets_restore(&p->targets, &kept.held, &kept.no_perf);
  assert_int_equal(modules_new(kept_on_file, NULL, &p->modules), 0);
  assert_int_equal(processes_new(p->modules, &p->processes), 0);
  assert_int_equal(window_new(p->modules, &p->window), 0);
  p->drain = (struct drain){.page = kept.page,
                            .targets = &p->targets,
                            .processes = p->processes,
                            .modules = p->modules,
                            .window = p->window,
                            .perf = &kept.no_perf};
  assert_int_equal(drain_init(&p->drain), 0);
  p->spool = kept_open_spool();
  p->shipper = (struct shipper){.drain = &p->drain, .spool = p->spool};
  p->target = targets_find(&p->targets, 1);
  drain_recover(&p->drain);
  shipper_recover(&p->shipper);
}

void kept_close(struct kept_pipeline *p) {
  spool_close(p->spool);
  drain_fini(&p->drain);
  window_free(p->window);
  processes_free(p->processes);
  modules_free(p->modules);
  if (p->target != NULL) p->target->held.fd_count = 0; /* the descriptors stay the table's */
  targets_fini(&p->targets);
  memset(p, 0, sizeof *p);
}

int kept_make(struct hold_target held) {
  char path[80];
  struct proc_stat stat;
  memset(&kept, 0, sizeof kept);
  snprintf(kept.dir, sizeof kept.dir, "/tmp/kept-test-XXXXXX");
  if (mkdtemp(kept.dir) == NULL || proc_stat_read(getpid(), &stat) < 0) return -1;
  snprintf(path, sizeof path, "%s/books", kept.dir);
  if (counter_page_open(path, 99, &kept.page) != 0) return -1;
  held.id = 1;
  held.kind = HOLD_TIMER;
  held.pid = getpid();
  held.uid = getuid();
  held.start_ticks = stat.start_ticks;
  held.asked_mhz = 100000;
  if (held.period_ns == 0) held.period_ns = held.unit_ns = KEPT_UNIT_NS;
  held.fd_count = 2;
  snprintf(held.service, sizeof held.service, "kept");
  int fds[2] = {timer_ring_make(&held), open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
  return fds[0] >= 0 && fds[1] >= 0 && hold_table_add_take(&kept.held, &held, fds) ? 0 : -1;
}

int kept_unmake(void **state) {
  (void)state;
  char command[120];
  hold_table_fini(&kept.held);
  counter_page_close(kept.page);
  snprintf(command, sizeof command, "rm -rf '%s'", kept.dir);
  return system(command);
}

void kept_begin(struct kept_pipeline *p) {
  struct process *process = processes_get(p->processes, getpid(), 1, -1);
  assert_non_null(process);
  image_begin(p->target, process);
  assert_int_equal(image_update(p->target, p->modules, process), 0);
}

uint64_t kept_spooled(void) {
  struct spool_item item;
  struct spool *spool = kept_open_spool();
  uint64_t records = 0;
  while (spool_next(spool, &item) == 0) {
    records += item.records;
    spool_ack(spool, item.run, item.seq);
  }
  spool_close(spool);
  return records;
}

void kept_take_batch(struct kept_pipeline *p, struct kept_batch *ret) {
  char why[128] = "";
  struct spool_item *item = &ret->item;
  ret->raw = (struct buf){0};
  arena_init(&ret->arena, LIMIT_BATCH_UNPACK_BYTES);
  assert_int_equal(spool_next(p->spool, item), 0);
  assert_int_equal(decompress(item->zstd, item->raw_len, LIMIT_BATCH_RAW_BYTES, &ret->raw), 0);
  assert_int_equal(batch_decode(buf_span(&ret->raw), &ret->arena, &ret->batch, why, sizeof why), 0);
}

void kept_batch_fini(struct kept_batch *got) {
  arena_fini(&got->arena);
  buf_fini(&got->raw);
}

void kept_assert_books(uint64_t produced) {
  const struct counters *books = counter_page_books(kept.page);
  assert_int_equal(books->produced, produced);
  assert_int_equal(books->produced, books->shipped + loss_total(books));
}
