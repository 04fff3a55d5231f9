/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

char fixture_dir[64];

void fixture_run(const char *format, ...) {
  char command[FIXTURE_PATH_BYTES], whole[FIXTURE_PATH_BYTES + 128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  snprintf(whole, sizeof whole, "cd '%s' && %s", fixture_dir, command);
  if (system(whole) != 0) fail_msg("%s", command);
}

int fixture_set_up(void **state) {
  (void)state;
  snprintf(fixture_dir, sizeof fixture_dir, "/tmp/fleetprof-symbol-XXXXXX");
  return mkdtemp(fixture_dir) == NULL ? -1 : 0;
}

int fixture_tear_down(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", fixture_dir);
  return system(command);
}

void fixture_path(const char *name, char path[FIXTURE_PATH_BYTES]) {
  snprintf(path, FIXTURE_PATH_BYTES, "%s%s%s", name[0] == '/' ? "" : fixture_dir,
           name[0] == '/' ? "" : "/", name);
}

void fixture_write(const char *name, const void *bytes, size_t len) {
  char path[FIXTURE_PATH_BYTES];
  fixture_path(name, path);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, len, file), len);
  fclose(file);
}

struct span fixture_read(const char *name) {
  char path[FIXTURE_PATH_BYTES];
  struct stat status;
  fixture_path(name, path);
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("%s: cannot be read", path);
  assert_int_equal(fstat(fileno(file), &status), 0);
  uint8_t *bytes = malloc((size_t)status.st_size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, (size_t)status.st_size, file), status.st_size);
  fclose(file);
  return span_of(bytes, (size_t)status.st_size);
}

void fixture_free(struct span bytes) {
  free((void *)(uintptr_t)bytes.data);
}

void fixture_make_library(const char *options) {
  static const char source[] =
      "static __attribute__((noinline)) int inner(int x) { return x * 3 + 1; }\n"
      "int outer(int x) { return inner(x) - 2; }\n"
      "__attribute__((weak)) int weak_one(int x) { return x ^ 5; }\n"
      "int strong_alias(int x) __attribute__((alias(\"weak_one\")));\n"
      "int __hidden_name(int x) __attribute__((alias(\"outer\")));\n"
      "__asm__(\".text\\n.globl untyped\\nuntyped:\\n nop\\n nop\\ninside_label:\\n nop\\n\"\n"
      "        \".globl after_untyped\\n.type after_untyped,@function\\nafter_untyped:\\n "
      "nop\\n\"\n"
      "        \".size after_untyped,1\\n\");\n";
  fixture_write("lib.c", source, sizeof source - 1);
  fixture_run("cc %s -g -O1 -nostdlib -shared -fPIC -Wl,--build-id=sha1 -o lib.so lib.c", options);
}

size_t fixture_build_id(const char *name, uint8_t id[64]) {
  char command[FIXTURE_PATH_BYTES + 128], path[FIXTURE_PATH_BYTES], text[160] = "";
  fixture_path(name, path);
  snprintf(command, sizeof command, "readelf -n '%s' 2>/dev/null | sed -n 's/.*Build ID: //p'",
           path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  if (fgets(text, sizeof text, pipe) == NULL) text[0] = '\0';
  pclose(pipe);
  size_t len = strcspn(text, "\n") / 2;
  for (size_t i = 0; i < len; i++) {
    unsigned byte = 0;
    assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
    id[i] = (uint8_t)byte;
  }
  return len;
}
