/* SPDX-License-Identifier: Apache-2.0 */
/* Sources, from the most reliable: .eh_frame, which must be right for exceptions to work;
   .debug_frame; and a program's entry point, which has no caller although small C libraries do not
   mark it. Code without any source is decoded, with ARM's index (exidx.c, prologue_file.c).

   .eh_frame is found by a segment, which stripping leaves in place. That gives its start but not
   its length: it ends with an entry of length 0, with its section, if there is one, or with its
   segment. The sorted index beside it is not read: it may be missing or wrong, and every function
   is needed anyway. */
#include "table_make.h"

#include "elf_image.h"
#include "exidx.h"
#include "signal_return.h"
#include "table_cfi.h"
#include "table_rows.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

/* Limit of an entry: it calls a function of the C library, and never returns. */
enum { ENTRY_BYTES_MAX = 64 };

struct making {
  const struct unwind_arch *arch;
  struct elf_image image;
  struct kept_code code; /* of the image */
  struct table_rows *rows;
  struct table_report *report;
};

static struct cfi_section section_of(struct making *making, const struct elf_part *part) {
  making->code.image = &making->image;
  return (struct cfi_section){.bytes = part->bytes,
                              .address = part->address,
                              .arch = making->arch,
                              .code = &making->code,
                              .word_bytes = making->image.is_64 ? 8 : 4,
                              .is_big_endian = making->image.is_big_endian};
}

/* The header of .eh_frame gives its address. */
static bool find_by_segment(const struct elf_image *image, struct elf_part *ret) {
  struct elf_part header;
  if (!elf_image_segment(image, PT_GNU_EH_FRAME, &header)) return false;
  struct cfi_cursor cursor = cfi_cursor_of(header.bytes, image->is_big_endian);
  uint8_t version = cfi_byte(&cursor), encoding = cfi_byte(&cursor);
  cfi_bytes(&cursor, 2); /* encoding of the index */
  struct cfi_pointer how = {.encoding = encoding,
                            .word_bytes = image->is_64 ? 8 : 4,
                            .place = header.address + 4,
                            .base = header.address};
  if (version != 1 || !cfi_pointer_read(&cursor, &how, &ret->address) || cursor.is_over)
    return false;
  ret->bytes = elf_image_at(image, ret->address);
  return ret->bytes.len > 0;
}

static int read_eh_frame(struct making *making) {
  struct elf_part part, named;
  bool is_named = elf_image_section(&making->image, ".eh_frame", &named);
  if (!find_by_segment(&making->image, &part)) {
    if (!is_named) return 0;
    part = named;
  } else if (is_named && named.address == part.address && named.bytes.len < part.bytes.len) {
    part.bytes.len = named.bytes.len;
  }
  struct cfi_section section = section_of(making, &part);
  section.is_eh = true;
  table_rows_source(making->rows, UNWIND_EH_FRAME);
  return table_cfi_read(&section, making->rows, making->report);
}

static const char *why_no_content(int rc) {
  switch (rc) {
  case -ENOTSUP:
    return "a .debug_frame compressed by another method than zlib's";
  case -EOVERFLOW:
    return "a .debug_frame that is too large";
  default:
    return "a .debug_frame that does not inflate to what it says";
  }
}

/* Returns -ENOENT if IMAGE has none. */
static int read_debug_frame_of(struct making *making, const struct elf_image *image) {
  struct elf_part part;
  struct buf room = {0};
  if (!elf_image_section(image, ".debug_frame", &part)) return -ENOENT;
  int rc = elf_image_content(image, &part, &room, &part.bytes);
  if (rc == 0) {
    struct cfi_section section = section_of(making, &part);
    rc = table_cfi_read(&section, making->rows, making->report);
  } else if (rc != -ENOMEM) {
    table_report_refuse(making->report, why_no_content(rc));
    rc = 0;
  }
  buf_fini(&room);
  return rc;
}

static int read_debug_frame(struct making *making, struct span debug) {
  struct elf_image image;
  table_rows_source(making->rows, UNWIND_DEBUG_FRAME);
  int rc = read_debug_frame_of(making, &making->image);
  if (rc != -ENOENT || debug.len == 0) return rc == -ENOENT ? 0 : rc;
  bool is_fitting = elf_image_open(debug, &image) == 0 && image.is_64 == making->image.is_64 &&
                    image.is_big_endian == making->image.is_big_endian &&
                    image.machine == making->image.machine;
  if (!is_fitting) {
    table_report_refuse(making->report, "a debug file of another kind than its module");
    return 0;
  }
  rc = read_debug_frame_of(making, &image);
  return rc == -ENOENT ? 0 : rc;
}

/* The kernel or the loader starts at the entry point. In a library it is meaningless, and older
   linkers set it to the start of the code, a normal function. */
static bool is_begun_at(const struct elf_image *image, uint64_t entry) {
  struct elf_part part;
  if (image->is_fixed || elf_image_segment(image, PT_INTERP, &part)) return true;
  for (uint32_t cursor = 0; elf_image_code_section(image, &cursor, &part);)
    if (part.address == entry) return false;
  return true;
}

static int tell_entry(struct making *making) {
  const struct unwind_rule begin = {.cfa = UNWIND_CFA_END};
  uint64_t entry = making->image.entry;
  if (making->arch->machine == EM_ARM) entry &= ~(uint64_t)1; /* Thumb code */
  table_rows_source(making->rows, 0);
  uint64_t room = table_rows_room(making->rows, entry);
  if (room == 0 || !is_begun_at(&making->image, entry)) return 0;
  uint64_t len = room < ENTRY_BYTES_MAX ? room : ENTRY_BYTES_MAX;
  int rc = table_rows_function(making->rows, entry, entry + len);
  return rc == 0 ? table_rows_put(making->rows, entry, &begin) : rc;
}

/* Reads the code itself, and ARM's index, which is valid only in the middle of functions. */
static int read_code(struct making *making, struct span debug) {
  struct elf_image symbols;
  struct prologue_file *file;
  bool has_symbols =
      debug.len > 0 && elf_image_open(debug, &symbols) == 0 && symbols.is_64 == making->image.is_64;
  int rc = signal_return_read(&making->image, making->rows);
  if (rc < 0) return rc;
  rc = prologue_file_open(&making->image, has_symbols ? &symbols : NULL, making->rows, &file);
  if (rc < 0) return rc == -ENOTSUP ? 0 : rc;
  rc = exidx_read(&making->image, making->rows, file, making->report);
  if (rc == 0) rc = prologue_file_rest(file);
  prologue_file_close(file);
  return rc;
}

static int read_all(struct making *making, const struct table_input *input) {
  int rc = read_eh_frame(making);
  if (rc == 0) rc = read_debug_frame(making, input->debug);
  if (rc < 0 || input->is_told_only) return rc;
  rc = tell_entry(making);
  if (rc == 0) rc = read_code(making, input->debug);
  return rc;
}

/* A table records its own omissions, because it outlives its maker. */
static void tell_report(const struct table_report *report, struct buf *ret) {
  struct unwind_table head;
  memcpy(&head, ret->data, sizeof head);
  head.functions_refused = report->functions_refused;
  head.functions_left = report->functions_left;
  memcpy(ret->data, &head, sizeof head);
}

int table_make(const struct table_input *input, struct buf *ret, struct table_report *report) {
  struct making making = {.arch = input->arch, .report = report};
  struct code_ranges code;
  *report = (struct table_report){0};
  int rc = elf_image_open(input->file, &making.image);
  if (rc < 0) return rc;
  if (making.image.machine != input->arch->machine) return -EPROTO;
  if (!elf_image_code(&making.image, &code)) return -ENODATA;
  rc = table_rows_new(&code, &making.rows);
  if (rc < 0) return rc;
  rc = read_all(&making, input);
  if (rc == 0) rc = table_rows_encode(making.rows, input->arch->machine, ret);
  report->functions_left = table_rows_left(making.rows);
  if (rc == 0) tell_report(report, ret);
  table_rows_free(making.rows);
  return rc == -ENOSPC ? -EOVERFLOW : rc;
}
