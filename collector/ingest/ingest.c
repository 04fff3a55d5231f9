/* SPDX-License-Identifier: Apache-2.0 */
/* The boards' entry point as a whole.

     listener -> connection (TLS, bytes) -> session (frames) -> dispatch -> writer, debug_intake
                      ^                        ^                   |
                      +------ answers ---------+------ outcomes ---+

   This file owns the table of connections and enforces the limits over all of them. It limits the
   number of connections (a quarter of the descriptors stays free for files and HTTP clients) and of
   unauthenticated ones (vestibule.h). It controls load shedding (shedding.h): memory and backlog
   are checked twice a second. It resumes stalled connections. It also reloads the data that
   commands change, every few seconds. These are the CA's files, whose roots are announced to
   boards, and the revocations: a revoked board is rejected in its handshake and disconnected if
   connected. A handshake checks a certificate once. So sessions whose certificate has expired
   since, or whose board has connected with a newer one, are ended here.

   Stopping: new connections and new frames are refused. Queued jobs are committed and acked within
   DRAIN_MS; answers have FLUSH_MS to be sent. A board whose ack was lost all the same sends that
   batch again and gets an ack of a duplicate. */
#include "ingest.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/tls.h"
#include "connection.h"
#include "debug_intake.h"
#include "dispatch.h"
#include "identity/access.h"
#include "identity/ca.h"
#include "listener.h"
#include "memory_use.h"
#include "patience.h"
#include "proto/limits.h"
#include "revocations.h"
#include "roster.h"
#include "store/store.h"
#include "trusted_time.h"
#include "vestibule.h"
#include "writer.h"

#include <errno.h>
#include <event2/event.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
  SESSIONS_PER_BOARD_MAX = 8, /* several are allowed, but one key must not take every place */
  REVOCATIONS_SECONDS = 10,
  PULSE_US = 500 * 1000,
  TRIM_SECONDS = 10,
  DRAIN_MS = 5000,
  FLUSH_MS = 1000,
  FLUSH_STEP_US = 2000,
};

struct ingest {
  struct ingest_parts parts;
  struct figures figures;
  struct connection_host host;
  struct debug_intake debug;
  struct roster roster;
  struct listener *listener;
  struct writer *writer;
  struct event *tick, *pulse;
  struct revocations *revocations; /* changed by the loop, under the lock */
  pthread_mutex_t revocations_lock;
  uint64_t ca_generation; /* of the files in use */
  bool is_reading_revocations, is_stopping;
  struct vestibule vestibule;
  unsigned boards, connections_max;
  uint64_t trimmed_ns; /* when free memory was last returned to the kernel */
  uint32_t resume_at;  /* the next connection to resume */
};

static bool is_stranger(const struct connection *connection) {
  return connection_board(connection)[0] == 0;
}

/* Adds CHANGE, 1 or -1, to the number of boards and updates the reconnect spread. */
static void count_board(struct ingest *ingest, int change) {
  ingest->boards += (unsigned)change;
  ingest->host.return_within_ms = patience_return_ms(ingest->boards);
}

/* Removes an unauthenticated connection from the vestibule, and resumes the listener if there is
   room. */
static void forget_stranger(struct ingest *ingest, uint64_t id) {
  vestibule_remove(&ingest->vestibule, id);
  listener_set_paused(ingest->listener,
                      ingest->is_stopping || vestibule_is_full(&ingest->vestibule));
}

/* Returns the number of a connection from PEER, or 0 with the reason in RET. */
static uint64_t find_place(struct ingest *ingest, const struct sockaddr *peer, enum refusal *ret) {
  *ret = REFUSAL_CONNECTION_LIMIT;
  if (ingest->roster.count >= ingest->connections_max) return 0;
  uint64_t id = roster_add(&ingest->roster);
  if (id == 0 || vestibule_add(&ingest->vestibule, id, peer, clock_monotonic_ns())) return id;
  *ret = REFUSAL_ADDRESS_LIMIT;
  roster_remove(&ingest->roster, id);
  return 0;
}

static void on_accept(void *context, int fd, const struct sockaddr *peer) {
  struct ingest *ingest = context;
  enum refusal refusal;
  figures_add(&ingest->figures.connections_total, 1);
  uint64_t id = find_place(ingest, peer, &refusal);
  if (id == 0) {
    figures_add(&ingest->figures.refused[refusal], 1);
    close(fd);
    return;
  }
  struct connection *connection = connection_new_take(&ingest->host, fd, id);
  if (connection == NULL) {
    figures_add(&ingest->figures.refused[REFUSAL_MEMORY], 1);
    vestibule_remove(&ingest->vestibule, id);
    roster_remove(&ingest->roster, id);
    return;
  }
  roster_set(&ingest->roster, id, connection);
  figures_add(&ingest->figures.connections_open, 1);
  listener_set_paused(ingest->listener, vestibule_is_full(&ingest->vestibule));
}

static void on_accept_failure(void *context) {
  struct ingest *ingest = context;
  figures_add(&ingest->figures.accept_failures_total, 1);
}

static void on_identified(void *context, struct connection *connection) {
  struct ingest *ingest = context;
  if (is_stranger(connection)) return;
  forget_stranger(ingest, connection_id(connection));
  figures_add(&ingest->figures.boards_connected, 1);
  count_board(ingest, 1);
  uint32_t others =
      roster_set_board(&ingest->roster, connection_id(connection), connection_board(connection));
  if (others == 0) return;
  /* One name in two places: a copied key, or a board whose old link is dead but not yet closed. */
  figures_add(&ingest->figures.board_twice_total, 1);
  log_debug("ingest-twice %s: has %u other sessions", connection_board(connection), others);
  if (others >= SESSIONS_PER_BOARD_MAX)
    connection_refuse(connection, REFUSAL_CONNECTION_LIMIT, "this board has too many connections");
}

static void on_closed(void *context, struct connection *connection) {
  struct ingest *ingest = context;
  roster_remove(&ingest->roster, connection_id(connection));
  figures_take(&ingest->figures.connections_open, 1);
  if (is_stranger(connection)) {
    forget_stranger(ingest, connection_id(connection));
    return;
  }
  figures_take(&ingest->figures.boards_connected, 1);
  count_board(ingest, -1);
}

static void on_denied(void *context, const char *who, const char *why) {
  struct ingest *ingest = context;
  access_audit_denial(ingest->parts.access, who, "boards' door: %s", why);
}

/* Resumes stalled connections in turn, after the last one resumed, so that a full queue is
   shared. */
static void resume_stalled(void *context) {
  struct ingest *ingest = context;
  for (uint32_t i = 0; i < ingest->roster.cap && ingest->host.stalled_count > 0; i++) {
    ingest->resume_at = (ingest->resume_at + 1) % ingest->roster.cap;
    struct connection *connection = roster_at(&ingest->roster, ingest->resume_at);
    if (connection != NULL) connection_resume(connection);
  }
}

static int start_tls(struct ingest *ingest, char *error, size_t error_len) {
  struct ca *ca = ingest->parts.ca;
  uint64_t generation = ca_generation(ca); /* first: later changes are found next time */
  struct tls_paths paths = {.certificate = ca_server_certificate_path(ca),
                            .key = ca_server_key_path(ca),
                            .ca = ca_root_path(ca)};
  struct ca_next_paths next;
  if (ca_next_paths(ca, &next))
    paths.next_ca = next.root, paths.next_certificate = next.certificate, paths.next_key = next.key;
  SSL_CTX *tls = tls_server_context(&paths, error, error_len);
  if (tls == NULL) return -EINVAL;
  SSL_CTX_free(ingest->host.tls); /* connections hold a reference */
  ingest->host.tls = tls;
  ingest->host.trust = ca_trust(ca);
  ingest->ca_generation = generation;
  return 0;
}

/* Reloads changed CA files. Boards are notified by their next Pong. */
static void follow_ca(struct ingest *ingest) {
  char error[LIMIT_VALUE_BYTES];
  if (ca_generation(ingest->parts.ca) == ingest->ca_generation) return;
  if (start_tls(ingest, error, sizeof error) != 0)
    log_error("ingest-ca files: not in use: %s", error);
  else
    log_info("ingest-ca files: others are in use now");
}

/* Takes LIST over. The loop no longer reads the old list, and other threads read only under the
   lock. */
static void set_revocations_take(struct ingest *ingest, struct revocations *list) {
  pthread_mutex_lock(&ingest->revocations_lock);
  struct revocations *old = ingest->revocations;
  ingest->revocations = list;
  ingest->host.revocations = list;
  pthread_mutex_unlock(&ingest->revocations_lock);
  revocations_free(old);
}

int64_t ingest_revoked_s(struct ingest *ingest, const char *board) {
  pthread_mutex_lock(&ingest->revocations_lock);
  int64_t since_s = revocations_since_s(ingest->revocations, board);
  pthread_mutex_unlock(&ingest->revocations_lock);
  return since_s;
}

static void forget_clock(void *context, const char *board) {
  trusted_time_forget(context, board);
}

static void replace_revocations(struct ingest *ingest, struct job *job) {
  ingest->is_reading_revocations = false;
  follow_ca(ingest);
  if (job->revocations == NULL) return; /* reading failed: the old list stays */
  if (ingest->parts.time != NULL)
    revocations_each_new(ingest->revocations, job->revocations, forget_clock, ingest->parts.time);
  set_revocations_take(ingest, job->revocations);
  job->revocations = NULL;
  for (uint32_t i = 0; i < ingest->roster.cap; i++) {
    struct connection *connection = roster_at(&ingest->roster, i);
    if (connection != NULL && !is_stranger(connection) &&
        revocations_has(ingest->revocations, connection_board(connection)))
      connection_refuse(connection, REFUSAL_REVOKED, ACCESS_REVOKED_WHY);
  }
}

/* Ends sessions whose certificate has expired. The boards reconnect, and may renew. */
static void end_outlived(struct ingest *ingest) {
  int64_t now_s = (int64_t)(clock_judged_ns() / NS_PER_SECOND);
  for (uint32_t i = 0; i < ingest->roster.cap; i++) {
    struct connection *connection = roster_at(&ingest->roster, i);
    if (connection == NULL || is_stranger(connection)) continue;
    const struct shown_certificate *shown = connection_certificate(connection);
    if (!shown->has_expired && shown->until_s != 0 && now_s >= shown->until_s)
      connection_refuse(connection, REFUSAL_OUTLIVED,
                        "the certificate of this session has expired: come again, to renew it");
  }
}

/* JOB's board was admitted: if by another certificate than its sessions before, that is a newer
   one, whatever the dates (access.c), and these end. */
static void end_superseded(struct ingest *ingest, const struct job *job) {
  static const char why[] = "this board has come with a newer certificate: a session of an older "
                            "one ends";
  struct connection *connection;
  for (uint32_t at = 0; (connection = roster_next_of(&ingest->roster, job->board, &at)) != NULL;) {
    const struct shown_certificate *shown = connection_certificate(connection);
    if (!shown->is_used || shown->id == job->certificate.id ||
        strcmp(connection_board(connection), job->board) != 0)
      continue;
    if (connection_refuse(connection, REFUSAL_SUPERSEDED, why)) on_denied(ingest, job->board, why);
  }
}

static void read_revocations(struct ingest *ingest) {
  struct job *job = ingest->is_reading_revocations ? NULL : job_new(JOB_REVOCATIONS);
  if (job == NULL) return;
  ingest->is_reading_revocations = true;
  dispatch_submit(ingest->host.dispatch, job);
}

static void on_job(void *context, struct job *job) {
  struct ingest *ingest = context;
  struct connection *connection = roster_find(&ingest->roster, job->session);
  if (job->kind == JOB_REVOCATIONS) replace_revocations(ingest, job);
  if (connection != NULL) connection_finish(connection, job);
  if (job->kind == JOB_HELLO && job->outcome == JOB_DONE) end_superseded(ingest, job);
  bool is_news = job->kind == JOB_HELLO && job->refusal == REFUSAL_REVOKED && !ingest->is_stopping;
  job_free(job);
  /* Applies to its next handshake and its other sessions at once. */
  if (is_news) read_revocations(ingest);
}

static void on_tick(evutil_socket_t fd, short what, void *context) {
  struct ingest *ingest = context;
  (void)fd, (void)what;
  end_outlived(ingest);
  resume_stalled(ingest); /* room for long frames may have appeared without a finished job */
  read_revocations(ingest);
}

/* --- Load shedding --- */

static void on_shedding(void *context) {
  struct ingest *ingest = context;
  enum shed shed = ingest->host.shedding.shed;
  figures_set(&ingest->figures.shedding, shed != SHED_NOTHING);
  if (shed != SHED_NOTHING)
    log_warn("ingest-shedding %s: over its limit: boards keep their batches for now",
             shedding_name(shed));
  else
    log_warn("ingest-shedding nothing: batches are taken again");
}

/* Evicts overdue handshakes to make room. */
static void evict_half_open(struct ingest *ingest) {
  uint64_t overdue[VESTIBULE_PLACES];
  unsigned count = vestibule_overdue(&ingest->vestibule, clock_monotonic_ns(), overdue);
  for (unsigned i = 0; i < count; i++) {
    struct connection *connection = roster_find(&ingest->roster, overdue[i]);
    if (connection != NULL) connection_evict_half_open(connection);
  }
}

/* Memory that is freed but not returned to the kernel does not count. Trimming is slow, so it is
   rate-limited. */
static void give_back_memory(struct ingest *ingest) {
  uint64_t now_ns = clock_monotonic_ns();
  if (now_ns - ingest->trimmed_ns < TRIM_SECONDS * NS_PER_SECOND) return;
  ingest->trimmed_ns = now_ns;
  malloc_trim(0);
  ingest->host.shedding.now.memory_bytes = memory_use_bytes();
}

static void on_pulse(evutil_socket_t fd, short what, void *context) {
  struct ingest *ingest = context;
  struct shedding *shedding = &ingest->host.shedding;
  (void)fd, (void)what;
  evict_half_open(ingest);
  shedding->now.backlog_bytes = store_backlog_bytes(ingest->parts.store);
  shedding->now.memory_bytes = memory_use_bytes();
  if (shedding->limit.memory_bytes != 0 &&
      shedding->now.memory_bytes > shedding->limit.memory_bytes)
    give_back_memory(ingest);
  figures_set(&ingest->figures.memory_bytes, shedding->now.memory_bytes);
  connection_look_at_load(&ingest->host);
}

void ingest_set_memory_limit(struct ingest *ingest, uint64_t bytes) {
  uint64_t limit = bytes != 0 ? bytes : memory_use_allowed();
  ingest->host.shedding.limit = shedding_limits(limit);
  figures_set(&ingest->figures.memory_limit_bytes, limit);
}

/* Sets the limit to three quarters of the descriptors not reserved for files. */
static void set_connections_max(struct ingest *ingest) {
  struct rlimit limit;
  rlim_t files = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
  files = files > LIMIT_COLLECTOR_FILES ? files - LIMIT_COLLECTOR_FILES : 8;
  ingest->connections_max =
      files / 4 < LIMIT_CONNECTIONS / 3 ? (unsigned)(files * 3 / 4) : LIMIT_CONNECTIONS;
  figures_set(&ingest->figures.connections_max, ingest->connections_max);
}

/* --- */

static int start_workers(struct ingest *ingest) {
  const struct ingest_parts *parts = &ingest->parts;
  struct writer_parts writer = {.store = parts->store,
                                .debug = parts->debug,
                                .access = parts->access,
                                .ca = parts->ca,
                                .figures = &ingest->figures,
                                .quotas = parts->quotas,
                                .board_cpus_max = parts->board_cpus_max};
  ingest->writer = writer_new(&writer);
  if (ingest->writer == NULL) return -ENOMEM;
  ingest->debug = (struct debug_intake){parts->debug, parts->symbolizer, &ingest->figures};
  struct dispatch_parts dispatch = {.loop = parts->loop,
                                    .figures = &ingest->figures,
                                    .writer = ingest->writer,
                                    .debug = &ingest->debug,
                                    .on_job = on_job,
                                    .on_room = resume_stalled,
                                    .context = ingest};
  return dispatch_start(&dispatch, &ingest->host.dispatch);
}

static int start_tick(struct ingest *ingest) {
  static const struct timeval period = {.tv_sec = REVOCATIONS_SECONDS};
  static const struct timeval pulse = {.tv_usec = PULSE_US};
  struct revocations *list;
  int result = revocations_read(ingest->parts.access, &list);
  if (result != 0) return result;
  set_revocations_take(ingest, list);
  ingest->tick = event_new(ingest->parts.loop, -1, EV_PERSIST, on_tick, ingest);
  if (ingest->tick == NULL || event_add(ingest->tick, &period) != 0) return -ENOMEM;
  ingest->pulse = event_new(ingest->parts.loop, -1, EV_PERSIST, on_pulse, ingest);
  return ingest->pulse != NULL && event_add(ingest->pulse, &pulse) == 0 ? 0 : -ENOMEM;
}

static int start(struct ingest *ingest, char *error, size_t error_len) {
  struct listener_parts listener = {.loop = ingest->parts.loop,
                                    .address = ingest->parts.address,
                                    .on_accept = on_accept,
                                    .on_failure = on_accept_failure,
                                    .context = ingest};
  int result = start_tls(ingest, error, error_len);
  if (result != 0) return result;
  result = start_workers(ingest);
  if (result == 0) result = start_tick(ingest);
  if (result != 0) {
    snprintf(error, error_len, "cannot start the boards' door: %s", strerror(-result));
    return result;
  }
  return listener_start(&listener, &ingest->listener, error, error_len);
}

int ingest_start(const struct ingest_parts *parts, struct ingest **ret, char *error,
                 size_t error_len) {
  struct ingest *ingest = calloc(1, sizeof *ingest);
  if (ingest == NULL) {
    snprintf(error, error_len, "cannot start the boards' door: %s", strerror(ENOMEM));
    return -ENOMEM;
  }
  ingest->parts = *parts;
  pthread_mutex_init(&ingest->revocations_lock, NULL);
  ingest->host = (struct connection_host){.loop = parts->loop,
                                          .figures = &ingest->figures,
                                          .page_url = parts->page_url,
                                          .on_identified = on_identified,
                                          .quotas = parts->quotas,
                                          .time = parts->time,
                                          .on_closed = on_closed,
                                          .on_shedding = on_shedding,
                                          .on_denied = on_denied,
                                          .context = ingest};
  ingest->vestibule.per_address = parts->handshakes_per_address;
  ingest->host.return_within_ms = patience_return_ms(0);
  ingest_set_memory_limit(ingest, parts->memory_limit_bytes);
  set_connections_max(ingest);
  int result = start(ingest, error, error_len);
  if (result != 0) {
    ingest_stop(ingest);
    ingest_free(ingest);
    return result;
  }
  *ret = ingest;
  return 0;
}

unsigned ingest_port(const struct ingest *ingest) {
  return listener_port(ingest->listener);
}

static bool is_flushed(const struct ingest *ingest) {
  for (uint32_t i = 0; i < ingest->roster.cap; i++) {
    const struct connection *connection = roster_at(&ingest->roster, i);
    if (connection != NULL && !connection_is_flushed(connection)) return false;
  }
  return true;
}

/* Runs the loop until all answers are sent or the time is up. */
static void flush(struct ingest *ingest) {
  uint64_t deadline_ns = clock_monotonic_ns() + FLUSH_MS * NS_PER_MS;
  while (!is_flushed(ingest) && clock_monotonic_ns() < deadline_ns) {
    if (event_base_loop(ingest->parts.loop, EVLOOP_NONBLOCK) < 0) return;
    usleep(FLUSH_STEP_US);
  }
}

static void close_all(struct ingest *ingest) {
  for (uint32_t i = 0; i < ingest->roster.cap; i++) connection_free(roster_at(&ingest->roster, i));
  /* libevent closes the sockets of freed streams from its loop. */
  if (ingest->roster.count > 0) event_base_loop(ingest->parts.loop, EVLOOP_NONBLOCK);
  roster_fini(&ingest->roster);
}

void ingest_stop(struct ingest *ingest) {
  ingest->is_stopping = true;
  if (ingest->listener != NULL) listener_set_paused(ingest->listener, true);
  if (ingest->tick != NULL) event_free(ingest->tick);
  if (ingest->pulse != NULL) event_free(ingest->pulse);
  dispatch_stop(ingest->host.dispatch, DRAIN_MS);
  ingest->host.dispatch = NULL;
  flush(ingest);
  close_all(ingest);
  listener_stop(ingest->listener);
  writer_free(ingest->writer);
  set_revocations_take(ingest, NULL);
  SSL_CTX_free(ingest->host.tls);
}

void ingest_free(struct ingest *ingest) {
  if (ingest == NULL) return;
  pthread_mutex_destroy(&ingest->revocations_lock);
  free(ingest);
}

void ingest_metrics(struct ingest *ingest, struct buf *ret) {
  figures_print(&ingest->figures, ret);
}
