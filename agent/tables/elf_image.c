/* SPDX-License-Identifier: Apache-2.0 */
/* A part that reaches beyond the file is cut at its end, and one that begins beyond it is empty. So
   a truncated file is still usable. Sections are searched by name, a few times for each file.
   Loaded segments are needed for each function, so they are read once. */
#include "elf_image.h"

#include <errno.h>

#ifndef EF_ARM_BE8
#define EF_ARM_BE8 0x00800000
#endif

static struct span cut(struct span file, uint64_t offset, uint64_t len) {
  if (offset >= file.len) return (struct span){0};
  uint64_t there = file.len - offset;
  return span_of(file.data + offset, (size_t)(len < there ? len : there));
}

/* The reader of IMAGE's bytes, also if IMAGE was copied. */
static struct elf_file file_of(const struct elf_image *image) {
  struct elf_file file = image->head;
  file.context = (void *)(uintptr_t)&image->file;
  return file;
}

static struct elf_part part_of(const struct elf_image *image, const struct elf_header_part *head) {
  return (struct elf_part){head->type, head->flags, head->address,
                           cut(image->file, head->offset, head->bytes)};
}

/* Instructions do not always have the byte order of data. AArch64's and RISC-V's are always
   little-endian. ARM's are since its sixth version, for which linkers swap them and set a flag. */
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

int elf_image_open(struct span file, struct elf_image *ret) {
  struct elf_image image = {.file = file};
  struct elf_header_part segment;
  int rc = elf_file_open(elf_read_span, &file, &image.head);
  if (rc < 0) return rc;
  if (image.head.type != ET_EXEC && image.head.type != ET_DYN) return -EBADMSG;
  image.is_64 = image.head.is_64;
  image.is_big_endian = image.head.is_big_endian;
  image.machine = image.head.machine;
  image.entry = image.head.entry;
  image.is_fixed = image.head.type == ET_EXEC;
  image.is_code_big_endian = is_code_big_endian(&image, image.head.flags);
  for (uint32_t i = 0; elf_file_segment(&image.head, i, &segment); i++)
    if (segment.type == PT_LOAD) image.loads[image.load_count++] = part_of(&image, &segment);
  *ret = image;
  return 0;
}

/* ---- segments ---- */

bool elf_image_segment(const struct elf_image *image, uint32_t type, struct elf_part *ret) {
  struct elf_file file = file_of(image);
  struct elf_header_part head;
  for (uint32_t i = 0; elf_file_segment(&file, i, &head); i++) {
    if (head.type != type) continue;
    *ret = part_of(image, &head);
    return true;
  }
  return false;
}

struct span elf_image_at(const struct elf_image *image, uint64_t address) {
  for (uint32_t i = 0; i < image->load_count; i++) {
    const struct elf_part *load = &image->loads[i];
    if (address >= load->address && address - load->address < load->bytes.len)
      return cut(load->bytes, address - load->address, load->bytes.len);
  }
  return (struct span){0};
}

/* ---- sections ---- */

/* A separate debug file has the addresses of the code but not its bytes. Its segment may include
   the headers before it, if a linker has put both into one. */
static void add_sections(const struct elf_image *image, struct code_ranges *ret) {
  struct elf_file file = file_of(image);
  struct elf_header_part head;
  for (uint32_t i = 0; elf_file_section(&file, i, &head); i++) {
    if ((head.flags & SHF_EXECINSTR) == 0 || head.bytes == 0) continue;
    if (head.address == 0 || head.address > UINT64_MAX - head.bytes) continue;
    code_ranges_add(ret, head.address, head.address + head.bytes);
  }
}

static bool code_segment(const struct elf_image *image, uint32_t *cursor, struct elf_part *ret) {
  while (*cursor < image->load_count) {
    *ret = image->loads[(*cursor)++];
    if (ret->flags & PF_X && ret->bytes.len > 0) return true;
  }
  return false;
}

bool elf_image_code_section(const struct elf_image *image, uint32_t *cursor, struct elf_part *ret) {
  struct elf_file file = file_of(image);
  struct elf_header_part head;
  if (file.section_count == 0) return code_segment(image, cursor, ret);
  while (elf_file_section(&file, *cursor, &head)) {
    ++*cursor;
    if ((head.flags & SHF_EXECINSTR) == 0 || head.type == SHT_NOBITS) continue;
    *ret = part_of(image, &head);
    if (ret->bytes.len > 0) return true;
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
  struct elf_file file = file_of(image);
  struct elf_header_part head;
  for (uint32_t i = 0; elf_file_section(&file, i, &head); i++) {
    if (head.type == SHT_NOBITS || !elf_file_is_named(&file, &head, name)) continue;
    *ret = part_of(image, &head);
    return ret->bytes.len > 0;
  }
  return false;
}
