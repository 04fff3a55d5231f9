/* SPDX-License-Identifier: Apache-2.0 */
/* Files stay mapped and tables stay in memory until the program ends: it runs for seconds and sees
   a few dozen files. */
#include "module_tables.h"

#include "tables/table_make.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { VDSO_BYTES_MAX = 64 << 10 };

static struct span map_file(const char *path) {
  struct span bytes = {0};
  struct stat stat;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return bytes;
  if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0) {
    void *map = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED) bytes = span_of(map, (size_t)stat.st_size);
  }
  close(fd);
  return bytes;
}

/* The kernel's page of code is an ELF file in memory; its section headers are at its end. */
static struct span own_vdso(void) {
  const uint8_t *start = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
  if (start == NULL) return (struct span){0};
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)start;
  size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
  return span_of(start, end < VDSO_BYTES_MAX ? end : 0);
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void *zeroed(size_t size) {
  void *memory = calloc(1, size);
  if (memory == NULL) abort();
  return memory;
}

static void make(struct module_table *module) {
  struct buf made = {0};
  struct table_report report = {0};
  double start = now_ms();
  if (module->file.len == 0) return;
  struct table_input input = {.file = module->file, .arch = &unwind_arch};
  int error = table_make(&input, &made, &report);
  module->build_ms = now_ms() - start;
  if (error == 0) {
    module->table = (const struct unwind_table *)(const void *)made.data;
    error = unwind_table_check(module->table, made.len, module->table->machine);
  }
  if (error != 0) {
    fprintf(stderr, "%s: no table: %s\n", module->path, strerror(-error));
    module->table = NULL;
  }
}

const struct module_table *module_tables_get(struct module_tables *tables, const char *path) {
  struct module_table *module = tables->first;
  while (module != NULL && strcmp(module->path, path) != 0) module = module->next;
  if (module != NULL) return module;
  module = zeroed(sizeof *module);
  module->path = strdup(path);
  if (module->path == NULL) abort();
  module->file = strcmp(path, "[vdso]") == 0 ? own_vdso() : map_file(path);
  make(module);
  module->next = tables->first;
  tables->first = module;
  return module;
}

bool module_table_address(const struct module_table *module, uint64_t file_offset, uint64_t *ret) {
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)module->file.data;
  if (module->file.len < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return false;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    uint64_t at = header->e_phoff + (uint64_t)i * sizeof(ElfW(Phdr));
    if (at > module->file.len || module->file.len - at < sizeof(ElfW(Phdr))) return false;
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(const void *)(module->file.data + at);
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    uint64_t first = segment->p_offset & ~UINT64_C(4095);
    if (file_offset < first || file_offset >= segment->p_offset + segment->p_filesz) continue;
    *ret = segment->p_vaddr + (file_offset - segment->p_offset);
    return true;
  }
  return false;
}

void module_tables_print(const struct module_tables *tables) {
  for (const struct module_table *module = tables->first; module; module = module->next) {
    const struct unwind_table *table = module->table;
    if (table == NULL) continue;
    fprintf(stderr, "%s: %u rows, %.1f bytes a row, %u rules, %u untold rows, %.1f ms\n",
            module->path, table->row_count, (double)table->total_bytes / table->row_count,
            table->rule_count, table->untold_rows, module->build_ms);
  }
}
