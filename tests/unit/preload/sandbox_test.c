/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol tables made by hand, as linkers lay them out. */
#include "preload/sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SYMBOLS = 3, HASH_WORDS = 4 };

/* The names follow the symbols. */
struct object {
  ElfW(Sym) symbols[SYMBOLS];
  char names[64];
  uint32_t hash[HASH_WORDS];
  ElfW(Dyn) dynamic[6];
};

static struct object object;

static void set(unsigned at, ElfW(Sxword) tag, uintptr_t value) {
  object.dynamic[at] = (ElfW(Dyn)){.d_tag = tag, .d_un = {.d_val = value}};
}

/* An object that wants FIRST and SECOND from others; the second word of its table is HASH. */
static unsigned ways_of(const char *first, const char *second, ElfW(Sxword) table, uint32_t hash) {
  memset(&object, 0, sizeof object);
  strncpy(object.names + 1, first, 20);
  strncpy(object.names + 30, second, 20);
  object.symbols[1].st_name = 1;
  object.symbols[2].st_name = 30;
  object.hash[1] = hash;
  set(0, DT_SYMTAB, (uintptr_t)object.symbols);
  set(1, DT_STRTAB, (uintptr_t)object.names);
  set(2, DT_STRSZ, sizeof object.names);
  set(3, table, (uintptr_t)object.hash);
  return sandbox_ways(object.dynamic, 0);
}

static void a_command_that_wants_no_such_call_has_no_way(void **state) {
  (void)state;
  assert_int_equal(ways_of("write", "printf", DT_GNU_HASH, SYMBOLS), SANDBOX_NONE);
  assert_int_equal(ways_of("prctl_of_mine", "my_syscall", DT_GNU_HASH, SYMBOLS), SANDBOX_NONE);
}

static void each_way_is_seen_whatever_table_there_is(void **state) {
  (void)state;
  static const struct {
    ElfW(Sxword) tag;
    uint32_t second;
  } tables[] = {{DT_GNU_HASH, SYMBOLS}, {DT_GNU_HASH, 1 /* offers nothing */}, {DT_HASH, SYMBOLS}};
  for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++) {
    ElfW(Sxword) tag = tables[i].tag;
    uint32_t second = tables[i].second;
    assert_int_equal(ways_of("write", "prctl", tag, second), SANDBOX_BY_CALL);
    assert_int_equal(ways_of("write", "syscall", tag, second), SANDBOX_BY_CALL);
    assert_int_equal(ways_of("seccomp_load", "write", tag, second), SANDBOX_BY_CALL);
    assert_int_equal(ways_of("write", "dlopen", tag, second), SANDBOX_BY_PLUGIN);
  }
}

static void what_an_object_offers_is_no_way(void **state) {
  (void)state;
  ways_of("write", "prctl", DT_HASH, SYMBOLS);
  object.symbols[2].st_shndx = 1;
  assert_int_equal(sandbox_ways(object.dynamic, 0), SANDBOX_NONE);
}

static void what_cannot_be_listed_is_in_doubt(void **state) {
  (void)state;
  const unsigned all = SANDBOX_BY_CALL | SANDBOX_BY_PLUGIN;
  assert_int_equal(ways_of("write", "printf", DT_DEBUG, 0), all);
  assert_int_equal(ways_of("write", "printf", DT_HASH, UINT32_MAX), all);
  set(0, DT_DEBUG, 0);
  assert_int_equal(sandbox_ways(object.dynamic, 0), all);
}

static void the_library_of_cplusplus_is_known(void **state) {
  (void)state;
  ways_of("syscall", "libstdc++.so.6", DT_GNU_HASH, SYMBOLS);
  assert_int_equal(sandbox_ways(object.dynamic, 0), SANDBOX_BY_CALL);
  set(4, DT_SONAME, 30);
  assert_int_equal(sandbox_ways(object.dynamic, 0), SANDBOX_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_command_that_wants_no_such_call_has_no_way),
      cmocka_unit_test(each_way_is_seen_whatever_table_there_is),
      cmocka_unit_test(what_an_object_offers_is_no_way),
      cmocka_unit_test(what_cannot_be_listed_is_in_doubt),
      cmocka_unit_test(the_library_of_cplusplus_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
