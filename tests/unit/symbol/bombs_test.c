/* SPDX-License-Identifier: Apache-2.0 */
/* Files that claim, unpack to, or repeat more data than any program can read, one by one, through
   the worker. It answers with the reason, and uses the symbol table for names if that is sound. */
#include "elf_fixture.h"

#include "symbol/index_file.h"
#include "symbol/nursery.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>

enum { DEADLINE_MS = 20000 };

static struct nursery *nursery;

static int open_in(const char *name, int flags) {
  char path[FIXTURE_PATH_BYTES];
  fixture_path(name, path);
  int fd = open(path, flags | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  return fd;
}

/* Has a worker read the file NAME. */
static struct worker_reply read_file(const char *name) {
  struct nursery_result result;
  const struct worker_job job = {.elf = open_in(name, O_RDONLY),
                                 .index = open_in("index", O_RDWR | O_CREAT | O_TRUNC),
                                 .depth = INDEX_ALL};
  assert_int_equal(nursery_run(nursery, &job, &result), 0);
  close(job.elf);
  close(job.index);
  assert_int_equal(result.outcome, NURSERY_REPLIED);
  if (result.reply.status != 0) assert_true(result.reply.reason[0] != '\0');
  return result.reply;
}

/* The same, for a file whose symbols are sound. */
static struct worker_reply read_symbols(const char *name) {
  struct index_file file;
  char path[FIXTURE_PATH_BYTES];
  struct worker_reply reply = read_file(name);
  if (reply.status != 0) fail_msg("%s: %s", name, reply.reason);
  assert_true(reply.symbol_count > 0);
  fixture_path("index", path);
  assert_int_equal(index_file_open(path, &file), 0);
  assert_int_equal(symbol_index_verify(&file.index), 0);
  index_file_close(&file);
  return reply;
}

static void expect_symbols_alone(const char *name, const char *reason) {
  struct worker_reply reply = read_symbols(name);
  assert_false(reply.is_from_dwarf);
  if (strstr(reply.reason, reason) == NULL) fail_msg("%s: %s", name, reply.reason);
}

/* A 64-bit ELF file to spoil. */
struct victim {
  uint8_t *bytes;
  size_t len;
  Elf64_Ehdr *header;
  Elf64_Shdr *sections;
};

static struct victim open_victim(const char *name) {
  struct span file = fixture_read(name);
  struct victim victim = {.bytes = (uint8_t *)(uintptr_t)file.data, .len = file.len};
  if (victim.bytes[EI_CLASS] != ELFCLASS64) skip();
  victim.header = (Elf64_Ehdr *)victim.bytes;
  victim.sections = (Elf64_Shdr *)(victim.bytes + victim.header->e_shoff);
  return victim;
}

static void write_victim(struct victim *victim) {
  fixture_write("bomb", victim->bytes, victim->len);
  free(victim->bytes);
}

static Elf64_Shdr *find_section(const struct victim *victim, const char *name) {
  const Elf64_Shdr *names = &victim->sections[victim->header->e_shstrndx];
  for (unsigned i = 0; i < victim->header->e_shnum; i++) {
    Elf64_Shdr *section = &victim->sections[i];
    const char *text = (const char *)victim->bytes + names->sh_offset + section->sh_name;
    if (strcmp(text, name) == 0) return section;
  }
  fail_msg("no %s", name);
  return NULL;
}

static void a_claim_beyond_all_limits_is_not_unpacked(void **state) {
  static const uint64_t claims[] = {1ULL << 30, 1ULL << 32, 1ULL << 40, INT64_MAX, UINT64_MAX};
  (void)state;
  fixture_make_library("-gz");
  assert_true(read_symbols("lib.so").is_from_dwarf);
  for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
    struct victim victim = open_victim("lib.so");
    Elf64_Shdr *section = find_section(&victim, ".debug_info");
    assert_true((section->sh_flags & SHF_COMPRESSED) != 0);
    ((Elf64_Chdr *)(victim.bytes + section->sh_offset))->ch_size = claims[i];
    write_victim(&victim);
    expect_symbols_alone("bomb", "over a limit");
  }
}

/* zstd packs 300 MiB of zeros into some ten KiB. */
static void a_claim_of_zstd_is_a_limit_too(void **state) {
  static const uint64_t claims[] = {16, 1 << 20, 1ULL << 30, 1ULL << 40, UINT64_MAX};
  (void)state;
  if (system("objcopy --help | grep -q zstd && command -v zstd >/dev/null") != 0) skip();
  fixture_make_library("");
  fixture_run("objcopy --compress-debug-sections=zstd lib.so packed.so");
  assert_true(read_symbols("packed.so").is_from_dwarf);
  for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
    struct victim victim = open_victim("packed.so");
    Elf64_Shdr *section = find_section(&victim, ".debug_info");
    ((Elf64_Chdr *)(victim.bytes + section->sh_offset))->ch_size = claims[i];
    write_victim(&victim);
    expect_symbols_alone("bomb", claims[i] > 1 << 29 ? "over a limit" : "is damaged");
  }
}

/* The frame's size is larger than the section claims, and so is its content. */
static void what_zstd_unpacks_to_beyond_its_claim_is_refused(void **state) {
  (void)state;
  if (system("objcopy --help | grep -q zstd && command -v zstd >/dev/null") != 0) skip();
  fixture_make_library("");
  fixture_run(
      "head -c 300M /dev/zero | zstd -q >zeros.zst && [ $(stat -c %%s zeros.zst) -lt 90000 ]"
      " && (printf '\\002\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0\\0\\1\\0\\0\\0\\0\\0\\0\\0' &&"
      " cat zeros.zst) >section && objcopy --update-section .debug_info=section"
      " --set-section-flags .debug_info=readonly,debug lib.so packed.so");
  struct victim victim = open_victim("packed.so");
  find_section(&victim, ".debug_info")->sh_flags |= SHF_COMPRESSED;
  write_victim(&victim);
  expect_symbols_alone("bomb", "is damaged");
}

static void claims_count_together(void **state) {
  (void)state;
  fixture_make_library("-gz");
  struct victim victim = open_victim("lib.so");
  for (unsigned i = 0; i < victim.header->e_shnum; i++)
    if ((victim.sections[i].sh_flags & SHF_COMPRESSED) != 0)
      ((Elf64_Chdr *)(victim.bytes + victim.sections[i].sh_offset))->ch_size = 300 << 20;
  write_victim(&victim);
  expect_symbols_alone("bomb", "over a limit");
}

static void a_claim_that_is_too_small_is_no_way_around(void **state) {
  (void)state;
  fixture_make_library("-gz");
  struct victim victim = open_victim("lib.so");
  Elf64_Shdr *section = find_section(&victim, ".debug_info");
  ((Elf64_Chdr *)(victim.bytes + section->sh_offset))->ch_size = 16;
  write_victim(&victim);
  expect_symbols_alone("bomb", "no function");
}

static void a_claim_in_an_old_section_counts_too(void **state) {
  (void)state;
  fixture_make_library("");
  fixture_run("objcopy --compress-debug-sections=zlib-gnu lib.so old.so");
  assert_true(read_symbols("old.so").is_from_dwarf);
  struct victim victim = open_victim("old.so");
  Elf64_Shdr *section = find_section(&victim, ".zdebug_info");
  memcpy(victim.bytes + section->sh_offset + 4, "\0\0\0\0\x40\0\0\0", 8);
  write_victim(&victim);
  expect_symbols_alone("bomb", "over a limit");
}

static void sections_that_claim_four_gib_are_refused(void **state) {
  static const char *const names[] = {".symtab", ".strtab", ".debug_info", ".debug_str", ".text"};
  (void)state;
  fixture_make_library("");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct victim victim = open_victim("lib.so");
    find_section(&victim, names[i])->sh_size = 1ULL << 32;
    write_victim(&victim);
    read_file("bomb");
  }
  struct victim victim = open_victim("lib.so");
  victim.header->e_shnum = 0;
  victim.sections[0].sh_size = 1ULL << 32;
  write_victim(&victim);
  assert_int_equal(read_file("bomb").status, -EBADMSG);
}

/* Entries by hand; BODY determines children and references. A: a function with children, I: an
   inlined function, both with an origin; S: a function with a sibling. */
static void assemble(const char *body) {
  static const char head[] =
      ".text\n.globl code\n.type code,@function\ncode: .fill 16,1,0x90\n.size code,16\n"
      ".macro place\n .quad code, 16\n.endm\n"
      ".macro function to\n .uleb128 2\n .long \\to-unit\n place\n.endm\n"
      ".macro inlined to\n .uleb128 3\n .long \\to-unit\n place\n.endm\n"
      ".macro sibling to\n .uleb128 4\n .long \\to-unit\n.endm\n"
      ".section .debug_abbrev,\"\",@progbits\n"
      ".uleb128 1,0x11\n.byte 1\n.uleb128 0x11,1,0x12,7,0,0\n"
      ".uleb128 2,0x2e\n.byte 1\n.uleb128 0x31,0x13,0x11,1,0x12,7,0,0\n"
      ".uleb128 3,0x1d\n.byte 1\n.uleb128 0x31,0x13,0x11,1,0x12,7,0,0\n"
      ".uleb128 4,0x2e\n.byte 1\n.uleb128 1,0x13,0,0\n.byte 0\n"
      ".section .debug_info,\"\",@progbits\n"
      "unit: .long end-start\nstart: .short 4\n.long 0\n.byte 8\n.uleb128 1\nplace\n";
  char text[4096];
  int len = snprintf(text, sizeof text, "%s%s\n.byte 0\nend:\n", head, body);
  fixture_write("bomb.s", text, (size_t)len);
  fixture_run("cc -nostdlib -shared -Wl,--build-id=none -Wl,-z,notext -o bomb bomb.s 2>/dev/null");
}

static void entries_that_lead_in_circles_are_left(void **state) {
  static const char *const bodies[] = {
      "a: function a\n.byte 0",                                 /* its own origin */
      "a: function b\nb: inlined a\nc: inlined c\n.byte 0,0,0", /* each other's */
      "a: sibling a\n.byte 0",                                  /* its own sibling */
      "a: sibling b\n.byte 0\nb: sibling a\n.byte 0",           /* back and forth */
  };
  (void)state;
#ifndef __x86_64__
  skip();
#endif
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    assemble(bodies[i]);
    read_symbols("bomb");
  }
}

static void entries_that_never_end_are_left(void **state) {
  (void)state;
#ifndef __x86_64__
  skip();
#endif
  assemble(".rept 20000\nfunction unit\n.endr");
  read_symbols("bomb");
}

/* Minutes of work where each ending of a path is looked at. */
static void paths_of_nothing_but_slashes_take_no_longer_than_others(void **state) {
  (void)state;
  fixture_run("i=0; path=$(printf '%%030000d' 0 | sed 's,0,/a,g'); while [ $i -lt 20 ]; do"
              " printf '#line 1 \"%%s%%d.h\"\nint f%%d(int x) { return x * %%d; }\n'"
              " \"$path\" $i $i $((i + 3)); i=$((i + 1)); done >slashes.c &&"
              " cc -gdwarf-4 -O1 -fPIC -shared slashes.c -o bomb");
  assert_true(read_symbols("bomb").is_from_dwarf);
}

static int set_up(void **state) {
  int error = fixture_set_up(state);
  return error != 0 ? error : nursery_open(&(struct nursery_options){DEADLINE_MS, 1, 0}, &nursery);
}

static int tear_down(void **state) {
  nursery_close(nursery);
  return fixture_tear_down(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_claim_beyond_all_limits_is_not_unpacked),
      cmocka_unit_test(a_claim_of_zstd_is_a_limit_too),
      cmocka_unit_test(what_zstd_unpacks_to_beyond_its_claim_is_refused),
      cmocka_unit_test(claims_count_together),
      cmocka_unit_test(a_claim_that_is_too_small_is_no_way_around),
      cmocka_unit_test(a_claim_in_an_old_section_counts_too),
      cmocka_unit_test(sections_that_claim_four_gib_are_refused),
      cmocka_unit_test(entries_that_lead_in_circles_are_left),
      cmocka_unit_test(entries_that_never_end_are_left),
      cmocka_unit_test(paths_of_nothing_but_slashes_take_no_longer_than_others),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
