/* SPDX-License-Identifier: Apache-2.0 */
/* Requests one module at a time, and each at most once a day: a fleet's new build must not cause a
   storm of requests to other servers.

   A received file goes into the store piece by piece, as uploads do, so no whole file is in memory.
   Its length is limited like any upload's. If the length is not announced (chunked transfer), the
   file is first kept in an unnamed temporary file. A server may redirect up to REDIRECTS_MAX times,
   within the rules of fetch/redirect. An unreachable server is skipped for as long as a module: its
   timeout of a minute and a half for each module would delay all others. The worker reads the file
   in its sandbox and finds its build-id. So a server can give wrong names only for the requested
   module.

   fleetprof's own client suffices: one GET. elfutils' library would add curl, a cache of its own,
   and servers from the environment, which the operator of a collector does not expect. */
#include "debuginfod.h"

#include "common/clock.h"
#include "common/hex_text.h"
#include "common/log.h"
#include "common/monotonic_cond.h"
#include "debug_store.h"
#include "debug_store_parts.h"
#include "debug_upstream.h"
#include "fetch/fetch.h"
#include "fetch/redirect.h"
#include "symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  ROUND_S = 2,                /* interval of checks for wanted modules */
  NOT_FOUND_S = 24 * 60 * 60, /* distributions publish late */
  UNREACHED_S = 10 * 60,
  STOP_S = 2,
  REDIRECTS_MAX = 4,
  PIECE_BYTES = 256 << 10,
  ID_TEXT_BYTES = 2 * LIMIT_MODULE_ID_BYTES + 1,
};
#define IDLE_MS UINT64_C(90000) /* federated servers are slow */
#define TOTAL_MS UINT64_C(15 * 60 * 1000)

struct debuginfod {
  char *urls;
  uint64_t rests_until_ns[DEBUGINFOD_SERVERS_MAX]; /* of each server: no request before */
  struct debug_store *store;
  struct symbolizer *symbolizer;
  pthread_t thread;
  pthread_mutex_t mutex; /* for `stopped` */
  pthread_cond_t stopped;
  _Atomic bool is_stopping;
};

/* Takes the next URL from TEXT. Returns false at the end. A URL that is too long is truncated. */
static bool next_url(const char **text, char *ret, size_t ret_len) {
  const char *at = *text + strspn(*text, " \t\n");
  size_t len = strcspn(at, " \t\n");
  *text = at + len;
  snprintf(ret, ret_len, "%.*s", (int)len, at);
  return len > 0;
}

int debuginfod_check(const char *urls, char *why, size_t why_len) {
  char url[512], reason[FETCH_WHY_BYTES];
  struct url parsed;
  int count = 0;
  while (next_url(&urls, url, sizeof url)) {
    if (url_parse(url, &parsed, reason, sizeof reason) != 0) {
      snprintf(why, why_len, "'%.200s' %s", url, reason);
      return -EINVAL;
    }
    if (++count > DEBUGINFOD_SERVERS_MAX) {
      snprintf(why, why_len, "more than %d servers", DEBUGINFOD_SERVERS_MAX);
      return -EINVAL;
    }
  }
  return 0;
}

/* ---- one file ---- */

struct download {
  struct debuginfod *debuginfod;
  struct span id;
  struct fetch_answer *answer; /* its head is valid before the first piece */
  int aside;                   /* descriptor of data without an announced length; -1: none */
  uint64_t offset;
  bool is_whole;
  char why[256];
};

/* Writes BYTES, the next of TOTAL. */
static int write_piece(struct download *download, struct span bytes, uint64_t total) {
  const struct debug_piece piece = {
      .id = download->id, .offset = download->offset, .total = total, .bytes = bytes};
  int written =
      debug_store_write(download->debuginfod->store, &piece, download->why, sizeof download->why);
  download->offset += bytes.len;
  download->is_whole = written == 1;
  return written < 0 ? -1 : 0;
}

/* Opens an unnamed file in the store's folder; it is deleted when closed. */
static int open_aside(const struct debug_store *store) {
  static const uint8_t any[32];
  char path[DEBUG_PATH_BYTES];
  debug_store_path(store, any, path);
  *strrchr(path, '/') = '\0';
  return open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static int keep_aside(struct download *download, struct span bytes) {
  if (download->aside < 0) download->aside = open_aside(download->debuginfod->store);
  for (size_t done = 0; done < bytes.len;) {
    ssize_t put = write(download->aside, bytes.data + done, bytes.len - done);
    if (put <= 0) return -1;
    done += (size_t)put;
  }
  return 0;
}

static bool is_stopping(const struct debuginfod *debuginfod) {
  return atomic_load_explicit(&debuginfod->is_stopping, memory_order_relaxed);
}

/* Passes each piece from the network on. */
static int on_piece(void *context, struct span bytes) {
  struct download *download = context;
  if (is_stopping(download->debuginfod)) return -1;
  if (bytes.len == 0) return 0;
  if (download->answer->length == 0) return keep_aside(download, bytes);
  return write_piece(download, bytes, download->answer->length);
}

/* Moves the temporary file into the store, now that its length is known. */
static int take_aside(struct download *download) {
  off_t total = lseek(download->aside, 0, SEEK_END);
  uint8_t *room = malloc(PIECE_BYTES);
  int error = total <= 0 || room == NULL ? -ENOMEM : 0;
  while (error == 0 && download->offset < (uint64_t)total) {
    ssize_t got = pread(download->aside, room, PIECE_BYTES, (off_t)download->offset);
    if (got <= 0 || is_stopping(download->debuginfod))
      error = -EIO;
    else if (write_piece(download, span_of(room, (size_t)got), (uint64_t)total) != 0)
      error = -ECANCELED;
  }
  free(room);
  return error;
}

/* Requests TARGET from SERVER. Returns 0 when the file is in the store; 1 for a redirect, with the
   new place in SERVER and TARGET; -ENOENT if it has no usable file; or -errno. */
static int ask_once(struct debuginfod *debuginfod, struct url *server,
                    char target[REDIRECT_TARGET_BYTES], struct span id, char why[FETCH_WHY_BYTES]) {
  const struct fetch_server asked = {.url = *server};
  struct fetch_answer answer = {0};
  struct fetch *fetch;
  struct download download = {.debuginfod = debuginfod, .id = id, .answer = &answer, .aside = -1};
  const struct fetch_call call = {.method = "GET",
                                  .target = target,
                                  .on_piece = on_piece,
                                  .context = &download,
                                  .answer_bytes_max = LIMIT_DEBUG_FILE_BYTES,
                                  .idle_ms = IDLE_MS,
                                  .total_ms = TOTAL_MS};
  char location[REDIRECT_TARGET_BYTES];
  int error = fetch_open(&asked, &fetch, why, FETCH_WHY_BYTES);
  if (error != 0) {
    log_warn("debuginfod %s: cannot be asked: %s", server->at.host, why);
    return error;
  }
  error = fetch_call(fetch, &call, &answer);
  if (error == 0 && download.aside >= 0) error = take_aside(&download);
  snprintf(why, FETCH_WHY_BYTES, "%s", *download.why ? download.why : fetch_why(fetch));
  bool is_elsewhere = error == 0 && redirect_is(answer.status) &&
                      fetch_field(&answer, "Location", location, sizeof location) == 0;
  if (is_elsewhere)
    error = redirect_parse(server, location, server, target) == 0 ? 1 : -ENOENT;
  else if (error == 0)
    error = download.is_whole ? 0 : -ENOENT;
  if (*download.why) error = -ENOENT; /* arrived, but was rejected: retry tomorrow */
  if (download.aside >= 0) close(download.aside);
  fetch_answer_fini(&answer);
  fetch_close(fetch);
  return error;
}

/* Requests module ID from the server URL. Returns 0 when its file is in the store, -ENOENT if the
   server has no usable file, or -errno if the request failed. */
static int ask(struct debuginfod *debuginfod, const char *url, struct span id) {
  char target[REDIRECT_TARGET_BYTES], text[ID_TEXT_BYTES], why[FETCH_WHY_BYTES] = "";
  struct url server;
  int error = url_parse(url, &server, why, sizeof why);
  hex_text_print(id, text, sizeof text);
  snprintf(target, sizeof target, "/buildid/%s/debuginfo", text);
  for (int i = 0; error == 0 || (error == 1 && i <= REDIRECTS_MAX); i++) {
    error = ask_once(debuginfod, &server, target, id, why);
    if (error != 1) break;
  }
  if (error == 1) error = -ENOENT; /* a redirect loop */
  if (error != 0) log_debug("debuginfod %s: %s: %s", text, url, why);
  if (error == 0) error = symbolizer_prepare(debuginfod->symbolizer, NULL, id);
  if (error == 0) log_info("debuginfod %s: names from %s", text, url);
  return error == -EBADMSG ? -ENOENT : error;
}

/* ---- the thread ---- */

/* Requests module ID from server number AT, unless its back-off lasts. Returns as ask, or
   -EHOSTDOWN. */
static int ask_unless_it_rests(struct debuginfod *debuginfod, unsigned at, const char *url,
                               struct span id) {
  uint64_t *rests_until_ns = &debuginfod->rests_until_ns[at];
  if (clock_monotonic_ns() < *rests_until_ns) return -EHOSTDOWN;
  int error = ask(debuginfod, url, id);
  if (error != 0 && error != -ENOENT)
    *rests_until_ns = clock_monotonic_ns() + UNREACHED_S * NS_PER_SECOND;
  return error;
}

/* Requests module ID from each server in turn, and records that. Returns 0, or -errno if that
   cannot be recorded: continuing at once would repeat the same request. */
static int ask_all(struct debuginfod *debuginfod, struct span id) {
  const char *urls = debuginfod->urls;
  char url[512];
  int64_t pause_s = NOT_FOUND_S;
  int error = -ENOENT;
  for (unsigned i = 0; i < DEBUGINFOD_SERVERS_MAX; i++) {
    if (error == 0 || !next_url(&urls, url, sizeof url)) break;
    error = ask_unless_it_rests(debuginfod, i, url, id);
    if (error != 0 && error != -ENOENT) pause_s = UNREACHED_S;
    if (is_stopping(debuginfod)) return 0;
  }
  return debug_upstream_note(debuginfod->store, id, pause_s);
}

static bool wait_round(struct debuginfod *debuginfod) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += ROUND_S;
  int waited = 0;
  pthread_mutex_lock(&debuginfod->mutex);
  while (!debuginfod->is_stopping && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&debuginfod->stopped, &debuginfod->mutex, &until);
  pthread_mutex_unlock(&debuginfod->mutex);
  return !debuginfod->is_stopping;
}

static void *work(void *arg) {
  struct debuginfod *debuginfod = arg;
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  size_t len;
  pthread_setname_np(pthread_self(), "debuginfod");
  while (wait_round(debuginfod))
    while (!debuginfod->is_stopping && debug_upstream_next(debuginfod->store, id, &len) == 0)
      if (ask_all(debuginfod, span_of(id, len)) != 0) break;
  return NULL;
}

static void release(struct debuginfod *debuginfod) {
  pthread_cond_destroy(&debuginfod->stopped);
  pthread_mutex_destroy(&debuginfod->mutex);
  free(debuginfod->urls);
  free(debuginfod);
}

int debuginfod_start(const char *urls, struct debug_store *store, struct symbolizer *symbolizer,
                     struct debuginfod **ret) {
  struct debuginfod *debuginfod = calloc(1, sizeof *debuginfod);
  if (debuginfod == NULL) return -ENOMEM;
  debuginfod->urls = strdup(urls);
  debuginfod->store = store;
  debuginfod->symbolizer = symbolizer;
  monotonic_cond_init(&debuginfod->stopped);
  pthread_mutex_init(&debuginfod->mutex, NULL);
  int failed = debuginfod->urls == NULL
                   ? -ENOMEM
                   : -pthread_create(&debuginfod->thread, NULL, work, debuginfod);
  if (failed)
    release(debuginfod);
  else
    *ret = debuginfod;
  return failed;
}

int debuginfod_stop(struct debuginfod *debuginfod) {
  if (debuginfod == NULL) return 0;
  struct timespec until;
  pthread_mutex_lock(&debuginfod->mutex);
  debuginfod->is_stopping = true;
  pthread_cond_signal(&debuginfod->stopped);
  pthread_mutex_unlock(&debuginfod->mutex);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += STOP_S;
  if (pthread_timedjoin_np(debuginfod->thread, NULL, &until) != 0) return -ETIMEDOUT;
  release(debuginfod);
  return 0;
}
