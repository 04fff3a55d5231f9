/* SPDX-License-Identifier: Apache-2.0 */
/* Only the needed parts of a section are read: the first bytes of its name, a link's name, symbols
   up to the first function. The file may change while it is read: all decisions here are verified
   again by the hash that is sent with the file. */
#include "elf_sections.h"

#include <errno.h>

enum {
  SECTIONS_MAX =
      16384, /* -ffunction-sections multiplies them in objects, which may hold .dwo sections */
  SYMBOLS_A_READ = 64,
  SYMBOLS_LOOKED_AT = 1 << 16,
};

static void read_debuglink(const struct elf_file *file, const struct elf_header_part *section,
                           struct elf_sections *ret) {
  char name[ELF_DEBUGLINK_BYTES] = "";
  size_t len = section->bytes < sizeof name ? (size_t)section->bytes : sizeof name;
  if (file->read(file->context, section->offset, name, len) != len) return;
  if (memchr(name, '\0', len) != NULL) memcpy(ret->debuglink, name, sizeof name);
}

/* A name, followed by the build-id of the file of that name. */
static void read_alternate(const struct elf_file *file, const struct elf_header_part *section,
                           struct elf_sections *ret) {
  uint8_t bytes[ELF_DEBUGLINK_BYTES + LIMIT_MODULE_ID_BYTES];
  if (section->bytes > sizeof bytes) return;
  size_t len = (size_t)section->bytes;
  if (file->read(file->context, section->offset, bytes, len) != len) return;
  const uint8_t *end = memchr(bytes, '\0', len < ELF_DEBUGLINK_BYTES ? len : ELF_DEBUGLINK_BYTES);
  size_t name_bytes = end != NULL ? (size_t)(end - bytes) + 1 : 0;
  if (name_bytes <= 1 || name_bytes == len || len - name_bytes > sizeof ret->alternate_id) return;
  memcpy(ret->alternate, bytes, name_bytes);
  ret->alternate_id_bytes = (uint32_t)(len - name_bytes);
  memcpy(ret->alternate_id, bytes + name_bytes, len - name_bytes);
}

static bool is_function(const struct elf_file *file, const uint8_t *symbol) {
  return ELF64_ST_TYPE(ELF_FIELD(file, symbol, Sym, st_info)) == STT_FUNC &&
         ELF_FIELD(file, symbol, Sym, st_shndx) != SHN_UNDEF;
}

static bool has_functions(const struct elf_file *file, const struct elf_header_part *section) {
  uint8_t piece[SYMBOLS_A_READ * sizeof(Elf64_Sym)];
  size_t size = ELF_SIZE(file, Sym);
  uint64_t count = section->bytes / size;
  if (count > SYMBOLS_LOOKED_AT) count = SYMBOLS_LOOKED_AT;
  for (uint64_t first = 0; first < count; first += SYMBOLS_A_READ) {
    size_t some = (size_t)(count - first < SYMBOLS_A_READ ? count - first : SYMBOLS_A_READ);
    uint64_t at = section->offset + first * size;
    if (file->read(file->context, at, piece, some * size) != some * size) return false;
    for (size_t i = 0; i < some; i++)
      if (is_function(file, piece + i * size)) return true;
  }
  return false;
}

/* Handles the sections that are found by their names. */
static void look_at_name(const struct elf_file *file, const struct elf_header_part *section,
                         struct elf_sections *ret) {
  if (elf_file_is_named(file, section, ".gnu_debuglink"))
    read_debuglink(file, section, ret);
  else if (elf_file_is_named(file, section, ".gnu_debugaltlink"))
    read_alternate(file, section, ret);
  else if (elf_file_is_named(file, section, ".debug_info") ||
           elf_file_is_named(file, section, ".zdebug_info"))
    ret->has_dwarf = true;
  else if (elf_file_is_named(file, section, ".debug_info.dwo") ||
           elf_file_is_named(file, section, ".zdebug_info.dwo"))
    ret->is_split = true;
}

static void look_at(const struct elf_file *file, const struct elf_header_part *section,
                    struct elf_sections *ret) {
  if (section->bytes == 0) return;
  if (section->type == SHT_SYMTAB && !ret->has_functions)
    ret->has_functions = has_functions(file, section);
  else if (section->type == SHT_PROGBITS)
    look_at_name(file, section, ret);
}

int elf_sections_read(elf_read *read, void *context, struct elf_sections *ret) {
  struct elf_file file;
  struct elf_sections found = {.build_id_bytes = 0};
  struct elf_header_part section;
  int rc = elf_file_open(read, context, &file);
  if (rc < 0) return rc;
  if (!elf_file_is_native(&file)) return -EBADMSG;
  if (file.sections_error) return file.sections_error;
  if (file.section_count > SECTIONS_MAX) return -EOVERFLOW;
  for (uint32_t i = 1; i < file.section_count; i++)
    if (elf_file_section(&file, i, &section)) look_at(&file, &section, &found);
  found.build_id_bytes = elf_file_build_id(&file, found.build_id, sizeof found.build_id);
  *ret = found;
  return 0;
}
