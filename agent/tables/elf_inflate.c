/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files often hold their sections deflated: a small header says how large the content is,
   and how it was made small.  What the header says is not believed before it is possible: zlib
   makes nothing more than about a thousand times smaller, so a few bytes never make us ask for a
   hundred megabytes. */
#include "elf_image.h"

#include <elf.h>
#include <errno.h>
#include <zlib.h>

enum { DEFLATE_RATIO_MAX = 1032, SHORTEST_BYTES = 64 };

static bool read_head(const struct elf_image *image, struct span *bytes, Elf64_Chdr *ret) {
  struct span head;
  if (image->is_64) {
    if (!span_take(bytes, sizeof *ret, &head)) return false;
    memcpy(ret, head.data, sizeof *ret);
    return true;
  }
  Elf32_Chdr narrow;
  if (!span_take(bytes, sizeof narrow, &head)) return false;
  memcpy(&narrow, head.data, sizeof narrow);
  *ret = (Elf64_Chdr){.ch_type = narrow.ch_type, .ch_size = narrow.ch_size};
  return true;
}

int elf_image_content(const struct elf_image *image, const struct elf_part *section,
                      struct buf *room, struct span *ret) {
  struct span bytes = section->bytes;
  Elf64_Chdr head;
  if ((section->flags & SHF_COMPRESSED) == 0) {
    *ret = bytes;
    return 0;
  }
  if (!read_head(image, &bytes, &head)) return -EBADMSG;
  if (head.ch_type != ELFCOMPRESS_ZLIB) return -ENOTSUP;
  if (head.ch_size > ELF_INFLATED_BYTES_MAX) return -EOVERFLOW;
  if (head.ch_size / DEFLATE_RATIO_MAX > bytes.len + SHORTEST_BYTES) return -EBADMSG;
  uint8_t *to = buf_reserve(room, (size_t)head.ch_size);
  if (to == NULL) return -ENOMEM;
  uLongf len = (uLongf)head.ch_size;
  if (uncompress(to, &len, bytes.data, (uLong)bytes.len) != Z_OK || len != head.ch_size)
    return -EBADMSG;
  room->len += len;
  *ret = span_of(to, len);
  return 0;
}
