/* SPDX-License-Identifier: Apache-2.0 */
/* Section headers are believed before program headers: what `objcopy --only-keep-debug` leaves
   keeps the program headers of the whole file, which then speak of bytes that are not there.  Only
   a file without any section is judged by its segments.

   Both classes and both byte orders are read field by field, as a build machine sees files for all
   of its boards.  Each header is read into a few bytes on the stack; a count is checked before it
   is used, and a header that lies costs one read that finds nothing. */
#include "elf_outline.h"

#include <elf.h>
#include <errno.h>
#include <unistd.h>

enum {
  NOTE_BYTES_MAX = 4096, /* a kernel's notes take 500 */
  NOTE_HEAD_BYTES = 12,
  NAME_BYTES_MAX = 64, /* longer than any section's that somebody asks for */
  HEADERS_A_READ = 16,
  SEGMENTS_MAX = 128,
};

struct file {
  elf_outline_read *read;
  void *context;
  bool is_64, is_big_endian;
  uint16_t type, machine;
  uint64_t segments_at, sections_at, names_at;
  uint32_t segment_count, section_count;
};

struct section {
  uint32_t name, type, link;
  uint64_t flags, offset, bytes;
};

static uint64_t number_at(const struct file *file, const uint8_t *bytes, unsigned len) {
  uint64_t number = 0;
  for (unsigned i = 0; i < len; i++)
    number = number << 8 | bytes[file->is_big_endian ? i : len - 1 - i];
  return number;
}

static uint32_t word_at(const struct file *file, const uint8_t *bytes) {
  return (uint32_t)number_at(file, bytes, 4);
}

/* A field that has the size of an address, where it stands in either class. */
static uint64_t wide_at(const struct file *file, const uint8_t *bytes, unsigned at_32,
                        unsigned at_64) {
  return file->is_64 ? number_at(file, bytes + at_64, 8) : number_at(file, bytes + at_32, 4);
}

static size_t section_header_bytes(const struct file *file) {
  return file->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

static struct section parse_section(const struct file *file, const uint8_t *bytes) {
  return (struct section){
      .name = word_at(file, bytes),
      .type = word_at(file, bytes + 4),
      .flags = wide_at(file, bytes, 8, 8),
      .offset = wide_at(file, bytes, 16, 24),
      .bytes = wide_at(file, bytes, 20, 32),
      .link = word_at(file, bytes + (file->is_64 ? 40 : 24)),
  };
}

static bool read_section(const struct file *file, uint32_t index, struct section *ret) {
  uint8_t bytes[sizeof(Elf64_Shdr)];
  size_t len = section_header_bytes(file);
  if (file->read(file->context, file->sections_at + (uint64_t)index * len, bytes, len) != len)
    return false;
  *ret = parse_section(file, bytes);
  return true;
}

/* Counts that do not fit into the head stand in the first section header. */
static int read_long_counts(struct file *file, uint32_t *names_index) {
  struct section first, names;
  if (file->sections_at == 0) {
    file->section_count = 0;
    return 0;
  }
  if (!read_section(file, 0, &first)) return -EBADMSG;
  if (file->section_count == 0) {
    if (first.bytes > ELF_OUTLINE_SECTIONS_MAX) return -EOVERFLOW;
    file->section_count = (uint32_t)first.bytes;
  }
  if (*names_index == SHN_XINDEX) *names_index = first.link;
  if (*names_index >= file->section_count || !read_section(file, *names_index, &names))
    return file->section_count == 0 ? 0 : -EBADMSG;
  file->names_at = names.offset;
  return 0;
}

static int read_head(struct file *file) {
  uint8_t head[sizeof(Elf64_Ehdr)] = {0};
  size_t len = file->read(file->context, 0, head, sizeof head);
  if (len < sizeof(Elf32_Ehdr) || memcmp(head, ELFMAG, SELFMAG) != 0) return -EBADMSG;
  if (head[EI_CLASS] != ELFCLASS32 && head[EI_CLASS] != ELFCLASS64) return -EBADMSG;
  if (head[EI_DATA] != ELFDATA2LSB && head[EI_DATA] != ELFDATA2MSB) return -EBADMSG;
  file->is_64 = head[EI_CLASS] == ELFCLASS64;
  file->is_big_endian = head[EI_DATA] == ELFDATA2MSB;
  if (file->is_64 && len < sizeof(Elf64_Ehdr)) return -EBADMSG;
  file->type = (uint16_t)number_at(file, head + 16, 2);
  file->machine = (uint16_t)number_at(file, head + 18, 2);
  file->segments_at = wide_at(file, head, 28, 32);
  file->sections_at = wide_at(file, head, 32, 40);
  const uint8_t *counts = head + (file->is_64 ? 54 : 42);
  uint64_t segment_bytes = number_at(file, counts, 2),
           section_bytes = number_at(file, counts + 4, 2);
  file->segment_count = (uint32_t)number_at(file, counts + 2, 2);
  file->section_count = (uint32_t)number_at(file, counts + 6, 2);
  uint32_t names_index = (uint32_t)number_at(file, counts + 8, 2);
  if (file->segment_count > SEGMENTS_MAX) return -EOVERFLOW;
  if (file->segment_count > 0 &&
      segment_bytes != (file->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
    return -EBADMSG;
  if (file->sections_at != 0 && section_bytes != section_header_bytes(file)) return -EBADMSG;
  return read_long_counts(file, &names_index);
}

/* ---- what is in it ---- */

/* Walks the notes at OFFSET: name size, descriptor size, type, then both, padded to 4 (to 8 in
   sections that have no build-id). */
static void read_notes(const struct file *file, uint64_t offset, uint64_t bytes,
                       struct elf_outline *ret) {
  uint8_t buffer[NOTE_BYTES_MAX];
  size_t len = bytes < sizeof buffer ? (size_t)bytes : sizeof buffer;
  if (ret->build_id_len > 0) return;
  struct span notes = span_of(buffer, file->read(file->context, offset, buffer, len));
  struct span head, name, id;
  while (span_take(&notes, NOTE_HEAD_BYTES, &head)) {
    uint64_t name_len = word_at(file, head.data), id_len = word_at(file, head.data + 4);
    if (!span_take(&notes, (size_t)((name_len + 3) & ~3ULL), &name) || id_len > notes.len) return;
    id = span_of(notes.data, (size_t)id_len);
    if (word_at(file, head.data + 8) == NT_GNU_BUILD_ID && name_len == sizeof ELF_NOTE_GNU &&
        memcmp(name.data, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 && id_len > 0 &&
        id_len <= sizeof ret->build_id) {
      memcpy(ret->build_id, id.data, id.len);
      ret->build_id_len = (uint32_t)id_len;
      return;
    }
    if (!span_take(&notes, (size_t)((id_len + 3) & ~3ULL), &id)) return;
  }
}

static bool is_called(const struct file *file, const struct section *section, const char *name) {
  char text[NAME_BYTES_MAX];
  size_t len = strlen(name) + 1;
  if (len > sizeof text) return false;
  size_t got = file->read(file->context, file->names_at + section->name, text, len);
  return got == len && memcmp(text, name, len) == 0;
}

static void judge_section(const struct file *file, const struct section *section,
                          struct elf_outline *ret) {
  const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
  if (section->type == SHT_NOBITS || section->bytes == 0) return;
  if (section->type == SHT_NOTE) read_notes(file, section->offset, section->bytes, ret);
  if (section->type == SHT_DYNSYM) ret->has_dynsym = true;
  if (section->type == SHT_SYMTAB) ret->has_symtab = true;
  if (section->type != SHT_PROGBITS) return;
  if ((section->flags & code) == code)
    ret->has_code = true;
  else if (!ret->has_dwarf &&
           (is_called(file, section, ".debug_info") || is_called(file, section, ".zdebug_info")))
    ret->has_dwarf = true;
  else if (!ret->has_packed_symtab && is_called(file, section, ".gnu_debugdata"))
    ret->has_packed_symtab = true;
  else if (!ret->is_kernel_module && is_called(file, section, ".gnu.linkonce.this_module"))
    ret->is_kernel_module = true;
}

static void judge_segments(const struct file *file, struct elf_outline *ret) {
  uint8_t bytes[sizeof(Elf64_Phdr)];
  size_t len = file->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  for (uint32_t i = 0; i < file->segment_count; i++) {
    uint64_t at = file->segments_at + (uint64_t)i * len;
    if (file->read(file->context, at, bytes, len) != len) return;
    uint64_t offset = wide_at(file, bytes, 4, 8), in_file = wide_at(file, bytes, 16, 32);
    uint32_t type = word_at(file, bytes), flags = word_at(file, bytes + (file->is_64 ? 4 : 24));
    if (type == PT_NOTE) read_notes(file, offset, in_file, ret);
    if (type == PT_LOAD && (flags & PF_X) != 0 && in_file > 0 && file->section_count == 0)
      ret->has_code = true;
  }
}

/* Calls ON_SECTION for each section until it returns true. */
static int each_section(const struct file *file,
                        bool (*on_section)(const struct file *file, const struct section *section,
                                           void *context),
                        void *context) {
  uint8_t bytes[HEADERS_A_READ * sizeof(Elf64_Shdr)];
  size_t len = section_header_bytes(file);
  for (uint32_t first = 0; first < file->section_count; first += HEADERS_A_READ) {
    uint32_t some = file->section_count - first;
    if (some > HEADERS_A_READ) some = HEADERS_A_READ;
    uint64_t at = file->sections_at + (uint64_t)first * len;
    if (file->read(file->context, at, bytes, some * len) != some * len) return -EBADMSG;
    for (uint32_t i = 0; i < some; i++) {
      struct section section = parse_section(file, bytes + i * len);
      if (on_section(file, &section, context)) return 1;
    }
  }
  return 0;
}

static bool on_any(const struct file *file, const struct section *section, void *context) {
  judge_section(file, section, context);
  return false;
}

int elf_outline_make(elf_outline_read *read, void *context, struct elf_outline *ret) {
  struct file file = {.read = read, .context = context};
  int error = read_head(&file);
  if (error != 0) return error;
  struct elf_outline outline = {.type = file.type, .machine = file.machine};
  error = each_section(&file, on_any, &outline);
  if (error < 0) return error;
  if (outline.build_id_len == 0) judge_segments(&file, &outline);
  *ret = outline;
  return 0;
}

struct search {
  const char *name;
  struct section found;
};

static bool on_candidate(const struct file *file, const struct section *section, void *context) {
  struct search *search = context;
  if (section->type == SHT_NULL || section->type == SHT_NOBITS || section->bytes == 0) return false;
  if (!is_called(file, section, search->name)) return false;
  search->found = *section;
  return true;
}

int elf_outline_find_section(elf_outline_read *read, void *context, const char *name,
                             struct elf_section_place *ret) {
  struct file file = {.read = read, .context = context};
  struct search search = {.name = name};
  int error = read_head(&file);
  if (error != 0) return error;
  error = each_section(&file, on_candidate, &search);
  if (error != 1) return error < 0 ? error : -ENOENT;
  *ret = (struct elf_section_place){search.found.offset, search.found.bytes};
  return 0;
}

size_t elf_outline_read_fd(void *context, uint64_t offset, void *bytes, size_t len) {
  const int *fd = context;
  if (offset > INT64_MAX) return 0;
  for (;;) {
    ssize_t got = pread(*fd, bytes, len, (off_t)offset);
    if (got >= 0) return (size_t)got;
    if (errno != EINTR) return 0;
  }
}
