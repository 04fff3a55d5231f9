/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files often have deflated sections, with a small header for the size of the content and the
   method. The size is first checked for plausibility: zlib's ratio is at most about a thousand, so
   a few bytes never cause an allocation of a hundred megabytes. */
#include "elf_image.h"

#include <errno.h>
#include <zlib.h>

enum { DEFLATE_RATIO_MAX = 1032, SHORTEST_BYTES = 64 };

int elf_image_content(const struct elf_image *image, const struct elf_part *section,
                      struct buf *room, struct span *ret) {
  struct span bytes = section->bytes, head;
  if ((section->flags & SHF_COMPRESSED) == 0) {
    *ret = bytes;
    return 0;
  }
  if (!span_take(&bytes, ELF_SIZE(image, Chdr), &head)) return -EBADMSG;
  uint64_t size = ELF_FIELD(&image->head, head.data, Chdr, ch_size);
  if (ELF_FIELD(&image->head, head.data, Chdr, ch_type) != ELFCOMPRESS_ZLIB) return -ENOTSUP;
  if (size > ELF_INFLATED_BYTES_MAX) return -EOVERFLOW;
  if (size / DEFLATE_RATIO_MAX > bytes.len + SHORTEST_BYTES) return -EBADMSG;
  uint8_t *to = buf_reserve(room, (size_t)size);
  if (to == NULL) return -ENOMEM;
  uLongf len = (uLongf)size;
  if (uncompress(to, &len, bytes.data, (uLong)bytes.len) != Z_OK || len != size) return -EBADMSG;
  room->len += len;
  *ret = span_of(to, len);
  return 0;
}
