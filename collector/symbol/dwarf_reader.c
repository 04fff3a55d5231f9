/* SPDX-License-Identifier: Apache-2.0 */
/* All units of a file, one after the other, each read and forgotten.

   libdw keeps what it has decoded (line tables, abbreviations) until its handle is closed, so the
   handle is opened anew every UNITS_PER_HANDLE units; the file, and what was unpacked of it, stays.
   When libdw is out of memory it calls a handler that must not return: it jumps out, and what libdw
   has then is lost, in a process that ends soon.

   Only the one file is here.  Names that dwz has moved to an alternate file (.gnu_debugaltlink) and
   functions in .dwo files are not to be had, which is said. */
#include "dwarf_reader.h"

#include "dwarf_unit.h"
#include "source_files.h"
#include "source_path.h"
#include "symbol_set.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  UNITS_PER_HANDLE = 64,
  UNITS_MAX = 1 << 20,
  CODE_SECTIONS_MAX = 1 << 16,
};

#define UNPACKED_BYTES_MAX (512ULL << 20) /* of compressed sections together */

struct dwarf_file {
  Elf *elf;
  Dwarf *dwarf; /* may be NULL */
  struct code_range *code;
  size_t code_count;
};

struct reader {
  struct dwarf_file *file;
  struct dwarf_context context;
  char *why;
  size_t why_len;
};

static jmp_buf memory_ran_out; /* there is one thread */

_Noreturn static void on_out_of_memory(void) {
  longjmp(memory_ran_out, 1);
}

void dwarf_file_close(struct dwarf_file *file) {
  if (file == NULL) return;
  if (file->dwarf != NULL) dwarf_end(file->dwarf);
  if (file->elf != NULL) elf_end(file->elf);
  free(file->code);
  free(file);
}

const struct code_range *dwarf_context_find_code(const struct dwarf_context *context,
                                                 uint64_t address) {
  size_t low = 0, high = context->code_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (context->code[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || address >= context->code[low - 1].end) return NULL;
  return &context->code[low - 1];
}

/* The folder that the unit CU was compiled in; "" when it is not known. */
static const char *folder_of(Dwarf_CU *cu) {
  Dwarf_Die unit;
  Dwarf_Attribute attribute;
  if (dwarf_cu_die(cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) == NULL) return "";
  const char *folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  return folder == NULL ? "" : folder;
}

int dwarf_context_add_file(struct dwarf_context *context, Dwarf_CU *cu, const char *path,
                           uint32_t *ret) {
  uint64_t place = (uintptr_t)path;
  uint32_t cursor;
  *ret = 0;
  if (path == NULL) return 0;
  uint32_t known = table_find(&context->files, place, &cursor);
  if (known != TABLE_NONE) {
    *ret = known;
    return 0;
  }
  source_path_join(path[0] == '/' ? "" : folder_of(cu), path, &context->path);
  int error = context->path.failed ? -ENOMEM : 0;
  if (error == 0) error = source_map_add_file(context->map, buf_span(&context->path), ret);
  return error != 0 ? error : table_add(&context->files, place, *ret);
}

static int compare_code(const void *left, const void *right) {
  const struct code_range *a = left, *b = right;
  return a->start < b->start ? -1 : a->start > b->start;
}

/* Finds where code is; refuses what would unpack to too much. */
static int read_sections(struct reader *reader) {
  struct dwarf_file *file = reader->file;
  Elf_Scn *scn = NULL;
  uint64_t unpacked = 0;
  file->code = calloc(CODE_SECTIONS_MAX, sizeof *file->code);
  if (file->code == NULL) return -ENOMEM;
  while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
    GElf_Shdr section;
    GElf_Chdr packed;
    if (gelf_getshdr(scn, &section) == NULL) return -EBADMSG;
    const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
    if ((section.sh_flags & SHF_COMPRESSED) != 0 && gelf_getchdr(scn, &packed) != NULL)
      unpacked += packed.ch_size < UNPACKED_BYTES_MAX ? packed.ch_size : UNPACKED_BYTES_MAX;
    if (unpacked > UNPACKED_BYTES_MAX) return -EOVERFLOW;
    if ((section.sh_flags & code) != code || file->code_count == CODE_SECTIONS_MAX) continue;
    uint64_t end = section.sh_addr + section.sh_size;
    if (end > section.sh_addr)
      file->code[file->code_count++] = (struct code_range){section.sh_addr, end};
  }
  qsort(file->code, file->code_count, sizeof *file->code, compare_code);
  reader->context.code = file->code;
  reader->context.code_count = file->code_count;
  return 0;
}

/* Opens libdw's handle, or opens it anew. */
static int open_handle(struct reader *reader) {
  struct dwarf_file *file = reader->file;
  if (file->dwarf != NULL) dwarf_end(file->dwarf);
  table_clear(&reader->context.files); /* paths were in its memory */
  file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
  if (file->dwarf == NULL) {
    snprintf(reader->why, reader->why_len, "its debug information cannot be read: %s",
             dwarf_errmsg(-1));
    return -EBADMSG;
  }
  dwarf_new_oom_handler(file->dwarf, on_out_of_memory);
  return 0;
}

static int read_unit(struct reader *reader, Dwarf_Off offset, uint64_t bytes) {
  struct dwarf_context *context = &reader->context;
  Dwarf_Die unit;
  if (dwarf_offdie(reader->file->dwarf, offset, &unit) == NULL) {
    context->malformed++;
    return 0;
  }
  int tag = dwarf_tag(&unit);
  if (tag == DW_TAG_invalid) context->malformed++;
  if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) return 0;
  if (dwarf_hasattr(&unit, DW_AT_dwo_name) || dwarf_hasattr(&unit, DW_AT_GNU_dwo_name))
    context->split++;
  unit_rows_clear(&context->rows);
  int error = dwarf_functions_read(context, &unit, bytes);
  if (error == 0) error = dwarf_lines_read(context, &unit);
  return error != 0 ? error : unit_rows_merge(&context->rows, context->map);
}

static int read_units(struct reader *reader) {
  Dwarf_Off at = 0, next;
  size_t header_bytes;
  int error = 0;
  for (uint32_t count = 0; error == 0; count++, at = next) {
    if (count % UNITS_PER_HANDLE == 0) error = open_handle(reader);
    if (error != 0) break;
    int result = dwarf_next_unit(reader->file->dwarf, at, &next, &header_bytes, NULL, NULL, NULL,
                                 NULL, NULL, NULL);
    if (result < 0) reader->context.malformed++;
    if (result != 0) break;
    if (count == UNITS_MAX) return -EOVERFLOW;
    error = read_unit(reader, at + header_bytes, next - at);
  }
  return error;
}

/* Says what of the debug information could not be had. */
static void say_what_is_missing(struct reader *reader) {
  const struct dwarf_context *context = &reader->context;
  if (context->split > 0)
    snprintf(reader->why, reader->why_len,
             "inlined functions of %u units are in .dwo files (split DWARF), which cannot be read",
             context->split);
  else if (context->nameless > 0)
    snprintf(reader->why, reader->why_len,
             "%u functions have their names in another file (.gnu_debugaltlink)",
             context->nameless);
  else if (context->malformed > 0)
    snprintf(reader->why, reader->why_len, "debug information of %u units is malformed",
             context->malformed);
}

static void say_why_not(struct reader *reader, int error) {
  if (reader->why[0] != '\0') return;
  const char *what = error == -EOVERFLOW ? "its debug information is over a limit"
                     : error == -ENOMEM  ? "its debug information takes more memory than is allowed"
                                         : "its debug information cannot be read";
  snprintf(reader->why, reader->why_len, "%s", what);
}

static int read_file(struct reader *reader, struct span image) {
  reader->file->elf = elf_memory((char *)(uintptr_t)image.data, image.len);
  if (reader->file->elf == NULL) return -EBADMSG;
  int error = read_sections(reader);
  if (error == 0) error = read_units(reader);
  if (error == 0) error = source_files_settle(reader->context.map, reader->context.names);
  if (error == 0) source_map_settle(reader->context.map);
  return error;
}

static int read_within_memory(struct reader *reader, struct span image) {
  if (setjmp(memory_ran_out) == 0) return read_file(reader, image);
  reader->file->dwarf = NULL; /* in what state nobody knows */
  return -ENOMEM;
}

int dwarf_file_read(struct span image, struct index_names *names, struct source_map *map,
                    struct symbol_set *set, struct dwarf_file **ret, char *why, size_t why_len) {
  struct reader reader = {.file = calloc(1, sizeof *reader.file),
                          .context = {.names = names, .map = map, .set = set},
                          .why = why,
                          .why_len = why_len};
  why[0] = '\0';
  if (reader.file == NULL) return -ENOMEM;
  int error = read_within_memory(&reader, image);
  unit_rows_fini(&reader.context.rows);
  buf_fini(&reader.context.path);
  table_fini(&reader.context.functions);
  table_fini(&reader.context.files);
  if (error != 0) {
    say_why_not(&reader, error);
    dwarf_file_close(reader.file);
    return error;
  }
  say_what_is_missing(&reader);
  *ret = reader.file;
  return 0;
}
