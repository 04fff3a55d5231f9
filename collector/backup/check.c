/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each file by itself:

     *.db          SQLite's whole integrity check, on a snapshot
     of a day      also unpacks each block and checks the tree of nodes
     in debug      the name is the SHA-256 of the content
     in sources    every entry is within its bounds, in order
     in ca         a file named as a key or certificate contains one
     node.key      32 bytes

   Then checks the files against each other (sqlite/marks.h): whether one is missing, older, or of
   another collector.

   An index in debug/ is derived from the file beside it and checked when it is mapped. */
#include "check.h"

#include "common/clock.h"
#include "common/hex_text.h"
#include "folder_walk.h"
#include "identity/access_loss.h"
#include "identity/ca_files.h"
#include "names/debug_folder.h"
#include "names/debug_store.h"
#include "proto/source_bundle.h"
#include "store/day_check.h"
#include "store/day_folder.h"
#include "store/db.h"
#include "store/db_snapshot.h"
#include "store/file_version.h"
#include "store/store_check.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WHY_BYTES = 256, SHA256_BYTES = 32, NODE_KEY_LEN = 32 };

struct checking {
  const struct check_wish *wish;
  struct check_place place;
  struct check_report report;
};

static void note(struct checking *checking, const char *name, int error, const char *why) {
  if (error == 0) return;
  checking->report.faults++;
  checking->wish->on_fault(checking->wish->context, name,
                           error == -EUCLEAN && why[0] != '\0' ? why : strerror(-error));
}

static int check_database(const struct folder_entry *entry, char *why) {
  struct db_snapshot *snapshot = NULL;
  int error = db_snapshot_open(entry->path, &snapshot);
  if (error == 1 || error == -ENOENT) return 0; /* empty, or deleted since it was listed */
  snprintf(why, WHY_BYTES, "is no database");
  if (error == 0) error = db_snapshot_check(snapshot, why, WHY_BYTES);
  db_snapshot_close(snapshot);
  enum day_kind kind = day_check_kind(entry->name);
  if (error == 0 && kind < DAY_KINDS) error = day_check_whole(entry->path, kind, why, WHY_BYTES);
  return error;
}

static int check_debug_file(const struct folder_entry *entry, char *why) {
  uint8_t sha256[SHA256_BYTES];
  char name[2 * SHA256_BYTES + 1];
  int error = debug_folder_hash(entry->path, sha256);
  if (error != 0) return error;
  hex_text_print(span_of(sha256, SHA256_BYTES), name, sizeof name);
  snprintf(why, WHY_BYTES, "its bytes are not those that it is called by");
  return strcmp(strrchr(entry->path, '/') + 1, name) == 0 ? 0 : -EUCLEAN;
}

static int check_sources(const struct folder_entry *entry, char *why) {
  struct source_bundle bundle;
  struct stat status;
  int fd = open(entry->path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  snprintf(why, WHY_BYTES, "is no bundle of sources");
  int error = fstat(fd, &status) == 0 ? 0 : -errno;
  size_t len = error == 0 ? (size_t)status.st_size : 0;
  void *bytes = len > 0 ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
  if (error == 0 && len == 0) error = -EUCLEAN;
  if (bytes == MAP_FAILED) error = -errno;
  if (error == 0) error = source_bundle_parse(span_of(bytes, len), &bundle);
  if (error == 0) error = source_bundle_verify(&bundle);
  if (bytes != NULL && bytes != MAP_FAILED) munmap(bytes, len);
  close(fd);
  return error == -EBADMSG || error == -EOVERFLOW ? -EUCLEAN : error;
}

static int check_authority(const struct folder_entry *entry, const char *suffix, char *why) {
  bool is_good = true;
  if (strcmp(suffix, ".key") == 0) {
    EVP_PKEY *key = ca_files_read_key(entry->path);
    is_good = key != NULL;
    EVP_PKEY_free(key);
  } else if (strcmp(suffix, ".pem") == 0) {
    X509 *certificate = ca_files_read_certificate(entry->path);
    is_good = certificate != NULL;
    X509_free(certificate);
  }
  snprintf(why, WHY_BYTES, "cannot be read");
  return is_good ? 0 : -EUCLEAN;
}

static int check_file(const struct folder_entry *entry, char *why) {
  const char *dot = strrchr(entry->name, '.');
  if (strncmp(entry->name, "debug/", 6) == 0) return dot == NULL ? check_debug_file(entry, why) : 0;
  if (strncmp(entry->name, "sources/", 8) == 0) return check_sources(entry, why);
  if (strncmp(entry->name, "ca/", 3) == 0 && dot != NULL) return check_authority(entry, dot, why);
  snprintf(why, WHY_BYTES, "is not %d bytes long", NODE_KEY_LEN);
  return strcmp(entry->name, "node.key") == 0 && entry->bytes != NODE_KEY_LEN ? -EUCLEAN : 0;
}

/* Counts a day stored while a clock was wrong. The file itself is valid. */
static void note_misdated(struct checking *checking, const char *name) {
  uint32_t day;
  if (!day_folder_is_day(name, &day)) return;
  if (!day_is_misdated(day, clock_walltime_ns() / NS_PER_MS)) return;
  checking->report.misdated++;
  if (checking->wish->on_misdated) checking->wish->on_misdated(checking->wish->context, name);
}

static int on_entry(void *context, const struct folder_entry *entry) {
  struct checking *checking = context;
  char why[WHY_BYTES] = "";
  if (entry->kind == FOLDER_PASSING) {
    if (strcmp(entry->name, FOLDER_RESTORING) == 0)
      note(checking, entry->name, -EUCLEAN, "a restore into this folder did not end");
    checking->report.set_aside += strstr(entry->name, ".corrupt") != NULL;
    return 0;
  }
  checking->place.bytes = entry->bytes;
  int stop = checking->wish->on_file(checking->wish->context, entry->name, &checking->place);
  if (stop != 0) return stop;
  checking->place.done += entry->bytes;
  checking->report.files++;
  note_misdated(checking, entry->name);
  if (entry->kind == FOLDER_STRANGE)
    note(checking, entry->name, -EUCLEAN, "is no file");
  else if (entry->kind == FOLDER_DATABASE)
    note(checking, entry->name, check_database(entry, why), why);
  else
    note(checking, entry->name, check_file(entry, why), why);
  return 0;
}

static void on_mark_fault(void *context, const char *name, const char *why) {
  note(context, name, -EUCLEAN, why);
}

static int on_size(void *context, const struct folder_entry *entry) {
  struct check_place *place = context;
  if (entry->kind != FOLDER_PASSING) place->total += entry->bytes;
  return 0;
}

int check_folder(const struct check_wish *wish, struct check_report *ret) {
  struct checking checking = {.wish = wish};
  char why[WHY_BYTES * 4] = "";
  int error = file_version_look(wish->dir, why, sizeof why);
  if (error != 0 && error != -EPROTO) return error;
  if (error != 0) note(&checking, "its version", -EUCLEAN, why);
  db_stay_beside();
  access_check_marks(wish->dir, on_mark_fault, &checking);
  const char *names = debug_store_find_loss(wish->dir);
  if (names != NULL) note(&checking, "debug.db", -EUCLEAN, names);
  int unread = store_check_marks(wish->dir, on_mark_fault, &checking);
  if (unread != 0) note(&checking, "landing.db", unread, "");
  error = folder_walk(wish->dir, on_size, &checking.place);
  if (error == 0) error = folder_walk(wish->dir, on_entry, &checking);
  *ret = checking.report;
  return error;
}
