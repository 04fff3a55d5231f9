/* SPDX-License-Identifier: Apache-2.0 */
/* The sources taken from this machine, and the packed parts of them. */
#include "../symbol/elf_fixture.h"
#include "proto/source_bundle.h"
#include "upload/bundle_name.h"
#include "upload/bundle_pack.h"

#include <errno.h>
#include <unistd.h>

static char top[FIXTURE_PATH_BYTES];
static struct bundle_roots *roots;

/* A project with a link out of it, and something beside it. */
static void make_project(void) {
  fixture_run("rm -rf p q && mkdir -p p/src p/.git q && echo 'int a;' > p/src/a.c && "
              "echo 'int b;' > p/src/b.h && echo key > p/src/id.key && echo key > p/.git/a.c && "
              "echo key > q/q.c && ln -s ../../q/q.c p/src/out.c && ln -s a.c p/src/in.c && "
              "mkfifo p/src/fifo.c");
  fixture_path("p", top);
}

/* Looks up the file FOLDER followed by REST. Returns its length, or -errno. */
static int find(const char *folder, const char *rest) {
  char path[2 * FIXTURE_PATH_BYTES];
  uint64_t bytes = 0;
  snprintf(path, sizeof path, "%s%s", folder, rest);
  int fd = bundle_roots_find(roots, path, &bytes);
  if (fd < 0) return fd;
  close(fd);
  return (int)bytes;
}

static void open_roots(const char *folder, const char *map) {
  char why[256];
  const struct option_list folders = {{folder}, folder != NULL}, maps = {{map}, map != NULL};
  bundle_roots_close(roots);
  roots = NULL;
  assert_int_equal(bundle_roots_open(&folders, &maps, &roots, why, sizeof why), 0);
}

static void only_sources_of_the_folder_are_taken(void **state) {
  (void)state;
  make_project();
  open_roots(top, NULL);
  assert_int_equal(find(top, "/src/a.c"), 7);
  assert_int_equal(find(top, "/src/in.c"), 7); /* a link within */
  assert_int_equal(find(top, "/src/out.c"), -EPERM);
  assert_int_equal(find(top, "/src/id.key"), -EPERM);
  assert_int_equal(find(top, "/.git/a.c"), -EPERM);
  assert_int_equal(find(top, "/src/../../q/q.c"), -EPERM);
  assert_int_equal(find(top, "/../q/q.c"), -EPERM);
  assert_int_equal(find(top, "/src/none.c"), -ENOENT);
  assert_int_equal(find(top, "x/a.c"), -ENOENT); /* begins with the same letters */
  assert_int_equal(find("", "/etc/passwd"), -ENOENT);
  assert_true(find(top, "/src/fifo.c") < 0);
}

static void paths_of_elsewhere_are_mapped(void **state) {
  (void)state;
  char map[FIXTURE_PATH_BYTES + 32], why[256];
  make_project();
  snprintf(map, sizeof map, "/usr/src/app=%.*s", FIXTURE_PATH_BYTES, top);
  open_roots(NULL, map);
  assert_int_equal(find("", "/usr/src/app/src/a.c"), 7);
  assert_int_equal(find("", "/usr/src/app/../../etc/passwd"), -ENOENT);
  assert_int_equal(find(top, "/src/a.c"), -ENOENT);
  snprintf(map, sizeof map, ".=%.*s", FIXTURE_PATH_BYTES, top);
  open_roots(NULL, map);
  assert_int_equal(find("", "src/a.c"), 7);
  assert_int_equal(find("", "../../src/a.c"), 7); /* from the folder of the compilation */
  static const char *const wrong[] = {"/usr/src", "=/tmp", "/usr/src=/nowhere/at/all"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const struct option_list none = {.count = 0}, maps = {{wrong[i]}, 1};
    struct bundle_roots *made = NULL;
    assert_true(bundle_roots_open(&none, &maps, &made, why, sizeof why) < 0);
    assert_non_null(strstr(why, wrong[i]));
  }
}

static void what_is_packed_is_a_bundle_and_the_same_each_time(void **state) {
  (void)state;
  char map[FIXTURE_PATH_BYTES + 32];
  const char *names[] = {"/s/src/b.h", "/s/src/a.c", "/s/src/../src/a.c", "/s/none.c",
                         "/s/src/id.key"};
  struct arena arena;
  struct bundle_packed packed, again;
  struct source_bundle bundle;
  struct source_entry entry;
  struct buf content = {0};
  make_project();
  snprintf(map, sizeof map, "/s=%.*s", FIXTURE_PATH_BYTES, top);
  open_roots(NULL, map);
  arena_init(&arena, 1 << 20);
  const struct bundle_paths paths = {&arena, names, 5};
  assert_int_equal(bundle_pack(roots, &paths, &packed), 0);
  assert_int_equal(packed.count, 2);
  assert_int_equal(packed.missing, 1);
  assert_int_equal(packed.forbidden, 1);
  assert_int_equal(bundle_pack(roots, &paths, &again), 0);
  assert_memory_equal(packed.sha256, again.sha256, 32);
  uint8_t *to = buf_reserve(&packed.head, packed.bytes - packed.head.len);
  ssize_t got = pread(packed.fd, to, packed.bytes - packed.head.len, 0);
  assert_int_equal(got, packed.bytes - packed.head.len);
  packed.head.len += (size_t)got;
  assert_int_equal(source_bundle_parse(buf_span(&packed.head), &bundle), 0);
  assert_int_equal(source_bundle_verify(&bundle), 0);
  assert_int_equal(source_bundle_find(&bundle, span_of_string("/s/src/a.c"), &entry), 0);
  assert_int_equal(source_entry_unpack(&entry, &content), 0);
  assert_true(span_is_equal(buf_span(&content), span_of_string("int a;\n")));
  buf_fini(&content);
  bundle_packed_fini(&packed);
  bundle_packed_fini(&again);
  arena_fini(&arena);
}

static void debug_information_names_the_sources(void **state) {
  (void)state;
  char path[FIXTURE_PATH_BYTES], why[256];
  struct bundle_reader *reader = NULL;
  struct bundle_paths paths;
  struct arena arena;
  fixture_make_library("");
  fixture_path("lib.so", path);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(bundle_reader_open(&reader), 0);
  arena_init(&arena, 1 << 20);
  assert_int_equal(bundle_paths_read(reader, fileno(file), &arena, &paths, why, sizeof why), 0);
  assert_true(paths.count > 0);
  assert_non_null(strstr(paths.paths[0], "/lib.c"));
  fclose(file);
  arena_fini(&arena);
  bundle_reader_close(reader);
}

static void names_tell_sources_from_other_files(void **state) {
  (void)state;
  static const char *const sources[] = {"a.c", "/x/b.RS", "k.S", "/usr/include/c++/12/vector"};
  static const char *const others[] = {"id_rsa", "a.key",  "x.pem", "/include.d/passwd",
                                       "c",      "a.c.gpg"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    assert_true(bundle_name_is_source(sources[i]));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(bundle_name_is_source(others[i]));
}

static int tear_down(void **state) {
  bundle_roots_close(roots);
  return fixture_tear_down(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_sources_of_the_folder_are_taken),
      cmocka_unit_test(paths_of_elsewhere_are_mapped),
      cmocka_unit_test(what_is_packed_is_a_bundle_and_the_same_each_time),
      cmocka_unit_test(debug_information_names_the_sources),
      cmocka_unit_test(names_tell_sources_from_other_files),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, tear_down);
}
