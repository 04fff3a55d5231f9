/* SPDX-License-Identifier: Apache-2.0 */
/* A handler returns to two instructions of the C library that make the sigreturn call, and these
   look the same everywhere. Some libraries have no call frame information for them.

   A walk looks a caller up one byte before its return address, which here is the address of the
   first of them. So their rule includes the byte before.

   ARM kernels build another frame, without a siginfo in front, for handlers that did not request
   one. The library returns from it by another system call. */
#include "signal_return.h"

#include <elf.h>
#include <errno.h>

enum { CODE_BYTES_MAX = 64 << 20, SIGINFO_BYTES = 128 };

struct signal_return {
  uint16_t machine;
  uint8_t step; /* alignment of its address */
  uint8_t bytes;
  bool is_big_endian;
  int32_t offset; /* of the kernel's frame, relative to the CPU's own file */
  uint8_t code[12];
};

static const struct signal_return returns[] = {
    {EM_ARM, 4, 8, false, 0, {0xad, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}}, /* mov r7, #173; svc */
    {EM_ARM, 2, 6, false, 0, {0x4f, 0xf0, 0xad, 0x07, 0, 0xdf}},       /* mov.w r7, #173; svc */
    {EM_ARM, 2, 4, false, 0, {0xad, 0x27, 0, 0xdf}},                   /* movs r7, #173; svc */
    {EM_ARM, 4, 8, false, -SIGINFO_BYTES, {0x77, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}},
    {EM_ARM, 2, 6, false, -SIGINFO_BYTES, {0x4f, 0xf0, 0x77, 0x07, 0, 0xdf}},
    {EM_ARM, 2, 4, false, -SIGINFO_BYTES, {0x77, 0x27, 0, 0xdf}},
    {EM_MIPS, 4, 8, false, 0, {0x61, 0x10, 0x02, 0x24, 0x0c, 0, 0, 0}}, /* li v0, 4193; syscall */
    {EM_MIPS, 4, 8, true, 0, {0x24, 0x02, 0x10, 0x61, 0, 0, 0, 0x0c}},
    {EM_RISCV, 2, 8, false, 0, {0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0}}, /* li a7, 139; ecall */
    {EM_AARCH64, 4, 8, false, 0, {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}},   /* mov x8, #139; svc
                                                                                 */
    {EM_X86_64, 1, 9, false, 0, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}}, /* mov $15, %rax */
    {EM_X86_64, 1, 7, false, 0, {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}}, /* mov $15, %eax; syscall */
};

enum { RETURNS = sizeof returns / sizeof returns[0] };

static int tell_rule(void *context, uint64_t address, uint64_t bytes, int32_t offset) {
  struct table_rows *rows = context;
  const struct unwind_rule rule = {.cfa = UNWIND_CFA_SIGNAL, .offset = offset};
  int rc = table_rows_function(rows, address - 1, address + bytes);
  if (rc == -EEXIST || rc == -ERANGE) return 0;
  return rc < 0 ? rc : table_rows_put(rows, address - 1, &rule);
}

static int find(const struct signal_return *wanted, const struct elf_part *part,
                signal_return_tell *tell, void *context) {
  const uint8_t *at = part->bytes.data, *end = at + part->bytes.len;
  int rc = 0;
  while (rc == 0 && (at = memmem(at, (size_t)(end - at), wanted->code, wanted->bytes)) != NULL) {
    uint64_t address = part->address + (uint64_t)(at - part->bytes.data);
    if (address % wanted->step == 0) rc = tell(context, address, wanted->bytes, wanted->offset);
    at++;
  }
  return rc;
}

int signal_return_each(const struct elf_image *image, signal_return_tell *tell, void *context) {
  struct elf_part part;
  uint64_t left = CODE_BYTES_MAX;
  int rc = 0;
  for (uint32_t cursor = 0; rc == 0 && elf_image_code_section(image, &cursor, &part);) {
    if (part.bytes.len > left) break;
    left -= part.bytes.len;
    for (unsigned i = 0; rc == 0 && i < RETURNS; i++)
      if (returns[i].machine == image->machine &&
          returns[i].is_big_endian == image->is_code_big_endian)
        rc = find(&returns[i], &part, tell, context);
  }
  return rc;
}

int signal_return_read(const struct elf_image *image, struct table_rows *rows) {
  table_rows_source(rows, UNWIND_PROLOGUES);
  return signal_return_each(image, tell_rule, rows);
}
