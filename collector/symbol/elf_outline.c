/* SPDX-License-Identifier: Apache-2.0 */
/* Section headers take precedence over program headers. `objcopy --only-keep-debug` keeps the
   program headers of the original file, which refer to bytes that are gone. Segments are read only
   in a file without sections. */
#include "elf_outline.h"

#include <errno.h>

static void judge_section(const struct elf_file *file, const struct elf_header_part *section,
                          struct elf_outline *ret) {
  const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
  if (section->type == SHT_NOBITS || section->bytes == 0) return;
  if (section->type == SHT_DYNSYM) ret->has_dynsym = true;
  if (section->type == SHT_SYMTAB) ret->has_symtab = true;
  if (section->type != SHT_PROGBITS) return;
  if ((section->flags & code) == code)
    ret->has_code = true;
  else if (!ret->has_dwarf && (elf_file_is_named(file, section, ".debug_info") ||
                               elf_file_is_named(file, section, ".zdebug_info")))
    ret->has_dwarf = true;
  else if (!ret->has_packed_symtab && elf_file_is_named(file, section, ".gnu_debugdata"))
    ret->has_packed_symtab = true;
  else if (!ret->is_kernel_module && elf_file_is_named(file, section, ".gnu.linkonce.this_module"))
    ret->is_kernel_module = true;
}

static bool has_code_segment(const struct elf_file *file) {
  struct elf_header_part head;
  for (uint32_t i = 0; elf_file_segment(file, i, &head); i++)
    if (head.type == PT_LOAD && (head.flags & PF_X) != 0 && head.bytes > 0) return true;
  return false;
}

static int open_file(elf_read *read, void *context, struct elf_file *ret) {
  int error = elf_file_open(read, context, ret);
  if (error == 0) error = ret->segments_error;
  return error == 0 ? ret->sections_error : error;
}

int elf_outline_make(elf_read *read, void *context, struct elf_outline *ret) {
  struct elf_file file;
  struct elf_header_part section;
  int error = open_file(read, context, &file);
  if (error != 0) return error;
  struct elf_outline outline = {.type = file.type, .machine = file.machine};
  for (uint32_t i = 0; i < file.section_count; i++) {
    if (!elf_file_section(&file, i, &section)) return -EBADMSG;
    judge_section(&file, &section, &outline);
  }
  if (file.section_count == 0) outline.has_code = has_code_segment(&file);
  outline.build_id_len = elf_file_build_id(&file, outline.build_id, sizeof outline.build_id);
  *ret = outline;
  return 0;
}

int elf_outline_find_section(elf_read *read, void *context, const char *name,
                             struct elf_section_place *ret) {
  struct elf_file file;
  struct elf_header_part section;
  int error = open_file(read, context, &file);
  if (error != 0) return error;
  for (uint32_t i = 0; i < file.section_count; i++) {
    if (!elf_file_section(&file, i, &section)) return -EBADMSG;
    if (section.type == SHT_NULL || section.type == SHT_NOBITS || section.bytes == 0) continue;
    if (!elf_file_is_named(&file, &section, name)) continue;
    *ret = (struct elf_section_place){section.offset, section.bytes};
    return 0;
  }
  return -ENOENT;
}
