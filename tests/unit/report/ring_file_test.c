/* SPDX-License-Identifier: Apache-2.0 */
/* Rings without a daemon: every unit of weight in them is in the profile. */
#include "profile_fixture.h"

#include "ring/histogram_layout.h"
#include "ring/histogram_reader.h"
#include "ring/histogram_writer.h"
#include "ring/ring_writer.h"

#include <errno.h>
#include <string.h>

static const uint64_t text = 0x400000;

/* Makes a histogram with 5 records at TEXT + 0x20, 7 at TEXT + 0x100 and 3 outside of all code,
   which weigh 4 units each.  Returns its descriptor. */
static int make_histogram(uint32_t bin_bytes) {
  struct ring_terms terms = {.period_ns = 10000000, .signal = 61};
  struct histogram_shape shape = {.bin_bytes = bin_bytes, .counter_bytes = 4};
  struct ring_writer target;
  uint32_t hint = 0;
  histogram_shape_fit(&shape, 4096, 1);
  uint64_t size = histogram_total_bytes(&shape);
  uint8_t *base = calloc(1, size);
  histogram_init(base, &shape, &terms);
  struct image_table *table = image_table_of(base);
  image_table_begin(table);
  table->asked_mhz = 100000;
  table->start_walltime_ns = 1000;
  atomic_store(&table->alive_walltime_ns, 2000);
  snprintf(table->service, sizeof table->service, "tool");
  snprintf(table->exe, sizeof table->exe, "/opt/tool");
  table->module_count = table->region_count = 1;
  table->modules[0] = (struct image_module){.id = {0xab, 0xcd}, .id_len = 2, .size_bytes = 9};
  snprintf(table->modules[0].path, sizeof table->modules[0].path, "/opt/tool");
  table->regions[0] = (struct image_region){text, text + 4096, 0x1000, 0, 0, 0};
  image_table_end(table);
  assert_int_equal(ring_writer_init(&target, &terms, base, size), 0);
  for (int i = 0; i < 15; i++)
    histogram_writer_add(&target.histogram,
                         i < 5    ? text + 0x20
                         : i < 12 ? text + 0x100
                                  : 0x10,
                         4, &hint);
  int fd = memfd_create("histogram", MFD_CLOEXEC);
  assert_int_equal(write(fd, base, size), size);
  free(base);
  return fd;
}

static void a_histogram_is_a_profile(void **state) {
  struct profile profile;
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES] = "";
  int fd = make_histogram(16);
  (void)state;
  assert_int_equal(profile_init(&profile), 0);
  assert_int_equal(profile_reader_read_fd(fd, &profile, &damage, why), 0);
  assert_int_equal(profile.count, 15);
  assert_int_equal(profile.weight, 4 * 150000000);
  assert_int_equal(profile.frame_count, 3);
  assert_int_equal(profile.frames[0].address, 0x1020);
  assert_int_equal(profile.frames[0].count, 5);
  assert_int_equal(profile.frames[0].weight, 4 * 50000000);
  assert_int_equal(profile.frames[1].address, 0x1100);
  assert_string_equal(profile.modules[profile.frames[2].module].path, "[unknown]");
  assert_int_equal(profile.frames[2].count, 3);
  assert_string_equal(profile.service, "tool");
  assert_int_equal(profile.main_module, 0);
  assert_int_equal(profile.end_walltime_ns, 2000);
  assert_int_equal(profile.marks, 0);
  profile_fini(&profile);
  close(fd);
}

static void bins_that_may_hold_several_functions_are_marked(void **state) {
  struct profile profile;
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES] = "";
  int fd = make_histogram(64);
  (void)state;
  assert_int_equal(profile_init(&profile), 0);
  assert_int_equal(profile_reader_read_fd(fd, &profile, &damage, why), 0);
  assert_int_equal(profile.marks, MARK_COARSE_BINS);
  assert_int_equal(profile.frames[0].address, 0x1000);
  profile_fini(&profile);
  close(fd);
}

static void a_ring_cut_short_anywhere_is_refused_or_read(void **state) {
  int fd = make_histogram(16);
  (void)state;
  for (off_t size = lseek(fd, 0, SEEK_END); size > 4; size = size * 7 / 8) {
    struct profile profile;
    struct profile_damage damage;
    char why[PROFILE_READER_WHY_BYTES] = "";
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(profile_init(&profile), 0);
    int error = profile_reader_read_fd(fd, &profile, &damage, why);
    assert_true(error == 0 || (error == -EBADMSG && why[0] != '\0'));
    profile_fini(&profile);
  }
  close(fd);
}

static void a_ring_of_another_version_says_so(void **state) {
  struct profile profile;
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES] = "";
  uint32_t version = RING_VERSION + 1;
  int fd = make_histogram(16);
  (void)state;
  assert_int_equal(pwrite(fd, &version, sizeof version, offsetof(struct ring_header, version)), 4);
  assert_int_equal(profile_init(&profile), 0);
  assert_int_equal(profile_reader_read_fd(fd, &profile, &damage, why), -EPROTO);
  assert_non_null(strstr(why, "another version"));
  profile_fini(&profile);
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_histogram_is_a_profile),
      cmocka_unit_test(bins_that_may_hold_several_functions_are_marked),
      cmocka_unit_test(a_ring_cut_short_anywhere_is_refused_or_read),
      cmocka_unit_test(a_ring_of_another_version_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
