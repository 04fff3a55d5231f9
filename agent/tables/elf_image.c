/* SPDX-License-Identifier: Apache-2.0 */
/* Headers are copied out of the file one at a time into the 64-bit form, so that nothing else
   knows of two word sizes, and nothing depends on how the bytes are aligned.

   A part that reaches beyond the file is cut to what there is, and one that begins beyond it is
   empty: a truncated file is as good as its bytes.  Sections are looked for by name, one after the
   other: that happens a few times a file. */
#include "elf_image.h"

#include <elf.h>
#include <errno.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ELF_NATIVE_ORDER ELFDATA2LSB
#else
#define ELF_NATIVE_ORDER ELFDATA2MSB
#endif

/* Longer than any name that is looked for. */
enum { NAME_BYTES = 32 };
/* Linkers write a dozen; they are gone through for each look at an address. */
enum { SEGMENTS_MAX = 128 };

static struct span cut(struct span file, uint64_t offset, uint64_t len) {
  if (offset >= file.len) return (struct span){0};
  uint64_t there = file.len - offset;
  return span_of(file.data + offset, (size_t)(len < there ? len : there));
}

static bool copy(struct span file, uint64_t offset, void *ret, size_t len) {
  struct span bytes = cut(file, offset, len);
  if (bytes.len < len) return false;
  memcpy(ret, bytes.data, len);
  return true;
}

static bool read_head(struct span file, bool is_64, Elf64_Ehdr *ret) {
  if (is_64) return copy(file, 0, ret, sizeof *ret);
  Elf32_Ehdr head;
  if (!copy(file, 0, &head, sizeof head)) return false;
  *ret = (Elf64_Ehdr){.e_type = head.e_type,
                      .e_machine = head.e_machine,
                      .e_entry = head.e_entry,
                      .e_phoff = head.e_phoff,
                      .e_shoff = head.e_shoff,
                      .e_phentsize = head.e_phentsize,
                      .e_phnum = head.e_phnum,
                      .e_shentsize = head.e_shentsize,
                      .e_shnum = head.e_shnum,
                      .e_shstrndx = head.e_shstrndx};
  return true;
}

int elf_image_open(struct span file, struct elf_image *ret) {
  uint8_t ident[EI_NIDENT];
  Elf64_Ehdr head;
  if (!copy(file, 0, ident, sizeof ident) || memcmp(ident, ELFMAG, SELFMAG) != 0) return -EBADMSG;
  bool is_64 = ident[EI_CLASS] == ELFCLASS64;
  if (!is_64 && ident[EI_CLASS] != ELFCLASS32) return -EBADMSG;
  if (ident[EI_DATA] != ELF_NATIVE_ORDER || !read_head(file, is_64, &head)) return -EBADMSG;
  if (head.e_type != ET_EXEC && head.e_type != ET_DYN) return -EBADMSG;
  size_t segment_bytes = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  size_t section_bytes = is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  *ret = (struct elf_image){.file = file,
                            .is_64 = is_64,
                            .machine = head.e_machine,
                            .entry = head.e_entry,
                            .is_fixed = head.e_type == ET_EXEC,
                            .segments_at = head.e_phoff,
                            .sections_at = head.e_shoff,
                            .names_index = head.e_shstrndx};
  if (head.e_phentsize == segment_bytes && head.e_phnum <= SEGMENTS_MAX)
    ret->segment_count = head.e_phnum;
  if (head.e_shentsize == section_bytes) ret->section_count = head.e_shnum;
  return 0;
}

/* ---- segments ---- */

static bool read_segment(const struct elf_image *image, uint32_t index, struct elf_part *ret) {
  Elf64_Phdr head;
  Elf32_Phdr narrow;
  if (image->is_64) {
    uint64_t at = image->segments_at + (uint64_t)index * sizeof head;
    if (!copy(image->file, at, &head, sizeof head)) return false;
  } else {
    uint64_t at = image->segments_at + (uint64_t)index * sizeof narrow;
    if (!copy(image->file, at, &narrow, sizeof narrow)) return false;
    head = (Elf64_Phdr){.p_type = narrow.p_type,
                        .p_flags = narrow.p_flags,
                        .p_offset = narrow.p_offset,
                        .p_vaddr = narrow.p_vaddr,
                        .p_filesz = narrow.p_filesz};
  }
  struct span bytes = cut(image->file, head.p_offset, head.p_filesz);
  *ret = (struct elf_part){head.p_type, head.p_flags, head.p_vaddr, bytes};
  return true;
}

bool elf_image_segment(const struct elf_image *image, uint32_t type, uint32_t *cursor,
                       struct elf_part *ret) {
  struct elf_part segment;
  while (*cursor < image->segment_count && read_segment(image, *cursor, &segment)) {
    ++*cursor;
    if (segment.type != type) continue;
    *ret = segment;
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
  Elf32_Shdr narrow;
  if (image->is_64)
    return copy(image->file, image->sections_at + (uint64_t)index * sizeof *ret, ret, sizeof *ret);
  uint64_t at = image->sections_at + (uint64_t)index * sizeof narrow;
  if (!copy(image->file, at, &narrow, sizeof narrow)) return false;
  *ret = (Elf64_Shdr){.sh_name = narrow.sh_name,
                      .sh_type = narrow.sh_type,
                      .sh_flags = narrow.sh_flags,
                      .sh_addr = narrow.sh_addr,
                      .sh_offset = narrow.sh_offset,
                      .sh_size = narrow.sh_size};
  return true;
}

/* A separate debug file has the addresses of the code and not its bytes; its segment may have those
   of the headers before it, where a linker has put both into one. */
static void widen_by_sections(const struct elf_image *image, uint64_t *low, uint64_t *high) {
  Elf64_Shdr head;
  for (uint32_t i = 0; i < image->section_count && read_section(image, i, &head); i++) {
    if ((head.sh_flags & SHF_EXECINSTR) == 0 || head.sh_size == 0) continue;
    if (head.sh_addr == 0 || head.sh_addr > UINT64_MAX - head.sh_size) continue;
    if (head.sh_addr < *low) *low = head.sh_addr;
    if (head.sh_addr + head.sh_size > *high) *high = head.sh_addr + head.sh_size;
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

bool elf_image_code(const struct elf_image *image, uint64_t *ret_low, uint64_t *ret_high) {
  struct elf_part load;
  uint64_t low = UINT64_MAX, high = 0;
  for (uint32_t cursor = 0; elf_image_segment(image, PT_LOAD, &cursor, &load);) {
    if ((load.flags & PF_X) == 0 || load.address > UINT64_MAX - load.bytes.len) continue;
    if (load.bytes.len == 0) continue;
    if (load.address < low) low = load.address;
    if (load.address + load.bytes.len > high) high = load.address + load.bytes.len;
  }
  uint32_t cursor = 0;
  struct elf_part code;
  if (low >= high || !elf_image_code_section(image, &cursor, &code))
    widen_by_sections(image, &low, &high);
  *ret_low = low;
  *ret_high = high;
  return low < high;
}

bool elf_image_section(const struct elf_image *image, const char *name, struct elf_part *ret) {
  Elf64_Shdr names, head;
  char text[NAME_BYTES];
  size_t len = strlen(name) + 1;
  if (len > sizeof text || image->names_index >= image->section_count) return false;
  if (!read_section(image, image->names_index, &names)) return false;
  for (uint32_t i = 0; i < image->section_count && read_section(image, i, &head); i++) {
    if (!copy(image->file, names.sh_offset + head.sh_name, text, len)) continue;
    if (memcmp(text, name, len) != 0 || head.sh_type == SHT_NOBITS) continue;
    struct span bytes = cut(image->file, head.sh_offset, head.sh_size);
    *ret = (struct elf_part){head.sh_type, head.sh_flags, head.sh_addr, bytes};
    return bytes.len > 0;
  }
  return false;
}
