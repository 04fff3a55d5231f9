/* SPDX-License-Identifier: Apache-2.0 */
/* Only content decides, never a file's location: layouts of build systems differ and change.
   Object files are no modules of a running program, except the kernel's and their debug files,
   which have a build-id. */
#include "look.h"

#include "elf/regular_file.h"
#include "file_name.h"
#include "symbol/elf_outline.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <unistd.h>

enum { HASH_STEP_BYTES = 256 << 10, SHA256_BYTES = 32, LIST_ID_CHARS = 2 * LIMIT_MODULE_ID_BYTES };

static const char id_word[] = "# build-id ";

static int hash_open(int fd, uint64_t bytes, uint8_t *buffer, EVP_MD_CTX *context) {
  for (uint64_t at = 0; at < bytes;) {
    ssize_t got = pread(fd, buffer, HASH_STEP_BYTES, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? -errno : -ESTALE; /* the file has shrunk */
    if ((uint64_t)got > bytes - at) got = (ssize_t)(bytes - at);
    if (EVP_DigestUpdate(context, buffer, (size_t)got) != 1) return -ENOMEM;
    at += (uint64_t)got;
  }
  return 0;
}

static int hash(int fd, uint64_t bytes, uint8_t ret[SHA256_BYTES]) {
  uint8_t *buffer = malloc(HASH_STEP_BYTES);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool is_ready =
      buffer != NULL && context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
  int error = is_ready ? hash_open(fd, bytes, buffer, context) : -ENOMEM;
  if (error == 0 && EVP_DigestFinal_ex(context, ret, NULL) != 1) error = -ENOMEM;
  EVP_MD_CTX_free(context);
  free(buffer);
  return error;
}

static void set_id(struct found_file *found, const uint8_t *id, size_t len) {
  memcpy(found->id, id, len);
  found->id_len = (uint32_t)len;
}

/* The list's module: from its first line, else the user's id, else its name. */
static int look_at_list(const struct source_file *file, struct span given_id,
                        struct found_file *found) {
  char head[sizeof id_word + LIST_ID_CHARS + 1] = "";
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  size_t len = 0, word_len = sizeof id_word - 1;
  if (pread(file->fd, head, sizeof head - 1, 0) < 0) return -errno;
  if (strncmp(head, id_word, word_len) == 0)
    len = file_name_parse_id(head + word_len, strcspn(head + word_len, "\r\n"), id, sizeof id);
  if (len == 0 && given_id.len > 0) memcpy(id, given_id.data, len = given_id.len);
  if (len == 0) len = file_name_id(file->name, id, sizeof id);
  if (len == 0) return -ENODATA;
  set_id(found, id, len);
  found->is_list = true;
  found->has_symbols = true;
  found->has_build_id = true;
  return 0;
}

/* The build-id of the program x next to x.dwp: gdb finds it by the same rule. */
static size_t id_of_neighbour(const struct source_file *file, uint8_t id[LIMIT_MODULE_ID_BYTES]) {
  static const char suffix[] = ".dwp";
  struct elf_outline outline;
  struct stat status;
  char path[PATH_MAX];
  size_t len = strlen(file->name), suffix_len = sizeof suffix - 1;
  bool is_on_disk = strcmp(file->name, file->source) == 0;
  if (!is_on_disk || len <= suffix_len || len >= sizeof path) return 0;
  if (strcmp(file->name + len - suffix_len, suffix) != 0) return 0;
  memcpy(path, file->name, len - suffix_len);
  path[len - suffix_len] = '\0';
  int fd = regular_file_open(path, &status);
  if (fd < 0) return 0;
  int error = elf_outline_make(elf_read_fd, &fd, &outline);
  close(fd);
  if (error != 0) return 0;
  memcpy(id, outline.build_id, outline.build_id_len);
  return outline.build_id_len;
}

static bool is_split(int fd) {
  struct elf_section_place place;
  return elf_outline_find_section(elf_read_fd, &fd, ".debug_info.dwo", &place) == 0;
}

/* The module of split debug information: the user's id, else the program next to it. */
static int look_at_split(const struct source_file *file, struct span given_id,
                         struct found_file *found) {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  size_t len = given_id.len;
  found->is_split = true;
  if (len > 0)
    memcpy(id, given_id.data, len);
  else
    len = id_of_neighbour(file, id);
  if (len == 0) return -ENODATA;
  set_id(found, id, len);
  found->has_build_id = true;
  return 0;
}

static int look_at_elf(const struct source_file *file, struct span given_id,
                       struct found_file *found) {
  struct elf_outline outline;
  int fd = file->fd;
  int error = elf_outline_make(elf_read_fd, &fd, &outline);
  if (error != 0) return error;
  if (outline.build_id_len == 0 && !outline.has_code && is_split(fd))
    return look_at_split(file, given_id, found);
  bool is_module = outline.is_kernel_module || outline.build_id_len > 0;
  if (outline.type != ET_EXEC && outline.type != ET_DYN && !(outline.type == ET_REL && is_module))
    return -ENOENT;
  found->has_build_id = outline.build_id_len > 0;
  found->has_code = outline.has_code;
  found->has_symbols = outline.has_symtab || outline.has_packed_symtab;
  found->has_dwarf = outline.has_dwarf;
  set_id(found, outline.build_id, outline.build_id_len);
  return found->has_code || found->has_symbols || found->has_dwarf ? 0 : -ENOENT;
}

int look_at(const struct source_file *file, struct span given_id, struct found_file *ret) {
  struct found_file found = {
      .name = file->name, .source = file->source, .ordinal = file->ordinal, .bytes = file->bytes};
  int error =
      file->is_list ? look_at_list(file, given_id, &found) : look_at_elf(file, given_id, &found);
  if (error == -ENODATA) *ret = found;
  if (error == 0) error = hash(file->fd, file->bytes, found.sha256);
  if (error == 0 && found.id_len == 0) set_id(&found, found.sha256, SHA256_BYTES);
  if (error == 0) *ret = found;
  return error;
}
