/* SPDX-License-Identifier: Apache-2.0 */
/* One module at a time, and each at most once a day: a fleet's new build must not become a storm of
   questions somewhere else.

   A file that comes goes into the store piece by piece, as uploads do, so none is in memory whole.
   Its length has to be told first and is limited like any upload's; the worker reads it in its
   sandbox and finds out whose it is, so a server can give us wrong names for nothing but the module
   that we asked for.

   Our own client is enough: one GET.  elfutils' library would bring curl, a cache of its own, and
   servers from the environment, which nobody who starts a collector has in mind. */
#include "debuginfod.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/monotonic_cond.h"
#include "debug_store.h"
#include "debug_upstream.h"
#include "fetch/fetch.h"
#include "symbolizer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  ROUND_S = 2,                /* between two looks at what is wanted */
  NOT_FOUND_S = 24 * 60 * 60, /* distributions publish late */
  UNREACHED_S = 10 * 60,
  STOP_S = 2,
  ID_TEXT_BYTES = 2 * LIMIT_MODULE_ID_BYTES + 1,
};
#define IDLE_MS UINT64_C(90000) /* federated servers take their time */
#define TOTAL_MS UINT64_C(15 * 60 * 1000)

struct debuginfod {
  char *urls;
  struct debug_store *store;
  struct symbolizer *symbolizer;
  pthread_t thread;
  pthread_mutex_t mutex; /* for `stopped` */
  pthread_cond_t stopped;
  _Atomic bool is_stopping;
};

/* Cuts the next URL off TEXT.  Returns false at the end; a URL that is too long is cut. */
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
  struct fetch_answer *answer; /* its head is there before the first piece */
  uint64_t offset;
  bool is_whole;
  char why[256];
};

/* debug_store_write's pieces are those of the network. */
static int on_piece(void *context, struct span bytes) {
  struct download *download = context;
  const struct debug_piece piece = {.id = download->id,
                                    .offset = download->offset,
                                    .total = download->answer->length,
                                    .bytes = bytes};
  if (atomic_load_explicit(&download->debuginfod->is_stopping, memory_order_relaxed)) return -1;
  if (bytes.len == 0) return 0;
  int written =
      debug_store_write(download->debuginfod->store, &piece, download->why, sizeof download->why);
  download->offset += bytes.len;
  download->is_whole = written == 1;
  return written < 0 ? -1 : 0;
}

static void print_id(struct span id, char text[ID_TEXT_BYTES]) {
  text[0] = '\0';
  for (size_t i = 0; i < id.len; i++) snprintf(text + 2 * i, 3, "%02x", id.data[i]);
}

/* Asks the server URL for module ID.  Returns 0 when its file is in the store, -ENOENT when it has
   none (or none that is of use), or -errno when it could not be asked. */
static int ask(struct debuginfod *debuginfod, const char *url, struct span id) {
  char target[32 + ID_TEXT_BYTES], text[ID_TEXT_BYTES], why[FETCH_WHY_BYTES];
  struct fetch_server server = {.token = NULL};
  struct fetch *fetch;
  int error = url_parse(url, &server.url, why, sizeof why);
  if (error == 0) error = fetch_open(&server, &fetch, why, sizeof why);
  if (error != 0) {
    log_warn("debuginfod %s: cannot be asked: %s", url, why);
    return error;
  }
  print_id(id, text);
  snprintf(target, sizeof target, "/buildid/%s/debuginfo", text);
  struct fetch_answer answer = {0};
  struct download download = {.debuginfod = debuginfod, .id = id, .answer = &answer};
  const struct fetch_call call = {.method = "GET",
                                  .target = target,
                                  .on_piece = on_piece,
                                  .context = &download,
                                  .answer_bytes_max = LIMIT_DEBUG_FILE_BYTES,
                                  .idle_ms = IDLE_MS,
                                  .total_ms = TOTAL_MS};
  error = fetch_call(fetch, &call, &answer);
  if (error != 0)
    log_debug("debuginfod %s: %s: %s", text, url, *download.why ? download.why : fetch_why(fetch));
  if (error == 0) error = download.is_whole ? 0 : -ENOENT;
  if (*download.why) error = -ENOENT; /* came, and was refused: the same again tomorrow */
  fetch_answer_fini(&answer);
  fetch_close(fetch);
  if (error == 0) error = symbolizer_prepare(debuginfod->symbolizer, NULL, id);
  if (error == 0) log_info("debuginfod %s: names from %s", text, url);
  return error == -EBADMSG ? -ENOENT : error;
}

/* ---- the thread ---- */

/* Asks one server after the other for module ID, and notes that they were asked.  Returns 0, or
   -errno when that cannot be noted: who goes on at once would ask the same again. */
static int ask_all(struct debuginfod *debuginfod, struct span id) {
  const char *urls = debuginfod->urls;
  char url[512];
  int64_t pause_s = NOT_FOUND_S;
  int error = -ENOENT;
  while (error != 0 && next_url(&urls, url, sizeof url)) {
    error = ask(debuginfod, url, id);
    if (error != 0 && error != -ENOENT) pause_s = UNREACHED_S;
    if (atomic_load_explicit(&debuginfod->is_stopping, memory_order_relaxed)) return 0;
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
