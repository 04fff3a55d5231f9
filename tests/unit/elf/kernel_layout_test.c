/* SPDX-License-Identifier: Apache-2.0 */
/* On a made-up /proc and /sys, with loadable modules, which not every machine has. */
#include "elf/kernel_layout.h"
#include "elf/kernel_symbols.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#define KALLSYMS                                                  \
  "0000000000000000 A fixed_percpu_data\n"                        \
  "ffffffff9a000000 T _text\nffffffff9a000000 T _stext\n"         \
  "ffffffff9a000100 t do_idle\nffffffff9a000200 T start_kernel\n" \
  "ffffffff9a800000 T _etext\nffffffff9b000000 D jiffies\n"       \
  "ffffffffc0100010 t wifi_send\t[wifi]\nffffffffc0100400 d wifi_state\t[wifi]\n"

static char root[64];
static struct kernel_layout layout;
static const uint8_t notes[] = {4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4};
static const uint8_t module_notes[] = {4, 0, 0,   0,   4,   0, 0, 0, 3, 0,
                                       0, 0, 'G', 'N', 'U', 0, 9, 8, 7, 6};

static void put(const char *path, const void *bytes, size_t len) {
  char full[256];
  snprintf(full, sizeof full, "%s%s", root, path);
  for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    mkdir(full, 0700);
    *slash = '/';
  }
  FILE *file = fopen(full, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, len, file), len);
  fclose(file);
}

static void put_text(const char *path, const char *text) {
  put(path, text, strlen(text));
}

static int make(void **state) {
  (void)state;
  snprintf(root, sizeof root, "/tmp/fleetprof-kernel-XXXXXX");
  if (mkdtemp(root) == NULL) return -1;
  put_text("/proc/kallsyms", KALLSYMS);
  put_text("/proc/modules", "wifi 8192 0 - Live 0xffffffffc0100000\n"
                            "hidden 4096 1 wifi, Live 0x0000000000000000\n"
                            "nameless 4096 0 - Live 0xffffffffc0200000\n");
  put("/sys/kernel/notes", notes, sizeof notes);
  put_text("/sys/module/wifi/sections/.text", "0xffffffffc0100010\n");
  put("/sys/module/wifi/notes/.note.gnu.build-id", module_notes, sizeof module_notes);
  put_text("/sys/module/nameless/sections/.text", "0xffffffffc0200000\n");
  return 0;
}

static int unmake(void **state) {
  char command[128];
  (void)state;
  kernel_layout_fini(&layout);
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  return system(command);
}

static void the_kernel_is_known_by_its_text_and_build_id(void **state) {
  (void)state;
  assert_int_equal(kernel_layout_read(root, &layout), 0);
  const struct kernel_piece *piece = kernel_layout_find(&layout, 0xffffffff9a000123);
  assert_non_null(piece);
  assert_string_equal(piece->name, "[kernel]");
  assert_int_equal(0xffffffff9a000123 - piece->base, 0x123);
  assert_int_equal(piece->id_bytes, 4);
  assert_memory_equal(piece->id, notes + 16, 4);
  assert_null(kernel_layout_find(&layout, 0xffffffff9a800000));
  assert_null(kernel_layout_find(&layout, 0x1000));
}

static void its_end_is_where_the_memory_map_ends_its_code(void **state) {
  (void)state;
  put_text("/proc/iomem", "00001000-7fffffff : System RAM\n"
                          "  01000000-010007ff : Kernel code\n  02000000-02ffffff : Kernel data\n");
  assert_int_equal(kernel_layout_read(root, &layout), 0);
  assert_non_null(kernel_layout_find(&layout, 0xffffffff9a0007ff));
  assert_null(kernel_layout_find(&layout, 0xffffffff9a000800));
  kernel_layout_fini(&layout);
  put_text("/proc/iomem", "  00000000-00000000 : Kernel code\n"); /* hidden */
  assert_int_equal(kernel_layout_read(root, &layout), 0);
  assert_non_null(kernel_layout_find(&layout, 0xffffffff9a7fffff));
}

static void a_module_is_known_by_its_own(void **state) {
  (void)state;
  assert_int_equal(kernel_layout_read(root, &layout), 0);
  const struct kernel_piece *piece = kernel_layout_find(&layout, 0xffffffffc0100020);
  assert_non_null(piece);
  assert_string_equal(piece->name, "[wifi]");
  assert_int_equal(0xffffffffc0100020 - piece->base, 0x10);
  assert_memory_equal(piece->id, module_notes + 16, 4);
  assert_int_equal(layout.count,
                   2); /* hidden addresses and modules without a build-id count as plain kernel */
}

static void hidden_addresses_are_said_to_be(void **state) {
  (void)state;
  put_text("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
  assert_int_equal(kernel_layout_read(root, &layout), -EACCES);
  assert_non_null(strstr(layout.why, "CAP_SYSLOG"));
  assert_int_equal(layout.count, 0);
}

static char *list_of(const char *name, struct span id) {
  static char text[4096];
  char why[256] = "";
  struct debug_found found;
  struct debug_module module = {.id = id, .path = name, .open_path = ""};
  if (kernel_symbols_find(root, &module, &found, why, sizeof why) != 0) {
    assert_string_not_equal(why, "");
    return NULL;
  }
  ssize_t got = pread(found.fd, text, sizeof text - 1, 0);
  assert_int_equal(got, found.size_bytes);
  text[got] = '\0';
  close(found.fd);
  return text;
}

static void a_list_has_functions_only_and_no_address_of_this_boot(void **state) {
  (void)state;
  assert_string_equal(list_of("[kernel]", span_of(notes + 16, 4)),
                      "# build-id 01020304\n0000000000000000 T _text\n0000000000000000 T _stext\n"
                      "0000000000000100 t do_idle\n0000000000000200 T start_kernel\n"
                      "0000000000800000 T _etext\n");
  assert_string_equal(list_of("[wifi]", span_of(module_notes + 16, 4)),
                      "# build-id 09080706\n0000000000000000 t wifi_send\n");
}

static void another_kernels_list_is_not_to_be_had(void **state) {
  (void)state;
  assert_null(list_of("[kernel]", span_of("\1\2\3\5", 4)));
  assert_null(list_of("[gone]", span_of(notes + 16, 4)));
}

static void a_map_of_the_build_serves_where_addresses_are_hidden(void **state) {
  (void)state;
  char path[256];
  struct utsname machine;
  assert_int_equal(uname(&machine), 0);
  snprintf(path, sizeof path, "/boot/System.map-%s", machine.release);
  put_text("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
  assert_null(list_of("[kernel]", span_of(notes + 16, 4)));
  put_text(path, "ffffffff81000000 T _text\nffffffff81000100 t do_idle\nffffffff82000000 D x\n");
  assert_string_equal(
      list_of("[kernel]", span_of(notes + 16, 4)),
      "# build-id 01020304\n0000000000000000 T _text\n0000000000000100 t do_idle\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(the_kernel_is_known_by_its_text_and_build_id),
      TEST(its_end_is_where_the_memory_map_ends_its_code),
      TEST(a_module_is_known_by_its_own),
      TEST(hidden_addresses_are_said_to_be),
      TEST(a_list_has_functions_only_and_no_address_of_this_boot),
      TEST(another_kernels_list_is_not_to_be_had),
      TEST(a_map_of_the_build_serves_where_addresses_are_hidden),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
