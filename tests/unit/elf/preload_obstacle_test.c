/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/preload_obstacle.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A program in memory: a header, a program header for code, a program header under test, and a
   dynamic section. */
struct image {
  Elf64_Ehdr head;
  Elf64_Phdr headers[2];
  Elf64_Dyn dynamic[3];
};

static char dir[] = "/tmp/preload-obstacle-test.XXXXXX";

static struct image image_of(uint16_t type, uint32_t segment, uint64_t flags) {
  struct image image = {.head = {.e_type = type,
                                 .e_machine = EM_X86_64,
                                 .e_phoff = offsetof(struct image, headers),
                                 .e_phentsize = sizeof(Elf64_Phdr),
                                 .e_phnum = 2}};
  memcpy(image.head.e_ident, ELFMAG, SELFMAG);
  image.head.e_ident[EI_CLASS] = ELFCLASS64;
  image.head.e_ident[EI_DATA] =
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  image.headers[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_X};
  image.headers[1] = (Elf64_Phdr){.p_type = segment,
                                  .p_offset = offsetof(struct image, dynamic),
                                  .p_filesz = sizeof image.dynamic};
  image.dynamic[0] = (Elf64_Dyn){DT_DEBUG, {0}};
  image.dynamic[1] = (Elf64_Dyn){DT_FLAGS_1, {flags}};
  return image;
}

static struct elf_notes notes_of(struct image image) {
  struct span file = span_of(&image, sizeof image);
  struct elf_notes notes;
  assert_int_equal(elf_notes_read(elf_read_span, &file, &notes), 0);
  return notes;
}

static void a_program_that_names_no_loader_is_static(void **state) {
  (void)state;
  assert_true(notes_of(image_of(ET_EXEC, PT_NULL, 0)).is_static);
  assert_true(notes_of(image_of(ET_DYN, PT_DYNAMIC, DF_1_NOW | DF_1_PIE)).is_static);
  assert_false(notes_of(image_of(ET_EXEC, PT_INTERP, 0)).is_static);
  assert_false(notes_of(image_of(ET_DYN, PT_DYNAMIC, DF_1_NOW)).is_static); /* a loader */
  assert_false(notes_of(image_of(ET_DYN, PT_NULL, 0)).is_static);
}

static void what_cannot_be_preloaded_is_told_in_words(void **state) {
  (void)state;
  struct elf_notes own = notes_of(image_of(ET_DYN, PT_INTERP, 0)), other = own;
  assert_null(preload_obstacle_of_notes(&other, &own));
  other.is_static = true;
  assert_string_equal(preload_obstacle_of_notes(&other, &own), "static: cannot be preloaded");
  other = own;
  other.is_64 = false;
  assert_string_equal(preload_obstacle_of_notes(&other, &own),
                      "32-bit: a 64-bit agent cannot be preloaded");
  assert_string_equal(preload_obstacle_of_notes(&own, &other),
                      "64-bit: a 32-bit agent cannot be preloaded");
  other = own;
  other.machine = EM_RISCV;
  assert_string_equal(preload_obstacle_of_notes(&other, &own),
                      "built for another CPU: cannot be preloaded");
}

static const char *in(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return path;
}

static void put(const char *name, const void *bytes, size_t len, mode_t mode) {
  int fd = open(in(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  assert_true(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
  close(fd);
  assert_int_equal(chmod(in(name), mode), 0);
}

static int make(void **state) {
  (void)state;
  return mkdtemp(dir) == NULL;
}

static int unmake(void **state) {
  static const char *const names[] = {"static", "script", "circle",
                                      "setuid", "text",   "libfleetprof.so"};
  (void)state;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) unlink(in(names[i]));
  return rmdir(dir);
}

static void a_script_is_what_its_interpreter_is(void **state) {
  (void)state;
  char line[160];
  struct image image = image_of(ET_EXEC, PT_NULL, 0);
  put("static", &image, sizeof image, 0755);
  assert_string_equal(preload_obstacle_of_file(in("static")), "static: cannot be preloaded");
  snprintf(line, sizeof line, "#! %s -x\n", in("static"));
  put("script", line, strlen(line), 0755);
  assert_string_equal(preload_obstacle_of_file(in("script")), "static: cannot be preloaded");
  snprintf(line, sizeof line, "#!%s", in("circle"));
  put("circle", line, strlen(line), 0755);
  assert_null(preload_obstacle_of_file(in("circle")));
  put("text", "#!", 2, 0755);
  assert_null(preload_obstacle_of_file(in("text")));
  assert_null(preload_obstacle_of_file(in("nowhere")));
  assert_null(preload_obstacle_of_file("/dev/null"));
}

static void nothing_stands_against_this_program(void **state) {
  (void)state;
  assert_null(preload_obstacle_of_file("/proc/self/exe"));
  assert_null(preload_obstacle_of_process(getpid()));
}

static void an_agent_that_is_mapped_was_late_and_no_environment_was_cleared(void **state) {
  (void)state;
  assert_non_null(strstr(preload_explain_silence(getpid()), "environment was cleared"));
  put("libfleetprof.so", "mapped", 6, 0644);
  int fd = open(in("libfleetprof.so"), O_RDONLY | O_CLOEXEC);
  void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  assert_ptr_not_equal(mapped, MAP_FAILED);
  assert_non_null(strstr(preload_explain_silence(getpid()), "no answer in time"));
  munmap(mapped, 4096);
  assert_string_equal(preload_explain_silence(INT32_MAX), "no agent came up in the program");
}

static void one_that_gains_rights_is_privileged(void **state) {
  (void)state;
  if (getuid() != 0) skip(); /* only root can change a file's owner */
  uint8_t own[4096];
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  assert_true(read(fd, own, sizeof own) == sizeof own); /* its headers are enough */
  close(fd);
  put("setuid", own, sizeof own, 0755);
  assert_null(preload_obstacle_of_file(in("setuid")));
  assert_int_equal(chown(in("setuid"), 65534, 0), 0);
  assert_null(preload_obstacle_of_file(in("setuid")));
  assert_int_equal(chmod(in("setuid"), 04755), 0);
  assert_non_null(strstr(preload_obstacle_of_file(in("setuid")), "privileged (setuid"));
  assert_int_equal(chown(in("setuid"), 0, 65534), 0);
  assert_int_equal(chmod(in("setuid"), 02755), 0);
  assert_non_null(strstr(preload_obstacle_of_file(in("setuid")), "privileged (setuid"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_that_names_no_loader_is_static),
      cmocka_unit_test(what_cannot_be_preloaded_is_told_in_words),
      cmocka_unit_test(a_script_is_what_its_interpreter_is),
      cmocka_unit_test(nothing_stands_against_this_program),
      cmocka_unit_test(an_agent_that_is_mapped_was_late_and_no_environment_was_cleared),
      cmocka_unit_test(one_that_gains_rights_is_privileged),
  };
  return cmocka_run_group_tests(tests, make, unmake);
}
