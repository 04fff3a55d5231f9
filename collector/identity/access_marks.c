/* SPDX-License-Identifier: Apache-2.0 */
/* access.db counts its changes (ACCESS_MARKS_SCHEMA), and landing.db stores the last count. A
   change is committed to access.db first. So after a crash access.db may be ahead, which the next
   start corrects. It is behind only if an older copy was put in its place. Then, or if it is
   missing, boards revoked since could connect again: it is not opened until an operator decides.

   Folders of versions without marks have neither count; they are accepted as they are. */
#include "access_marks.h"

#include "access_db.h"
#include "access_loss.h"
#include "authority.h"
#include "ca.h"
#include "ca_files.h"
#include "certificate.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char landing_name[] = "landing.db";

/* A missing or unreadable landing file gives no marks; the code that opens it reports the fault. */
static void ask_landing(struct access_marks *marks) {
  if (marks_peek(marks->dir, landing_name, MARKS_STORE, &marks->store) < 0) marks->store = 0;
  if (marks_peek(marks->dir, landing_name, MARKS_ACCESS, &marks->noted) < 0) marks->noted = 0;
}

int access_marks_expect(struct access *access, const char *dir) {
  struct access_marks *marks = &access->marks;
  if ((size_t)snprintf(marks->dir, sizeof marks->dir, "%s", dir) >= sizeof marks->dir ||
      (size_t)snprintf(marks->path, sizeof marks->path, "%s/access.db", dir) >= sizeof marks->path)
    return -ENAMETOOLONG;
  ask_landing(marks);
  marks->has_run = marks->noted != 0 || ca_look(dir) == 0;
  bool is_gone = faccessat(AT_FDCWD, marks->path, F_OK, 0) != 0 && errno == ENOENT;
  return is_gone && marks->has_run && !marks->accepts_loss ? -ENODATA : 0;
}

int access_marks_check_tables(struct access *access) {
  int64_t tables = 0;
  int result = access_db_number(
      access, access_db_prepare(access, "SELECT count(*) FROM sqlite_schema", ""), &tables);
  if (result != 0 || tables > 0) return result;
  return access->marks.has_run && !access->marks.accepts_loss ? -ENODATA : 0;
}

/* Accepts the present state as the newest. */
static int accept(struct access *access, uint64_t generation) {
  struct access_marks *marks = &access->marks;
  if (generation <= marks->noted) generation = marks->noted + 1;
  int result = marks_write(access->database, MARKS_GENERATION, generation);
  if (result == 0 && marks->store != 0)
    result = marks_write(access->database, MARKS_STORE, marks->store);
  return result;
}

int access_marks_check(struct access *access) {
  struct access_marks *marks = &access->marks;
  uint64_t store = 0, generation = 0;
  int result = marks_read(access->database, MARKS_STORE, &store);
  if (result >= 0) result = marks_read(access->database, MARKS_GENERATION, &generation);
  if (result < 0) return result;
  if (marks->accepts_loss) {
    result = accept(access, generation);
  } else if (store != 0 && marks->store != 0 && store != marks->store) {
    result = -EXDEV;
  } else if (generation < marks->noted) {
    result = -ESTALE;
  } else {
    result = 0;
    if (store == 0 && marks->store != 0)
      result = marks_write(access->database, MARKS_STORE, marks->store);
  }
  if (result == 0) result = marks_file_take(marks->path, &marks->file);
  if (result == 0) access_marks_note(access);
  return result;
}

void access_marks_note(struct access *access) {
  struct access_marks *marks = &access->marks;
  uint64_t generation = 0;
  if (marks_read(access->database, MARKS_GENERATION, &generation) != 1) return;
  if (generation > marks->newest) marks->newest = generation;
  if (generation <= marks->noted) return;
  int result = marks_note(marks->dir, landing_name, MARKS_ACCESS, generation);
  if (result == 0) marks->noted = generation;
  if (result != 0 && result != -ENOENT)
    log_warn("access-mark %s/landing.db: how new access.db is cannot be noted: %s", marks->dir,
             strerror(-result));
}

static int refuse_all(struct access_marks *marks, const char *why) {
  if (atomic_exchange_explicit(&marks->fault, why, memory_order_relaxed) == NULL)
    log_error("access-lost %s: %s", marks->path, why);
  return -ESTALE;
}

int access_marks_look(struct access *access) {
  struct access_marks *marks = &access->marks;
  uint64_t generation = 0;
  if (!marks_file_holds(marks->path, &marks->file, access->database))
    return refuse_all(marks, "is gone, cut or replaced while the collector runs: no board and no "
                             "token is let in; end the collector, put the file back, start again");
  if (marks_read(access->database, MARKS_GENERATION, &generation) != 1) return -EIO;
  if (generation < marks->newest)
    return refuse_all(marks, "is an older copy than it was: no board and no token is let in; end "
                             "the collector, put the newer file back, start again");
  marks->newest = generation;
  return 0;
}

/* ---- the authority, which has no table of its own ---- */

static const char roots_name[] = "roots"; /* mark that any root is recorded */

static void name_root(uint64_t root, char ret[MARKS_NAME_BYTES]) {
  snprintf(ret, MARKS_NAME_BYTES, "root %016" PRIx64, root);
}

static int note_root(sqlite3 *db, uint64_t root) {
  char name[MARKS_NAME_BYTES];
  name_root(root, name);
  return root != 0 ? marks_raise(db, name, 1) : 0;
}

static int check_roots(sqlite3 *db, uint64_t first, uint64_t next, bool accepts) {
  char name[MARKS_NAME_BYTES];
  uint64_t value = 0;
  name_root(first, name);
  int any = marks_read(db, roots_name, &value);
  int ours = any < 0 || first == 0 ? any : marks_read(db, name, &value);
  if (ours < 0 || first == 0) return ours;
  if (any == 1 && ours == 0 && !accepts) return -EXDEV;
  int result = note_root(db, first);
  if (result == 0) result = note_root(db, next);
  return result == 0 ? marks_raise(db, roots_name, 1) : result;
}

int access_check_roots(struct access *access, uint64_t first, uint64_t next, bool accepts) {
  pthread_mutex_lock(&access->lock);
  int result = check_roots(access->database, first, next, accepts);
  pthread_mutex_unlock(&access->lock);
  return result;
}

/* ---- checks without a running collector ---- */

/* Returns the fault of the first root, NULL: none; and whether its key is present. */
static const char *look_at_root(const char *dir, bool *ret_has_key) {
  struct authority_paths paths;
  char name[MARKS_NAME_BYTES];
  uint64_t any = 0, ours = 0;
  *ret_has_key = true;
  if (marks_peek(dir, MARKS_ACCESS, roots_name, &any) != 1) return NULL;
  if (ca_look(dir) == -ENOENT)
    return "is gone: the collector does not start, since no board would trust another";
  if (authority_paths(dir, AUTHORITY_FIRST, &paths) != 0) return NULL;
  X509 *root = ca_files_read_certificate(paths.root);
  EVP_PKEY *key = ca_files_read_key(paths.root_key);
  *ret_has_key = root == NULL || (key != NULL && X509_check_private_key(root, key) == 1);
  if (root != NULL) name_root(certificate_id(root), name);
  X509_free(root);
  EVP_PKEY_free(key);
  if (root == NULL) return NULL; /* damaged: the check of all files reports it */
  return marks_peek(dir, MARKS_ACCESS, name, &ours) == 0
             ? "is none that this collector has had: it does not start"
             : NULL;
}

void access_check_marks(const char *dir,
                        void (*on_fault)(void *context, const char *name, const char *why),
                        void *context) {
  struct access_marks marks = {.store = 0};
  uint64_t newest = 0, store = 0, names = 0;
  const char *why = NULL;
  if ((size_t)snprintf(marks.dir, sizeof marks.dir, "%s", dir) >= sizeof marks.dir) return;
  ask_landing(&marks);
  bool has_run = marks.noted != 0 || ca_look(dir) == 0;
  int row = marks_peek(dir, MARKS_ACCESS, MARKS_GENERATION, &newest);
  if (row == 1) row = marks_peek(dir, MARKS_ACCESS, MARKS_STORE, &store);
  if (has_run && (row == -ENOENT || (row == 0 && newest == 0 && marks.noted != 0)))
    why = "is gone or empty: the collector does not start, since revoked boards would come in";
  else if (row >= 0 && store != 0 && marks.store != 0 && store != marks.store &&
           (marks_peek(dir, "debug.db", MARKS_STORE, &names) != 1 || names != store))
    why = "is another collector's: the collector does not start";
  else if (row >= 0 && newest < marks.noted)
    why =
        "is an older copy: the collector does not start, since boards revoked since would come in";
  if (why != NULL) on_fault(context, MARKS_ACCESS, why);
  bool has_key = true;
  why = look_at_root(dir, &has_key);
  if (why != NULL) on_fault(context, "ca/root.pem", why);
  if (!has_key)
    on_fault(context, "ca/root.key",
             "is gone, or is not the key of root.pem: the collector does not start");
}
