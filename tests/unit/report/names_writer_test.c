/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of this program, written into a profile and found there without any other source.
 */
#include "frame_fixture.h"
#include "profile_fixture.h"

#include "common/clock.h"
#include "elf/module_file.h"
#include "report/best_name.h"
#include "report/namer.h"
#include "report/names_writer.h"
#include "ring/ring_format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>

static struct module_identity own;
static char own_path[PATH_MAX];
static uint64_t own_size;

/* The sampled places: four addresses, some of inlined functions. */
static inline __attribute__((always_inline)) int inlined_function(int value) {
  volatile int kept = value;
  kept = kept * 3 + 1;
  return kept;
}

__attribute__((noinline)) int sampled_function(int value);
int sampled_function(int value) {
  return inlined_function(value) - 1;
}

enum { PLACES = 4, PLACE_BYTES = 4 };

static int take_base(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  *(uint64_t *)context = info->dlpi_addr;
  return 1; /* the program is the first */
}

static uint64_t own_address(void) {
  uint64_t base = 0;
  dl_iterate_phdr(take_base, &base);
  return (uint64_t)(uintptr_t)sampled_function - base;
}

static int setup(void **state) {
  struct module_stamp stamp;
  (void)state;
  ssize_t len = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (len <= 0 || fd < 0 || module_file_stamp(fd, &stamp) != 0) return -1;
  own_size = stamp.size_bytes;
  int error = module_file_identify(fd, &stamp, &own);
  close(fd);
  return error;
}

/* A profile file of one batch, whose module is this program. */
static struct file file_of_own(void) {
  struct small_batch small;
  struct file file = file_make();
  small_batch_fill(&small, 5, 10, true);
  small.modules[0] =
      (struct batch_module){span_of(own.id, own.id_bytes), own_path, own_size, MODULE_ELF};
  for (uint64_t i = 0; i < PLACES; i++) small.nodes[i].address = own_address() + PLACE_BYTES * i;
  file_append(&file, &small.batch, 1);
  return file;
}

static void read_into(struct profile *profile, int fd) {
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES];
  assert_int_equal(profile_init(profile), 0);
  assert_int_equal(profile_reader_read_fd(fd, profile, &damage, why), 0);
  assert_int_equal(damage.torn_bytes + damage.damaged_bytes + damage.bad_names, 0);
}

static int write_names(int fd, uint64_t deadline_ns, struct names_written *ret) {
  struct profile profile;
  struct profile_damage damage;
  struct namer *namer;
  char why[PROFILE_READER_WHY_BYTES];
  assert_int_equal(profile_init(&profile), 0);
  assert_int_equal(profile_reader_read_fd(fd, &profile, &damage, why), 0);
  assert_int_equal(namer_open(NAMER_FILE_MS, &namer), 0);
  int error = names_writer_write(fd, &profile, namer, deadline_ns, ret);
  namer_close(namer);
  profile_fini(&profile);
  return error;
}

/* Without the program, FD has all names of the program. */
static void assert_named(int fd) {
  struct profile profile;
  struct namer *namer;
  unsigned inlined = 0;
  read_into(&profile, fd);
  assert_int_equal(namer_open(NAMER_FILE_MS, &namer), 0);
  assert_int_equal(profile.frame_count, PLACES);
  for (int i = 0; i < PLACES; i++) {
    struct symbol_frame kept[SYMBOL_CHAIN_MAX], own_frames[SYMBOL_CHAIN_MAX];
    enum names_quality quality;
    const struct profile_frame *frame = &profile.frames[i];
    int count = best_name_chain(&profile, NULL, frame, kept, &quality);
    assert_true(count > 0);
    assert_string_equal(kept[count - 1].name, "sampled_function");
    assert_int_equal(kept[count - 1].start, own_address());
    assert_int_equal(best_name_chain(&profile, namer, frame, own_frames, &quality), count);
    for (int f = 0; f < count; f++) assert_frame(&kept[f], &own_frames[f]);
    inlined += count > 1;
  }
#ifndef __SANITIZE_ADDRESS__ /* its own checks precede the function's code */
  assert_true(inlined > 0);
#endif
  namer_close(namer);
  profile_fini(&profile);
}

static void what_was_sampled_has_its_name_in_the_file(void **state) {
  struct file file = file_of_own();
  struct names_written written;
  (void)state;
  assert_int_equal(write_names(file.fd, UINT64_MAX, &written), 0);
  assert_int_equal(written.functions, 1);
  assert_int_equal(written.modules, 1);
  assert_int_equal(written.late, 0);
  assert_named(file.fd);
  off_t end = lseek(file.fd, 0, SEEK_END);
  assert_true(end < (off_t)file.end + 400); /* one function, not all of the program's */
  /* The second time adds nothing. */
  assert_int_equal(write_names(file.fd, UINT64_MAX, &written), 0);
  assert_int_equal(written.functions, 0);
  assert_int_equal(lseek(file.fd, 0, SEEK_END), end);
  close(file.fd);
}

static void what_a_killed_run_left_is_cut_off_first(void **state) {
  struct file file = file_of_own();
  struct names_written written;
  (void)state;
  struct spool_entry next = {.offset = file.end, .run = 5, .seq = 2, .kind = SPOOL_BATCH};
  static const uint8_t payload[4000] = {1}; /* longer than the names */
  assert_int_equal(spool_segment_write(file.fd, &next, span_of(payload, sizeof payload)), 0);
  assert_int_equal(ftruncate(file.fd, (off_t)file.end + 3000), 0);
  assert_int_equal(write_names(file.fd, UINT64_MAX, &written), 0);
  assert_int_equal(written.functions, 1);
  assert_named(file.fd);
  close(file.fd);
}

static void when_the_time_is_up_the_file_is_as_it_was(void **state) {
  struct file file = file_of_own();
  struct names_written written;
  (void)state;
  assert_int_equal(write_names(file.fd, clock_monotonic_ns(), &written), 0);
  assert_int_equal(written.functions, 0);
  assert_int_equal(written.late, 1);
  assert_int_equal(lseek(file.fd, 0, SEEK_END), file.end);
  close(file.fd);
}

static void another_kind_of_file_is_left_alone(void **state) {
  struct profile profile;
  struct names_written written;
  const uint32_t magic = RING_MAGIC;
  int fd = memfd_create("recorder", MFD_CLOEXEC);
  (void)state;
  assert_int_equal(write(fd, &magic, sizeof magic), sizeof magic);
  assert_int_equal(profile_init(&profile), 0);
  assert_int_equal(names_writer_write(fd, &profile, NULL, UINT64_MAX, &written), -EBADMSG);
  assert_int_equal(lseek(fd, 0, SEEK_END), sizeof magic);
  profile_fini(&profile);
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_sampled_has_its_name_in_the_file),
      cmocka_unit_test(what_a_killed_run_left_is_cut_off_first),
      cmocka_unit_test(when_the_time_is_up_the_file_is_as_it_was),
      cmocka_unit_test(another_kind_of_file_is_left_alone),
  };
  return sampled_function(0) + cmocka_run_group_tests(tests, setup, NULL);
}
