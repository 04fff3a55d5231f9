/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the debug store on disk.

     DIR/debug/<sha256>            a whole file, exactly as sent
     DIR/debug/<sha256>.index      its symbol index
     DIR/debug/<sha256>.dwarf      the index with its debug information
     DIR/debug/<sha256>.index.new  an index under construction
     DIR/debug/partial/<key>       a partial upload; the key hides names chosen by boards

   The database lists the valid files; after a crash the folder is swept to agree with it. */
#include "debug_folder.h"

#include "common/hex_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEX_LEN = 64, HASH_STEP_BYTES = 256 << 10, KEY_HASH_BYTES = 16, CORRUPT_NAMES_MAX = 1000 };

static const char index_suffix[] = ".index", dwarf_suffix[] = ".dwarf";

static int make_folder(const char *path) {
  return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

int debug_folder_init(struct debug_folder *folder, const char *dir) {
  char path[DEBUG_PATH_BYTES];
  int len = snprintf(folder->root, sizeof folder->root, "%s/debug", dir);
  if (len < 0 || (size_t)len >= sizeof folder->root) return -ENAMETOOLONG;
  int error = make_folder(dir);
  if (error == 0) error = make_folder(folder->root);
  debug_folder_partial(folder, "", path);
  return error != 0 ? error : make_folder(path);
}

void debug_folder_file(const struct debug_folder *folder, const uint8_t sha256[32],
                       char path[DEBUG_PATH_BYTES]) {
  char hex[HEX_LEN + 1];
  hex_text_print(span_of(sha256, 32), hex, sizeof hex);
  snprintf(path, DEBUG_PATH_BYTES, "%s/%s", folder->root, hex);
}

void debug_folder_index(const struct debug_folder *folder, const uint8_t sha256[32], bool has_dwarf,
                        char path[DEBUG_PATH_BYTES]) {
  char hex[HEX_LEN + 1];
  hex_text_print(span_of(sha256, 32), hex, sizeof hex);
  snprintf(path, DEBUG_PATH_BYTES, "%s/%s%s", folder->root, hex,
           has_dwarf ? dwarf_suffix : index_suffix);
}

void debug_folder_partial(const struct debug_folder *folder, const char *key,
                          char path[DEBUG_PATH_BYTES]) {
  snprintf(path, DEBUG_PATH_BYTES, "%s/partial/%s", folder->root, key);
}

void debug_folder_key(const char *board, struct span id, struct span sha256,
                      char key[DEBUG_KEY_BYTES]) {
  uint8_t hash[EVP_MAX_MD_SIZE] = {0};
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  if (context != NULL) {
    EVP_DigestInit_ex(context, EVP_sha256(), NULL);
    EVP_DigestUpdate(context, board, strlen(board) + 1);
    EVP_DigestUpdate(context, id.data, id.len);
    EVP_DigestUpdate(context, sha256.data, sha256.len);
    EVP_DigestFinal_ex(context, hash, NULL);
    EVP_MD_CTX_free(context);
  }
  hex_text_print(span_of(hash, KEY_HASH_BYTES), key, 2 * KEY_HASH_BYTES + 1);
}

void debug_folder_remove(const struct debug_folder *folder, const uint8_t sha256[32]) {
  char path[DEBUG_PATH_BYTES];
  debug_folder_file(folder, sha256, path);
  unlink(path);
  for (int has_dwarf = 0; has_dwarf < 2; has_dwarf++) {
    debug_folder_index(folder, sha256, has_dwarf != 0, path);
    unlink(path);
  }
}

static int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Whether NAME is that of a whole file or of one of its indexes. */
static bool parse_name(const char *name, uint8_t sha256[32]) {
  for (int i = 0; i < HEX_LEN; i++) {
    int digit = hex_digit(name[i]);
    if (digit < 0) return false;
    sha256[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : sha256[i / 2] | digit);
  }
  const char *suffix = name + HEX_LEN;
  return *suffix == '\0' || strcmp(suffix, index_suffix) == 0 || strcmp(suffix, dwarf_suffix) == 0;
}

/* Finds the first unused number. */
static int free_number(const struct debug_folder *folder, unsigned *ret) {
  char name[DEBUG_PATH_BYTES];
  for (unsigned i = 0; i < CORRUPT_NAMES_MAX; i++) {
    snprintf(name, sizeof name, "%s.corrupt-%u", folder->root, i);
    if (access(name, F_OK) == 0) continue;
    *ret = i;
    return 0;
  }
  return -EEXIST;
}

/* Whether NAME is a whole file, not an index, for which IS_KNOWN returns false. */
static bool is_strange(const char *name, bool (*is_known)(void *context, const uint8_t sha256[32]),
                       void *context) {
  uint8_t sha256[32];
  return parse_name(name, sha256) && name[HEX_LEN] == '\0' &&
         (is_known == NULL || !is_known(context, sha256));
}

static int count_strange(const struct debug_folder *folder,
                         bool (*is_known)(void *context, const uint8_t sha256[32]), void *context) {
  DIR *listing = opendir(folder->root);
  int count = 0;
  if (listing == NULL) return -errno;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
    count += is_strange(entry->d_name, is_known, context);
  closedir(listing);
  return count;
}

bool debug_folder_has_files(const struct debug_folder *folder) {
  return count_strange(folder, NULL, NULL) > 0;
}

static int make_aside(const struct debug_folder *folder, char aside[DEBUG_PATH_BYTES]) {
  unsigned number = 0;
  int error = free_number(folder, &number);
  if (error != 0) return error;
  snprintf(aside, DEBUG_PATH_BYTES, "%s.corrupt-%u", folder->root, number);
  return mkdir(aside, 0700) == 0 ? 0 : -errno;
}

int debug_folder_sweep(const struct debug_folder *folder,
                       bool (*is_known)(void *context, const uint8_t sha256[32]), void *context,
                       bool keeps, char aside[DEBUG_PATH_BYTES]) {
  char to[DEBUG_PATH_BYTES + NAME_MAX + 2];
  int strange = count_strange(folder, is_known, context);
  aside[0] = '\0';
  if (keeps && strange > 0) {
    int error = make_aside(folder, aside);
    if (error != 0) return error;
  }
  DIR *listing = strange >= 0 ? opendir(folder->root) : NULL;
  if (listing == NULL) return strange < 0 ? strange : -errno;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    uint8_t sha256[32];
    if (entry->d_name[0] == '.') continue;
    if (parse_name(entry->d_name, sha256) && is_known(context, sha256)) continue;
    snprintf(to, sizeof to, "%s/%s", aside, entry->d_name);
    if (aside[0] != '\0' && is_strange(entry->d_name, is_known, context) &&
        renameat(dirfd(listing), entry->d_name, AT_FDCWD, to) == 0)
      continue;
    unlinkat(dirfd(listing), entry->d_name, 0); /* fails for the folder below: not a file */
  }
  closedir(listing);
  return aside[0] != '\0' ? strange : 0;
}

int debug_folder_set_aside(const struct debug_folder *folder, char aside[DEBUG_PATH_BYTES]) {
  static const char *const parts[] = {".db-wal", ".db-shm", ".db", ""};
  char from[DEBUG_PATH_BYTES], to[DEBUG_PATH_BYTES];
  unsigned number = 0;
  int error = free_number(folder, &number);
  for (unsigned i = 0; error == 0 && i < sizeof parts / sizeof *parts; i++) {
    snprintf(from, sizeof from, "%s%s", folder->root, parts[i]);
    snprintf(to, sizeof to, "%s%s.corrupt-%u", folder->root, parts[i], number);
    if (rename(from, to) != 0 && errno != ENOENT) error = -errno;
  }
  if (error == 0) snprintf(aside, DEBUG_PATH_BYTES, "%s.corrupt-%u", folder->root, number);
  return error;
}

static int hash_open_file(int fd, uint8_t *buffer, EVP_MD_CTX *context) {
  for (;;) {
    ssize_t len = read(fd, buffer, HASH_STEP_BYTES);
    if (len < 0 && errno == EINTR) continue;
    if (len < 0) return -errno;
    if (len == 0) return fdatasync(fd) == 0 ? 0 : -errno;
    if (EVP_DigestUpdate(context, buffer, (size_t)len) != 1) return -ENOMEM;
  }
}

int debug_folder_hash(const char *path, uint8_t ret_sha256[32]) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  uint8_t *buffer = malloc(HASH_STEP_BYTES);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool is_ready = buffer != NULL && context != NULL;
  if (is_ready) is_ready = EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
  int error = is_ready ? hash_open_file(fd, buffer, context) : -ENOMEM;
  if (error == 0 && EVP_DigestFinal_ex(context, ret_sha256, NULL) != 1) error = -ENOMEM;
  EVP_MD_CTX_free(context);
  free(buffer);
  close(fd);
  return error;
}
