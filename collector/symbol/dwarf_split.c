/* SPDX-License-Identifier: Apache-2.0 */
/* Gives libdw each split unit as a file of its own. libdw would look for .dwo files by path, which
   is impossible in this process, and the version of this build does not support .dwp files. But a
   split unit needs little of its skeleton: addresses, the base of its ranges, and sometimes the
   names of its files. So each file has headers made here, the unit's parts of the .dwo or .dwp
   file, and the skeleton's parts of the module's file. Each part is cut to begin at the unit's
   offset in the skeleton. Only range lists are copied: libelf gets pointers to the other bytes. */
#include "dwarf_split.h"

#include "common/table.h"
#include "dwp_index.h"
#include "elf_packed.h"
#include "range_lists.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNITS_A_FILE_MAX = 4096 }; /* a .dwo has one unit and types, but `ld -r` joins some */

/* The parts of a unit's file. */
enum part { INFO, ABBREV, LINE, STR_OFFSETS, RNGLISTS, STR, ADDR, RANGES, LINE_STR, PARTS };

static const char *const part_names[PARTS] = {
    ".debug_info", ".debug_abbrev", ".debug_line",   ".debug_str_offsets", ".debug_rnglists",
    ".debug_str",  ".debug_addr",   ".debug_ranges", ".debug_line_str",
};
_Static_assert((int)DWP_INFO == INFO && (int)DWP_RNGLISTS == RNGLISTS, "parts of a .dwp");

struct split_file {
  Elf *elf;
  struct span parts[PARTS];
  struct span index; /* of a .dwp; empty: a .dwo */
};

struct dwarf_splits {
  struct split_file *files;
  uint32_t count;
  struct table by_id; /* of a unit in a .dwo -> number of its file */
};

static bool is_big_endian(Elf *elf) {
  const char *ident = elf_getident(elf, NULL);
  return ident != NULL && ident[EI_DATA] == ELFDATA2MSB;
}

/* Whether INFO begins with a type unit. In a .dwo each of them has its own section. */
static bool is_of_types(struct span info) {
  static const uint8_t long_form[4] = {0xff, 0xff, 0xff, 0xff};
  size_t at = info.len > 4 && memcmp(info.data, long_form, 4) == 0 ? 12 : 4;
  if (info.len < at + 3 || info.data[at] + info.data[at + 1] < 5) return false;
  return info.data[at + 2] == DW_UT_split_type || info.data[at + 2] == DW_UT_type;
}

/* Returns the bytes of section NAME of ELF, unpacked; empty if there is none. */
static struct span section_bytes(Elf *elf, const char *name) {
  size_t names;
  struct span types = {0};
  Elf_Scn *scn = NULL;
  if (elf_getshdrstrndx(elf, &names) != 0) return span_of(NULL, 0);
  while ((scn = elf_nextscn(elf, scn)) != NULL) {
    GElf_Shdr section;
    if (gelf_getshdr(scn, &section) == NULL) break;
    const char *text = elf_strptr(elf, names, section.sh_name);
    bool is_old = text != NULL && strncmp(text, ".z", 2) == 0 && strcmp(text + 2, name + 1) == 0;
    if (text == NULL || section.sh_type == SHT_NOBITS) continue;
    if (!is_old && strcmp(text, name) != 0) continue;
    if (is_old) elf_compress_gnu(scn, 0, 0); /* fails if it is already unpacked */
    if ((section.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(scn, 0, 0) < 0) break;
    Elf_Data *bytes = elf_rawdata(scn, NULL);
    if (bytes == NULL || bytes->d_buf == NULL) break;
    struct span found = span_of(bytes->d_buf, bytes->d_size);
    if (strcmp(name, ".debug_info.dwo") != 0 || !is_of_types(found)) return found;
    if (types.len == 0) types = found; /* in a .dwp all units are in one section */
  }
  return types;
}

static struct span cut(struct span bytes, uint64_t offset, uint64_t len) {
  if (offset > bytes.len || len > bytes.len - offset) return span_of(NULL, 0);
  return span_of(bytes.data + offset, (size_t)len);
}

static struct span cut_from(struct span bytes, uint64_t offset) {
  return offset > bytes.len ? span_of(NULL, 0) : cut(bytes, offset, bytes.len - offset);
}

/* Appends the structure FROM in the byte order DATA. */
static void append_as(struct buf *out, const void *from, size_t len, Elf_Type type, unsigned data) {
  uint8_t bytes[64];
  Elf_Data source = {
      .d_buf = (void *)(uintptr_t)from, .d_type = type, .d_size = len, .d_version = EV_CURRENT};
  Elf_Data target = {
      .d_buf = bytes, .d_type = type, .d_size = sizeof bytes, .d_version = EV_CURRENT};
  if (elf64_xlatetof(&target, &source, data) != NULL) buf_append(out, bytes, len);
}

enum { NAME_BYTES = 32, SECTIONS_MAX = PARTS + 2 };

static void put_name(char *names, unsigned number, const char *name) {
  snprintf(names + (size_t)NAME_BYTES * number, NAME_BYTES, "%s", name);
}

/* Makes the headers of a file with a section for each present part. Each section is a placeholder
   of one byte, to which put_parts assigns the part's bytes. */
static int make_image(const struct span parts[PARTS], unsigned data, struct buf *out) {
  static const char zeros[SECTIONS_MAX * NAME_BYTES];
  char names[SECTIONS_MAX * NAME_BYTES];
  unsigned count = 1;
  const uint64_t names_at = sizeof(Elf64_Ehdr), sections_at = names_at + sizeof names;
  memcpy(names, zeros, sizeof names);
  for (unsigned i = 0; i < PARTS; i++)
    if (parts[i].len > 0) put_name(names, count++, part_names[i]);
  Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, (uint8_t)data, EV_CURRENT},
                       .e_type = ET_EXEC,
                       .e_version = EV_CURRENT,
                       .e_shoff = sections_at,
                       .e_ehsize = sizeof header,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = (uint16_t)(count + 1),
                       .e_shstrndx = (uint16_t)count};
  put_name(names, count, ".shstrtab");
  append_as(out, &header, sizeof header, ELF_T_EHDR, data);
  buf_append(out, names, sizeof names);
  for (unsigned i = 0; i <= count; i++) {
    Elf64_Shdr section = {.sh_name = NAME_BYTES * i,
                          .sh_type = SHT_PROGBITS,
                          .sh_offset = names_at,
                          .sh_size = i < count ? 1 : sizeof names,
                          .sh_addralign = 1};
    if (i == 0) section = (Elf64_Shdr){.sh_type = SHT_NULL};
    if (i == count) section.sh_type = SHT_STRTAB;
    append_as(out, &section, sizeof section, ELF_T_SHDR, data);
  }
  return out->failed ? -ENOMEM : 0;
}

/* Makes libelf use the bytes of PARTS as those of the sections. */
static bool put_parts(Elf *elf, const struct span parts[PARTS]) {
  Elf_Scn *scn = NULL;
  for (unsigned i = 0; i < PARTS; i++) {
    if (parts[i].len == 0) continue;
    scn = elf_nextscn(elf, scn);
    Elf_Data *raw = scn != NULL ? elf_rawdata(scn, NULL) : NULL;
    Elf_Data *data = scn != NULL ? elf_getdata(scn, NULL) : NULL;
    if (raw == NULL || data == NULL) return false;
    raw->d_buf = data->d_buf = (void *)(uintptr_t)parts[i].data;
    raw->d_size = data->d_size = parts[i].len;
  }
  return true;
}

/* Opens PARTS in libdw as a file. */
static int show_parts(const struct span parts[PARTS], bool is_big, struct split_unit *unit) {
  int error = make_image(parts, is_big ? ELFDATA2MSB : ELFDATA2LSB, &unit->image);
  if (error != 0) return error;
  unit->elf = elf_memory((char *)unit->image.data, unit->image.len);
  if (unit->elf == NULL || !put_parts(unit->elf, parts)) return -EBADMSG;
  unit->dwarf = dwarf_begin_elf(unit->elf, DWARF_C_READ, NULL);
  return unit->dwarf != NULL ? 0 : -EBADMSG;
}

/* ---- the files ---- */

/* Notes the units of FILE, a .dwo or an object file that has .dwo sections beside its own. libdw
   gets only these sections, because it would read the others. Returns 0 or -ENOMEM. */
static int note_units(struct dwarf_splits *splits, struct split_file *file) {
  struct split_unit unit = {0};
  Dwarf_CU *cu = NULL;
  int error = show_parts(file->parts, is_big_endian(file->elf), &unit);
  bool is_shown = error == 0;
  if (error == -EBADMSG) error = 0;
  for (unsigned i = 0; is_shown && error == 0 && i < UNITS_A_FILE_MAX; i++) {
    uint8_t type;
    uint64_t id;
    if (dwarf_get_units(unit.dwarf, cu, &cu, NULL, &type, NULL, NULL) != 0) break;
    if (type != DW_UT_split_compile) continue;
    if (dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) == 0)
      error = table_add(&splits->by_id, id, (uint32_t)(file - splits->files));
  }
  split_unit_close(&unit);
  return error;
}

static int open_file(struct dwarf_splits *splits, struct span image, struct elf_packed *packed) {
  char why[128];
  struct split_file *file = &splits->files[splits->count];
  *file = (struct split_file){.elf = elf_memory((char *)(uintptr_t)image.data, image.len)};
  if (file->elf == NULL) return 0;
  bool is_good =
      elf_kind(file->elf) == ELF_K_ELF && elf_packed_open(packed, file->elf, why, sizeof why) == 0;
  for (unsigned i = INFO; is_good && i <= STR; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s.dwo", part_names[i]);
    file->parts[i] = section_bytes(file->elf, name);
  }
  if (!is_good || file->parts[INFO].len == 0) {
    elf_end(file->elf);
    return 0;
  }
  splits->count++;
  file->index = section_bytes(file->elf, ".debug_cu_index");
  return file->index.len == 0 ? note_units(splits, file) : 0;
}

int dwarf_splits_open(const struct span *supplements, uint32_t count, struct elf_packed *packed,
                      struct dwarf_splits **ret) {
  struct dwarf_splits *splits = calloc(1, sizeof *splits);
  if (splits == NULL) return -ENOMEM;
  splits->files = calloc(count > 0 ? count : 1, sizeof *splits->files);
  int error = splits->files == NULL ? -ENOMEM : 0;
  for (uint32_t i = 0; error == 0 && i < count; i++)
    error = open_file(splits, supplements[i], packed);
  if (error != 0) {
    dwarf_splits_close(splits);
    return error;
  }
  *ret = splits;
  return 0;
}

void dwarf_splits_close(struct dwarf_splits *splits) {
  if (splits == NULL) return;
  for (uint32_t i = 0; i < splits->count; i++) elf_end(splits->files[i].elf);
  table_fini(&splits->by_id);
  free(splits->files);
  free(splits);
}

/* ---- one unit ---- */

/* Finds the parts of unit ID in the .dwo and .dwp files. */
static int find_parts(const struct dwarf_splits *splits, uint64_t id, struct span parts[PARTS]) {
  uint32_t cursor, number = table_find(&splits->by_id, id, &cursor);
  if (number != TABLE_NONE) {
    memcpy(parts, splits->files[number].parts, sizeof splits->files[number].parts);
    return 0;
  }
  for (uint32_t i = 0; i < splits->count; i++) {
    const struct split_file *file = &splits->files[i];
    struct dwp_unit unit;
    if (file->index.len == 0) continue;
    if (dwp_index_find(file->index, is_big_endian(file->elf), id, &unit) != 0) continue;
    for (unsigned p = 0; p < DWP_SECTIONS; p++)
      parts[p] = cut(file->parts[p], unit.parts[p].offset, unit.parts[p].bytes);
    parts[STR] = file->parts[STR];
    return 0;
  }
  return -ENOENT;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name, unsigned gnu_name) {
  Dwarf_Attribute attribute;
  Dwarf_Word number;
  if (dwarf_attr(die, name, &attribute) == NULL && dwarf_attr(die, gnu_name, &attribute) == NULL)
    return 0;
  return dwarf_formudata(&attribute, &number) == 0 ? number : 0;
}

/* Adds the parts of the unit of SKELETON that are in MAIN, and rebases its own that are relative to
   them. */
static int add_main_parts(Elf *main, Dwarf_Die *skeleton, unsigned version,
                          struct span parts[PARTS], struct split_unit *unit) {
  Dwarf_Addr base;
  if (dwarf_lowpc(skeleton, &base) != 0) base = 0;
  parts[ADDR] = cut_from(section_bytes(main, part_names[ADDR]),
                         number_of(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base));
  if (parts[LINE].len == 0) { /* it uses the skeleton's files */
    parts[LINE] = cut_from(section_bytes(main, part_names[LINE]),
                           number_of(skeleton, DW_AT_stmt_list, DW_AT_stmt_list));
    parts[LINE_STR] = section_bytes(main, part_names[LINE_STR]);
  }
  if (version < 5) {
    uint64_t ranges = number_of(skeleton, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
    parts[RANGES] = cut_from(section_bytes(main, part_names[RANGES]), ranges);
    unit->base = base;
    return 0;
  }
  if (parts[RNGLISTS].len == 0) return 0;
  int error = range_lists_rebase(parts[RNGLISTS], is_big_endian(main), base, &unit->ranges);
  parts[RNGLISTS] = error == 0 ? buf_span(&unit->ranges) : span_of(NULL, 0);
  return error == -ENOMEM ? error : 0; /* without ranges most of the unit is still usable */
}

static int find_die(struct split_unit *unit, uint64_t id) {
  Dwarf_CU *cu = NULL;
  for (unsigned i = 0; i < UNITS_A_FILE_MAX; i++) {
    uint8_t type;
    uint64_t found;
    if (dwarf_get_units(unit->dwarf, cu, &cu, NULL, &type, &unit->die, NULL) != 0) break;
    if (type == DW_UT_split_compile &&
        dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &found, NULL, NULL) == 0 && found == id)
      return 0;
  }
  return -EBADMSG;
}

static int open_unit(const struct span parts[PARTS], bool is_big, uint64_t id,
                     struct split_unit *unit) {
  int error = show_parts(parts, is_big, unit);
  unit->bytes = parts[INFO].len;
  return error != 0 ? error : find_die(unit, id);
}

int split_unit_open(const struct dwarf_splits *splits, Elf *main, Dwarf_Die *skeleton,
                    struct split_unit *ret) {
  struct span parts[PARTS] = {{0}};
  struct split_unit unit = {0};
  Dwarf_Half version;
  uint64_t id;
  if (dwarf_cu_info(skeleton->cu, &version, NULL, NULL, NULL, &id, NULL, NULL) != 0)
    return -EBADMSG;
  int error = find_parts(splits, id, parts);
  if (error == 0) error = add_main_parts(main, skeleton, version, parts, &unit);
  if (error == 0) error = open_unit(parts, is_big_endian(main), id, &unit);
  if (error != 0)
    split_unit_close(&unit);
  else
    *ret = unit;
  return error;
}

void split_unit_close(struct split_unit *unit) {
  if (unit->dwarf != NULL) dwarf_end(unit->dwarf);
  if (unit->elf != NULL) elf_end(unit->elf);
  buf_fini(&unit->image);
  buf_fini(&unit->ranges);
}
