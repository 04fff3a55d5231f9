/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_store_fixture.h"

#include <dirent.h>
#include <openssl/sha.h>

uint64_t days_ahead_ns;
struct debug_store *store;
char why[256];

const struct span id_a = {(const uint8_t *)"aaaaaaaaaaaaaaaaaaaa", 20};
const struct span id_b = {(const uint8_t *)"bbbbbbbbbbbbbbbbbbbb", 20};

uint64_t __real_clock_walltime_ns(void);
uint64_t __wrap_clock_walltime_ns(void);

uint64_t __wrap_clock_walltime_ns(void) {
  return __real_clock_walltime_ns() + days_ahead_ns;
}

void pass(double days) {
  days_ahead_ns += (uint64_t)(days * 24 * 3600 * NS_PER_SECOND);
}

struct sample_file sample(uint8_t seed) {
  struct sample_file file;
  for (size_t i = 0; i < sizeof file.bytes; i++) file.bytes[i] = (uint8_t)(i * 7 + seed);
  memcpy(file.bytes,
         "\x7f"
         "ELF",
         4);
  SHA256(file.bytes, sizeof file.bytes, file.sha256);
  return file;
}

void reopen(void) {
  char error[256] = "", dir[128];
  debug_store_close(store);
  store = NULL;
  snprintf(dir, sizeof dir, "%s/data", fixture_dir);
  if (debug_store_open(dir, &store, error, sizeof error) != 0) fail_msg("%s", error);
}

int set_up(void **state) {
  days_ahead_ns = 0;
  int error = fixture_set_up(state);
  if (error == 0) reopen();
  return error;
}

int tear_down(void **state) {
  debug_store_close(store);
  store = NULL;
  return fixture_tear_down(state);
}

int write_part(const char *board, struct span id, const struct sample_file *file, size_t from,
               size_t to) {
  const struct debug_piece piece = {.board = board,
                                    .id = id,
                                    .offset = from,
                                    .total = sizeof file->bytes,
                                    .sha256 = span_of(file->sha256, 32),
                                    .bytes = span_of(file->bytes + from, to - from)};
  why[0] = '\0';
  return debug_store_write(store, &piece, why, sizeof why);
}

int write_whole(const char *board, struct span id, const struct sample_file *file) {
  return write_part(board, id, file, 0, sizeof file->bytes);
}

bool is_wanted(const char *board, struct span id, uint64_t *ret_offset) {
  struct debug_wish wish = {.id = id, .path = "/bin/x"};
  debug_wishes_ask(store, board, false, &wish, 1);
  *ret_offset = wish.offset;
  return wish.is_wanted;
}

void read_as(const struct sample_file *file, struct span build_id, enum debug_quality quality) {
  assert_int_equal(debug_store_set_identity(store, file->sha256, build_id), 0);
  assert_int_equal(debug_store_set_quality(store, file->sha256, quality, "because"), 0);
}

bool is_visible(const char *board, struct span id) {
  struct debug_file file;
  return debug_store_find(store, board, id, &file) == 0;
}

size_t count_files(const char *folder) {
  char path[256];
  size_t count = 0;
  snprintf(path, sizeof path, "%s/data/%s", fixture_dir, folder);
  DIR *listing = opendir(path);
  assert_non_null(listing);
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
    if (entry->d_type == DT_REG) count++;
  closedir(listing);
  return count;
}
