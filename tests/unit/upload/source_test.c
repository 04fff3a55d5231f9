/* SPDX-License-Identifier: Apache-2.0 */
/* Files and archives made by real tools: the output equals the packed input. */
#include "../symbol/elf_fixture.h"
#include "elf/file_tree.h"
#include "upload/known.h"
#include "upload/look.h"
#include "upload/source.h"

#include <errno.h>
#include <stdlib.h>

static struct found found;
static unsigned troubles;
static char last_trouble[256];

static void on_trouble(void *context, const char *name, const char *why) {
  (void)context;
  troubles++;
  snprintf(last_trouble, sizeof last_trouble, "%.100s: %.100s", name, why);
}

static int on_file(void *context, const struct source_file *file) {
  struct found_file made;
  int error = look_at(file, span_of(NULL, 0), &made);
  if (context != NULL) *(int *)context = error;
  return error == 0 ? found_add(&found, &made) : 0;
}

static int read_given(const char *name, int *ret_look) {
  char path[FIXTURE_PATH_BYTES];
  const struct source_visitor visitor = {on_file, on_trouble, ret_look};
  fixture_path(name, path);
  return source_read(path, true, &visitor);
}

static void begin(void) {
  found_fini(&found);
  found_init(&found);
  troubles = 0;
  last_trouble[0] = '\0';
}

static const struct found_file *find(const char *end) {
  for (uint32_t i = 0; i < found.count; i++) {
    size_t len = strlen(found.files[i].name);
    if (len >= strlen(end) && strcmp(found.files[i].name + len - strlen(end), end) == 0)
      return &found.files[i];
  }
  fail_msg("%s is not among %u files", end, found.count);
  return NULL;
}

static void assert_whole(const struct found_file *file) {
  uint8_t id[64];
  assert_int_equal(file->id_len, fixture_build_id("lib.so", id));
  assert_memory_equal(file->id, id, file->id_len);
  assert_true(file->has_code && file->has_symbols && file->has_dwarf);
}

/* lib.so, and x.debug and x.so made of it. */
static void make_files(void) {
  fixture_make_library("");
  fixture_run("rm -rf tree && mkdir -p tree/usr/lib/.debug && cp lib.so tree/usr/lib/whole.so && "
              "objcopy --only-keep-debug lib.so tree/usr/lib/.debug/x.so && "
              "objcopy --strip-all lib.so tree/usr/lib/x.so && echo text > tree/readme && "
              "gcc -c -x c /dev/null -o tree/object.o && ln -s /etc/passwd tree/link && "
              "ln tree/usr/lib/x.so tree/usr/lib/hard.so && printf '\\177ELFtorn' > tree/torn");
}

static void each_archive_gives_what_the_folder_has(void **state) {
  (void)state;
  static const char *const commands[] = {
      "tar cf a.tar -C tree .",
      "tar czf a.tgz -C tree .",
      "tar cJf a.tar.xz -C tree .",
      "tar cjf a.tar.bz2 -C tree .",
      "(cd tree && find . | cpio -o -H newc 2>/dev/null) > a.cpio",
      "tar cf x.tar -C tree . && zstd -qf x.tar -o a.tar.zst",
      "tar cJf data.tar.xz -C tree . && rm -f a.deb && ar q a.deb data.tar.xz 2>/dev/null",
      "tar czf data.tar.gz -C tree . && tar czf a.ipk data.tar.gz"};
  static const char *const names[] = {"a.tar",  "a.tgz",     "a.tar.xz", "a.tar.bz2",
                                      "a.cpio", "a.tar.zst", "a.deb",    "a.ipk"};
  make_files();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    begin();
    fixture_run("%s", commands[i]);
    assert_int_equal(read_given(names[i], NULL), 0);
    assert_whole(find("usr/lib/whole.so"));
    const struct found_file *debug = find(".debug/x.so");
    assert_true(!debug->has_code && debug->has_symbols && debug->has_dwarf);
    /* A hard link is the same file once more: cpio keeps it whole, tar by its name. */
    assert_in_range(found.count, 3, 4);
    assert_int_equal(troubles, 0);
  }
}

static void a_file_has_the_same_hash_in_an_archive(void **state) {
  (void)state;
  make_files();
  fixture_run("tar cf a.tar -C tree . && xz -kf lib.so");
  begin();
  assert_int_equal(read_given("lib.so", NULL), 0);
  assert_int_equal(read_given("a.tar", NULL), 0);
  assert_int_equal(read_given("lib.so.xz", NULL), 0);
  const struct found_file *inside = find("!./usr/lib/whole.so"), *plain = &found.files[0];
  assert_memory_equal(inside->sha256, plain->sha256, 32);
  assert_int_equal(inside->bytes, plain->bytes);
  const struct found_file *packed = &found.files[found.count - 1];
  assert_string_equal(strrchr(packed->name, '/'), "/lib.so");
  assert_memory_equal(packed->sha256, plain->sha256, 32);
}

static void nesting_has_an_end(void **state) {
  (void)state;
  fixture_make_library("");
  begin();
  fixture_run("xz -kf lib.so && tar cf 2.tar lib.so.xz && tar cf 3.tar 2.tar && tar cf 4.tar 3.tar"
              " && tar cf 5.tar 4.tar");
  assert_int_equal(read_given("4.tar", NULL), 0); /* 4 archives around the file */
  assert_int_equal(found.count, 1);
  assert_int_equal(troubles, 0);
  assert_int_equal(read_given("5.tar", NULL), 0);
  assert_int_equal(found.count, 1);
  assert_non_null(strstr(last_trouble, "SOURCE_DEPTH_MAX"));
}

static void a_broken_archive_keeps_nothing_else_back(void **state) {
  (void)state;
  make_files();
  begin();
  fixture_run("tar cf a.tar -C tree . && zstd -qf a.tar -o whole.tar.zst && "
              "head -c -100 whole.tar.zst > cut.tar.zst && echo none > none.tar");
  assert_int_equal(read_given("cut.tar.zst", NULL), 0);
  assert_int_equal(troubles, 1);
  assert_int_equal(read_given("none.tar", NULL), 0);
  assert_int_equal(troubles, 2);
  assert_int_equal(read_given("whole.tar.zst", NULL), 0);
  assert_int_equal(troubles, 2);
  find("whole.tar.zst!./usr/lib/x.so");
}

static int on_path(void *context, const char *path, bool is_given) {
  const struct source_visitor visitor = {on_file, on_trouble, NULL};
  (void)context;
  return source_read(path, is_given, &visitor);
}

static void a_folder_is_walked_without_its_links_and_objects(void **state) {
  (void)state;
  char path[FIXTURE_PATH_BYTES];
  make_files();
  begin();
  fixture_run("mkfifo tree/fifo && ln -s .. tree/usr/loop && ln -s ../lib.so tree/aside.so");
  fixture_path("tree", path);
  assert_int_equal(file_tree_walk(path, on_path, on_trouble, NULL), 0);
  assert_int_equal(found.count, 4);
  assert_int_equal(troubles, 0);
  fixture_path("nowhere", path);
  assert_int_equal(file_tree_walk(path, on_path, on_trouble, NULL), -ENOENT);
}

static void a_list_is_its_own_or_its_names(void **state) {
  (void)state;
  static const char text[] = "0000000000001000 T first\n0000000000002000 t second\n";
  static const char own[] = "# build-id 0011223344\n0000000000001000 T first\n";
  int look = 0;
  begin();
  fixture_write("System.map", text, sizeof text - 1);
  fixture_write("aabbccdd.map", text, sizeof text - 1);
  fixture_write("list.txt", own, sizeof own - 1);
  assert_int_equal(read_given("System.map", &look), 0);
  assert_int_equal(look, -ENODATA);
  assert_int_equal(read_given("aabbccdd.map", &look), 0);
  assert_int_equal(look, 0);
  assert_int_equal(read_given("list.txt", &look), 0);
  assert_int_equal(found.count, 2);
  assert_memory_equal(found.files[0].id, "\xaa\xbb\xcc\xdd", 4);
  assert_memory_equal(found.files[1].id, "\x00\x11\x22\x33\x44", 5);
  assert_true(found.files[1].is_list && found.files[1].has_symbols);
}

static void what_the_collector_says_it_has_is_read(void **state) {
  (void)state;
  struct known_file *known = NULL;
  size_t count = 0;
  char text[300], sha[65];
  memset(sha, 'a', 64);
  sha[64] = '\0';
  snprintf(
      text, sizeof text,
      "{\"files\":[{\"build_id\":\"0102\",\"sha256\":\"%s\",\"bytes\":5,\"quality\":\"dwarf\"},"
      "{\"build_id\":\"03\",\"sha256\":\"%s\",\"quality\":\"dynsym\"}]}",
      sha, sha);
  assert_int_equal(known_parse(span_of_string(text), &known, &count), 0);
  assert_int_equal(count, 2);
  assert_true(known[0].has_symbols && known[0].id_len == 2 && known[0].sha256[31] == 0xaa);
  assert_false(known[1].has_symbols);
  free(known);
  assert_int_equal(known_parse(span_of_string("{\"files\":[]}"), &known, &count), 0);
  assert_int_equal(count, 0);
  static const char *const bad[] = {"", "[]", "{}", "{\"files\":[1]}", "{\"files\":[{}]}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(known_parse(span_of_string(bad[i]), &known, &count), -EBADMSG);
}

static int tear_down(void **state) {
  found_fini(&found);
  return fixture_tear_down(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_archive_gives_what_the_folder_has),
      cmocka_unit_test(a_file_has_the_same_hash_in_an_archive),
      cmocka_unit_test(nesting_has_an_end),
      cmocka_unit_test(a_broken_archive_keeps_nothing_else_back),
      cmocka_unit_test(a_folder_is_walked_without_its_links_and_objects),
      cmocka_unit_test(a_list_is_its_own_or_its_names),
      cmocka_unit_test(what_the_collector_says_it_has_is_read),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, tear_down);
}
