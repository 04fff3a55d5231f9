/* SPDX-License-Identifier: Apache-2.0 */
/* This test's own executable, and a library that it uses, as a board sends them. */
#ifndef TESTS_QUERY_OWN_FILE_H
#define TESTS_QUERY_OWN_FILE_H

#include "fixture.h"

#include "names/debug_store.h"

#include <link.h>
#include <openssl/evp.h>

struct own_file {
  const char *wanted; /* part of the name of the library; NULL: the executable */
  char path[512];
  uint64_t load_address;
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  size_t build_id_len;
};

/* Finds the program's GNU build-id note; the first object is the program. */
static inline int read_own_notes(struct dl_phdr_info *object, size_t size, void *context) {
  struct own_file *own = context;
  (void)size;
  if (own->wanted != NULL && strstr(object->dlpi_name, own->wanted) == NULL) return 0;
  snprintf(own->path, sizeof own->path, "%s",
           own->wanted != NULL ? object->dlpi_name : "/proc/self/exe");
  own->load_address = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_NOTE) continue;
    const uint8_t *at = (const uint8_t *)(object->dlpi_addr + segment->p_vaddr);
    const uint8_t *end = at + segment->p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const ElfW(Nhdr) *note = (const void *)at;
      const uint8_t *name = at + sizeof *note, *desc = name + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= sizeof own->build_id) {
        memcpy(own->build_id, desc, note->n_descsz);
        own->build_id_len = note->n_descsz;
      }
      at = desc + ((note->n_descsz + 3) & ~3u);
    }
  }
  return 1;
}

static inline bool find_own_file(struct own_file *ret) {
  dl_iterate_phdr(read_own_notes, ret);
  return ret->build_id_len > 0;
}

/* Board b1 sends it. */
static inline void send_own_file(struct debug_store *debug, const struct own_file *own) {
  uint8_t sha256[32];
  char why[256] = "";
  struct buf bytes = {0};
  FILE *file = fopen(own->path, "rb");
  assert_non_null(file);
  for (size_t got = 1; got > 0; bytes.len += got) {
    uint8_t *room = buf_reserve(&bytes, 65536);
    assert_non_null(room);
    got = fread(room, 1, 65536, file);
  }
  fclose(file);
  assert_int_equal(EVP_Digest(bytes.data, bytes.len, sha256, NULL, EVP_sha256(), NULL), 1);
  for (size_t at = 0; at < bytes.len; at += LIMIT_DEBUG_CHUNK_BYTES) {
    size_t left = bytes.len - at;
    struct debug_piece piece = {.board = "b1",
                                .id = span_of(own->build_id, own->build_id_len),
                                .offset = at,
                                .total = bytes.len,
                                .sha256 = span_of(sha256, sizeof sha256),
                                .bytes = span_of(bytes.data + at, left < LIMIT_DEBUG_CHUNK_BYTES
                                                                      ? left
                                                                      : LIMIT_DEBUG_CHUNK_BYTES)};
    if (debug_store_write(debug, &piece, why, sizeof why) < 0) fail_msg("%s", why);
  }
  buf_fini(&bytes);
}

#endif
