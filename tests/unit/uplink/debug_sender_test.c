/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files found and read out.  The module is this test's own program, which has a build-id and
   a symbol table; the root of its "target" is a temporary folder. */
#include "elf/elf_sections.h"
#include "uplink/debug_sender.h"

#include "common/arena.h"
#include "common/buf.h"
#include "proto/compress.h"
#include "proto/limits.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <openssl/sha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 512 };

struct bench {
  char root[64];
  struct debug_sender *sender;
  struct elf_sections own;
  struct buf program;  /* the bytes of this program */
  struct buf received; /* the output */
  uint8_t sha256[32];
  char why[256]; /* the last failure's */
  unsigned pieces;
};

static const char module_path[] = "/usr/bin/prog";

static size_t read_memory(void *context, uint64_t offset, void *bytes, size_t len) {
  struct span file = buf_span(context);
  return elf_read_span(&file, offset, bytes, len);
}

static void read_file(const char *path, struct buf *ret) {
  int fd = open(path, O_RDONLY);
  assert_true(fd >= 0);
  for (ssize_t got = 1; got > 0;) {
    uint8_t *at = buf_reserve(ret, 65536);
    assert_non_null(at);
    got = read(fd, at, 65536);
    if (got > 0) ret->len += (size_t)got;
  }
  close(fd);
}

static int set_up(void **state) {
  struct bench *bench = calloc(1, sizeof *bench);
  if (bench == NULL) return -1;
  snprintf(bench->root, sizeof bench->root, "/tmp/debug-test-XXXXXX");
  if (mkdtemp(bench->root) == NULL) return -1;
  read_file("/proc/self/exe", &bench->program);
  assert_int_equal(elf_sections_read(read_memory, &bench->program, &bench->own), 0);
  assert_true(bench->own.build_id_bytes > 0);
  assert_true(bench->own.has_functions);
  assert_int_equal(debug_sender_open(1 << 30, &bench->sender), 0);
  *state = bench;
  return 0;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk) {
  (void)status, (void)flag, (void)walk;
  return remove(path);
}

static int tear_down(void **state) {
  struct bench *bench = *state;
  debug_sender_close(bench->sender);
  while (waitpid(-1, NULL, 0) > 0) {
  }
  nftw(bench->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  buf_fini(&bench->program);
  buf_fini(&bench->received);
  free(bench);
  return 0;
}

/* Writes BYTES and then TAIL as ROOT/PATH, folders made on the way. */
static void put_file(struct bench *bench, const char *path, struct span bytes, const char *tail) {
  char full[PATH_BYTES];
  snprintf(full, sizeof full, "%s%s", bench->root, path);
  for (char *slash = full + strlen(bench->root) + 1; (slash = strchr(slash, '/')) != NULL;
       slash++) {
    *slash = '\0';
    mkdir(full, 0700);
    *slash = '/';
  }
  int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0700);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes.data, bytes.len), bytes.len);
  assert_int_equal(write(fd, tail, strlen(tail)), strlen(tail));
  close(fd);
}

static struct span own_id(const struct bench *bench) {
  return span_of(bench->own.build_id, bench->own.build_id_bytes);
}

static void note(struct bench *bench, struct span id) {
  char open_path[PATH_BYTES];
  snprintf(open_path, sizeof open_path, "%s%s", bench->root, module_path);
  debug_sender_note(bench->sender, id, module_path, open_path);
}

static int want_at(struct bench *bench, struct span id, uint64_t offset) {
  char why[256] = "";
  struct debug_wanted wanted = {.id = id, .path = "/nowhere/else", .offset = offset};
  int rc = debug_sender_want(bench->sender, &wanted, why, sizeof why);
  if (rc < 0) assert_true(strlen(why) > 0);
  return rc;
}

static int want(struct bench *bench, struct span id) {
  return want_at(bench, id, 0);
}

/* Waits until the child that looks for a file has handed it over, and ended. */
static void wait_until_found(void) {
  siginfo_t child;
  assert_int_equal(waitid(P_ALL, 0, &child, WEXITED | WNOWAIT), 0);
}

static bool is_to_be_asked_again(int rc) {
  if (rc == -EINPROGRESS) usleep(1000);
  return rc == -EAGAIN || rc == -EINPROGRESS;
}

/* Makes pieces until the queue ends or fails; returns the last outcome. */
static int receive(struct bench *bench) {
  for (;;) {
    struct arena arena;
    struct debug_chunk piece = {0};
    const char *why = NULL;
    arena_init(&arena, 1 << 20);
    int rc = debug_sender_next(bench->sender, &arena, &piece, &why);
    if (rc == 0) {
      bench->pieces++;
      assert_true(piece.raw_len <= LIMIT_DEBUG_CHUNK_BYTES);
      assert_int_equal(piece.sha256.len, 32);
      memcpy(bench->sha256, piece.sha256.data, 32);
      assert_int_equal(
          decompress(piece.zstd, piece.raw_len, LIMIT_DEBUG_CHUNK_BYTES, &bench->received), 0);
    }
    if (rc < 0 && rc != -EAGAIN && rc != -EINPROGRESS && rc != -ENOENT && rc != -EDQUOT) {
      assert_true(piece.id.len > 0);
      snprintf(bench->why, sizeof bench->why, "%s", why);
    }
    arena_fini(&arena);
    if (rc != 0 && !is_to_be_asked_again(rc)) return rc;
  }
}

/* ID is looked up, and its end has WHY as the reason for not sending it. */
static void assert_not_found(struct bench *bench, struct span id, const char *why) {
  assert_int_equal(want(bench, id), 0);
  assert_int_equal(receive(bench), -EIO);
  if (strstr(bench->why, why) == NULL) fail_msg("the reason is: %s", bench->why);
  assert_int_equal(receive(bench), -ENOENT); /* and nothing else */
}

/* The output is the program and TAIL, and was announced with the right hash. */
static void assert_received(struct bench *bench, const char *tail) {
  uint8_t sha256[32];
  assert_int_equal(bench->received.len, bench->program.len + strlen(tail));
  assert_memory_equal(bench->received.data, bench->program.data, bench->program.len);
  assert_memory_equal(bench->received.data + bench->program.len, tail, strlen(tail));
  SHA256(bench->received.data, bench->received.len, sha256);
  assert_memory_equal(bench->sha256, sha256, 32);
}

static void the_own_file_comes_out_whole(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, buf_span(&bench->program), "own");
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  assert_int_equal(receive(bench), -ENOENT);
  assert_true(bench->pieces >= 1);
  assert_received(bench, "own");
  assert_true(debug_sender_used(bench->sender) > 0);
}

static void a_transfer_goes_on_from_its_offset(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, buf_span(&bench->program), "");
  note(bench, own_id(bench));
  assert_int_equal(want_at(bench, own_id(bench), 1000), 0);
  assert_int_equal(receive(bench), -ENOENT);
  assert_int_equal(bench->received.len, bench->program.len - 1000);
  assert_memory_equal(bench->received.data, bench->program.data + 1000, bench->received.len);
}

static void put_in_tree(struct bench *bench, const char *tail) {
  char path[PATH_BYTES] = "", hex[2 * LIMIT_MODULE_ID_BYTES + 1] = "";
  for (uint32_t i = 0; i < bench->own.build_id_bytes; i++)
    snprintf(hex + 2 * (size_t)i, 3, "%02x", bench->own.build_id[i]);
  snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
  put_file(bench, path, buf_span(&bench->program), tail);
}

static void the_debug_tree_comes_before_the_own_file(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, buf_span(&bench->program), "own");
  put_in_tree(bench, "tree");
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  assert_int_equal(receive(bench), -ENOENT);
  assert_received(bench, "tree");
}

static void a_debug_file_of_another_build_is_not_taken(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, buf_span(&bench->program), "own");
  size_t at = bench->program.len; /* the same file with another build-id */
  for (size_t i = 0; i + 20 < bench->program.len && at == bench->program.len; i++)
    if (memcmp(bench->program.data + i, bench->own.build_id, bench->own.build_id_bytes) == 0)
      at = i;
  bench->program.data[at] ^= 1;
  put_in_tree(bench, "other");
  bench->program.data[at] ^= 1;
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  assert_int_equal(receive(bench), -ENOENT);
  assert_received(bench, "own");
}

static void a_debuglink_is_followed_beside_the_program(void **state) {
  struct bench *bench = *state;
  char command[1024];
  put_file(bench, "/usr/bin/.debug/prog.debug", buf_span(&bench->program), "linked");
  snprintf(command, sizeof command,
           "objcopy --strip-all --add-gnu-debuglink=%s/usr/bin/.debug/prog.debug /proc/%d/exe "
           "%s%s 2>/dev/null",
           bench->root, (int)getpid(), bench->root, module_path);
  if (system(command) != 0) skip();
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  assert_int_equal(receive(bench), -ENOENT);
  assert_received(bench, "linked");
}

static void a_replaced_program_is_refused(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, span_of_string("#!/bin/sh\n"), "");
  note(bench, own_id(bench));
  assert_not_found(bench, own_id(bench), "no file with that id");
}

static void an_unknown_module_is_refused(void **state) {
  struct bench *bench = *state;
  assert_not_found(bench, span_of_string("0123456789"), "no file with that id");
}

/* A collector may name paths, but receives only files with the right build-id. */
static void a_path_from_the_collector_opens_no_other_file(void **state) {
  struct bench *bench = *state;
  char why[256];
  struct debug_wanted wanted = {.id = own_id(bench), .path = "/etc/passwd"};
  assert_int_equal(debug_sender_want(bench->sender, &wanted, why, sizeof why), 0);
  assert_int_equal(receive(bench), -EIO);
  assert_int_equal(bench->pieces, 0);
  char self[64];
  snprintf(self, sizeof self, "/proc/%d/exe", (int)getpid());
  wanted.path = self;
  assert_int_equal(debug_sender_want(bench->sender, &wanted, why, sizeof why), 0);
  assert_int_equal(receive(bench), -ENOENT);
  assert_received(bench, "");
}

/* The smallest ELF file without a build-id. */
static struct span small_elf(uint8_t bytes[200]) {
  Elf64_Ehdr head = {.e_phentsize = sizeof(Elf64_Phdr), .e_shentsize = sizeof(Elf64_Shdr)};
  memset(bytes, 7, 200);
  memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  memcpy(bytes, &head, sizeof head);
  return span_of(bytes, 200);
}

static void a_module_without_build_id_is_known_by_its_content(void **state) {
  struct bench *bench = *state;
  uint8_t bytes[200], id[32];
  struct span elf = small_elf(bytes);
  SHA256(elf.data, elf.len, id);
  put_file(bench, module_path, elf, "");
  note(bench, span_of(id, 32));
  assert_int_equal(want(bench, span_of(id, 32)), 0);
  assert_int_equal(receive(bench), -ENOENT);
  assert_int_equal(bench->received.len, elf.len);
  put_file(bench, module_path, elf, "changed");
  assert_int_equal(want(bench, span_of(id, 32)), 0);
  assert_int_equal(receive(bench), -ESTALE);
  assert_int_equal(receive(bench), -ENOENT);
}

static void a_file_that_changes_on_the_way_is_given_up(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, buf_span(&bench->program), "own");
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  wait_until_found();
  put_file(bench, module_path, buf_span(&bench->program), "other length");
  assert_int_equal(receive(bench), -ESTALE);
  assert_int_equal(bench->pieces, 0);
}

static void a_file_that_is_rewritten_in_place_is_given_up(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, buf_span(&bench->program), "own");
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  wait_until_found();
  usleep(20000); /* a tick of the file system's clock */
  put_file(bench, module_path, buf_span(&bench->program), "OWN");
  assert_int_equal(receive(bench), -ESTALE);
}

static void a_used_up_budget_stops_the_transfer(void **state) {
  struct bench *bench = *state;
  debug_sender_close(bench->sender);
  assert_int_equal(debug_sender_open(1000, &bench->sender), 0);
  put_file(bench, module_path, buf_span(&bench->program), "");
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  int rc = receive(bench);
  assert_true(rc == -EDQUOT || bench->received.len == bench->program.len);
  assert_int_equal(bench->pieces, 1);
  assert_int_equal(want(bench, own_id(bench)), -EDQUOT);
}

static void a_dropped_wish_and_a_reset_send_nothing(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, buf_span(&bench->program), "");
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  debug_sender_drop(bench->sender, own_id(bench));
  assert_int_equal(receive(bench), -ENOENT);
  assert_int_equal(want(bench, own_id(bench)), 0);
  debug_sender_reset(bench->sender);
  assert_int_equal(receive(bench), -ENOENT);
  assert_int_equal(bench->pieces, 0);
}

static void the_same_wish_twice_is_one_transfer(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, buf_span(&bench->program), "");
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  assert_int_equal(want(bench, own_id(bench)), 0);
  assert_int_equal(receive(bench), -ENOENT);
  assert_int_equal(bench->received.len, bench->program.len);
}

static void what_is_remembered_is_bounded(void **state) {
  struct bench *bench = *state;
  put_file(bench, module_path, buf_span(&bench->program), "");
  note(bench, own_id(bench));
  for (uint32_t i = 0; i < 5000; i++)
    debug_sender_note(bench->sender, span_of(&i, sizeof i), "/bin/true", "/bin/true");
  assert_not_found(bench, own_id(bench), "no file with that id"); /* the oldest was forgotten */
  note(bench, own_id(bench));
  assert_int_equal(want(bench, own_id(bench)), 0);
  assert_int_equal(receive(bench), -ENOENT);
  assert_received(bench, "");
}

static void a_fifo_in_the_files_place_does_not_hold_us(void **state) {
  struct bench *bench = *state;
  put_file(bench, "/usr/bin/other", buf_span(&bench->program), "");
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s%s", bench->root, module_path);
  assert_int_equal(mkfifo(path, 0600), 0);
  note(bench, own_id(bench));
  assert_not_found(bench, own_id(bench), "no file with that id");
}

static void sections_of_every_prefix_are_read_without_a_crash(void **state) {
  struct bench *bench = *state;
  struct elf_sections sections;
  struct buf prefix = bench->program;
  for (size_t len = 0; len < bench->program.len; len += 1 + bench->program.len / 500) {
    prefix.len = len;
    (void)elf_sections_read(read_memory, &prefix, &sections);
  }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(the_own_file_comes_out_whole),
      CASE(a_transfer_goes_on_from_its_offset),
      CASE(the_debug_tree_comes_before_the_own_file),
      CASE(a_debug_file_of_another_build_is_not_taken),
      CASE(a_debuglink_is_followed_beside_the_program),
      CASE(a_replaced_program_is_refused),
      CASE(an_unknown_module_is_refused),
      CASE(a_path_from_the_collector_opens_no_other_file),
      CASE(a_module_without_build_id_is_known_by_its_content),
      CASE(a_file_that_changes_on_the_way_is_given_up),
      CASE(a_file_that_is_rewritten_in_place_is_given_up),
      CASE(a_used_up_budget_stops_the_transfer),
      CASE(a_dropped_wish_and_a_reset_send_nothing),
      CASE(the_same_wish_twice_is_one_transfer),
      CASE(what_is_remembered_is_bounded),
      CASE(a_fifo_in_the_files_place_does_not_hold_us),
      CASE(sections_of_every_prefix_are_read_without_a_crash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
