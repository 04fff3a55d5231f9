/* SPDX-License-Identifier: Apache-2.0 */
/* A torn file is read as far as possible, wherever it was cut; another kind of file is reported by
   its name. */
#include "profile_fixture.h"

#include "proto/limits.h"

#include <errno.h>
#include <string.h>

static int read_fd(int fd, struct profile *profile, struct profile_damage *damage, char *why) {
  assert_int_equal(profile_init(profile), 0);
  return profile_reader_read_fd(fd, profile, damage, why);
}

static struct file three_batches_of(uint64_t run, uint64_t ends[3]) {
  struct small_batch small;
  struct file file = file_make();
  for (uint64_t i = 0; i < 3; i++) {
    file_append(&file, small_batch_fill(&small, run, 100, i == 2), i + 1);
    ends[i] = file.end;
  }
  return file;
}

static struct file three_batches(uint64_t ends[3]) {
  return three_batches_of(77, ends);
}

static void batches_add_up(void **state) {
  uint64_t ends[3];
  struct file file = three_batches(ends), other = three_batches_of(78, ends);
  struct profile profile;
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES];
  (void)state;
  assert_int_equal(read_fd(file.fd, &profile, &damage, why), 0);
  assert_int_equal(profile.count, 3 * 122);
  assert_int_equal(profile.module_count, 2);
  assert_int_equal(profile.frame_count, 2);
  assert_int_equal(profile.run_count, 1);
  assert_false(damage.is_unfinished);
  assert_int_equal(damage.torn_bytes + damage.damaged_bytes + damage.bad_batches, 0);
  assert_string_equal(profile.service, "tool");
  uint64_t loss[LOSS_REASON_COUNT];
  profile_loss(&profile, loss);
  assert_int_equal(loss[LOSS_RING_FULL], 3); /* cumulative: the newest word, not the sum */
  assert_int_equal(damage.known_batches, 0);
  assert_int_equal(profile_reader_read_fd(other.fd, &profile, &damage, why), 0);
  assert_int_equal(profile.count, 6 * 122); /* and files add up */
  profile_fini(&profile);
  close(file.fd);
  close(other.fd);
}

static void a_batch_counts_once_however_often_it_is_given(void **state) {
  uint64_t ends[3];
  struct file file = three_batches(ends);
  struct profile profile;
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES];
  (void)state;
  assert_int_equal(read_fd(file.fd, &profile, &damage, why), 0);
  assert_int_equal(profile_reader_read_fd(file.fd, &profile, &damage, why), 0);
  assert_int_equal(profile.count, 3 * 122);
  assert_int_equal(damage.known_batches, 3);
  assert_int_equal(damage.good_batches + damage.bad_batches, 0);
  profile_fini(&profile);
  close(file.fd);
}

static void a_file_torn_at_any_byte_gives_its_whole_batches(void **state) {
  uint64_t ends[3];
  struct file file = three_batches(ends);
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES];
  (void)state;
  for (uint64_t len = file.end + 1; len-- > 0;) {
    struct profile profile;
    assert_int_equal(ftruncate(file.fd, (off_t)len), 0);
    assert_int_equal(read_fd(file.fd, &profile, &damage, why), 0);
    uint64_t whole = 0;
    while (whole < 3 && len >= ends[whole]) whole++;
    uint64_t end = whole > 0 ? ends[whole - 1] : len >= SPOOL_HEADER_BYTES ? SPOOL_HEADER_BYTES : 0;
    assert_int_equal(profile.count, whole * 122);
    assert_int_equal(damage.torn_bytes, len - end);
    assert_int_equal(damage.damaged_bytes + damage.bad_batches, 0);
    assert_int_equal(damage.is_unfinished, whole > 0 && whole < 3);
    profile_fini(&profile);
  }
  close(file.fd);
}

static void a_damaged_batch_costs_itself_alone(void **state) {
  uint64_t ends[3];
  struct file file = three_batches(ends);
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES];
  (void)state;
  for (uint64_t at = ends[0]; at < ends[1]; at++) {
    struct profile profile;
    uint8_t byte, other;
    assert_int_equal(pread(file.fd, &byte, 1, (off_t)at), 1);
    other = (uint8_t)~byte;
    assert_int_equal(pwrite(file.fd, &other, 1, (off_t)at), 1);
    assert_int_equal(read_fd(file.fd, &profile, &damage, why), 0);
    assert_int_equal(profile.count, 2 * 122);
    assert_true(damage.damaged_bytes > 0 || damage.bad_batches == 1);
    assert_int_equal(pwrite(file.fd, &byte, 1, (off_t)at), 1);
    profile_fini(&profile);
  }
  close(file.fd);
}

static void assert_refused(const void *bytes, size_t len, int error, const char *word) {
  struct profile profile;
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES] = "";
  int fd = memfd_create("foreign", MFD_CLOEXEC);
  assert_int_equal(write(fd, bytes, len), len);
  assert_int_equal(read_fd(fd, &profile, &damage, why), error);
  if (strstr(why, word) == NULL) fail_msg("'%s' does not say '%s'", why, word);
  assert_int_equal(profile.count, 0);
  profile_fini(&profile);
  close(fd);
}

#define REFUSED(bytes, error, word) assert_refused(bytes, sizeof bytes - 1, error, word)

static void what_is_no_profile_is_called_by_its_name(void **state) {
  (void)state;
  REFUSED("PERFILE2 and more of it", -EBADMSG, "perf.data");
  REFUSED("\x1f\x8b\x08 and more of it", -EBADMSG, "pprof");
  REFUSED("\x7f"
          "ELF and more of it!",
          -EBADMSG, "program");
  REFUSED("x", -EBADMSG, "not a profile");
  REFUSED("FPS2 a spool of another kind", -EBADMSG, "not a profile");
  REFUSED("FPS1\x02\x00 of a later version..", -EPROTO, "newer version (format 2");
}

/* Its entries are as ever, its batches are not. */
static void a_file_of_a_later_protocol_is_called_newer(void **state) {
  (void)state;
  struct small_batch small;
  for (uint64_t version = 0; version <= LIMIT_PROTOCOL_VERSION + 1; version++) {
    struct file file = file_make();
    struct spool_entry head = {.records = version, .kind = SPOOL_MARK};
    struct profile profile;
    struct profile_damage damage;
    char why[PROFILE_READER_WHY_BYTES] = "", word[64];
    bool is_known = version <= LIMIT_PROTOCOL_VERSION;
    assert_int_equal(spool_segment_write(file.fd, &head, span_of(NULL, 0)), 0);
    file_append(&file, small_batch_fill(&small, 5, 100, true), 1);
    assert_int_equal(read_fd(file.fd, &profile, &damage, why), is_known ? 0 : -EPROTO);
    assert_int_equal(profile.count, is_known ? 122 : 0);
    snprintf(word, sizeof word, "newer version (protocol %d; ", LIMIT_PROTOCOL_VERSION + 1);
    if (!is_known) assert_non_null(strstr(why, word));
    profile_fini(&profile);
    close(file.fd);
  }
}

static void an_empty_file_is_an_empty_profile(void **state) {
  struct profile profile;
  struct profile_damage damage;
  char why[PROFILE_READER_WHY_BYTES];
  int fd = memfd_create("empty", MFD_CLOEXEC);
  (void)state;
  assert_int_equal(read_fd(fd, &profile, &damage, why), 0);
  assert_true(damage.is_empty);
  assert_int_equal(profile.count, 0);
  profile_fini(&profile);
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches_add_up),
      cmocka_unit_test(a_batch_counts_once_however_often_it_is_given),
      cmocka_unit_test(a_file_torn_at_any_byte_gives_its_whole_batches),
      cmocka_unit_test(a_damaged_batch_costs_itself_alone),
      cmocka_unit_test(what_is_no_profile_is_called_by_its_name),
      cmocka_unit_test(a_file_of_a_later_protocol_is_called_newer),
      cmocka_unit_test(an_empty_file_is_an_empty_profile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
