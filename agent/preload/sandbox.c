/* SPDX-License-Identifier: Apache-2.0 */
/* A program enters a sandbox by prctl or by syscall(SYS_seccomp), directly or through a library
   that calls them. Both are wrapped, and the gate records every sandbox that begins through them
   (sandbox_calls.c). An ordinary program has one way past the gate: a plug-in bound to its own
   libraries first (RTLD_DEEPBIND). So if the program itself loads plug-ins, the objects loaded
   since the start are searched for one that imports either call. (Libraries that load others, for
   name services or character sets, do not count as loading plug-ins. Their objects are searched too
   if the program loads plug-ins.) An object that was unloaded again cannot be searched, so it is in
   doubt. libstdc++ waits on futexes by syscall() and is exempt.

   Code with the inline instruction is not detected; it occurs in programs with a runtime of their
   own.

   In a GNU hash table the imported symbols come first, so their number is known, unless the object
   exports none. Then the names, which follow the symbols, mark their end. A SysV hash table has the
   number of all symbols. Loaders differ in whether addresses in the dynamic section are relative to
   the load address. */
#include "sandbox.h"
#include "raw_syscall.h"

#include <stddef.h>
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

/* The number of symbols to examine; SYMBOLS_MAX + 1 if unknown. */
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

static unsigned ways_of_object(const struct dl_phdr_info *object) {
  unsigned ways = 0;
  for (size_t i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    uintptr_t at = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    ways |= sandbox_ways((const ElfW(Dyn) *)at, object->dlpi_addr);
  }
  return ways;
}

static int begin(struct dl_phdr_info *object, size_t size, void *context) {
  struct sandbox_objects *start = context;
  bool has_counts = size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof object->dlpi_subs;
  if (start->count++ > 0) return 0;
  start->removed = has_counts ? object->dlpi_subs : UINT64_MAX;
  start->has_plugins = (ways_of_object(object) & SANDBOX_BY_PLUGIN) != 0;
  return 0;
}

bool sandbox_begin(struct sandbox_objects *ret) {
  *ret = (struct sandbox_objects){.count = 0};
  if (raw_syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0) > 0) return false;
  dl_iterate_phdr(begin, ret);
  return true;
}

struct walk {
  const struct sandbox_objects *start;
  uint64_t at;
};

/* New objects follow the older ones. */
static int visit(struct dl_phdr_info *object, size_t size, void *context) {
  struct walk *walk = context;
  (void)size;
  if (object->dlpi_subs != walk->start->removed) return 1;
  return walk->at++ >= walk->start->count && (ways_of_object(object) & SANDBOX_BY_CALL) != 0;
}

bool sandbox_may_have_come(const struct sandbox_objects *start) {
  struct walk walk = {.start = start};
  if (!start->has_plugins) return false;
  return start->removed == UINT64_MAX || dl_iterate_phdr(visit, &walk) != 0;
}
