/* SPDX-License-Identifier: Apache-2.0 */
#include "perf/perf_record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Records are written word by word, as the kernel lays them out. */
struct writer {
  uint8_t bytes[2048];
  size_t len;
};

static void put_u64(struct writer *w, uint64_t value) {
  memcpy(w->bytes + w->len, &value, 8);
  w->len += 8;
}

static void put_pair(struct writer *w, uint32_t low, uint32_t high) {
  put_u64(w, (uint64_t)high << 32 | low);
}

static void put_text(struct writer *w, const char *text) {
  size_t padded = (strlen(text) + 8) & ~7UL;
  memset(w->bytes + w->len, 0, padded);
  memcpy(w->bytes + w->len, text, strlen(text));
  w->len += padded;
}

static void begin(struct writer *w) {
  w->len = 8;
}

static struct span end(struct writer *w, uint32_t type, uint16_t misc) {
  struct perf_event_header header = {type, misc, (uint16_t)w->len};
  memcpy(w->bytes, &header, sizeof header);
  return span_of(w->bytes, w->len);
}

static struct span end_with_id(struct writer *w, uint32_t type, uint16_t misc) {
  put_pair(w, 11, 12);
  put_u64(w, 777);
  put_u64(w, 43);
  put_u64(w, 42);
  return end(w, type, misc);
}

static void put_sample(struct writer *w, uint64_t claimed, unsigned count) {
  begin(w);
  put_u64(w, 42);      /* identifier */
  put_u64(w, 0x4000);  /* ip */
  put_pair(w, 11, 12); /* pid, tid */
  put_u64(w, 777);     /* time */
  put_u64(w, 43);      /* stream */
  put_u64(w, 5000000); /* period */
  put_u64(w, claimed);
  for (unsigned i = 0; i < count; i++)
    put_u64(w, i == 0 ? (uint64_t)PERF_CONTEXT_USER : 0x4000 + 16 * (i - 1));
}

static void a_sample_gives_its_stack_without_the_markers(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_sample(&w, 4, 4);
  struct span bytes = end(&w, PERF_RECORD_SAMPLE, 0);
  assert_int_equal(perf_record_size(bytes), bytes.len);
  assert_int_equal(perf_record_time(bytes), 777);
  assert_int_equal(perf_record_decode(bytes, NULL, &record), 0);
  assert_int_equal(record.kind, PERF_RECORD_KIND_SAMPLE);
  assert_int_equal(record.id, 42);
  assert_int_equal(record.pid, 11);
  assert_int_equal(record.tid, 12);
  assert_int_equal(record.sample.stream_id, 43);
  assert_int_equal(record.sample.period_ns, 5000000);
  assert_int_equal(record.sample.depth, 3);
  assert_int_equal(record.sample.pc[2], 0x4020);
}

static void the_kernels_part_of_a_stack_comes_first_and_is_counted(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_sample(&w, 6, 0);
  put_u64(&w, (uint64_t)PERF_CONTEXT_KERNEL);
  put_u64(&w, 0xffffffff81000010);
  put_u64(&w, 0xffffffff81000020);
  put_u64(&w, (uint64_t)PERF_CONTEXT_USER);
  put_u64(&w, 0x4000);
  put_u64(&w, 0x4010);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), NULL, &record), 0);
  assert_int_equal(record.sample.depth, 4);
  assert_int_equal(record.sample.kernel_depth, 2);
  assert_int_equal(record.sample.pc[0], 0xffffffff81000010);
  assert_int_equal(record.sample.pc[2], 0x4000);
}

static void a_sample_without_a_chain_still_has_its_pc(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_sample(&w, 0, 0);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), NULL, &record), 0);
  assert_int_equal(record.sample.depth, 1);
  assert_int_equal(record.sample.pc[0], 0x4000);
}

static const struct perf_regs with_lr = {
    .mask = 1ULL << 30, .count = 1, .lr = 0, .address_mask = 0x0000fffffffffffeULL};
static const struct perf_regs with_stack = {
    .mask = 1ULL << 8, .count = 1, .lr = PERF_REGS_NO_LR, .stack_bytes = 8, .address_mask = ~0ULL};
static const struct perf_form lr_form = {PERF_CONTENT_PAIR, &with_lr, NULL};
static const struct perf_form stack_form = {PERF_CONTENT_PAIR, &with_stack, NULL};

/* Registers in the order first tracked, second tracked, sp, pc, lr. */
static const struct perf_walk_regs walked = {
    .mask = 31, .count = 5, .pc = 3, .sp = 2, .lr = 4, .tracked = {0, 1}};
static const struct perf_form copy_form = {PERF_CONTENT_COPY, NULL, &walked};
static const struct perf_form board_form = {PERF_CONTENT_COPY | PERF_CONTENT_KERNEL, NULL, &walked};
static const struct perf_form pc_form = {PERF_CONTENT_PC, NULL, NULL};

/* Up to the registers' abi and ABI_WORDS of them. */
static void put_pair_sample(struct writer *w, uint64_t abi, unsigned words, uint64_t value) {
  begin(w);
  put_u64(w, 42);
  put_u64(w, 0x4000);
  put_pair(w, 11, 12);
  put_u64(w, 777);
  put_u64(w, 43);
  put_u64(w, 5000000);
  put_u64(w, abi);
  for (unsigned i = 0; i < words; i++) put_u64(w, value);
}

static void assert_pair(struct writer *w, const struct perf_form *form, uint64_t lr) {
  struct perf_record record;
  uint64_t id = 0;
  int32_t pid = 0;
  struct span bytes = end(w, PERF_RECORD_SAMPLE, 0);
  assert_true(perf_record_is_sample(bytes, &id, &pid));
  assert_int_equal(id, 42);
  assert_int_equal(perf_record_decode(bytes, form, &record), 0);
  assert_int_equal(record.time, 777);
  assert_int_equal(record.sample.period_ns, 5000000);
  assert_int_equal(record.sample.depth, 2);
  assert_int_equal(record.sample.pc[0], 0x4000);
  assert_int_equal(record.sample.pc[1], lr);
}

static void a_pair_has_the_link_register_without_its_marks(void **state) {
  (void)state;
  struct writer w;
  put_pair_sample(&w, PERF_SAMPLE_REGS_ABI_64, 1, 0x0055000000405001ULL);
  assert_pair(&w, &lr_form, 0x405000);
  put_pair_sample(&w, PERF_SAMPLE_REGS_ABI_NONE, 0, 0); /* a thread without user registers */
  assert_pair(&w, &lr_form, 0);
}

static void a_pair_without_a_link_register_has_the_word_at_the_stack_pointer(void **state) {
  (void)state;
  struct writer w;
  const struct {
    uint64_t abi, used, word;
  } cases[] = {{PERF_SAMPLE_REGS_ABI_64, 8, 0x1122334455667788ULL},
               {PERF_SAMPLE_REGS_ABI_32, 8, 0x55667788},
               {PERF_SAMPLE_REGS_ABI_32, 4, 0x55667788},
               {PERF_SAMPLE_REGS_ABI_64, 4, 0},
               {PERF_SAMPLE_REGS_ABI_64, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    put_pair_sample(&w, cases[i].abi, 1, 0x4000);
    put_u64(&w, 8);
    put_u64(&w, 0x1122334455667788ULL);
    put_u64(&w, cases[i].used);
    assert_pair(&w, &stack_form, cases[i].word);
  }
  put_pair_sample(&w, PERF_SAMPLE_REGS_ABI_64, 1, 0x4000);
  put_u64(&w, 0); /* no stack was copied */
  assert_pair(&w, &stack_form, 0);
}

static void a_pair_that_does_not_fit_its_record_is_refused(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  const uint64_t sizes[] = {16, 9, UINT64_MAX, UINT64_MAX - 7};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    put_pair_sample(&w, PERF_SAMPLE_REGS_ABI_64, 1, 0x4000);
    put_u64(&w, sizes[i]);
    put_u64(&w, 1);
    put_u64(&w, 8);
    assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &stack_form, &record),
                     -EBADMSG);
  }
  put_pair_sample(&w, PERF_SAMPLE_REGS_ABI_64, 1, 0x4000);
  put_u64(&w, 8);
  put_u64(&w, 1);
  put_u64(&w, 9); /* more used bytes than exist */
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &stack_form, &record),
                   -EBADMSG);
  put_pair_sample(&w, PERF_SAMPLE_REGS_ABI_64, 0, 0);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &lr_form, &record), -EBADMSG);
}

/* The registers of `walked`, and SIZE bytes of stack of which USED are good. */
static void put_copy(struct writer *w, uint64_t abi, uint64_t size, uint64_t used) {
  const uint64_t registers[] = {0x7f10, 0x7f20, 0x7f00, 0x4000, 0x5000};
  put_u64(w, abi);
  for (unsigned i = 0; i < 5; i++) put_u64(w, registers[i]);
  put_u64(w, size);
  for (uint64_t i = 0; i < size / 8; i++) put_u64(w, 0xabc0 + i);
  put_u64(w, used);
}

static void a_copy_has_registers_and_the_words_at_the_stack_pointer(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  const struct perf_copy *copy = &record.sample.copy;
  const uint64_t words[] = {0xabc0, 0xabc1};
  put_pair_sample(&w, 0, 0, 0); /* no chain, in place of the registers' abi */
  put_copy(&w, PERF_SAMPLE_REGS_ABI_64, 32, 16);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &copy_form, &record), 0);
  assert_int_equal(record.sample.depth, 1);
  assert_int_equal(record.sample.pc[0], 0x4000);
  assert_int_equal(copy->word, PERF_WORD_64);
  assert_int_equal(copy->pc, 0x4000);
  assert_int_equal(copy->sp, 0x7f00);
  assert_int_equal(copy->lr, 0x5000);
  assert_int_equal(copy->tracked[0], 0x7f10);
  assert_int_equal(copy->tracked[1], 0x7f20);
  assert_int_equal(copy->stack.len, 16);
  assert_memory_equal(copy->stack.data, words, sizeof words);
}

static void words_of_four_bytes_are_told(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_pair_sample(&w, 0, 0, 0); /* no chain, in place of the registers' abi */
  put_copy(&w, PERF_SAMPLE_REGS_ABI_32, 32, 32);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &copy_form, &record), 0);
  assert_int_equal(record.sample.copy.stack.len, 32);
  assert_int_equal(record.sample.copy.word, PERF_WORD_32);
}

static void a_kernel_thread_has_nothing_to_copy(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_sample(&w, 2, 0);
  put_u64(&w, (uint64_t)PERF_CONTEXT_KERNEL);
  put_u64(&w, 0xffffffff81000010);
  put_u64(&w, PERF_SAMPLE_REGS_ABI_NONE);
  put_u64(&w, 0);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &board_form, &record), 0);
  assert_int_equal(record.sample.depth, 1);
  assert_int_equal(record.sample.kernel_depth, 1);
  assert_int_equal(record.sample.copy.word, PERF_WORD_NONE);
  assert_int_equal(record.sample.copy.stack.len, 0);
}

static void a_copy_follows_the_chain_of_the_kernels_part(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_sample(&w, 3, 0);
  put_u64(&w, (uint64_t)PERF_CONTEXT_KERNEL);
  put_u64(&w, 0xffffffff81000010);
  put_u64(&w, 0xffffffff81000020);
  put_copy(&w, PERF_SAMPLE_REGS_ABI_64, 16, 16);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &board_form, &record), 0);
  assert_int_equal(record.sample.depth, 2);
  assert_int_equal(record.sample.kernel_depth, 2);
  assert_int_equal(record.sample.copy.pc, 0x4000);
  assert_int_equal(record.sample.copy.stack.len, 16);
}

static void the_programs_chain_comes_before_its_registers(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_sample(&w, 5, 0);
  put_u64(&w, (uint64_t)PERF_CONTEXT_KERNEL);
  put_u64(&w, 0xffffffff81000010);
  put_u64(&w, (uint64_t)PERF_CONTEXT_USER);
  put_u64(&w, 0x4000);
  put_u64(&w, 0x4100);
  put_copy(&w, PERF_SAMPLE_REGS_ABI_64, 16, 16);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &board_form, &record), 0);
  assert_int_equal(record.sample.depth, 3);
  assert_int_equal(record.sample.kernel_depth, 1);
  assert_int_equal(record.sample.pc[1], 0x4000);
  assert_int_equal(record.sample.pc[2], 0x4100);
  assert_int_equal(record.sample.copy.stack.len, 16);
  put_sample(&w, UINT64_MAX / 8, 0); /* longer than the record */
  put_copy(&w, PERF_SAMPLE_REGS_ABI_64, 16, 16);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &copy_form, &record),
                   -EBADMSG);
}

static const struct perf_form kernel_stack_form = {PERF_CONTENT_PAIR | PERF_CONTENT_KERNEL,
                                                   &with_stack, NULL};
static const struct perf_form kernel_pc_form = {PERF_CONTENT_PC | PERF_CONTENT_KERNEL, NULL, NULL};

/* The kernel's callers as far as they go: two, or none of a sample in the program. */
static void put_kernel_chain(struct writer *w, bool is_in_kernel) {
  put_sample(w, is_in_kernel ? 3 : 0, 0);
  if (!is_in_kernel) return;
  put_u64(w, (uint64_t)PERF_CONTEXT_KERNEL);
  put_u64(w, 0xffffffff81000010);
  put_u64(w, 0xffffffff81000020);
}

/* The pair's own words of stack, 0xabc0 the first. */
static void put_pair_content(struct writer *w) {
  put_u64(w, PERF_SAMPLE_REGS_ABI_64);
  put_u64(w, 0x4000);
  put_u64(w, 8);
  put_u64(w, 0xabc0);
  put_u64(w, 8);
}

static void a_pair_in_the_kernel_is_a_lone_pc(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  for (unsigned is_in_kernel = 0; is_in_kernel < 2; is_in_kernel++) {
    put_kernel_chain(&w, is_in_kernel != 0);
    put_pair_content(&w);
    struct span bytes = end(&w, PERF_RECORD_SAMPLE, 0);
    assert_int_equal(perf_record_decode(bytes, &kernel_stack_form, &record), 0);
    assert_int_equal(record.sample.kernel_depth, is_in_kernel);
    assert_int_equal(record.sample.depth, is_in_kernel ? 1 : 2);
    assert_int_equal(record.sample.pc[0], is_in_kernel ? 0xffffffff81000010 : 0x4000);
    if (!is_in_kernel) assert_int_equal(record.sample.pc[1], 0xabc0);
  }
}

static void a_pc_in_the_kernel_is_told_from_the_programs(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  for (unsigned is_in_kernel = 0; is_in_kernel < 2; is_in_kernel++) {
    put_kernel_chain(&w, is_in_kernel != 0);
    assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &kernel_pc_form, &record),
                     0);
    assert_int_equal(record.sample.depth, 1);
    assert_int_equal(record.sample.kernel_depth, is_in_kernel);
    assert_int_equal(record.sample.pc[0], is_in_kernel ? 0xffffffff81000010 : 0x4000);
  }
}

static void a_copy_that_does_not_fit_its_record_is_refused(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  const uint64_t sizes[] = {24, 17, UINT64_MAX, UINT64_MAX - 7};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    put_pair_sample(&w, PERF_SAMPLE_REGS_ABI_64, 5, 0x4000);
    put_u64(&w, sizes[i]);
    put_u64(&w, 1);
    put_u64(&w, 2);
    put_u64(&w, 8);
    assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &copy_form, &record),
                     -EBADMSG);
  }
  put_pair_sample(&w, 0, 0, 0); /* no chain, in place of the registers' abi */
  put_copy(&w, PERF_SAMPLE_REGS_ABI_64, 16, 17);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &copy_form, &record),
                   -EBADMSG);
  put_pair_sample(&w, PERF_SAMPLE_REGS_ABI_64, 4, 0x4000);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &copy_form, &record),
                   -EBADMSG);
}

static void a_sample_without_callers_is_its_pc(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_pair_sample(&w, 0, 0, 0);
  w.len -= 8;
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), &pc_form, &record), 0);
  assert_int_equal(record.sample.depth, 1);
  assert_int_equal(record.sample.pc[0], 0x4000);
}

static void a_chain_longer_than_its_record_is_refused(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_sample(&w, 5, 4);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), NULL, &record), -EBADMSG);
  put_sample(&w, UINT64_MAX, 4);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), NULL, &record), -EBADMSG);
}

static void a_chain_deeper_than_we_keep_is_cut(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  put_sample(&w, LIMIT_STACK_DEPTH + 20, LIMIT_STACK_DEPTH + 20);
  assert_int_equal(perf_record_decode(end(&w, PERF_RECORD_SAMPLE, 0), NULL, &record), 0);
  assert_int_equal(record.sample.depth, LIMIT_STACK_DEPTH);
}

static void a_mapping_names_its_file(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  begin(&w);
  put_pair(&w, 11, 11);
  put_u64(&w, 0x400000);
  put_u64(&w, 0x2000);
  put_u64(&w, 0x1000);
  put_pair(&w, 8, 1);
  put_u64(&w, 99); /* inode */
  put_u64(&w, 0);
  put_pair(&w, 5, 2);
  put_text(&w, "/usr/bin/program with blanks");
  struct span bytes = end_with_id(&w, PERF_RECORD_MMAP2, 0);
  assert_int_equal(perf_record_time(bytes), 777);
  assert_int_equal(perf_record_decode(bytes, NULL, &record), 0);
  assert_int_equal(record.kind, PERF_RECORD_KIND_MMAP);
  assert_int_equal(record.id, 42);
  assert_int_equal(record.mmap.start, 0x400000);
  assert_int_equal(record.mmap.file_offset, 0x1000);
  assert_int_equal(record.mmap.major, 8);
  assert_int_equal(record.mmap.inode, 99);
  assert_string_equal(record.mmap.path, "/usr/bin/program with blanks");
}

static void a_mapping_past_the_end_of_memory_is_refused(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  begin(&w);
  put_pair(&w, 11, 11);
  put_u64(&w, UINT64_MAX - 0xfff);
  put_u64(&w, 0x2000);
  put_u64(&w, 0);
  put_text(&w, "/x");
  assert_int_equal(perf_record_decode(end_with_id(&w, PERF_RECORD_MMAP, 0), NULL, &record),
                   -EBADMSG);
}

static void an_exec_is_told_from_a_new_name(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  begin(&w);
  put_pair(&w, 11, 12);
  put_text(&w, "worker");
  struct span bytes = end_with_id(&w, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
  assert_int_equal(perf_record_decode(bytes, NULL, &record), 0);
  assert_int_equal(record.kind, PERF_RECORD_KIND_COMM);
  assert_true(record.comm.is_exec);
  assert_string_equal(record.comm.name, "worker");
  struct perf_event_header header = {PERF_RECORD_COMM, 0, (uint16_t)bytes.len};
  memcpy(w.bytes, &header, sizeof header);
  assert_int_equal(perf_record_decode(bytes, NULL, &record), 0);
  assert_false(record.comm.is_exec);
}

static void a_fork_tells_child_and_parent(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  begin(&w);
  put_pair(&w, 21, 11);
  put_pair(&w, 22, 12);
  put_u64(&w, 700);
  assert_int_equal(perf_record_decode(end_with_id(&w, PERF_RECORD_FORK, 0), NULL, &record), 0);
  assert_int_equal(record.kind, PERF_RECORD_KIND_FORK);
  assert_int_equal(record.pid, 21);
  assert_int_equal(record.tid, 22);
  assert_int_equal(record.task.parent_pid, 11);
  assert_int_equal(record.task.parent_tid, 12);
}

static void lost_records_are_counted(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  begin(&w);
  put_u64(&w, 42);
  put_u64(&w, 17);
  assert_int_equal(perf_record_decode(end_with_id(&w, PERF_RECORD_LOST, 0), NULL, &record), 0);
  assert_int_equal(record.kind, PERF_RECORD_KIND_LOST);
  assert_int_equal(record.lost.count, 17);
  begin(&w);
  put_u64(&w, 18);
  assert_int_equal(perf_record_decode(end_with_id(&w, PERF_RECORD_LOST_SAMPLES, 0), NULL, &record),
                   0);
  assert_int_equal(record.lost.count, 18);
}

static void an_ended_task_tells_what_it_has_spent(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  begin(&w);
  put_pair(&w, 21, 22);
  put_u64(&w, 3999000);
  assert_int_equal(perf_record_decode(end_with_id(&w, PERF_RECORD_READ, 0), NULL, &record), 0);
  assert_int_equal(record.kind, PERF_RECORD_KIND_READ);
  assert_int_equal(record.pid, 21);
  assert_int_equal(record.tid, 22);
  assert_int_equal(record.read.count, 3999000);
  begin(&w);
  put_pair(&w, 21, 22);
  assert_int_equal(perf_record_decode(end_with_id(&w, PERF_RECORD_READ, 0), NULL, &record),
                   -EBADMSG);
}

static void a_record_too_short_for_its_fields_is_refused(void **state) {
  (void)state;
  const uint32_t types[] = {PERF_RECORD_SAMPLE, PERF_RECORD_MMAP2, PERF_RECORD_COMM,
                            PERF_RECORD_FORK, PERF_RECORD_LOST};
  struct perf_record record;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    struct writer w;
    begin(&w);
    assert_int_equal(perf_record_decode(end_with_id(&w, types[i], 0), NULL, &record), -EBADMSG);
    begin(&w);
    put_u64(&w, 0);
    assert_int_equal(perf_record_decode(end(&w, types[i], 0), NULL, &record), -EBADMSG);
  }
}

static void a_header_that_makes_no_sense_has_no_size(void **state) {
  (void)state;
  struct writer w;
  put_sample(&w, 1, 1);
  struct span bytes = end(&w, PERF_RECORD_SAMPLE, 0);
  const uint16_t sizes[] = {0, 4, 12, 2000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    memcpy(w.bytes + 6, &sizes[i], 2);
    assert_int_equal(perf_record_size(bytes), 0);
  }
  assert_int_equal(perf_record_size(span_of(w.bytes, 7)), 0);
}

static void a_record_of_a_kind_we_do_not_use_is_well_formed(void **state) {
  (void)state;
  struct writer w;
  struct perf_record record;
  begin(&w);
  put_u64(&w, 1);
  assert_int_equal(perf_record_decode(end_with_id(&w, 99, 0), NULL, &record), 0);
  assert_int_equal(record.kind, PERF_RECORD_KIND_OTHER);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sample_gives_its_stack_without_the_markers),
      cmocka_unit_test(the_kernels_part_of_a_stack_comes_first_and_is_counted),
      cmocka_unit_test(a_sample_without_a_chain_still_has_its_pc),
      cmocka_unit_test(a_pair_has_the_link_register_without_its_marks),
      cmocka_unit_test(a_pair_without_a_link_register_has_the_word_at_the_stack_pointer),
      cmocka_unit_test(a_pair_that_does_not_fit_its_record_is_refused),
      cmocka_unit_test(a_copy_has_registers_and_the_words_at_the_stack_pointer),
      cmocka_unit_test(words_of_four_bytes_are_told),
      cmocka_unit_test(a_kernel_thread_has_nothing_to_copy),
      cmocka_unit_test(a_copy_follows_the_chain_of_the_kernels_part),
      cmocka_unit_test(the_programs_chain_comes_before_its_registers),
      cmocka_unit_test(a_pair_in_the_kernel_is_a_lone_pc),
      cmocka_unit_test(a_pc_in_the_kernel_is_told_from_the_programs),
      cmocka_unit_test(a_copy_that_does_not_fit_its_record_is_refused),
      cmocka_unit_test(a_sample_without_callers_is_its_pc),
      cmocka_unit_test(a_chain_longer_than_its_record_is_refused),
      cmocka_unit_test(a_chain_deeper_than_we_keep_is_cut),
      cmocka_unit_test(a_mapping_names_its_file),
      cmocka_unit_test(a_mapping_past_the_end_of_memory_is_refused),
      cmocka_unit_test(an_exec_is_told_from_a_new_name),
      cmocka_unit_test(a_fork_tells_child_and_parent),
      cmocka_unit_test(lost_records_are_counted),
      cmocka_unit_test(an_ended_task_tells_what_it_has_spent),
      cmocka_unit_test(a_record_too_short_for_its_fields_is_refused),
      cmocka_unit_test(a_header_that_makes_no_sense_has_no_size),
      cmocka_unit_test(a_record_of_a_kind_we_do_not_use_is_well_formed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
