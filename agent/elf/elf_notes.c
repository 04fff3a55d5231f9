/* SPDX-License-Identifier: Apache-2.0 */
/* The loader believes program headers, so we do too; section headers may be stripped.  32- and
   64-bit files are read into the same struct (an armhf program on an aarch64 board is normal); the
   other byte order cannot run here and is refused.

   The file is a stranger's, possibly being rewritten while we look: everything is read by pread
   through the callback into small buffers (no mmap: a truncated file would be a SIGBUS), counts and
   sizes have limits, and a PT_NOTE that lies costs at most NOTE_BYTES_MAX. */
#include "elf_notes.h"

#include <elf.h>
#include <errno.h>

enum {
  PROGRAM_HEADERS_MAX = 128,
  NOTE_BYTES_MAX = 4096, /* a build-id note takes 36 bytes; others stand in the same segment */
  NOTE_GNU_BUILD_ID = 3,
  DYNAMIC_BYTES_MAX = 4096, /* 256 entries; programs have about 30 */
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ELF_NATIVE_ORDER ELFDATA2LSB
#else
#define ELF_NATIVE_ORDER ELFDATA2MSB
#endif

struct program_header {
  uint32_t type, flags;
  uint64_t offset, address, file_bytes, align;
};

struct elf_head {
  bool is_64;
  uint16_t type, machine;
  uint64_t table_offset;
  uint32_t entry_bytes, entry_count;
};

static int read_head(elf_read *read, void *context, struct elf_head *ret) {
  uint8_t ident[EI_NIDENT];
  if (!read(context, 0, ident, sizeof ident)) return -EBADMSG;
  if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != ELF_NATIVE_ORDER) return -EBADMSG;
  if (ident[EI_CLASS] == ELFCLASS64) {
    Elf64_Ehdr head;
    if (!read(context, 0, &head, sizeof head)) return -EBADMSG;
    *ret = (struct elf_head){true,         head.e_type,      head.e_machine,
                             head.e_phoff, head.e_phentsize, head.e_phnum};
    if (ret->entry_bytes != sizeof(Elf64_Phdr)) return -EBADMSG;
  } else if (ident[EI_CLASS] == ELFCLASS32) {
    Elf32_Ehdr head;
    if (!read(context, 0, &head, sizeof head)) return -EBADMSG;
    *ret = (struct elf_head){false,        head.e_type,      head.e_machine,
                             head.e_phoff, head.e_phentsize, head.e_phnum};
    if (ret->entry_bytes != sizeof(Elf32_Phdr)) return -EBADMSG;
  } else {
    return -EBADMSG;
  }
  return ret->entry_count <= PROGRAM_HEADERS_MAX ? 0 : -EOVERFLOW;
}

static bool read_program_header(elf_read *read, void *context, const struct elf_head *head,
                                uint32_t index, struct program_header *ret) {
  uint64_t at = head->table_offset + (uint64_t)index * head->entry_bytes;
  if (at < head->table_offset) return false;
  if (head->is_64) {
    Elf64_Phdr p;
    if (!read(context, at, &p, sizeof p)) return false;
    *ret =
        (struct program_header){p.p_type, p.p_flags, p.p_offset, p.p_vaddr, p.p_filesz, p.p_align};
  } else {
    Elf32_Phdr p;
    if (!read(context, at, &p, sizeof p)) return false;
    *ret =
        (struct program_header){p.p_type, p.p_flags, p.p_offset, p.p_vaddr, p.p_filesz, p.p_align};
  }
  return true;
}

/* Where there are too many, code takes the place of data. */
static void add_segment(struct elf_notes *notes, const struct program_header *header) {
  const struct elf_segment segment = {header->offset, header->file_bytes, header->address,
                                      (header->flags & PF_X) != 0};
  uint32_t at = notes->segment_count;
  if (at == ELF_SEGMENTS_MAX) {
    if (!segment.is_executable) return;
    while (at > 0 && notes->segments[at - 1].is_executable) at--;
    if (at == 0) return;
    notes->segments[at - 1] = segment;
    return;
  }
  notes->segments[notes->segment_count++] = segment;
}

/* Notes are: name size, descriptor size, type, then both padded to ALIGN (4, or 8 in segments that
   say so). */
static struct span find_build_id(struct span notes, size_t align) {
  const struct span none = {NULL, 0};
  Elf64_Nhdr head; /* the same three words in both classes */
  struct span name, id, padding;
  while (notes.len >= sizeof head) {
    memcpy(&head, notes.data, sizeof head);
    size_t name_bytes = ((size_t)head.n_namesz + align - 1) & ~(align - 1);
    size_t id_bytes = ((size_t)head.n_descsz + align - 1) & ~(align - 1);
    span_take(&notes, sizeof head, &padding);
    if (!span_take(&notes, name_bytes, &name) || notes.len < head.n_descsz) return none;
    id = span_of(notes.data, head.n_descsz);
    if (head.n_type == NOTE_GNU_BUILD_ID && head.n_namesz == 4 &&
        memcmp(name.data, "GNU", 4) == 0 && id.len > 0 && id.len <= LIMIT_MODULE_ID_BYTES)
      return id;
    if (!span_take(&notes, id_bytes, &padding)) return none;
  }
  return none;
}

struct span elf_notes_find_build_id(struct span notes) {
  return find_build_id(notes, 4);
}

static void read_note(elf_read *read, void *context, const struct program_header *header,
                      struct elf_notes *ret) {
  uint8_t bytes[NOTE_BYTES_MAX];
  size_t len = header->file_bytes < sizeof bytes ? (size_t)header->file_bytes : sizeof bytes;
  if (ret->build_id_bytes > 0 || len == 0 || !read(context, header->offset, bytes, len)) return;
  struct span id = find_build_id(span_of(bytes, len), header->align == 8 ? 8 : 4);
  if (id.len > 0) memcpy(ret->build_id, id.data, id.len);
  ret->build_id_bytes = (uint32_t)id.len;
}

/* A program at a place of the loader's choice says so in its dynamic section; a shared library, and
   the loader itself, do not. */
static bool is_pie(elf_read *read, void *context, const struct elf_head *head,
                   const struct program_header *dynamic) {
  uint8_t bytes[DYNAMIC_BYTES_MAX];
  size_t len = dynamic->file_bytes < sizeof bytes ? (size_t)dynamic->file_bytes : sizeof bytes;
  size_t step = head->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
  if (!read(context, dynamic->offset, bytes, len)) return false;
  for (size_t at = 0; len - at >= step; at += step) {
    Elf64_Dyn entry = {.d_tag = DT_NULL};
    Elf32_Dyn narrow;
    if (head->is_64) {
      memcpy(&entry, bytes + at, sizeof entry);
    } else {
      memcpy(&narrow, bytes + at, sizeof narrow);
      entry.d_tag = narrow.d_tag;
      entry.d_un.d_val = narrow.d_un.d_val;
    }
    if (entry.d_tag == DT_FLAGS_1) return (entry.d_un.d_val & DF_1_PIE) != 0;
  }
  return false;
}

int elf_notes_read(elf_read *read, void *context, struct elf_notes *ret) {
  struct elf_head head;
  int error = read_head(read, context, &head);
  if (error) return error;
  struct elf_notes notes = {.build_id_bytes = 0, .machine = head.machine, .is_64 = head.is_64};
  bool has_loader = false, is_program = head.type == ET_EXEC;
  for (uint32_t i = 0; i < head.entry_count; i++) {
    struct program_header header;
    if (!read_program_header(read, context, &head, i, &header)) return -EBADMSG;
    if (header.type == PT_LOAD) add_segment(&notes, &header);
    if (header.type == PT_NOTE) read_note(read, context, &header, &notes);
    if (header.type == PT_INTERP) has_loader = true;
    if (header.type == PT_DYNAMIC && is_pie(read, context, &head, &header)) is_program = true;
  }
  notes.is_static = is_program && !has_loader;
  *ret = notes;
  return 0;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

enum elf_fit elf_segment_fit(const struct elf_segment *segment, const struct elf_mapping *mapping,
                             uint64_t page_bytes, uint64_t *ret_bytes) {
  uint64_t low = segment->file_offset, end = mapping->file_offset + mapping->bytes;
  uint64_t page_low = low & ~(page_bytes - 1);
  *ret_bytes = 0;
  if (segment->file_bytes == 0 || segment->file_bytes > UINT64_MAX - page_bytes - low)
    return ELF_FIT_NONE;
  uint64_t high = low + segment->file_bytes;
  uint64_t page_high = (high + page_bytes - 1) & ~(page_bytes - 1);
  if (mapping->file_offset >= page_high || end <= page_low) return ELF_FIT_NONE;
  uint64_t from = low > mapping->file_offset ? low : mapping->file_offset;
  *ret_bytes = least(high, end) > from ? least(high, end) - from : 0;
  if (!segment->is_executable) return ELF_FIT_DATA;
  if (mapping->file_offset != page_low) return ELF_FIT_PART;
  return end == page_high ? ELF_FIT_WHOLE : ELF_FIT_START;
}
