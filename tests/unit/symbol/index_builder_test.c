/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/index_builder.h"
#include "symbol/symbol_index.h"

#include <elf.h>
#include <errno.h>

struct built {
  struct buf bytes;
  struct symbol_index index;
  struct index_summary summary;
  char why[256];
  int error;
};

static void build(struct span elf, struct built *ret) {
  memset(ret, 0, sizeof *ret);
  ret->error =
      index_builder_build(elf, INDEX_ALL, &ret->bytes, &ret->summary, ret->why, sizeof ret->why);
  if (ret->error != 0) return;
  assert_int_equal(symbol_index_parse(buf_span(&ret->bytes), &ret->index), 0);
  assert_int_equal(symbol_index_verify(&ret->index), 0);
}

static void build_file(const char *name, struct built *ret) {
  struct span elf = fixture_read(name);
  build(elf, ret);
  fixture_free(elf);
}

static void built_fini(struct built *built) {
  symbol_index_fini(&built->index);
  buf_fini(&built->bytes);
}

static const char *name_at(const struct built *built, uint64_t address) {
  struct symbol_match match;
  return symbol_index_find(&built->index, address, &match) == 0 ? match.name : "";
}

struct nm_symbol {
  uint64_t start, size;
  char name[256];
};

/* Whether nm lists a symbol with this name, start and size. */
static bool is_told(const struct nm_symbol *told, size_t count, const struct symbol_match *match) {
  for (size_t i = 0; i < count; i++)
    if (told[i].start == match->start && told[i].size == match->size &&
        strcmp(told[i].name, match->name) == 0)
      return true;
  return false;
}

/* Reads functions with a size, as `nm -n -S` lists them. */
static size_t read_nm(const char *options, const char *path, struct nm_symbol **ret) {
  char command[FIXTURE_PATH_BYTES + 128];
  char line[8192];
  size_t count = 0, cap = 0;
  snprintf(command, sizeof command, "nm -S --defined-only %s '%s'", options, path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  *ret = NULL;
  while (fgets(line, sizeof line, pipe) != NULL) {
    struct nm_symbol symbol = {0};
    unsigned long long start, size;
    char type;
    if (sscanf(line, "%llx %llx %c %255s", &start, &size, &type, symbol.name) != 4) continue;
    if (strchr("tTwWi", type) == NULL || size == 0) continue;
    char *version = strchr(symbol.name + 1, '@');
    if (version != NULL) *version = '\0';
    symbol.start = start;
    symbol.size = size;
    if (count == cap) *ret = realloc(*ret, (cap = cap * 2 + 256) * sizeof **ret);
    assert_non_null(*ret);
    (*ret)[count++] = symbol;
  }
  pclose(pipe);
  return count;
}

/* Every function that nm lists is found at its start, middle and last byte: under one of its names,
   or that of a nested function. */
static void compare_with_nm(const char *name, const char *options, size_t at_least) {
  struct built built;
  struct nm_symbol *told;
  char path[FIXTURE_PATH_BYTES];
  fixture_path(name, path);
  size_t count = read_nm(options, path, &told), exact = 0;
  assert_true(count >= at_least);
  build_file(name, &built);
  assert_int_equal(built.error, 0);
  for (size_t i = 0; i < count; i++) {
    uint64_t places[] = {told[i].start, told[i].start + told[i].size / 2,
                         told[i].start + told[i].size - 1};
    for (size_t at = 0; at < 3; at++) {
      struct symbol_match match;
      if (symbol_index_find(&built.index, places[at], &match) != 0)
        fail_msg("%s: nothing at 0x%llx", told[i].name, (unsigned long long)places[at]);
      bool is_own = match.start == told[i].start && match.size == told[i].size;
      if (!is_own && match.size > told[i].size)
        fail_msg("%s: %s is bigger", told[i].name, match.name);
      if (!is_told(told, count, &match))
        fail_msg("%s: %s at 0x%llx is not nm's", told[i].name, match.name,
                 (unsigned long long)places[at]);
      exact += is_own;
    }
  }
  print_message("%s: %zu functions, %zu of %zu places under their own name\n", name, count, exact,
                3 * count);
  assert_true(exact * 100 >= 3 * count * 95);
  free(told);
  built_fini(&built);
}

static void this_program_matches_nm(void **state) {
  (void)state;
  char path[FIXTURE_PATH_BYTES] = "";
  assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  compare_with_nm(path, "", 20);
}

static void debug_files_of_distributions_match_nm(void **state) {
  (void)state;
  if (system("ls /usr/lib/debug/.build-id/*/*.debug >/dev/null 2>&1") != 0) skip();
  fixture_run("ls -S /usr/lib/debug/.build-id/*/*.debug | head -n 4 >names");
  struct span names = fixture_read("names");
  char *text = strndup((const char *)names.data, names.len), *rest = text;
  for (char *name; (name = strtok_r(rest, "\n", &rest)) != NULL;) compare_with_nm(name, "", 1);
  free(text);
  fixture_free(names);
}

static void a_stripped_program_has_its_exported_functions(void **state) {
  (void)state;
  fixture_run("cp lib.so stripped.so && strip stripped.so");
  compare_with_nm("stripped.so", "-D", 3);
  struct built built;
  build_file("stripped.so", &built);
  assert_false(built.summary.image.has_symtab);
  assert_true((built.index.flags & INDEX_FROM_DYNSYM) != 0);
  built_fini(&built);
}

/* The address that nm gives a name in a file of the folder. */
static uint64_t address_of(const char *file, const char *name) {
  char command[FIXTURE_PATH_BYTES], path[FIXTURE_PATH_BYTES - 200], line[64] = "";
  snprintf(path, sizeof path, "%s/%s", fixture_dir, file);
  snprintf(command, sizeof command, "nm '%s' | grep -w '%s'", path, name);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  if (fgets(line, sizeof line, pipe) == NULL) fail_msg("%s: not in %s", name, file);
  pclose(pipe);
  return strtoull(line, NULL, 16);
}

static void rules_for_names_hold_for_a_real_library(void **state) {
  (void)state;
  struct built built;
  build_file("lib.so", &built);
  assert_int_equal(built.error, 0);
  assert_string_equal(name_at(&built, address_of("lib.so", "inner")), "inner");
  assert_string_equal(name_at(&built, address_of("lib.so", "outer")), "outer");
  assert_string_equal(name_at(&built, address_of("lib.so", "weak_one")), "strong_alias");
  uint64_t untyped = address_of("lib.so", "untyped");
  assert_string_equal(name_at(&built, untyped), "untyped");
  assert_string_equal(name_at(&built, untyped + 1), "untyped");
  assert_string_equal(name_at(&built, untyped + 2), "inside_label");
  assert_string_equal(name_at(&built, untyped + 3), "after_untyped");
  assert_true(built.summary.image.has_dwarf);
  assert_true(built.summary.image.has_symtab);
  built_fini(&built);
}

/* Bounds of functions that nm no longer lists, in a library that had `inner` and exports. */
static void a_stripped_function_keeps_its_bounds(void **state) {
  (void)state;
  struct built whole, stripped;
  struct symbol_match named, bounds;
  fixture_run("cp lib.so stripped.so && strip stripped.so");
  build_file("lib.so", &whole);
  build_file("stripped.so", &stripped);
  uint64_t address = address_of("lib.so", "inner");
  assert_int_equal(symbol_index_find(&whole.index, address, &named), 0);
  assert_int_equal(symbol_index_find(&stripped.index, address + 1, &bounds), 0);
  assert_string_equal(bounds.name, "");
  assert_int_equal(bounds.start, named.start);
  assert_int_equal(bounds.size, named.size);
  assert_string_equal(name_at(&stripped, address_of("lib.so", "outer")), "outer");
  built_fini(&whole);
  built_fini(&stripped);
}

/* As an ARM program without exports has: no symbol and no table for exceptions. */
static void of_a_program_with_neither_names_nor_bounds_the_code_serves_pairs(void **state) {
  (void)state;
  struct built built;
  struct symbol_match match;
  fixture_run(
      "printf 'int twice(int x) __attribute__((noinline)); int twice(int x) {return x * 2;}\n"
      "void _start(void) { for (;;) twice(1); }\n' >bare.c && "
      "cc -O0 -nostdlib -static -fno-asynchronous-unwind-tables -o bare bare.c && strip bare");
  build_file("bare", &built);
  assert_int_equal(built.error, 0);
  assert_int_equal(built.summary.symbol_count, 0);
  assert_int_equal(symbol_index_verify(&built.index), 0);
  assert_int_equal(symbol_index_find(&built.index, 0x401000, &match), -ENOENT);
  assert_int_equal(lr_tables_machine(&built.index.lr), EM_X86_64);
  built_fini(&built);
}

/* Sorted starts of the functions of a distribution's program, as printed by readelf. */
static void bounds_of_a_stripped_program_match_readelf(void **state) {
  (void)state;
  struct built built;
  char line[256];
  size_t count = 0;
  fixture_run("readelf --debug-dump=frames-interp -W $(command -v bash) 2>/dev/null"
              " | sed -n 's/.* FDE .*pc=\\([0-9a-f]*\\)\\.\\.\\([0-9a-f]*\\).*/\\1 \\2/p' >frames");
  fixture_run("cp $(command -v bash) program && strip program");
  char path[FIXTURE_PATH_BYTES];
  fixture_path("frames", path);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  build_file("program", &built);
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned long long start, end;
    struct symbol_match match;
    if (sscanf(line, "%llx %llx", &start, &end) != 2) continue;
    if (symbol_index_find(&built.index, end - 1, &match) != 0)
      fail_msg("nothing at 0x%llx", end - 1);
    if (match.name[0] == '\0') assert_int_equal(match.start, start);
    count += match.name[0] == '\0';
  }
  print_message("%zu functions without a name\n", count);
  assert_true(count > 100);
  fclose(file);
  built_fini(&built);
}

static void the_build_id_is_found(void **state) {
  (void)state;
  struct built built;
  uint8_t id[64];
  build_file("lib.so", &built);
  assert_int_equal(fixture_build_id("lib.so", id), 20);
  assert_int_equal(built.summary.image.build_id_len, 20);
  assert_memory_equal(built.summary.image.build_id, id, 20);
  built_fini(&built);
}

static void a_file_without_build_id_says_so(void **state) {
  (void)state;
  struct built built;
  fixture_run("objcopy --remove-section .note.gnu.build-id lib.so noid.so");
  build_file("noid.so", &built);
  assert_int_equal(built.error, 0);
  assert_int_equal(built.summary.image.build_id_len, 0);
  built_fini(&built);
}

/* All sections but those about return addresses, which take code. */
static void assert_same_names(const struct built *one, const struct built *other) {
  const struct index_header *header = (const void *)one->bytes.data;
  const struct index_section *a = (const void *)(header + 1);
  const struct index_section *b = (const void *)(other->bytes.data + sizeof *header);
  for (uint32_t i = 0; i < header->section_count; i++) {
    assert_int_equal(a[i].kind, b[i].kind);
    if (a[i].kind >= INDEX_LR_PLACES) continue;
    assert_int_equal(a[i].bytes, b[i].bytes);
    assert_memory_equal(one->bytes.data + a[i].offset, other->bytes.data + b[i].offset, a[i].bytes);
  }
}

static void a_separate_debug_file_gives_the_same_names_and_identity(void **state) {
  (void)state;
  struct built whole, separate;
  fixture_run("objcopy --only-keep-debug lib.so lib.debug");
  build_file("lib.so", &whole);
  build_file("lib.debug", &separate);
  assert_int_equal(separate.error, 0);
  assert_int_equal(separate.summary.image.build_id_len, 20);
  assert_memory_equal(separate.summary.image.build_id, whole.summary.image.build_id, 20);
  assert_same_names(&whole, &separate);
  built_fini(&whole);
  built_fini(&separate);
}

static void a_debug_file_of_a_stripped_one_has_nothing_to_say(void **state) {
  (void)state;
  struct built built;
  fixture_run("cp lib.so bare.so && strip bare.so && objcopy --only-keep-debug bare.so bare.debug");
  build_file("bare.debug", &built);
  assert_int_equal(built.error, -EBADMSG);
  assert_non_null(strstr(built.why, "no function symbols"));
  assert_int_equal(built.summary.image.build_id_len, 20);
}

static void a_build_id_is_found_without_section_headers(void **state) {
  (void)state;
  struct built built;
  struct span elf = fixture_read("lib.so");
  Elf64_Ehdr *header = (Elf64_Ehdr *)(uintptr_t)elf.data;
  header->e_shoff = 0;
  header->e_shnum = 0;
  header->e_shstrndx = 0;
  build(elf, &built);
  assert_int_equal(built.summary.symbol_count, 0);
  assert_int_equal(built.summary.image.build_id_len, 20);
  fixture_free(elf);
  built_fini(&built);
}

static void a_32_bit_file_is_read_like_any_other(void **state) {
  (void)state;
  if (system("echo 'int x;' | cc -m32 -nostdlib -shared -o /dev/null -x c - 2>/dev/null") != 0)
    skip();
  fixture_run("mkdir -p 32 && cp lib.c 32/ && cd 32 &&"
              " cc -m32 -g -O1 -nostdlib -shared -fPIC -Wl,--build-id -o lib32.so lib.c");
  compare_with_nm("32/lib32.so", "", 4);
}

/* A MIPS file: one function has bit 0 set, the other's section number is in a separate table. */
static void other_byte_orders_and_isa_bits_are_understood(void **state) {
  (void)state;
  struct built built;
  build_file(TEST_DATA "/fuzz/corpus/fuzz_elf/bigendian", &built);
  assert_int_equal(built.error, 0);
  assert_string_equal(name_at(&built, 0x400), "one");
  assert_string_equal(name_at(&built, 0x40f), "one");
  assert_string_equal(name_at(&built, 0x410), "two");
  assert_string_equal(name_at(&built, 0x43f), "two");
  assert_string_equal(name_at(&built, 0x440), "");
  assert_int_equal(built.summary.image.build_id_len, 8);
  built_fini(&built);
}

/* The same file as ARM, where bit 0 marks Thumb, and as a CPU without that bit. */
static void bit_0_is_no_address_where_it_says_the_instruction_set(void **state) {
  static const struct {
    uint8_t machine;
    const char *at_start;
  } files[] = {{EM_MIPS, "one"}, {EM_ARM, "one"}, {EM_PPC, ""}};
  struct span original = fixture_read(TEST_DATA "/fuzz/corpus/fuzz_elf/bigendian");
  (void)state;
  for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
    struct built built;
    uint8_t *copy = malloc(original.len);
    assert_non_null(copy);
    memcpy(copy, original.data, original.len);
    copy[offsetof(Elf32_Ehdr, e_machine) + 1] = files[i].machine; /* big-endian */
    build(span_of(copy, original.len), &built);
    assert_int_equal(built.error, 0);
    assert_string_equal(name_at(&built, 0x400), files[i].at_start);
    assert_string_equal(name_at(&built, 0x401), "one");
    built_fini(&built);
    free(copy);
  }
  fixture_free(original);
}

static void plt_stubs_have_a_name(void **state) {
  (void)state;
  struct built built;
  unsigned long long address = 0;
  char text[64] = "";
  fixture_run("cc -O1 -fcf-protection=none -o caller -x c - <<'END'\n"
              "#include <stdio.h>\nint main(int c, char **v) { return puts(v[c - 1]); }\nEND");
  fixture_run("readelf -SW caller | sed -n 's/.* \\.plt  *PROGBITS  *\\([0-9a-f]*\\).*/\\1/p' >at");
  struct span at = fixture_read("at");
  memcpy(text, at.data, at.len < 63 ? at.len : 63);
  fixture_free(at);
  if (sscanf(text, "%llx", &address) != 1) skip(); /* linked without a PLT */
  build_file("caller", &built);
  assert_string_equal(name_at(&built, address), "[plt]");
  built_fini(&built);
}

static void garbage_is_refused_with_a_reason(void **state) {
  (void)state;
  struct built built;
  uint8_t bytes[4096];
  build(span_of("", 0), &built);
  assert_int_equal(built.error, -EBADMSG);
  assert_true(built.why[0] != '\0');
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 37);
  build(span_of(bytes, sizeof bytes), &built);
  assert_int_equal(built.error, -EBADMSG);
  assert_non_null(strstr(built.why, "ELF"));
  memcpy(bytes,
         "\x7f"
         "ELF\2\1\1",
         7);
  build(span_of(bytes, sizeof bytes), &built);
  assert_int_equal(built.error, -EBADMSG);
  assert_true(built.why[0] != '\0');
}

static void a_relocatable_object_is_refused(void **state) {
  (void)state;
  struct built built;
  fixture_run("cc -c -o lib.o lib.c");
  build_file("lib.o", &built);
  assert_int_equal(built.error, -EBADMSG);
  assert_non_null(strstr(built.why, "no kernel module"));
}

static void no_truncated_file_does_harm(void **state) {
  (void)state;
  struct span elf = fixture_read("lib.so");
  for (size_t len = 0; len < elf.len; len += 64) {
    struct built built;
    uint8_t *copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy, elf.data, len);
    build(span_of(copy, len), &built);
    if (built.error != 0) assert_true(built.why[0] != '\0');
    built_fini(&built);
    free(copy);
  }
  fixture_free(elf);
}

/* Runs CHANGE on the section header of TYPE of a copy of lib.so. */
static void build_changed(uint32_t type, void (*change)(Elf64_Ehdr *, Elf64_Shdr *),
                          struct built *ret) {
  struct span elf = fixture_read("lib.so");
  Elf64_Ehdr *header = (Elf64_Ehdr *)(uintptr_t)elf.data;
  Elf64_Shdr *section = (Elf64_Shdr *)(uintptr_t)(elf.data + header->e_shoff);
  int count = header->e_shnum;
  for (int i = 0; i < count; i++)
    if (section[i].sh_type == type) change(header, &section[i]);
  build(elf, ret);
  fixture_free(elf);
  built_fini(ret);
}

static void make_huge(Elf64_Ehdr *header, Elf64_Shdr *section) {
  (void)header;
  section->sh_size = 1ULL << 62;
}

static void make_many(Elf64_Ehdr *header, Elf64_Shdr *section) {
  (void)header;
  section->sh_size = sizeof(Elf64_Sym) << 32;
}

static void move_away(Elf64_Ehdr *header, Elf64_Shdr *section) {
  (void)header;
  section->sh_offset = UINT64_MAX - 16;
}

static void lie_about_entries(Elf64_Ehdr *header, Elf64_Shdr *section) {
  (void)header;
  section->sh_entsize = 1;
}

static void link_to_itself(Elf64_Ehdr *header, Elf64_Shdr *section) {
  section->sh_link = (uint32_t)(section - (Elf64_Shdr *)((char *)header + header->e_shoff));
}

static void link_to_nowhere(Elf64_Ehdr *header, Elf64_Shdr *section) {
  (void)header;
  section->sh_link = 0x7fffffff;
}

static void mark_compressed(Elf64_Ehdr *header, Elf64_Shdr *section) {
  (void)header;
  section->sh_flags |= SHF_COMPRESSED;
}

static void count_too_many_sections(Elf64_Ehdr *header, Elf64_Shdr *section) {
  (void)section;
  header->e_shnum = 0xfeff;
}

static void lying_section_headers_are_refused_with_a_reason(void **state) {
  (void)state;
  void (*const lies[])(Elf64_Ehdr *, Elf64_Shdr *) = {
      make_huge,      make_many,       move_away,       lie_about_entries,
      link_to_itself, link_to_nowhere, mark_compressed, count_too_many_sections,
  };
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    struct built built;
    build_changed(SHT_SYMTAB, lies[i], &built);
    assert_int_equal(built.error, -EBADMSG);
    assert_true(built.why[0] != '\0');
    print_message("lie %zu: %s\n", i, built.why);
  }
}

static void lies_about_other_sections_do_no_harm(void **state) {
  (void)state;
  const uint32_t types[] = {SHT_STRTAB, SHT_NOTE, SHT_PROGBITS, SHT_DYNSYM};
  void (*const lies[])(Elf64_Ehdr *, Elf64_Shdr *) = {make_huge, move_away, link_to_nowhere,
                                                      mark_compressed};
  for (size_t type = 0; type < 4; type++)
    for (size_t i = 0; i < 4; i++) {
      struct built built;
      build_changed(types[type], lies[i], &built);
      if (built.error != 0) assert_true(built.why[0] != '\0');
    }
}

/* 0x50 bytes from 0x5032011c on. */
static void a_symbol_holds_its_first_byte_and_not_its_end(void **state) {
  (void)state;
  struct built built;
  struct symbol_match match;
  static _Alignas(8) char list[] = "5032011c T lookup\n5032016c T next\n50320180 T last\n";
  build(span_of_string(list), &built);
  assert_int_equal(built.error, 0);
  assert_int_equal(symbol_index_find(&built.index, 0x5032014e, &match), 0);
  assert_string_equal(match.name, "lookup");
  assert_int_equal(0x5032014e - match.start, 0x32);
  assert_int_equal(match.size, 0x50);
  assert_string_equal(name_at(&built, 0x5032011b), "");
  assert_string_equal(name_at(&built, 0x5032011c), "lookup");
  assert_string_equal(name_at(&built, 0x5032016b), "lookup");
  assert_string_equal(name_at(&built, 0x5032016c), "next");
  built_fini(&built);
}

static void evil_names_leave_clean(void **state) {
  (void)state;
  struct built built;
  static const char source[] = ".text\n.globl \"<b>\x1b[31m\"\n.type \"<b>\x1b[31m\",@function\n"
                               "\"<b>\x1b[31m\":\n nop\n.size \"<b>\x1b[31m\",1\n"
                               ".globl _ZN3abc3defEi\n.type _ZN3abc3defEi,@function\n"
                               "_ZN3abc3defEi:\n nop\n.size _ZN3abc3defEi,1\n";
  fixture_write("evil.s", source, sizeof source - 1);
  fixture_run("cc -nostdlib -shared -o evil.so evil.s");
  build_file("evil.so", &built);
  assert_int_equal(built.error, 0);
  bool has_mangled = false, has_evil = false;
  uint64_t start = built.index.blocks[0].address;
  for (uint64_t address = start; address < start + 16; address++) {
    struct symbol_frame frames[SYMBOL_CHAIN_MAX];
    if (symbol_index_chain(&built.index, address, frames) != 1) continue;
    const char *system_name = symbol_frame_system_name(&frames[0]);
    if (strcmp(frames[0].name, "abc::def(int)") == 0)
      has_mangled = strcmp(system_name, "_ZN3abc3defEi") == 0;
    if (strcmp(frames[0].name, "<b>?[31m") == 0) has_evil = system_name == frames[0].name;
  }
  assert_true(has_mangled);
  assert_true(has_evil);
  built_fini(&built);
}

static int set_up(void **state) {
  int error = fixture_set_up(state);
  if (error == 0) fixture_make_library("");
  return error;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(this_program_matches_nm),
      cmocka_unit_test(debug_files_of_distributions_match_nm),
      cmocka_unit_test(a_stripped_program_has_its_exported_functions),
      cmocka_unit_test(of_a_program_with_neither_names_nor_bounds_the_code_serves_pairs),
      cmocka_unit_test(rules_for_names_hold_for_a_real_library),
      cmocka_unit_test(a_stripped_function_keeps_its_bounds),
      cmocka_unit_test(bounds_of_a_stripped_program_match_readelf),
      cmocka_unit_test(the_build_id_is_found),
      cmocka_unit_test(a_file_without_build_id_says_so),
      cmocka_unit_test(a_separate_debug_file_gives_the_same_names_and_identity),
      cmocka_unit_test(a_debug_file_of_a_stripped_one_has_nothing_to_say),
      cmocka_unit_test(a_build_id_is_found_without_section_headers),
      cmocka_unit_test(a_32_bit_file_is_read_like_any_other),
      cmocka_unit_test(other_byte_orders_and_isa_bits_are_understood),
      cmocka_unit_test(bit_0_is_no_address_where_it_says_the_instruction_set),
      cmocka_unit_test(plt_stubs_have_a_name),
      cmocka_unit_test(garbage_is_refused_with_a_reason),
      cmocka_unit_test(a_relocatable_object_is_refused),
      cmocka_unit_test(no_truncated_file_does_harm),
      cmocka_unit_test(lying_section_headers_are_refused_with_a_reason),
      cmocka_unit_test(lies_about_other_sections_do_no_harm),
      cmocka_unit_test(a_symbol_holds_its_first_byte_and_not_its_end),
      cmocka_unit_test(evil_names_leave_clean),
  };
  return cmocka_run_group_tests(tests, set_up, fixture_tear_down);
}
