/* SPDX-License-Identifier: Apache-2.0 */
/* A board's record of its boots. All clocks and the boot id are replaced (--wrap). */
#include "uplink/boot_times.h"

#include "common/clock.h"
#include "common/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NOW_NS (1800000000 * NS_PER_SECOND)
#define HOUR_NS (3600 * NS_PER_SECOND)

static char folder[] = "/tmp/fleetprof-boots-XXXXXX", path[64];
static uint64_t boot_ns, wall_ns;
static bool is_kept;
static char boot_name[17];
static struct boot_times times;

uint64_t __wrap_clock_boottime_ns(void);
uint64_t __wrap_clock_boottime_ns(void) {
  return boot_ns;
}
uint64_t __wrap_clock_walltime_ns(void);
uint64_t __wrap_clock_walltime_ns(void) {
  return wall_ns;
}
bool __wrap_clock_is_kept(void);
bool __wrap_clock_is_kept(void) {
  return is_kept;
}
void __wrap_clock_boot_id(uint8_t id[16]);
void __wrap_clock_boot_id(uint8_t id[16]) {
  memcpy(id, boot_name, 16);
}

static int set_up(void **state) {
  (void)state;
  log_set_level(LOG_LEVEL_ERROR);
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/boots", folder);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  unlink(path);
  return rmdir(folder);
}

/* The board boots with its clock at WALL_NS. */
static void boot(unsigned number, uint64_t wall) {
  snprintf(boot_name, sizeof boot_name, "boot %u", number);
  boot_ns = 5 * NS_PER_SECOND;
  wall_ns = wall;
  is_kept = false;
  boot_times_init(&times, path);
}

static void pass(uint64_t ns) {
  boot_ns += ns;
  wall_ns += ns;
  boot_times_look(&times);
}

static int clear(void **state) {
  (void)state;
  unlink(path);
  boot(1, 0);
  return 0;
}

static const struct boot_time *earlier(unsigned number) {
  uint32_t count;
  const struct boot_time *rows = boot_times_earlier(&times, &count);
  char name[17] = "";
  snprintf(name, sizeof name, "boot %u", number);
  for (uint32_t i = 0; i < count; i++)
    if (memcmp(rows[i].boot_id, name, 16) == 0) return &rows[i];
  return NULL;
}

static ino_t inode(void) {
  struct stat file;
  return stat(path, &file) == 0 ? file.st_ino : 0;
}

static void what_a_collector_said_is_known_in_the_next_boot(void **state) {
  (void)state;
  pass(HOUR_NS);
  boot_times_learn(&times, NOW_NS);
  boot(2, 0);
  assert_int_equal(earlier(1)->offset_ns, NOW_NS - HOUR_NS - 5 * NS_PER_SECOND);
  assert_null(earlier(2)); /* the present one */
}

static void a_clock_that_is_kept_is_a_witness_and_one_that_is_not_is_none(void **state) {
  (void)state;
  wall_ns = NOW_NS;
  pass(HOUR_NS);
  boot(2, NOW_NS);
  assert_int_equal(earlier(1)->offset_ns, 0);
  is_kept = true;
  pass(HOUR_NS);
  boot(3, 0);
  assert_int_equal(earlier(2)->offset_ns, NOW_NS - 5 * NS_PER_SECOND);
}

static void of_a_boot_without_the_time_its_length_is_kept(void **state) {
  (void)state;
  for (int i = 0; i < 130; i++) pass(60 * NS_PER_SECOND); /* then the power fails */
  boot(2, 0);
  assert_int_equal(earlier(1)->offset_ns, 0);
  assert_in_range(earlier(1)->alive_ns, 120 * 60 * NS_PER_SECOND, 131 * 60 * NS_PER_SECOND);
  pass(HOUR_NS / 2);
  pass(60 * NS_PER_SECOND);
  boot_times_close(&times); /* and here it does not */
  boot(3, 0);
  assert_int_equal(earlier(2)->alive_ns, 5 * NS_PER_SECOND + HOUR_NS / 2 + 60 * NS_PER_SECOND);
}

static void a_daemon_that_starts_again_is_in_the_same_boot(void **state) {
  (void)state;
  boot_times_learn(&times, NOW_NS);
  boot_ns += HOUR_NS;
  boot_times_init(&times, path);
  uint32_t count;
  boot_times_earlier(&times, &count);
  assert_int_equal(count, 0);
  boot(2, 0);
  assert_int_equal(earlier(1)->offset_ns, NOW_NS - 5 * NS_PER_SECOND);
}

static void flash_is_not_worn_by_what_is_no_news(void **state) {
  (void)state;
  boot_times_learn(&times, NOW_NS);
  ino_t before = inode();
  for (int i = 0; i < 50; i++) { /* each ping of 50 minutes, with some jitter */
    boot_ns += 60 * NS_PER_SECOND;
    boot_times_learn(&times, NOW_NS + boot_ns - 5 * NS_PER_SECOND + (uint64_t)i % 7 * NS_PER_MS);
    boot_times_look(&times);
  }
  assert_int_equal(inode(), before);
  boot_times_learn(&times, NOW_NS + boot_ns + HOUR_NS); /* the collector's clock was set */
  assert_int_equal(inode(), before);
  boot_ns += HOUR_NS;
  boot_times_learn(&times, NOW_NS + boot_ns + 2 * HOUR_NS);
  assert_int_not_equal(inode(), before);
}

static void the_oldest_boots_are_forgotten(void **state) {
  (void)state;
  for (unsigned i = 2; i <= LIMIT_BOOTS + 3; i++) boot(i, 0);
  uint32_t count;
  boot_times_earlier(&times, &count);
  assert_int_equal(count, LIMIT_BOOTS);
  assert_null(earlier(2));
  assert_non_null(earlier(3));
}

static void lines_that_are_not_ours_are_left_out(void **state) {
  (void)state;
  static const char good[] = "626f6f742037000000000000000000aa 1764000000000000000 9000000000\n";
  static const char *const bad[] = {
      "",
      "\n",
      "626f6f74203700000000000000000000\n",
      "626f6f74203700000000000000000000 1764000000000000000\n",
      "626F6F74203700000000000000000000 1 2\n",
      "626f6f742037000000000000000000 1 2\n",
      "626f6f74203700000000000000000000 -1 2\n",
      "626f6f74203700000000000000000000 1 2 3\n",
      "626f6f74203700000000000000000000 1 99999999999999999999\n",
      "626f6f74203700000000000000000000 9223372036854775808 1\n",
      "626f6f74203700000000000000000000 1 2",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    FILE *file = fopen(path, "w");
    fprintf(file, "%s%s", good, bad[i]);
    fclose(file);
    boot(2, 0);
    uint32_t count;
    const struct boot_time *rows = boot_times_earlier(&times, &count);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].offset_ns, 1764000000000000000);
    assert_int_equal(rows[0].boot_id[15], 0xaa);
  }
}

static void a_time_before_this_program_is_not_believed(void **state) {
  (void)state;
  boot_times_learn(&times, 1000 * NS_PER_SECOND);
  boot(2, 0);
  assert_int_equal(earlier(1)->offset_ns, 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, clear, clear)
  const struct CMUnitTest tests[] = {
      TEST(what_a_collector_said_is_known_in_the_next_boot),
      TEST(a_clock_that_is_kept_is_a_witness_and_one_that_is_not_is_none),
      TEST(of_a_boot_without_the_time_its_length_is_kept),
      TEST(a_daemon_that_starts_again_is_in_the_same_boot),
      TEST(flash_is_not_worn_by_what_is_no_news),
      TEST(the_oldest_boots_are_forgotten),
      TEST(lines_that_are_not_ours_are_left_out),
      TEST(a_time_before_this_program_is_not_believed),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
