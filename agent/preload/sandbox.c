/* SPDX-License-Identifier: Apache-2.0 */
/* A program gets into a sandbox by prctl or by syscall(SYS_seccomp), directly or through a library
   that calls them.  So one where no loaded object has either among the symbols that it wants from
   others has no way into one; nor has it later, unless the program itself loads plug-ins (that a
   library does, for name services or character sets, is no doubt).  Most commands are of that kind.
   libstdc++ waits on futexes by syscall() and is known.  Code that has the instruction inline is
   not seen by this; it is in programs that bring a runtime of their own.

   In a GNU hash table the symbols wanted from others come first, so their number is known, unless
   the object offers none itself: then the names, which follow the symbols, say where they end.  An
   old table has the number of all.  Loaders differ in whether they leave addresses in the dynamic
   section relative to where the object was loaded. */
#include "sandbox.h"
#include "raw_syscall.h"

#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

enum {
  SYMBOLS_MAX = 1 << 16, /* of one object; with more it is in doubt */
  ALL_WAYS = SANDBOX_BY_CALL | SANDBOX_BY_PLUGIN,
};

struct symbols {
  const ElfW(Sym) * table;
  const char *names;
  const uint32_t *gnu_hash, *hash;
  uintptr_t soname;
  size_t names_bytes;
};

static const void *address_of(uintptr_t base, uintptr_t pointer) {
  return (const void *)(pointer < base ? base + pointer : pointer);
}

static struct symbols find_symbols(const ElfW(Dyn) * dynamic, uintptr_t base) {
  struct symbols found = {0};
  for (; dynamic->d_tag != DT_NULL; dynamic++) {
    uintptr_t value = (uintptr_t)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) found.table = address_of(base, value);
    if (dynamic->d_tag == DT_STRTAB) found.names = address_of(base, value);
    if (dynamic->d_tag == DT_GNU_HASH) found.gnu_hash = address_of(base, value);
    if (dynamic->d_tag == DT_HASH) found.hash = address_of(base, value);
    if (dynamic->d_tag == DT_SONAME) found.soname = value;
    if (dynamic->d_tag == DT_STRSZ) found.names_bytes = value;
  }
  return found;
}

static unsigned way_of(const char *name) {
  bool is_call = strcmp(name, "prctl") == 0 || strcmp(name, "syscall") == 0 ||
                 strncmp(name, "seccomp", 7) == 0;
  if (is_call) return SANDBOX_BY_CALL;
  return strcmp(name, "dlopen") == 0 || strcmp(name, "dlmopen") == 0 ? SANDBOX_BY_PLUGIN : 0;
}

/* How many symbols must be looked at; SYMBOLS_MAX + 1 when that is not known. */
static size_t count_wanted(const struct symbols *symbols) {
  uintptr_t start = (uintptr_t)symbols->table, end = (uintptr_t)symbols->names;
  if (symbols->gnu_hash != NULL && symbols->gnu_hash[1] > 1) return symbols->gnu_hash[1];
  if (symbols->hash != NULL) return symbols->hash[1];
  return symbols->gnu_hash != NULL && end > start ? (end - start) / sizeof *symbols->table
                                                  : SYMBOLS_MAX + 1;
}

unsigned sandbox_ways(const ElfW(Dyn) * dynamic, uintptr_t base) {
  struct symbols symbols = find_symbols(dynamic, base);
  if (symbols.table == NULL || symbols.names == NULL) return ALL_WAYS;
  if (symbols.soname != 0 && strcmp(symbols.names + symbols.soname, "libstdc++.so.6") == 0)
    return 0;
  size_t count = count_wanted(&symbols);
  unsigned ways = 0;
  if (count > SYMBOLS_MAX) return ALL_WAYS;
  for (size_t i = 1; i < count && ways != ALL_WAYS; i++)
    if (symbols.table[i].st_shndx == SHN_UNDEF && symbols.table[i].st_name < symbols.names_bytes)
      ways |= way_of(symbols.names + symbols.table[i].st_name);
  return ways;
}

struct walk {
  unsigned ways;
  bool is_first_done; /* the program itself is the first */
};

static int visit(struct dl_phdr_info *object, size_t size, void *context) {
  struct walk *walk = context;
  (void)size;
  unsigned doubts = walk->is_first_done ? SANDBOX_BY_CALL : ALL_WAYS;
  walk->is_first_done = true;
  for (size_t i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    uintptr_t at = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    walk->ways |= doubts & sandbox_ways((const ElfW(Dyn) *)at, object->dlpi_addr);
  }
  return walk->ways != 0;
}

bool sandbox_is_within_reach(void) {
  struct walk walk = {0};
  if (raw_syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0) > 0) return true;
  dl_iterate_phdr(visit, &walk);
  return walk.ways != 0;
}
