/* SPDX-License-Identifier: Apache-2.0 */
/* Either of two signs is enough: a note with the owner "Go" (the build ID that Go's linker writes),
   or the mark "\xff Go buildinf:" at the start of the writable data. Both are in mapped memory, so
   no file is opened, and sections, which strip removes, are not needed. Programs of pure Go are
   static and never load the agent; this concerns Go programs that use C.

   A segment is searched only as far as it is in the file, and at most for LOOK_BYTES_MAX. */
#include "go_program.h"

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

enum { LOOK_BYTES_MAX = 64 << 10, MARK_ALIGN = 16, HEADERS_MAX = 64 };

static const char mark[] = "\xff Go buildinf:";

static size_t align4(size_t size) {
  return (size + 3) & ~(size_t)3;
}

static bool has_note(const uint8_t *notes, size_t len) {
  ElfW(Nhdr) note;
  for (size_t at = 0; at < len && len - at >= sizeof note;) {
    memcpy(&note, notes + at, sizeof note);
    at += sizeof note;
    if (note.n_namesz > len - at || note.n_descsz > len - at) return false;
    if (note.n_namesz >= 3 && memcmp(notes + at, "Go", 3) == 0) return true;
    at += align4(note.n_namesz) + align4(note.n_descsz);
  }
  return false;
}

/* Not memcmp: AddressSanitizer guards gaps in a test's data. */
__attribute__((no_sanitize_address)) static bool is_mark(const uint8_t *data) {
  size_t same = 0;
  while (same < sizeof mark - 1 && data[same] == (uint8_t)mark[same]) same++;
  return same == sizeof mark - 1;
}

static bool has_mark(const uint8_t *data, size_t len) {
  for (size_t at = 0; at + sizeof mark - 1 <= len; at += MARK_ALIGN)
    if (is_mark(data + at)) return true;
  return false;
}

bool go_program_is_one(const ElfW(Phdr) * headers, size_t count, uintptr_t base) {
  for (size_t i = 0; i < count; i++) {
    const uint8_t *start = (const uint8_t *)(base + headers[i].p_vaddr);
    size_t len = headers[i].p_filesz < LOOK_BYTES_MAX ? headers[i].p_filesz : LOOK_BYTES_MAX;
    bool is_data = headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_W) != 0;
    if (headers[i].p_type == PT_NOTE && has_note(start, len)) return true;
    if (is_data && has_mark(start, len)) return true;
  }
  return false;
}

bool go_program_is_this(void) {
  const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  size_t count = getauxval(AT_PHNUM);
  if (headers == NULL || count > HEADERS_MAX || getauxval(AT_PHENT) != sizeof *headers)
    return false;
  for (size_t i = 0; i < count; i++)
    if (headers[i].p_type == PT_PHDR)
      return go_program_is_one(headers, count, (uintptr_t)headers - headers[i].p_vaddr);
  return false;
}
