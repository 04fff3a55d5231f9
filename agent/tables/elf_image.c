/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of headers are read one at a time, of the file's own word size and byte order, so that
   nothing else knows of either, and nothing depends on how the bytes are aligned.

   A part that reaches beyond the file is cut to what there is, and one that begins beyond it is
   empty: a truncated file is as good as its bytes.  Sections are looked for by name, one after the
   other: that happens a few times a file. */
#include "elf_image.h"

#include <errno.h>

#ifndef EF_ARM_BE8
#define EF_ARM_BE8 0x00800000
#endif

/* Linkers write a dozen; they are gone through for each look at an address. */
enum { SEGMENTS_MAX = 128 };

static struct span cut(struct span file, uint64_t offset, uint64_t len) {
  if (offset >= file.len) return (struct span){0};
  uint64_t there = file.len - offset;
  return span_of(file.data + offset, (size_t)(len < there ? len : there));
}

uint64_t elf_image_number(const struct elf_image *image, const uint8_t *bytes, size_t len) {
  return span_number(span_of(bytes, len), image->is_big_endian);
}

uint64_t elf_image_field(const struct elf_image *image, const uint8_t *bytes,
                         struct elf_field field) {
  return image->is_64 ? elf_image_number(image, bytes + field.at_64, field.bytes_64)
                      : elf_image_number(image, bytes + field.at_32, field.bytes_32);
}

/* Instructions are not always in the order of data: AArch64's and RISC-V's never change, and ARM's
   do not since its sixth version, where linkers turn them round and say so. */
static bool is_code_big_endian(const struct elf_image *image, uint64_t flags) {
  switch (image->machine) {
  case EM_AARCH64:
  case EM_RISCV:
    return false;
  case EM_ARM:
    return image->is_big_endian && (flags & EF_ARM_BE8) == 0;
  default:
    return image->is_big_endian;
  }
}

static int read_ident(struct span file, struct elf_image *ret) {
  struct span ident = cut(file, 0, EI_NIDENT);
  if (ident.len < EI_NIDENT || memcmp(ident.data, ELFMAG, SELFMAG) != 0) return -EBADMSG;
  uint8_t class = ident.data[EI_CLASS], order = ident.data[EI_DATA];
  if (class != ELFCLASS32 && class != ELFCLASS64) return -EBADMSG;
  if (order != ELFDATA2LSB && order != ELFDATA2MSB) return -EBADMSG;
  *ret = (struct elf_image){
      .file = file, .is_64 = class == ELFCLASS64, .is_big_endian = order == ELFDATA2MSB};
  return 0;
}

int elf_image_open(struct span file, struct elf_image *ret) {
  struct elf_image image;
  int rc = read_ident(file, &image);
  if (rc < 0) return rc;
  struct span head = cut(file, 0, ELF_SIZE(&image, Ehdr));
  if (head.len < ELF_SIZE(&image, Ehdr)) return -EBADMSG;
  uint64_t type = ELF_FIELD(&image, head.data, Ehdr, e_type);
  if (type != ET_EXEC && type != ET_DYN) return -EBADMSG;
  image.machine = (uint16_t)ELF_FIELD(&image, head.data, Ehdr, e_machine);
  image.entry = ELF_FIELD(&image, head.data, Ehdr, e_entry);
  image.is_fixed = type == ET_EXEC;
  image.is_code_big_endian =
      is_code_big_endian(&image, ELF_FIELD(&image, head.data, Ehdr, e_flags));
  image.segments_at = ELF_FIELD(&image, head.data, Ehdr, e_phoff);
  image.sections_at = ELF_FIELD(&image, head.data, Ehdr, e_shoff);
  image.names_index = (uint32_t)ELF_FIELD(&image, head.data, Ehdr, e_shstrndx);
  uint32_t segments = (uint32_t)ELF_FIELD(&image, head.data, Ehdr, e_phnum);
  if (ELF_FIELD(&image, head.data, Ehdr, e_phentsize) == ELF_SIZE(&image, Phdr) &&
      segments <= SEGMENTS_MAX)
    image.segment_count = segments;
  if (ELF_FIELD(&image, head.data, Ehdr, e_shentsize) == ELF_SIZE(&image, Shdr))
    image.section_count = (uint32_t)ELF_FIELD(&image, head.data, Ehdr, e_shnum);
  *ret = image;
  return 0;
}

/* ---- segments ---- */

static struct span segment_head(const struct elf_image *image, uint32_t index) {
  size_t bytes = ELF_SIZE(image, Phdr);
  struct span head = cut(image->file, image->segments_at + (uint64_t)index * bytes, bytes);
  return head.len < bytes ? (struct span){0} : head;
}

bool elf_image_segment(const struct elf_image *image, uint32_t type, uint32_t *cursor,
                       struct elf_part *ret) {
  while (*cursor < image->segment_count) {
    struct span head = segment_head(image, *cursor);
    if (head.len == 0) return false;
    ++*cursor;
    if (ELF_FIELD(image, head.data, Phdr, p_type) != type) continue;
    ret->type = type;
    ret->flags = ELF_FIELD(image, head.data, Phdr, p_flags);
    ret->address = ELF_FIELD(image, head.data, Phdr, p_vaddr);
    ret->bytes = cut(image->file, ELF_FIELD(image, head.data, Phdr, p_offset),
                     ELF_FIELD(image, head.data, Phdr, p_filesz));
    return true;
  }
  return false;
}

struct span elf_image_at(const struct elf_image *image, uint64_t address) {
  struct elf_part load;
  for (uint32_t cursor = 0; elf_image_segment(image, PT_LOAD, &cursor, &load);)
    if (address >= load.address && address - load.address < load.bytes.len)
      return cut(load.bytes, address - load.address, load.bytes.len);
  return (struct span){0};
}

/* ---- sections ---- */

static bool read_section(const struct elf_image *image, uint32_t index, Elf64_Shdr *ret) {
  size_t head_bytes = ELF_SIZE(image, Shdr);
  struct span head =
      cut(image->file, image->sections_at + (uint64_t)index * head_bytes, head_bytes);
  if (head.len < head_bytes) return false;
  *ret = (Elf64_Shdr){.sh_name = (uint32_t)ELF_FIELD(image, head.data, Shdr, sh_name),
                      .sh_type = (uint32_t)ELF_FIELD(image, head.data, Shdr, sh_type),
                      .sh_flags = ELF_FIELD(image, head.data, Shdr, sh_flags),
                      .sh_addr = ELF_FIELD(image, head.data, Shdr, sh_addr),
                      .sh_offset = ELF_FIELD(image, head.data, Shdr, sh_offset),
                      .sh_size = ELF_FIELD(image, head.data, Shdr, sh_size)};
  return true;
}

/* A separate debug file has the addresses of the code and not its bytes; its segment may have those
   of the headers before it, where a linker has put both into one. */
static void add_sections(const struct elf_image *image, struct code_ranges *ret) {
  Elf64_Shdr head;
  for (uint32_t i = 0; i < image->section_count && read_section(image, i, &head); i++) {
    if ((head.sh_flags & SHF_EXECINSTR) == 0 || head.sh_size == 0) continue;
    if (head.sh_addr == 0 || head.sh_addr > UINT64_MAX - head.sh_size) continue;
    code_ranges_add(ret, head.sh_addr, head.sh_addr + head.sh_size);
  }
}

static bool code_segment(const struct elf_image *image, uint32_t *cursor, struct elf_part *ret) {
  while (elf_image_segment(image, PT_LOAD, cursor, ret))
    if (ret->flags & PF_X && ret->bytes.len > 0) return true;
  return false;
}

bool elf_image_code_section(const struct elf_image *image, uint32_t *cursor, struct elf_part *ret) {
  Elf64_Shdr head;
  if (image->section_count == 0) return code_segment(image, cursor, ret);
  while (*cursor < image->section_count && read_section(image, *cursor, &head)) {
    ++*cursor;
    if ((head.sh_flags & SHF_EXECINSTR) == 0 || head.sh_type == SHT_NOBITS) continue;
    struct span bytes = cut(image->file, head.sh_offset, head.sh_size);
    *ret = (struct elf_part){head.sh_type, head.sh_flags, head.sh_addr, bytes};
    if (bytes.len > 0) return true;
  }
  return false;
}

bool elf_image_code(const struct elf_image *image, struct code_ranges *ret) {
  struct elf_part part;
  uint32_t cursor = 0;
  *ret = (struct code_ranges){0};
  while (code_segment(image, &cursor, &part))
    if (part.address <= UINT64_MAX - part.bytes.len)
      code_ranges_add(ret, part.address, part.address + part.bytes.len);
  cursor = 0;
  if (ret->count == 0 || !elf_image_code_section(image, &cursor, &part)) add_sections(image, ret);
  return ret->count > 0;
}

bool elf_image_section(const struct elf_image *image, const char *name, struct elf_part *ret) {
  Elf64_Shdr names, head;
  size_t len = strlen(name) + 1;
  if (image->names_index >= image->section_count) return false;
  if (!read_section(image, image->names_index, &names)) return false;
  for (uint32_t i = 0; i < image->section_count && read_section(image, i, &head); i++) {
    struct span text = cut(image->file, names.sh_offset + head.sh_name, len);
    if (!span_is_equal(text, span_of(name, len)) || head.sh_type == SHT_NOBITS) continue;
    struct span bytes = cut(image->file, head.sh_offset, head.sh_size);
    *ret = (struct elf_part){head.sh_type, head.sh_flags, head.sh_addr, bytes};
    return bytes.len > 0;
  }
  return false;
}
