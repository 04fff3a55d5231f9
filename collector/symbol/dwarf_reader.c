/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the units of a file one at a time; each is freed before the next.

   libdw keeps decoded data (line tables, abbreviations) until its handle is closed. So the handle
   is reopened every UNITS_PER_HANDLE units; the file and its unpacked sections stay. When libdw is
   out of memory it calls a handler that must not return. The handler calls longjmp, and libdw's
   memory is lost, in a process that ends soon.

   Link-time optimization by GCC makes a unit of code from all sources, which refers to entries of
   their units. That unit may stand before or after the others, so a first pass looks for it. It is
   read last, when the names in the other units are known.

   Names that `dwz -m` moved to another file (.gnu_debugaltlink) are found if that file is among the
   supplements. The reader reports information that it could not find. */
#include "dwarf_reader.h"

#include "common/hex_text.h"
#include "dwarf_split.h"
#include "dwarf_unit.h"
#include "elf_packed.h"
#include "object_relocate.h"
#include "source_files.h"
#include "source_path.h"
#include "symbol_set.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  UNITS_PER_HANDLE = 64,
  UNITS_MAX = 1 << 20,
  CODE_SECTIONS_MAX = 1 << 16,
  MISSING_BYTES = 96,
};

struct dwarf_file {
  Elf *elf;
  Dwarf *dwarf;       /* may be NULL */
  Elf *alternate_elf; /* the file of .gnu_debugaltlink; this and the next may be NULL */
  Dwarf *alternate;
  struct dwarf_splits *splits; /* .dwo and .dwp files; or NULL */
  struct elf_packed packed;
  struct code_range *code;
  size_t code_count;
  struct dwarf_scopes scopes; /* holds texts that symbols borrow */
  uint32_t missing_units;
};

/* The passes over all units, in order. READ_OTHERS counts malformed units. */
enum pass { FIND_OPTIMIZED, READ_OTHERS, READ_OPTIMIZED };

struct reader {
  const struct dwarf_input *input;
  struct dwarf_file *file;
  struct dwarf_context context;
  bool is_object;
  bool has_optimized;          /* a unit of link-time optimization was found */
  char missing[MISSING_BYTES]; /* the end of the name of the first .dwo file that was not found */
  const char *alternate_name;  /* of the file of .gnu_debugaltlink */
  struct span alternate_id;    /* its build-id; empty: there is none */
  char *why;
  size_t why_len;
};

static jmp_buf memory_ran_out; /* the process has one thread */

_Noreturn static void on_out_of_memory(void) {
  longjmp(memory_ran_out, 1);
}

void dwarf_file_close(struct dwarf_file *file) {
  if (file == NULL) return;
  if (file->dwarf != NULL) dwarf_end(file->dwarf);
  if (file->alternate != NULL) dwarf_end(file->alternate);
  if (file->elf != NULL) elf_end(file->elf);
  if (file->alternate_elf != NULL) elf_end(file->alternate_elf);
  dwarf_splits_close(file->splits);
  elf_packed_fini(&file->packed);
  dwarf_scopes_fini(&file->scopes);
  free(file->code);
  free(file);
}

uint32_t dwarf_file_missing(const struct dwarf_file *file) {
  return file->missing_units;
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

/* Returns the folder that the unit CU was compiled in; "" if it is unknown. */
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
  const char *folder = path[0] == '/' ? "" : folder_of(cu);
  if (folder[0] == '\0' && path[0] != '/' && context->skeleton != NULL)
    folder = folder_of(context->skeleton);
  source_path_join(folder, path, &context->path);
  int error = context->path.failed ? -ENOMEM : 0;
  if (error == 0) error = source_map_add_file(context->map, buf_span(&context->path), ret);
  return error != 0 ? error : table_add(&context->files, place, *ret);
}

static int compare_code(const void *left, const void *right) {
  const struct code_range *a = left, *b = right;
  return a->start < b->start ? -1 : a->start > b->start;
}

/* In an object file only .text has an address. */
static bool is_text(Elf *elf, const GElf_Shdr *section) {
  size_t names;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  const char *name = elf_strptr(elf, names, section->sh_name);
  return name != NULL && strcmp(name, ".text") == 0;
}

/* Fills in the addresses of an object file. */
static int prepare_object(struct reader *reader) {
  GElf_Ehdr header;
  if (gelf_getehdr(reader->file->elf, &header) == NULL) return -EBADMSG;
  reader->is_object = header.e_type == ET_REL;
  return reader->is_object ? object_relocate(reader->file->elf) : 0;
}

/* Finds the ranges of code. */
static int read_sections(struct reader *reader) {
  struct dwarf_file *file = reader->file;
  Elf_Scn *scn = NULL;
  file->code = calloc(CODE_SECTIONS_MAX, sizeof *file->code);
  if (file->code == NULL) return -ENOMEM;
  while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
    GElf_Shdr section;
    const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
    if (gelf_getshdr(scn, &section) == NULL) return -EBADMSG;
    if ((section.sh_flags & code) != code || file->code_count == CODE_SECTIONS_MAX) continue;
    if (reader->is_object && !is_text(file->elf, &section)) continue;
    uint64_t end = section.sh_addr + section.sh_size;
    if (end > section.sh_addr)
      file->code[file->code_count++] = (struct code_range){section.sh_addr, end};
  }
  qsort(file->code, file->code_count, sizeof *file->code, compare_code);
  reader->context.code = file->code;
  reader->context.code_count = file->code_count;
  return 0;
}

/* Opens the supplement IMAGE as the alternate file if its build-id is ID. */
static void try_alternate(struct reader *reader, struct span image, struct span id) {
  struct dwarf_file *file = reader->file;
  const void *bytes;
  char why[128];
  Elf *elf = elf_memory((char *)(uintptr_t)image.data, image.len);
  if (elf == NULL) return;
  ssize_t len = dwelf_elf_gnu_build_id(elf, &bytes);
  bool is_wanted = len > 0 && span_is_equal(span_of(bytes, (size_t)len), id);
  if (is_wanted && elf_packed_open(&file->packed, elf, why, sizeof why) == 0)
    file->alternate = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
  if (file->alternate == NULL) {
    elf_end(elf);
    return;
  }
  file->alternate_elf = elf;
  dwarf_new_oom_handler(file->alternate, on_out_of_memory);
}

/* Sets the alternate file of the handle (.gnu_debugaltlink) if it is among the supplements. */
static void set_alternate(struct reader *reader) {
  struct dwarf_file *file = reader->file;
  const char *name;
  const void *id;
  ssize_t len = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &id);
  if (len <= 0) return;
  reader->alternate_id = span_of(id, (size_t)len);
  reader->alternate_name = name;
  for (uint32_t i = 0; file->alternate == NULL && i < reader->input->supplement_count; i++)
    try_alternate(reader, reader->input->supplements[i], reader->alternate_id);
  dwarf_setalt(file->dwarf, file->alternate);
}

/* Opens or reopens libdw's handle. */
static int open_handle(struct reader *reader) {
  struct dwarf_file *file = reader->file;
  if (file->dwarf != NULL) dwarf_end(file->dwarf);
  table_clear(&reader->context.files); /* paths were in the handle's memory */
  file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
  if (file->dwarf == NULL) {
    snprintf(reader->why, reader->why_len, "its debug information cannot be read: %s",
             dwarf_errmsg(-1));
    return -EBADMSG;
  }
  dwarf_new_oom_handler(file->dwarf, on_out_of_memory);
  set_alternate(reader);
  return 0;
}

/* Returns TEXT, or the part of its end that fits in ROOM. */
static const char *end_of(const char *text, size_t room) {
  size_t len = strlen(text);
  return len > room ? text + len - room : text;
}

static const char *text_of(Dwarf_Die *unit, unsigned name, unsigned gnu_name) {
  Dwarf_Attribute attribute;
  const char *text = dwarf_formstring(dwarf_attr(unit, name, &attribute));
  if (text == NULL) text = dwarf_formstring(dwarf_attr(unit, gnu_name, &attribute));
  return text != NULL ? text : "";
}

/* Records that the .dwo unit of SKELETON was not found. */
static void note_missing(struct reader *reader, Dwarf_Die *skeleton) {
  struct buf *list = reader->input->missing;
  const char *name = text_of(skeleton, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
  const char *folder = text_of(skeleton, DW_AT_comp_dir, DW_AT_comp_dir);
  if (reader->context.split++ == 0)
    snprintf(reader->missing, sizeof reader->missing, "%s", end_of(name, MISSING_BYTES - 1));
  if (list == NULL || reader->context.split > DWARF_MISSING_MAX) return;
  buf_append(list, folder, strlen(folder) + 1);
  buf_append(list, name, strlen(name) + 1);
}

/* Reads the functions of the .dwo unit of SKELETON if that unit is available. */
static int read_split(struct reader *reader, Dwarf_Die *skeleton) {
  struct dwarf_file *file = reader->file;
  struct dwarf_context *context = &reader->context;
  struct split_unit unit;
  int error = 0;
  if (file->splits == NULL)
    error = dwarf_splits_open(reader->input->supplements, reader->input->supplement_count,
                              &file->packed, &file->splits);
  if (error == 0) error = split_unit_open(file->splits, file->elf, skeleton, &unit);
  if (error == -ENOENT) note_missing(reader, skeleton);
  if (error == -EBADMSG) context->malformed++;
  if (error != 0) return error == -ENOMEM ? error : 0;
  dwarf_new_oom_handler(unit.dwarf, on_out_of_memory);
  context->skeleton = skeleton->cu;
  context->range_base = unit.base;
  error = dwarf_functions_read(context, &unit.die, unit.bytes);
  context->skeleton = NULL;
  context->range_base = 0;
  table_clear(&context->files); /* paths were in the handle's memory */
  split_unit_close(&unit);
  return error;
}

static bool is_of_optimization(Dwarf_Die *unit) {
  const char *name = dwarf_diename(unit);
  return name != NULL && strcmp(name, "<artificial>") == 0;
}

static int read_unit(struct reader *reader, Dwarf_Off offset, uint64_t bytes, enum pass pass) {
  struct dwarf_context *context = &reader->context;
  Dwarf_Die unit;
  if (dwarf_offdie(reader->file->dwarf, offset, &unit) == NULL) {
    context->malformed += pass == READ_OTHERS;
    return 0;
  }
  int tag = dwarf_tag(&unit);
  if (tag == DW_TAG_invalid) context->malformed += pass == READ_OTHERS;
  if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) return 0;
  bool is_optimized = is_of_optimization(&unit);
  reader->has_optimized |= is_optimized;
  if (pass == FIND_OPTIMIZED || is_optimized != (pass == READ_OPTIMIZED)) return 0;
  bool is_split = dwarf_hasattr(&unit, DW_AT_dwo_name) || dwarf_hasattr(&unit, DW_AT_GNU_dwo_name);
  unit_rows_clear(&context->rows);
  int error = dwarf_functions_read(context, &unit, bytes);
  if (reader->has_optimized) dwarf_scopes_complete(context->scopes);
  if (error == 0 && is_split) error = read_split(reader, &unit);
  if (error == 0) error = dwarf_lines_read(context, &unit);
  return error != 0 ? error : unit_rows_merge(&context->rows, context->map);
}

static int read_units(struct reader *reader, enum pass pass) {
  Dwarf_Off at = 0, next;
  size_t header_bytes;
  int error = 0;
  for (uint32_t count = 0; error == 0; count++, at = next) {
    if (count % UNITS_PER_HANDLE == 0) error = open_handle(reader);
    if (error != 0) break;
    int result = dwarf_next_unit(reader->file->dwarf, at, &next, &header_bytes, NULL, NULL, NULL,
                                 NULL, NULL, NULL);
    if (result < 0) reader->context.malformed += pass == READ_OTHERS;
    if (result != 0 || (pass == FIND_OPTIMIZED && reader->has_optimized)) break;
    if (count == UNITS_MAX) return -EOVERFLOW;
    error = read_unit(reader, at + header_bytes, next - at, pass);
  }
  return error;
}

/* Reports how many functions have their names in a missing file, and its name. */
static void say_whats_elsewhere(struct reader *reader) {
  struct span id = reader->alternate_id;
  int len = snprintf(reader->why, reader->why_len,
                     "dwz: %s is not there, which %u functions have their names in "
                     "(.gnu_debugaltlink), build-id ",
                     end_of(reader->alternate_name, MISSING_BYTES), reader->context.nameless);
  if ((size_t)len < reader->why_len)
    hex_text_print(id, reader->why + len, reader->why_len - (size_t)len);
}

/* Reports the debug information that could not be found. */
static void say_what_is_missing(struct reader *reader) {
  const struct dwarf_context *context = &reader->context;
  if (context->split > 0)
    snprintf(reader->why, reader->why_len,
             "split DWARF: %s is not there%s: functions of %u units are without inlined ones",
             reader->missing, context->split > 1 ? ", nor are others" : "", context->split);
  else if (context->nameless > 0 && reader->alternate_id.len > 0 && reader->file->alternate == NULL)
    say_whats_elsewhere(reader);
  else if (context->nameless > 0 && reader->alternate_id.len > 0)
    snprintf(reader->why, reader->why_len,
             "%u functions have no names, also not in the other file (.gnu_debugaltlink)",
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

static int read_file(struct reader *reader) {
  struct span image = reader->input->image;
  reader->file->elf = elf_memory((char *)(uintptr_t)image.data, image.len);
  if (reader->file->elf == NULL) return -EBADMSG;
  int error =
      elf_packed_open(&reader->file->packed, reader->file->elf, reader->why, reader->why_len);
  if (error == 0) error = prepare_object(reader);
  if (error == 0) error = read_sections(reader);
  if (error == 0) error = read_units(reader, FIND_OPTIMIZED);
  if (error == 0) error = read_units(reader, READ_OTHERS);
  if (error == 0 && reader->has_optimized) error = read_units(reader, READ_OPTIMIZED);
  if (error == 0) error = source_files_settle(reader->context.map, reader->context.names);
  if (error == 0) source_map_settle(reader->context.map);
  return error;
}

static int read_within_memory(struct reader *reader) {
  if (setjmp(memory_ran_out) == 0) return read_file(reader);
  reader->file->dwarf = reader->file->alternate = NULL; /* their state is undefined now */
  return -ENOMEM;
}

int dwarf_file_read(const struct dwarf_input *input, struct index_names *names,
                    struct source_map *map, struct symbol_set *set, struct dwarf_file **ret,
                    char *why, size_t why_len) {
  struct reader reader = {.input = input,
                          .file = calloc(1, sizeof *reader.file),
                          .context = {.names = names, .map = map, .set = set},
                          .why = why,
                          .why_len = why_len};
  why[0] = '\0';
  if (reader.file == NULL) return -ENOMEM;
  reader.context.scopes = &reader.file->scopes;
  int error = read_within_memory(&reader);
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
  reader.file->missing_units = reader.context.split;
  *ret = reader.file;
  return 0;
}
