/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the index of a 32-bit ARM file, its .ARM.extab and its code: the result is a
   complete table or nothing. The first byte is the number of index entries; the file is built
   around the other bytes. */
#include "tables/exidx.h"
#include "tables/exidx_code.h"

#include <elf.h>
#include <stdlib.h>

#ifndef PT_ARM_EXIDX
#define PT_ARM_EXIDX 0x70000001
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ENTRY_BYTES = 8, LENGTH_MAX = 1 << 16 };

struct head {
  Elf32_Ehdr file;
  Elf32_Phdr load, index;
};

static void read_index(struct span file) {
  struct elf_image image;
  struct table_report report = {0};
  struct table_rows *rows = NULL;
  struct prologue_file *prologues = NULL;
  struct buf table = {0};
  struct code_ranges code;
  if (elf_image_open(file, &image) < 0 || !elf_image_code(&image, &code)) abort();
  if (table_rows_new(&code, &rows) < 0) return;
  if (prologue_file_open(&image, NULL, rows, &prologues) == 0 &&
      exidx_read(&image, rows, prologues, &report) == 0 && prologue_file_rest(prologues) == 0)
    table_rows_encode(rows, EM_ARM, &table);
  if (table.len > 0 && unwind_table_check((const void *)table.data, table.len, EM_ARM) < 0) abort();
  buf_fini(&table);
  prologue_file_close(prologues);
  table_rows_free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct prologue_state state;
  if (len < 1 || len > LENGTH_MAX) return 0;
  exidx_code_read(span_of(data + 1, len - 1), &state);
  uint32_t bytes = (uint32_t)len - 1, index_bytes = data[0] * ENTRY_BYTES;
  struct head head = {.file = {.e_type = ET_DYN,
                               .e_machine = EM_ARM,
                               .e_version = EV_CURRENT,
                               .e_phoff = offsetof(struct head, load),
                               .e_phentsize = sizeof(Elf32_Phdr),
                               .e_phnum = 2},
                      .load = {.p_type = PT_LOAD,
                               .p_flags = PF_R | PF_X,
                               .p_offset = sizeof head,
                               .p_filesz = bytes},
                      .index = {.p_type = PT_ARM_EXIDX, .p_offset = sizeof head}};
  memcpy(head.file.e_ident, ELFMAG, SELFMAG);
  head.file.e_ident[EI_CLASS] = ELFCLASS32;
  head.file.e_ident[EI_DATA] = ELFDATA2LSB;
  head.index.p_filesz = index_bytes < bytes ? index_bytes : bytes;
  uint8_t *file = malloc(sizeof head + bytes);
  if (file == NULL || bytes == 0) {
    free(file);
    return 0;
  }
  memcpy(file, &head, sizeof head);
  memcpy(file + sizeof head, data + 1, bytes);
  read_index(span_of(file, sizeof head + bytes));
  free(file);
  return 0;
}
