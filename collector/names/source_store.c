/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles on disk; the folder is the only record.

     DIR/sources/<build-id>                        a bundle, exactly as sent
     DIR/sources/<build-id>-<sha256>-<bytes>.part  a partial upload: its length is its progress

   The name of an upload identifies its bytes, so that pieces of two uploads are never joined. A
   bundle is put in place by rename: readers that have mapped the previous one continue. When the
   store is full, the least recently read bundles are evicted; the uploader still has the
   sources. */
#include "source_store.h"

#include "common/hex_text.h"
#include "debug_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STORE_BYTES_MAX (UINT64_C(8) << 30)

enum {
  PART_S = 7 * 24 * 60 * 60, /* limit of an abandoned upload */
  NOTED_S = 60 * 60,         /* interval of recording that a bundle was read */
  SHA256_BYTES = 32,
  NAME_BYTES = 2 * (LIMIT_MODULE_ID_BYTES + SHA256_BYTES) + 32,
};

static const char part_suffix[] = ".part";

struct source_store {
  int folder;
  char path[DEBUG_PATH_BYTES];
};

__attribute__((format(printf, 4, 5))) static int refuse(char *why, size_t why_len, int error,
                                                        const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, why_len, format, arguments);
  va_end(arguments);
  return error;
}

static void print_part_name(const struct source_piece *piece, char name[NAME_BYTES]) {
  size_t len = hex_text_print(piece->id, name, NAME_BYTES);
  name[len++] = '-';
  len += hex_text_print(piece->sha256, name + len, NAME_BYTES - len);
  snprintf(name + len, NAME_BYTES - len, "-%" PRIu64 "%s", piece->total, part_suffix);
}

static bool is_part(const char *name) {
  size_t len = strlen(name), suffix_len = sizeof part_suffix - 1;
  return len > suffix_len && strcmp(name + len - suffix_len, part_suffix) == 0;
}

/* ---- the folder ---- */

/* Calls ON_FILE with the name and status of each file. Returns 0 or -errno. */
static int each_file(const struct source_store *store,
                     void (*on_file)(void *context, const char *name, const struct stat *status),
                     void *context) {
  int fd = openat(store->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
  if (listing == NULL) {
    int error = -errno;
    if (fd >= 0) close(fd);
    return error;
  }
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    struct stat status;
    if (fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
      on_file(context, entry->d_name, &status);
  }
  closedir(listing);
  return 0;
}

static void sweep_part(void *context, const char *name, const struct stat *status) {
  const struct source_store *store = context;
  if (is_part(name) && status->st_mtime < time(NULL) - PART_S) unlinkat(store->folder, name, 0);
}

int source_store_open(const char *dir, struct source_store **ret, char *error, size_t error_len) {
  struct source_store *store = calloc(1, sizeof *store);
  int failure = store == NULL ? -ENOMEM : 0;
  if (failure == 0) {
    store->folder = -1;
    int len = snprintf(store->path, sizeof store->path, "%s/sources", dir);
    if (len < 0 || (size_t)len + NAME_BYTES >= sizeof store->path) failure = -ENAMETOOLONG;
  }
  if (failure == 0 && mkdir(store->path, 0700) != 0 && errno != EEXIST) failure = -errno;
  if (failure == 0) store->folder = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (failure == 0 && store->folder < 0) failure = -errno;
  if (failure == 0) failure = each_file(store, sweep_part, store);
  if (failure == 0) {
    *ret = store;
    return 0;
  }
  source_store_close(store);
  return refuse(error, error_len, failure, "%s/sources: %s", dir, strerror(-failure));
}

void source_store_close(struct source_store *store) {
  if (store == NULL) return;
  if (store->folder >= 0) close(store->folder);
  free(store);
}

struct inventory {
  uint64_t bytes;
  char oldest[NAME_BYTES];
  struct timespec oldest_at;
};

static bool is_before(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void count_file(void *context, const char *name, const struct stat *status) {
  struct inventory *inventory = context;
  inventory->bytes += (uint64_t)status->st_size;
  bool is_older =
      inventory->oldest[0] == '\0' || is_before(&status->st_mtim, &inventory->oldest_at);
  if (!is_older || strlen(name) >= sizeof inventory->oldest) return;
  snprintf(inventory->oldest, sizeof inventory->oldest, "%s", name);
  inventory->oldest_at = status->st_mtim;
}

/* Evicts the least recently read files until BYTES more fit. Returns 0 or -errno. */
static int make_room(const struct source_store *store, uint64_t bytes) {
  for (;;) {
    struct inventory inventory = {.bytes = 0};
    int error = each_file(store, count_file, &inventory);
    if (error != 0 || inventory.bytes + bytes <= STORE_BYTES_MAX) return error;
    if (inventory.oldest[0] == '\0' || unlinkat(store->folder, inventory.oldest, 0) != 0)
      return -ENOSPC;
  }
}

/* ---- uploads ---- */

static int check(const struct source_piece *piece, char *why, size_t why_len) {
  if (piece->id.len == 0 || piece->id.len > LIMIT_MODULE_ID_BYTES)
    return refuse(why, why_len, -EBADMSG, "module id of %zu bytes", piece->id.len);
  if (piece->sha256.len != SHA256_BYTES)
    return refuse(why, why_len, -EBADMSG, "sha256, the hash of the whole bundle, is needed");
  if (piece->total > LIMIT_SOURCE_BUNDLE_BYTES)
    return refuse(why, why_len, -EOVERFLOW,
                  "a bundle of %" PRIu64 " bytes is over LIMIT_SOURCE_BUNDLE_BYTES", piece->total);
  if (piece->bytes.len == 0) return refuse(why, why_len, -EBADMSG, "empty piece");
  if (piece->offset > piece->total || piece->bytes.len > piece->total - piece->offset)
    return refuse(why, why_len, -EBADMSG, "piece reaches beyond the end of the bundle");
  if (piece->offset == 0 && !source_bundle_is(piece->bytes))
    return refuse(why, why_len, -EBADMSG, "no source bundle");
  return 0;
}

static int write_at(int fd, struct span bytes, uint64_t offset) {
  while (bytes.len > 0) {
    ssize_t put = pwrite(fd, bytes.data, bytes.len, (off_t)offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return -errno;
    bytes = span_of(bytes.data + put, bytes.len - (size_t)put);
    offset += (uint64_t)put;
  }
  return 0;
}

static int write_part(const struct source_store *store, const char *name,
                      const struct source_piece *piece, char *why, size_t why_len) {
  int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (piece->offset == 0 ? O_CREAT : 0);
  int fd = openat(store->folder, name, flags, 0600);
  if (fd < 0 && errno == ENOENT)
    return refuse(why, why_len, -ESPIPE, "offset %" PRIu64 ", but nothing of it is here",
                  piece->offset);
  if (fd < 0) return -errno;
  struct stat status;
  int error = fstat(fd, &status) == 0 ? 0 : -errno;
  if (error == 0 && (uint64_t)status.st_size < piece->offset)
    error = refuse(why, why_len, -ESPIPE, "offset %" PRIu64 ", but only %" PRIu64 " bytes are here",
                   piece->offset, (uint64_t)status.st_size);
  else if (error == 0) /* another sender of the same bytes may be further: later bytes stay */
    error = write_at(fd, piece->bytes, piece->offset);
  close(fd);
  return error;
}

static int map_file(int folder, const char *name, struct source_bundle *ret) {
  int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return -errno;
  struct stat status;
  int error = fstat(fd, &status) == 0 ? 0 : -errno;
  size_t len = error == 0 ? (size_t)status.st_size : 0;
  void *map = len > 0 ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  if (error == 0 && map == MAP_FAILED) error = len == 0 ? -EBADMSG : -errno;
  close(fd);
  if (error != 0) return error;
  error = source_bundle_parse(span_of(map, len), ret);
  if (error != 0) munmap(map, len);
  return error;
}

void source_store_unmap(struct source_bundle *bundle) {
  if (bundle->bytes.data != NULL) munmap((void *)(uintptr_t)bundle->bytes.data, bundle->bytes.len);
  *bundle = (struct source_bundle){.count = 0};
}

/* Checks the complete upload NAME. */
static int judge(const struct source_store *store, const char *name,
                 const struct source_piece *piece, char *why, size_t why_len) {
  char path[DEBUG_PATH_BYTES + NAME_BYTES];
  uint8_t sha256[SHA256_BYTES];
  struct source_bundle bundle;
  snprintf(path, sizeof path, "%s/%s", store->path, name);
  int error = debug_folder_hash(path, sha256);
  if (error != 0) return error;
  if (memcmp(sha256, piece->sha256.data, SHA256_BYTES) != 0)
    return refuse(why, why_len, -EBADMSG, "the bytes do not have the hash that was announced");
  error = map_file(store->folder, name, &bundle);
  if (error == 0) {
    error = source_bundle_verify(&bundle);
    source_store_unmap(&bundle);
  }
  if (error == -EPROTO) return refuse(why, why_len, -EBADMSG, "a source bundle of another version");
  if (error == -EBADMSG || error == -EOVERFLOW)
    return refuse(why, why_len, error, "the bundle's list of files is malformed");
  return error;
}

static int take_whole(const struct source_store *store, const char *part,
                      const struct source_piece *piece, char *why, size_t why_len) {
  char name[NAME_BYTES];
  int error = judge(store, part, piece, why, why_len);
  hex_text_print(piece->id, name, sizeof name);
  if (error == 0 && renameat(store->folder, part, store->folder, name) != 0) error = -errno;
  if (error == 0) return fsync(store->folder) == 0 ? 1 : -errno;
  unlinkat(store->folder, part, 0);
  return error;
}

int source_store_write(struct source_store *store, const struct source_piece *piece, char *why,
                       size_t why_len) {
  char name[NAME_BYTES];
  int error = check(piece, why, why_len);
  if (error != 0) return error;
  if (piece->offset == 0) error = make_room(store, piece->total);
  print_part_name(piece, name);
  if (error == 0) error = write_part(store, name, piece, why, why_len);
  if (error == 0 && piece->offset + piece->bytes.len == piece->total)
    error = take_whole(store, name, piece, why, why_len);
  if (error < 0 && why_len > 0 && *why == '\0')
    snprintf(why, why_len, "cannot be kept: %s", strerror(-error));
  return error;
}

/* Whether the bundle of PIECE is already in place. */
static bool is_in_place(const struct source_store *store, const struct source_piece *piece) {
  char path[DEBUG_PATH_BYTES + NAME_BYTES], name[NAME_BYTES];
  uint8_t sha256[SHA256_BYTES];
  struct stat status;
  hex_text_print(piece->id, name, sizeof name);
  if (fstatat(store->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if ((uint64_t)status.st_size != piece->total) return false;
  snprintf(path, sizeof path, "%s/%s", store->path, name);
  return debug_folder_hash(path, sha256) == 0 &&
         memcmp(sha256, piece->sha256.data, SHA256_BYTES) == 0;
}

uint64_t source_store_uploaded(const struct source_store *store, const struct source_piece *piece) {
  char name[NAME_BYTES];
  struct stat status;
  if (piece->id.len == 0 || piece->id.len > LIMIT_MODULE_ID_BYTES) return 0;
  if (piece->sha256.len != SHA256_BYTES) return 0;
  print_part_name(piece, name);
  if (fstatat(store->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
    return (uint64_t)status.st_size;
  return is_in_place(store, piece) ? piece->total : 0;
}

/* ---- reading ---- */

static void note_use(const struct source_store *store, const char *name) {
  struct stat status;
  if (fstatat(store->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (status.st_mtime < time(NULL) - NOTED_S)
    utimensat(store->folder, name, NULL, AT_SYMLINK_NOFOLLOW);
}

int source_store_map(const struct source_store *store, struct span id, struct source_bundle *ret) {
  char name[NAME_BYTES];
  if (id.len == 0 || id.len > LIMIT_MODULE_ID_BYTES) return -ENOENT;
  hex_text_print(id, name, sizeof name);
  int error = map_file(store->folder, name, ret);
  if (error == 0) note_use(store, name);
  return error;
}

struct listing {
  const struct source_store *store;
  int (*on_bundle)(void *context, const struct source_known *bundle);
  void *context;
  int result;
};

static void list_file(void *context, const char *name, const struct stat *status) {
  struct listing *listing = context;
  struct source_bundle bundle;
  if (listing->result != 0 || is_part(name)) return;
  if (map_file(listing->store->folder, name, &bundle) != 0) return;
  const struct source_known known = {name, (uint64_t)status->st_size, bundle.count};
  source_store_unmap(&bundle);
  listing->result = listing->on_bundle(listing->context, &known);
}

int source_store_list(const struct source_store *store,
                      int (*on_bundle)(void *context, const struct source_known *bundle),
                      void *context) {
  struct listing listing = {store, on_bundle, context, 0};
  int error = each_file(store, list_file, &listing);
  return error != 0 ? error : listing.result;
}
