/* SPDX-License-Identifier: Apache-2.0 */
/* Fields are read one at a time, in the file's own word size and byte order. Each header is read
   into a few bytes on the stack. There is no mmap, because a file that is truncated meanwhile would
   raise SIGBUS. A count is checked before it is used, and an invalid header costs one read without
   result. */
#include "elf_file.h"

#include <errno.h>
#include <unistd.h>

enum {
  NOTE_BYTES_MAX = 4096, /* a build-id note takes 36; a kernel's notes 500 */
  NAME_BYTES_MAX = 64,
  BUILD_ID_SECTIONS_MAX = 4096, /* searched for a note; only object files have more */
};

size_t elf_read_fd(void *context, uint64_t offset, void *bytes, size_t len) {
  const int *fd = context;
  if (offset > (uint64_t)INT64_MAX - len) return 0;
  for (;;) {
    ssize_t got = pread(*fd, bytes, len, (off_t)offset);
    if (got >= 0) return (size_t)got;
    if (errno != EINTR) return 0;
  }
}

size_t elf_read_span(void *context, uint64_t offset, void *bytes, size_t len) {
  const struct span *file = context;
  if (offset >= file->len) return 0;
  if (len > file->len - offset) len = file->len - (size_t)offset;
  memcpy(bytes, file->data + offset, len);
  return len;
}

uint64_t elf_file_field(const struct elf_file *file, const uint8_t *bytes, struct elf_field field) {
  return span_number(file->is_64 ? span_of(bytes + field.at_64, field.bytes_64)
                                 : span_of(bytes + field.at_32, field.bytes_32),
                     file->is_big_endian);
}

bool elf_file_is_native(const struct elf_file *file) {
  return file->is_big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static bool read_whole(const struct elf_file *file, uint64_t offset, void *bytes, size_t len) {
  return file->read(file->context, offset, bytes, len) == len;
}

/* ---- tables of headers ---- */

static bool read_section(const struct elf_file *file, uint32_t index, struct elf_header_part *ret) {
  uint8_t head[sizeof(Elf64_Shdr)];
  size_t len = ELF_SIZE(file, Shdr);
  uint64_t at = file->sections_at + (uint64_t)index * len;
  if (at < file->sections_at || !read_whole(file, at, head, len)) return false;
  *ret = (struct elf_header_part){.type = (uint32_t)ELF_FIELD(file, head, Shdr, sh_type),
                                  .name = (uint32_t)ELF_FIELD(file, head, Shdr, sh_name),
                                  .link = (uint32_t)ELF_FIELD(file, head, Shdr, sh_link),
                                  .flags = ELF_FIELD(file, head, Shdr, sh_flags),
                                  .offset = ELF_FIELD(file, head, Shdr, sh_offset),
                                  .bytes = ELF_FIELD(file, head, Shdr, sh_size),
                                  .address = ELF_FIELD(file, head, Shdr, sh_addr),
                                  .align = ELF_FIELD(file, head, Shdr, sh_addralign)};
  return true;
}

/* Counts too large for the header are in the first section header. */
static int find_sections(struct elf_file *file, uint64_t count, uint32_t names_index) {
  struct elf_header_part first, names;
  if (!read_section(file, 0, &first)) return -EBADMSG;
  if (count == 0) count = first.bytes;
  if (count > ELF_SECTIONS_READ_MAX) return -EOVERFLOW;
  if (names_index == SHN_XINDEX) names_index = first.link;
  if (names_index < count && read_section(file, names_index, &names)) file->names_at = names.offset;
  file->section_count = (uint32_t)count;
  return 0;
}

static void read_counts(struct elf_file *file, const uint8_t *head) {
  uint64_t segments = ELF_FIELD(file, head, Ehdr, e_phnum);
  bool is_size = ELF_FIELD(file, head, Ehdr, e_phentsize) == ELF_SIZE(file, Phdr);
  if (segments > ELF_SEGMENTS_READ_MAX)
    file->segments_error = -EOVERFLOW;
  else if (segments > 0 && !is_size)
    file->segments_error = -EBADMSG;
  else
    file->segment_count = (uint32_t)segments;
  if (file->sections_at == 0) return;
  if (ELF_FIELD(file, head, Ehdr, e_shentsize) != ELF_SIZE(file, Shdr))
    file->sections_error = -EBADMSG;
  else
    file->sections_error = find_sections(file, ELF_FIELD(file, head, Ehdr, e_shnum),
                                         (uint32_t)ELF_FIELD(file, head, Ehdr, e_shstrndx));
}

int elf_file_open(elf_read *read, void *context, struct elf_file *ret) {
  uint8_t head[sizeof(Elf64_Ehdr)] = {0};
  struct elf_file file = {.read = read, .context = context};
  size_t len = read(context, 0, head, sizeof head);
  if (len < sizeof(Elf32_Ehdr) || memcmp(head, ELFMAG, SELFMAG) != 0) return -EBADMSG;
  if (head[EI_CLASS] != ELFCLASS32 && head[EI_CLASS] != ELFCLASS64) return -EBADMSG;
  if (head[EI_DATA] != ELFDATA2LSB && head[EI_DATA] != ELFDATA2MSB) return -EBADMSG;
  file.is_64 = head[EI_CLASS] == ELFCLASS64;
  file.is_big_endian = head[EI_DATA] == ELFDATA2MSB;
  if (len < ELF_SIZE(&file, Ehdr)) return -EBADMSG;
  file.type = (uint16_t)ELF_FIELD(&file, head, Ehdr, e_type);
  file.machine = (uint16_t)ELF_FIELD(&file, head, Ehdr, e_machine);
  file.flags = (uint32_t)ELF_FIELD(&file, head, Ehdr, e_flags);
  file.entry = ELF_FIELD(&file, head, Ehdr, e_entry);
  file.segments_at = ELF_FIELD(&file, head, Ehdr, e_phoff);
  file.sections_at = ELF_FIELD(&file, head, Ehdr, e_shoff);
  read_counts(&file, head);
  *ret = file;
  return 0;
}

bool elf_file_section(const struct elf_file *file, uint32_t index, struct elf_header_part *ret) {
  return index < file->section_count && read_section(file, index, ret);
}

bool elf_file_segment(const struct elf_file *file, uint32_t index, struct elf_header_part *ret) {
  uint8_t head[sizeof(Elf64_Phdr)];
  size_t len = ELF_SIZE(file, Phdr);
  uint64_t at = file->segments_at + (uint64_t)index * len;
  if (index >= file->segment_count || at < file->segments_at || !read_whole(file, at, head, len))
    return false;
  *ret = (struct elf_header_part){.type = (uint32_t)ELF_FIELD(file, head, Phdr, p_type),
                                  .flags = ELF_FIELD(file, head, Phdr, p_flags),
                                  .offset = ELF_FIELD(file, head, Phdr, p_offset),
                                  .bytes = ELF_FIELD(file, head, Phdr, p_filesz),
                                  .address = ELF_FIELD(file, head, Phdr, p_vaddr),
                                  .align = ELF_FIELD(file, head, Phdr, p_align)};
  return true;
}

bool elf_file_is_named(const struct elf_file *file, const struct elf_header_part *section,
                       const char *name) {
  char text[NAME_BYTES_MAX];
  size_t len = strlen(name) + 1;
  uint64_t at = file->names_at + section->name;
  return file->names_at != 0 && at >= file->names_at && len <= sizeof text &&
         read_whole(file, at, text, len) && memcmp(text, name, len) == 0;
}

/* ---- the build-id ---- */

/* Skips the padding up to ALIGN in NOTES, which begin AT bytes after an aligned position. */
static bool take_padding(struct span *notes, uint64_t at, uint64_t align) {
  struct span padding;
  return span_take(notes, (size_t)(-at & (align - 1)), &padding);
}

/* A note is name size, descriptor size, type, name, descriptor. The descriptor and the next note
   begin at a multiple of ALIGN from the first note's start. */
static struct span find_build_id(struct span notes, uint64_t align, bool is_big_endian) {
  const struct span none = {NULL, 0};
  struct span head, name, id;
  while (span_take(&notes, sizeof(Elf64_Nhdr), &head)) { /* the same three words in both classes */
    size_t name_bytes = (size_t)span_number(span_of(head.data, 4), is_big_endian);
    size_t id_bytes = (size_t)span_number(span_of(head.data + 4, 4), is_big_endian);
    uint64_t type = span_number(span_of(head.data + 8, 4), is_big_endian);
    if (!span_take(&notes, name_bytes, &name) ||
        !take_padding(&notes, sizeof(Elf64_Nhdr) + name_bytes, align) ||
        !span_take(&notes, id_bytes, &id))
      return none;
    if (type == NT_GNU_BUILD_ID && id.len > 0 &&
        span_is_equal(name, span_of(ELF_NOTE_GNU, sizeof ELF_NOTE_GNU)))
      return id;
    if (!take_padding(&notes, id_bytes, align)) return none;
  }
  return none;
}

/* Older linkers put notes of both alignments into one segment with the larger one. */
struct span elf_notes_build_id(struct span notes, uint64_t align, bool is_big_endian) {
  struct span id = {NULL, 0};
  if (align == 8) id = find_build_id(notes, 8, is_big_endian);
  return id.len > 0 ? id : find_build_id(notes, 4, is_big_endian);
}

static uint32_t read_note(const struct elf_file *file, const struct elf_header_part *part,
                          uint8_t *ret, uint32_t room) {
  uint8_t bytes[NOTE_BYTES_MAX];
  size_t len = part->bytes < sizeof bytes ? (size_t)part->bytes : sizeof bytes;
  struct span notes = span_of(bytes, file->read(file->context, part->offset, bytes, len));
  struct span id = elf_notes_build_id(notes, part->align, file->is_big_endian);
  if (id.len == 0 || id.len > room) return 0;
  memcpy(ret, id.data, id.len);
  return (uint32_t)id.len;
}

uint32_t elf_file_build_id(const struct elf_file *file, uint8_t *ret, uint32_t room) {
  struct elf_header_part part;
  uint32_t len = 0;
  for (uint32_t i = 0; len == 0 && elf_file_segment(file, i, &part); i++)
    if (part.type == PT_NOTE) len = read_note(file, &part, ret, room);
  for (uint32_t i = 1; len == 0 && i < BUILD_ID_SECTIONS_MAX && elf_file_section(file, i, &part);
       i++)
    if (part.type == SHT_NOTE) len = read_note(file, &part, ret, room);
  return len;
}
