/* SPDX-License-Identifier: Apache-2.0 */
#include "producer_fixture.h"

#include "common/clock.h"
#include "targets/toll.h"

#include <sys/syscall.h>

bool release_is_slow;

static void open_producer(struct producer *producer) {
  const struct hold_entry *entry = kept.held.entries[0];
  memset(producer, 0, sizeof *producer);
  assert_int_equal(timer_ring_map(&entry->target, entry->fds[0], &producer->ring), 0);
  producer->slot = (struct ring_slot *)(void *)(producer->ring.base +
                                                ring_slot_offset(0, producer->ring.slot_bytes));
  atomic_store(&producer->slot->owner,
               ring_owner((uint32_t)getpid(), (uint32_t)syscall(SYS_gettid)));
  ((struct ring_header *)(void *)producer->ring.base)->slots_claimed = 1;
}

int bench_make(void **state) {
  struct bench *bench = calloc(1, sizeof *bench);
  struct hold_target target = {
      .asked_mhz = 100000, .period_ns = PRODUCER_UNIT_NS, .unit_ns = PRODUCER_UNIT_NS};
  if (bench == NULL) return -1;
  *state = bench;
  timer_ring_size(&target, 0);
  target.unit_ns = target.period_ns;
  if (kept_make(target) != 0) return -1;
  open_producer(&bench->producer);
  return 0;
}

int bench_make_open(void **state) {
  if (bench_make(state) != 0) return -1;
  kept_open(&((struct bench *)*state)->p);
  return 0;
}

int bench_unmake(void **state) {
  struct bench *bench = *state;
  timer_ring_unmap(&kept.held.entries[0]->target, &bench->producer.ring);
  if (bench->p.spool != NULL) kept_close(&bench->p);
  free(bench);
  return kept_unmake(state);
}

void produce(struct producer *producer) {
  struct ring_slot *slot = producer->slot;
  uint32_t size = producer->ring.slot_bytes;
  uint64_t head = atomic_load(&slot->head), tail = atomic_load(&slot->tail);
  uint32_t at = (uint32_t)(head & (size - 1)), pad = size - at < RECORD_BYTES ? size - at : 0;
  if (head + pad + RECORD_BYTES - tail > size) {
    atomic_fetch_add(&slot->dropped_full, 1);
    producer->full++;
    return;
  }
  uint8_t *data = (uint8_t *)slot + RING_SLOT_HEADER_BYTES;
  if (pad > 0) {
    struct ring_record padding = {(uint16_t)pad, 0, RING_RECORD_PADDING, 0};
    memcpy(data + at, &padding, sizeof padding);
    at = 0;
  }
  struct ring_record record = {RECORD_BYTES, 2, 0, 1};
  uint64_t pc[2] = {(uint64_t)(uintptr_t)&produce, (uint64_t)(uintptr_t)&bench_make + 1};
  memcpy(data + at, &record, sizeof record);
  memcpy(data + at + sizeof record, pc, sizeof pc);
  atomic_store(&slot->head, head + pad + RECORD_BYTES);
  producer->written++;
}

void __wrap_ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail) {
  struct counter_drain pending;
  struct ring_view view;
  assert_true(counter_page_has_pending(kept.page, &pending));
  assert_int_equal(pending.slot, slot);
  assert_int_equal(pending.tail, tail);
  ring_reader_look(ring, slot, &view);
  assert_int_equal(view.counted_full, pending.counted_full);
  __real_ring_reader_release(ring, slot, tail);
  uint64_t begun = clock_cpu_ns();
  while (release_is_slow && clock_cpu_ns() - begun < (TOLL_LAST_MS + 10) * NS_PER_MS) {
  }
}
