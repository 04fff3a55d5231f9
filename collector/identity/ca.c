/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet's certificate authority.

   DIR/ca/  lock              held while files are made, renewed or switched
            root.key          P-256, made once
            root.pem          ten years; pinned by every board
            server.key        renewed with the next, a year before its end
            server.pem        the collector's certificate, then the root, so that a board that has
                              only the root's fingerprint finds the root in the handshake
            next.*            the second root, during a rollover (rollover.c)
            server-next.*     a server certificate under that

   Commands change these files beside a running collector, which checks for changes periodically
   (ca_refresh). So the data in memory is behind a mutex, and a signing thread holds a reference to
   its root. Enrollment signs under the first root, which the token pins; renewal signs under the
   newest.

   It keeps no list of signed certificates: access.c does. */
#include "ca.h"

#include "authority.h"
#include "board_name.h"
#include "ca_files.h"
#include "certificate.h"
#include "common/buf.h"
#include "common/tls_trust.h"
#include "csr.h"
#include "rollover.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  BOARD_DAYS = 30,
  DAY_SECONDS = 24 * 60 * 60,
  RANKS = AUTHORITY_NEXT + 1,
  RENEW_AGAIN_SECONDS = 60 * 60, /* after a server certificate could not be made */
};

/* Identifies a version of a file; all zero: no file. */
struct stamp {
  ino_t inode;
  off_t bytes;
  struct timespec changed;
};

struct ca {
  char dir[PATH_MAX];
  struct authority_paths paths[RANKS];
  long board_seconds;
  char *names;  /* names in the server certificate beyond this machine's; NULL: not set */
  bool is_open; /* from then on a missing root is not created */
  bool (*judge)(void *context, uint64_t root);
  void *judge_context;
  pthread_mutex_t lock; /* protects the following */
  struct authority authorities[RANKS];
  struct stamp stamps[RANKS];
  uint64_t generation;
  int64_t renew_after_s; /* since 1970: retry time after a failure */
};

static void look_at(const struct authority_paths *paths, struct stamp *ret) {
  struct stat file;
  *ret = (struct stamp){0};
  if (stat(paths->root, &file) == 0) *ret = (struct stamp){file.st_ino, file.st_size, file.st_mtim};
}

static bool is_same(const struct stamp *a, const struct stamp *b) {
  return a->inode == b->inode && a->bytes == b->bytes && a->changed.tv_sec == b->changed.tv_sec &&
         a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Meaning of a missing root. */
enum absence { ABSENCE_IS_FINE, ABSENCE_IS_LOSS, ABSENCE_IS_FIRST_START };

static int load_one(const struct ca *ca, enum authority_rank rank, struct authority *ret,
                    char *error, size_t error_len) {
  const struct authority_paths *paths = &ca->paths[rank];
  enum absence absence = rank != AUTHORITY_FIRST ? ABSENCE_IS_FINE
                         : ca->is_open           ? ABSENCE_IS_LOSS
                                                 : ABSENCE_IS_FIRST_START;
  if (access(paths->root, F_OK) != 0) {
    if (absence == ABSENCE_IS_FINE) return 0;
    if (absence == ABSENCE_IS_LOSS)
      return authority_complain(error, error_len, -ENOENT, paths->root);
    int made = authority_make(paths, ret);
    if (made != 0) return authority_complain(error, error_len, made, "cannot make the root");
  } else {
    int failed = authority_load(paths, ret, error, error_len);
    if (failed != 0) return failed;
  }
  int served = authority_serve(ret, paths, ca->names);
  if (served == 0) return 0;
  return authority_complain(error, error_len, served, "cannot make the server certificate");
}

/* Reads all authorities, with the lock of the files held. */
static int load_all(struct ca *ca, struct authority ret[RANKS], struct stamp ret_stamps[RANKS],
                    char *error, size_t error_len) {
  int result = rollover_settle(ca->dir);
  if (result != 0) return authority_complain(error, error_len, result, "cannot end the rollover");
  for (int i = 0; i < RANKS && result == 0; i++) {
    result = load_one(ca, (enum authority_rank)i, &ret[i], error, error_len);
    look_at(&ca->paths[i], &ret_stamps[i]);
  }
  bool is_strange = result == 0 && ca->judge != NULL &&
                    !ca->judge(ca->judge_context, certificate_id(ret[AUTHORITY_FIRST].root));
  if (!is_strange) return result;
  return authority_complain(error, error_len, -EXDEV, "the root is none that was here");
}

static int load(struct ca *ca, char *error, size_t error_len) {
  struct authority read[RANKS] = {{0}};
  struct stamp stamps[RANKS];
  char folder[PATH_MAX + 4];
  snprintf(folder, sizeof folder, "%s/ca", ca->dir);
  int lock = ca_files_lock(folder);
  if (lock < 0) return authority_complain(error, error_len, lock, folder);
  int result = load_all(ca, read, stamps, error, error_len);
  close(lock);
  if (result == 0) {
    pthread_mutex_lock(&ca->lock);
    for (int i = 0; i < RANKS; i++) {
      struct authority old = ca->authorities[i];
      ca->authorities[i] = read[i];
      read[i] = old;
      ca->stamps[i] = stamps[i];
    }
    ca->generation++;
    pthread_mutex_unlock(&ca->lock);
  }
  for (int i = 0; i < RANKS; i++) authority_fini(&read[i]);
  return result;
}

int ca_look(const char *dir) {
  struct authority_paths first, next;
  if (authority_paths(dir, AUTHORITY_FIRST, &first) != 0) return -ENAMETOOLONG;
  if (authority_paths(dir, AUTHORITY_NEXT, &next) != 0) return -ENAMETOOLONG;
  if (access(first.root, F_OK) == 0 || access(next.root, F_OK) == 0) return 0;
  return errno == ENOTDIR ? -ENOENT : -errno;
}

int ca_open(const char *dir, struct ca **ret, char *error, size_t error_len) {
  struct ca *ca = calloc(1, sizeof *ca);
  if (ca == NULL) return authority_complain(error, error_len, -ENOMEM, dir);
  pthread_mutex_init(&ca->lock, NULL);
  ca->board_seconds = (long)BOARD_DAYS * DAY_SECONDS;
  int result = snprintf(ca->dir, PATH_MAX, "%s", dir) >= PATH_MAX ? -ENAMETOOLONG : 0;
  for (int i = 0; i < RANKS && result == 0; i++)
    result = authority_paths(dir, (enum authority_rank)i, &ca->paths[i]);
  if (result == 0 && mkdir(dir, 0700) != 0 && errno != EEXIST) result = -errno;
  if (result != 0)
    authority_complain(error, error_len, result, dir);
  else
    result = load(ca, error, error_len);
  if (result != 0) {
    ca_close(ca);
    return result;
  }
  ca->is_open = true;
  *ret = ca;
  return 0;
}

void ca_close(struct ca *ca) {
  if (ca == NULL) return;
  for (int i = 0; i < RANKS; i++) authority_fini(&ca->authorities[i]);
  pthread_mutex_destroy(&ca->lock);
  free(ca->names);
  free(ca);
}

int ca_set_names(struct ca *ca, const char *names, char *error, size_t error_len) {
  free(ca->names);
  ca->names = strdup(names);
  if (ca->names == NULL) return authority_complain(error, error_len, -ENOMEM, ca->dir);
  return load(ca, error, error_len);
}

/* Whether a server certificate is due for renewal; true only once an hour while renewal fails. */
static bool is_server_due(struct ca *ca) {
  int64_t now_s = (int64_t)time(NULL);
  bool is_due = false;
  pthread_mutex_lock(&ca->lock);
  for (int i = 0; i < RANKS; i++)
    if (ca->authorities[i].root != NULL && now_s >= ca->authorities[i].due_s) is_due = true;
  if (now_s < ca->renew_after_s) is_due = false;
  if (is_due) ca->renew_after_s = now_s + RENEW_AGAIN_SECONDS;
  pthread_mutex_unlock(&ca->lock);
  return is_due;
}

int ca_refresh(struct ca *ca, char *error, size_t error_len) {
  bool is_changed = is_server_due(ca);
  for (int i = 0; i < RANKS; i++) {
    struct stamp now;
    look_at(&ca->paths[i], &now);
    pthread_mutex_lock(&ca->lock);
    if (!is_same(&now, &ca->stamps[i])) is_changed = true;
    pthread_mutex_unlock(&ca->lock);
  }
  return is_changed ? load(ca, error, error_len) : 0;
}

void ca_set_judge(struct ca *ca, bool (*judge)(void *context, uint64_t root), void *context) {
  ca->judge = judge;
  ca->judge_context = context;
}

uint64_t ca_generation(struct ca *ca) {
  pthread_mutex_lock(&ca->lock);
  uint64_t generation = ca->generation;
  pthread_mutex_unlock(&ca->lock);
  return generation;
}

/* Returns another reference to the authority of RANK, or to the first if OR_FIRST and that is
   missing; all NULL if there is none. Release it by authority_fini. */
static struct authority hold(struct ca *ca, enum authority_rank rank, bool or_first) {
  pthread_mutex_lock(&ca->lock);
  struct authority held = ca->authorities[rank];
  if (held.root == NULL && or_first) held = ca->authorities[AUTHORITY_FIRST];
  if (held.root != NULL) {
    X509_up_ref(held.root);
    EVP_PKEY_up_ref(held.key);
  }
  pthread_mutex_unlock(&ca->lock);
  return held;
}

const char *ca_server_certificate_path(const struct ca *ca) {
  return ca->paths[AUTHORITY_FIRST].server;
}

const char *ca_server_key_path(const struct ca *ca) {
  return ca->paths[AUTHORITY_FIRST].server_key;
}

const char *ca_root_path(const struct ca *ca) {
  return ca->paths[AUTHORITY_FIRST].root;
}

bool ca_next_paths(struct ca *ca, struct ca_next_paths *ret) {
  struct authority next = hold(ca, AUTHORITY_NEXT, false);
  const struct authority_paths *paths = &ca->paths[AUTHORITY_NEXT];
  bool is_there = next.root != NULL;
  authority_fini(&next);
  if (is_there) *ret = (struct ca_next_paths){paths->root, paths->server, paths->server_key};
  return is_there;
}

void ca_fingerprint(struct ca *ca, uint8_t fingerprint[32]) {
  unsigned len = 0;
  struct authority first = hold(ca, AUTHORITY_FIRST, false);
  X509_digest(first.root, EVP_sha256(), fingerprint, &len);
  authority_fini(&first);
}

static int append_pem(X509 *certificate, struct buf *ret) {
  BIO *memory = BIO_new(BIO_s_mem());
  char *text = NULL;
  int result = -ENOMEM;
  if (memory != NULL && PEM_write_bio_X509(memory, certificate) == 1) {
    long len = BIO_get_mem_data(memory, &text);
    buf_append(ret, text, (size_t)len);
    result = ret->failed ? -ENOMEM : 0;
  }
  BIO_free(memory);
  return result;
}

int ca_roots(struct ca *ca, struct buf *ret) {
  int result = 0;
  for (int i = 0; i < RANKS && result == 0; i++) {
    struct authority one = hold(ca, (enum authority_rank)i, false);
    if (one.root != NULL) result = append_pem(one.root, ret);
    authority_fini(&one);
  }
  return result;
}

uint64_t ca_trust(struct ca *ca) {
  struct buf roots = {0};
  uint64_t trust = ca_roots(ca, &roots) == 0 ? tls_trust_of(buf_span(&roots)) : 0;
  buf_fini(&roots);
  return trust;
}

static uint64_t id_of(struct ca *ca, enum authority_rank rank) {
  struct authority held = hold(ca, rank, false);
  uint64_t id = held.root != NULL ? certificate_id(held.root) : 0;
  authority_fini(&held);
  return id;
}

uint64_t ca_first_id(struct ca *ca) {
  return id_of(ca, AUTHORITY_FIRST);
}

uint64_t ca_next_id(struct ca *ca) {
  return id_of(ca, AUTHORITY_NEXT);
}

void ca_set_board_life(struct ca *ca, uint64_t seconds) {
  ca->board_seconds = (long)seconds;
}

uint64_t ca_board_life(const struct ca *ca) {
  return (uint64_t)ca->board_seconds;
}

int ca_check(struct span csr, uint8_t *ret_key, char *why, size_t why_len) {
  EVP_PKEY *key;
  int result = csr_key(csr, &key, why, why_len);
  if (result != 0) return result;
  if (ret_key != NULL) result = certificate_key_digest(key, ret_key);
  EVP_PKEY_free(key);
  return result;
}

static int sign(struct ca *ca, const struct authority *authority, const char *board, EVP_PKEY *key,
                struct buf *ret) {
  char uri[sizeof "URI:spiffe://fleetprof/board/" + BOARD_NAME_BYTES];
  snprintf(uri, sizeof uri, "URI:spiffe://fleetprof/board/%s", board);
  struct certificate_terms terms = {
      .use = CERTIFICATE_BOARD, .name = board, .alt_names = uri, .seconds = ca->board_seconds};
  X509 *certificate = certificate_make(&terms, key, authority->root, authority->key);
  int result = certificate ? append_pem(certificate, ret) : -ENOMEM;
  X509_free(certificate);
  return result;
}

int ca_sign(struct ca *ca, const struct ca_request *request, struct buf *ret, char *why,
            size_t why_len) {
  if (!board_name_is_valid(request->board)) {
    snprintf(why, why_len, "board name is not made of [A-Za-z0-9._-]");
    return -EBADMSG;
  }
  EVP_PKEY *key;
  int result = csr_key(request->csr, &key, why, why_len);
  if (result != 0) return result;
  struct authority authority =
      hold(ca, request->is_newest ? AUTHORITY_NEXT : AUTHORITY_FIRST, true);
  result = sign(ca, &authority, request->board, key, ret);
  authority_fini(&authority);
  EVP_PKEY_free(key);
  return result;
}
