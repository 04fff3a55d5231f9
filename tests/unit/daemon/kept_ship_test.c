/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder's content becomes one batch, once, whenever the worker is killed. */
#include "daemon/kept_files.h"
#include "daemon/kept_ship.h"
#include "drain/postmortem.h"
#include "drain/recorder.h"
#include "kept_fixture.h"

#include "common/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
  LAST = 6, /* of 7 places: after a lap the zero takes one */
  KILLS = 60
};

static uint8_t *ring;
static size_t ring_bytes;

static int make(void **state) {
  (void)state;
  struct hold_target held = {.collect = RING_RECORDER};
  timer_ring_size_recorder(&held, LAST, 0);
  if (kept_make(held) != 0) return -1;
  const struct hold_entry *entry = kept.held.entries[0];
  ring_bytes = (size_t)timer_ring_bytes(&entry->target);
  ring = mmap(NULL, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, entry->fds[0], 0);
  return ring == MAP_FAILED ? -1 : 0;
}

static int unmake(void **state) {
  munmap(ring, ring_bytes);
  return kept_unmake(state);
}

/* Thread TID in slot AT writes VALUES of WEIGHT at PC. */
static void record(uint32_t at, uint32_t tid, unsigned values, uint64_t pc) {
  const struct hold_target *held = &kept.held.entries[0]->target;
  uint64_t offset = RECORDER_OFFSET + at * (RING_SLOT_HEADER_BYTES + (uint64_t)held->slot_bytes);
  struct ring_slot *slot = (struct ring_slot *)(void *)(ring + offset);
  uint32_t place = 0;
  atomic_store(&slot->owner, ring_owner((uint32_t)getpid(), tid));
  snprintf(slot->name, sizeof slot->name, "thread %u", tid % 1000000);
  for (unsigned i = 0; i < values; i++) {
    uint32_t weight = 2;
    recorder_writer_put(slot, held->slot_bytes, ring_word(pc + i, &weight), &place);
  }
}

static uint64_t here(void) {
  return (uint64_t)(uintptr_t)&kept_open;
}

static void the_last_values_of_each_thread_are_a_batch_with_its_time(void **state) {
  (void)state;
  struct kept_pipeline p;
  struct arena arena;
  struct batch batch;
  kept_open(&p);
  kept_begin(&p);
  record(0, 11, 20, here());
  record(1, 12, 3, 8); /* in no code */
  arena_init(&arena, POSTMORTEM_ARENA_BYTES);
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), 0);
  assert_int_equal(batch.thread_count, 2);
  assert_string_equal(batch.threads[0].name, "thread 11");
  assert_int_equal(batch_record_count(&batch), LAST + 3);
  uint64_t weight = 0;
  for (uint32_t i = 0; i < batch.sample_count; i++) {
    weight += batch.samples[i].weight;
    assert_int_equal(batch.samples[i].type, SAMPLE_CPU_LR);
    const struct batch_node *node = &batch.nodes[batch.samples[i].node];
    assert_int_equal(node->parent, BATCH_NONE);
    bool is_known = batch.modules[node->module].kind == MODULE_ELF;
    assert_int_equal(is_known, batch.samples[i].thread == 0);
  }
  assert_int_equal(weight, (LAST + 3) * 2 * KEPT_UNIT_NS);
  assert_int_equal(batch.end_boottime_ns - batch.start_boottime_ns, LAST * 2 * KEPT_UNIT_NS);
  assert_string_equal(batch.targets[0].service, "kept");
  assert_string_equal(batch.targets[0].labels[0].name, POSTMORTEM_LABEL);
  assert_string_equal(batch.targets[0].labels[0].value, POSTMORTEM_VALUE);
  assert_int_not_equal(batch.targets[0].module, BATCH_NONE);
  arena_fini(&arena);
  kept_close(&p);
}

static void what_makes_no_sense_is_refused(void **state) {
  (void)state;
  struct arena arena;
  struct batch batch;
  struct ring_header *header = (struct ring_header *)(void *)ring;
  arena_init(&arena, POSTMORTEM_ARENA_BYTES);
  assert_int_equal(postmortem_read(ring, ring_bytes - 8, &arena, &batch), -EBADMSG);
  record(0, 11, 20, here());
  header->unit_ns = UINT64_MAX / 2;
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), -EBADMSG);
  header->unit_ns = 0;
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), -EBADMSG);
  header->unit_ns = KEPT_UNIT_NS;
  header->version++;
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), -EPROTO);
  arena_fini(&arena);
}

static void values_are_shipped_once(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  record(0, 11, 5, here());
  kept_ship_target(&p.shipper, kept.dir, p.target);
  assert_int_equal(p.target->records, 5);
  kept_assert_books(5);
  p.target->kept.is_shipped = false; /* another worker lacks that state */
  kept_ship_target(&p.shipper, kept.dir, p.target);
  kept_assert_books(5);
  kept_close(&p);
  assert_int_equal(kept_spooled(), 5);
}

static void an_empty_recorder_ships_nothing(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  kept_ship_target(&p.shipper, kept.dir, p.target);
  kept_assert_books(0);
  kept_close(&p);
  assert_int_equal(kept_spooled(), 0);
}

static void kill_nine_while_shipping_ships_once(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  kept_close(&p);
  uint64_t expected = 0;
  srand(2);
  for (unsigned i = 0; i < KILLS; i++) {
    struct image_table *image = image_table_of(ring);
    image->shipped_run = image->shipped_seq = 0; /* another program's */
    record(0, 11, 1 + i % LAST, here());
    expected += i % LAST + 1 < LAST ? i % LAST + 1 : LAST;
    pid_t worker = fork();
    if (worker == 0) {
      kept_open(&p);
      kept_ship_target(&p.shipper, kept.dir, p.target);
      _exit(0);
    }
    usleep((useconds_t)(rand() % 6000));
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    kept_open(&p);
    kept_ship_target(&p.shipper, kept.dir, p.target);
    kept_close(&p);
    memset(ring + RECORDER_OFFSET + RING_SLOT_HEADER_BYTES, 0,
           kept.held.entries[0]->target.slot_bytes);
  }
  kept_assert_books(expected);
  assert_int_equal(counter_page_books(kept.page)->dropped[LOSS_WORKER_KILLED], 0);
  assert_int_equal(kept_spooled(), expected);
}

static void slots_of_ended_threads_stay_while_there_are_others(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  uint32_t count = p.target->ring.slot_count;
  uint32_t gone = 0x3fffffff;
  record(0, (uint32_t)syscall(SYS_gettid), 1, here());
  for (uint32_t i = 1; i < count / 2; i++) record(i, gone, 1, here());
  assert_int_equal(recorder_reclaim(p.target, 0), 1);
  struct ring_view view;
  ring_reader_look(&p.target->ring, 1, &view);
  assert_int_equal(view.tid, gone);
  for (uint32_t i = count / 2; i < count; i++) record(i, gone, 1, here());
  assert_int_equal(recorder_reclaim(p.target, 0), 1);
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    ring_reader_look(&p.target->ring, i, &view);
    used += view.pid != 0;
  }
  assert_int_equal(used, count - count / 4);
  kept_close(&p);
}

static void a_file_goes_when_nobody_has_it_and_it_was_shipped(void **state) {
  (void)state;
  struct kept_pipeline p;
  struct kept_file *files = calloc(KEPT_FILES_MAX, sizeof *files);
  struct hold_target other = kept.held.entries[0]->target;
  other.id = 77;
  int fd = kept_files_make(kept.dir, 5, &other);
  if (fd == -EOPNOTSUPP) skip();
  assert_true(fd >= 0);
  struct stat found;
  assert_int_equal(fstat(fd, &found), 0);
  assert_int_equal(found.st_mode & 0777, 0600);
  assert_true((uint64_t)found.st_blocks * 512 >= (uint64_t)found.st_size);
  assert_int_equal(kept_files_make(kept.dir, 5, &other), -EEXIST);
  assert_int_equal(kept_files_list(kept.dir, files), 1);
  assert_int_equal(files[0].run, 5);
  assert_int_equal(files[0].id, 77);
  assert_true(files[0].is_this_boot);
  /* No process has that pid, so the ring's content is shipped. */
  kept_open(&p);
  kept_begin(&p);
  record(0, 11, 4, here());
  ((struct image_table *)image_table_of(ring))->pid = 0x3fffffff;
  assert_int_equal(pwrite(fd, ring, ring_bytes, 0), ring_bytes);
  kept_ship_left(&p.shipper, kept.dir); /* a process that has it open may still write to it */
  kept_assert_books(0);
  close(fd);
  kept_ship_left(&p.shipper, kept.dir);
  kept_assert_books(4);
  assert_int_equal(kept_files_list(kept.dir, files), 0);
  kept_close(&p);
  free(files);
}

static void a_folder_takes_only_so_many(void **state) {
  (void)state;
  struct hold_target other = kept.held.entries[0]->target;
  int made = 0;
  for (other.id = 1; other.id <= KEPT_FILES_MAX + 3U; other.id++) {
    int fd = kept_files_make(kept.dir, 5, &other);
    if (fd == -EOPNOTSUPP) skip();
    if (fd < 0) {
      assert_int_equal(fd, -EDQUOT);
      continue;
    }
    made++;
    close(fd);
  }
  assert_true(made > 0 && made <= KEPT_FILES_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(the_last_values_of_each_thread_are_a_batch_with_its_time),
      TEST(what_makes_no_sense_is_refused),
      TEST(values_are_shipped_once),
      TEST(an_empty_recorder_ships_nothing),
      TEST(kill_nine_while_shipping_ships_once),
      TEST(slots_of_ended_threads_stay_while_there_are_others),
      TEST(a_file_goes_when_nobody_has_it_and_it_was_shipped),
      TEST(a_folder_takes_only_so_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
