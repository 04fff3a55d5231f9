/* SPDX-License-Identifier: Apache-2.0 */
/* proto/WIRE.md shows one batch and one frame byte by byte. This encodes the same and compares it
   with the page, so neither can change alone. */
#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct batch_module modules[] = {
    {{(const uint8_t *)"\xb1\xd0", 2}, "/usr/bin/spin", 16000, MODULE_ELF},
    {{0}, "[kernel]", 0, MODULE_PSEUDO},
};
static const struct label labels[] = {{"site", "north"}};
static const struct batch_target targets[] = {{.service = "spin",
                                               .exe = "/usr/bin/spin",
                                               .module = 0,
                                               .label_count = 1,
                                               .labels = labels,
                                               .sampler = "perf",
                                               .asked_mhz = 99000,
                                               .achieved_mhz = 98990}};
static const struct batch_thread threads[] = {{0, "spin"}};
static const struct batch_node nodes[] = {
    {BATCH_NONE, 0, 0x1190}, {0, 0, 0x1139}, {0, 1, 0}, {0, 0, 0x1150}};
static const struct batch_sample samples[] = {{1, 0, SAMPLE_CPU, 3, 30303030},
                                              {3, 0, SAMPLE_CPU, 1, 10101010},
                                              {2, 0, SAMPLE_CPU, 1, 4000000}};
static const struct batch batch = {
    .boot_id = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    .start_boottime_ns = UINT64_C(10000000000),
    .end_boottime_ns = UINT64_C(20000000000),
    .start_walltime_ns = UINT64_C(1700000000000000000),
    .end_walltime_ns = UINT64_C(1700000010000000000),
    .counters = {.run = UINT64_C(0x0123456789abcdef),
                 .produced = 7,
                 .shipped = 0,
                 .dropped = {[LOSS_RING_FULL] = 2}},
    .cpus = 4,
    .module_count = 2,
    .target_count = 1,
    .thread_count = 1,
    .node_count = 4,
    .sample_count = 3,
    .modules = modules,
    .targets = targets,
    .threads = threads,
    .nodes = nodes,
    .samples = samples,
};

/* Appends the bytes of the page's block that begins with ```NAME: hex pairs up to two blanks. */
static void read_block(const char *name, struct buf *ret) {
  char line[512], opening[64];
  bool is_inside = false;
  FILE *page = fopen(TEST_DATA "/../proto/WIRE.md", "r");
  assert_non_null(page);
  snprintf(opening, sizeof opening, "```%s\n", name);
  while (fgets(line, sizeof line, page) != NULL) {
    if (is_inside && strncmp(line, "```", 3) == 0) break;
    if (!is_inside) {
      is_inside = strcmp(line, opening) == 0;
      continue;
    }
    for (char *at = line, *end; *at != '\n' && strncmp(at, "  ", 2) != 0; at = end) {
      unsigned long byte = strtoul(at, &end, 16);
      assert_ptr_not_equal(at, end);
      buf_append_byte(ret, (uint8_t)byte);
    }
  }
  fclose(page);
}

static void expect_block(const char *name, const struct buf *bytes) {
  struct buf page = {0};
  read_block(name, &page);
  size_t at = 0;
  while (at < page.len && at < bytes->len && page.data[at] == bytes->data[at]) at++;
  if (at < page.len || at < bytes->len) {
    for (size_t i = 0; i < bytes->len; i++) printf("%02x ", bytes->data[i]);
    fail_msg("block %s differs at byte %zu of %zu and %zu", name, at, page.len, bytes->len);
  }
  buf_fini(&page);
}

static void the_batch_on_the_page_is_what_the_encoder_writes(void **state) {
  (void)state;
  struct buf bytes = {0};
  assert_int_equal(batch_encode(&batch, &bytes), 0);
  expect_block("batch", &bytes);
  buf_fini(&bytes);
}

static void the_frame_on_the_page_is_what_the_encoder_writes(void **state) {
  (void)state;
  const struct message ack = {.type = FRAME_ACK, .ack = {UINT64_C(0x0123456789abcdef), 300}};
  struct buf bytes = {0};
  assert_int_equal(message_encode(&ack, &bytes), 0);
  expect_block("frame", &bytes);
  buf_fini(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_batch_on_the_page_is_what_the_encoder_writes),
      cmocka_unit_test(the_frame_on_the_page_is_what_the_encoder_writes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
