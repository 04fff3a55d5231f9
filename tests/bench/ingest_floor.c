/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_floor DIR RECORDING... [records-min nodes-min]: the minimum cost of receiving batches. The
   batches of simulated boards (tests/fleet) pass through TLS, zstd and a bare SQLite table, each
   separately and in turn. Prints the CPU time a batch of each, and the batches a second of one core
   that does nothing else. DIR is created for keys and a database.

   TLS is decryption only: the encrypted bytes are in memory. SQLite is one table of blobs, WAL,
   synchronous=FULL, GROUP batches a commit; its wall time includes the fsyncs. */
#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/tls.h"
#include "fleet/board_identity.h"
#include "fleet/outbox.h"
#include "fleet/recordings.h"
#include "identity/ca.h"
#include "proto/compress.h"
#include "proto/messages.h"

#include <errno.h>
#include <openssl/bio.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
  BATCHES = 4000,
  BOARDS = 40,
  CHUNK_BATCHES = 100,
  GROUP = 50,
  RECORDS_MIN = 500,
  NODES_MIN = 180
};

struct batches {
  struct buf frames; /* concatenated */
  size_t ends[BATCHES + 1];
  struct span zstd[BATCHES]; /* within frames */
  uint32_t raw_lens[BATCHES];
  uint64_t raw_bytes, zstd_bytes, records;
};

static uint64_t thread_cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void must(bool is_well, const char *what) {
  if (is_well) return;
  fprintf(stderr, "ingest_floor: %s\n", what);
  exit(1);
}

static void make_batches(const struct recordings *recordings, struct batches *ret) {
  struct variant_room room = {0};
  for (uint32_t i = 0; i < BATCHES; i++) {
    struct variant variant = {recordings, 1, i % BOARDS, 1 + i / BOARDS, 0};
    struct variant_frame frame = {.counters.run = 1 + i % BOARDS};
    struct message message = {.type = FRAME_BATCH};
    must(variant_encode(&variant, &frame, &room, &message.batch) == 0, "a batch does not encode");
    must(message_encode(&message, &ret->frames) == 0, "a frame does not encode");
    ret->ends[i + 1] = ret->frames.len;
    ret->zstd[i].len = message.batch.zstd.len;
    ret->raw_lens[i] = message.batch.raw_len;
    ret->raw_bytes += message.batch.raw_len;
    ret->zstd_bytes += message.batch.zstd.len;
    ret->records += message.batch.records;
  }
  for (uint32_t i = 0; i < BATCHES; i++) /* the envelope's last field */
    ret->zstd[i].data = ret->frames.data + ret->ends[i + 1] - ret->zstd[i].len;
  variant_room_fini(&room);
}

static SSL *make_end(SSL *ssl, BIO *in, BIO *out, bool is_server) {
  must(ssl != NULL && BIO_up_ref(in) == 1 && BIO_up_ref(out) == 1, "no TLS");
  SSL_set_bio(ssl, in, out);
  if (is_server) SSL_set_accept_state(ssl);
  if (!is_server) SSL_set_connect_state(ssl);
  return ssl;
}

/* Returns CPU time of reading all frames. */
static uint64_t decrypt_all(struct ca *ca, const struct batches *batches) {
  static uint8_t room[16 << 10];
  char why[256];
  struct board_identity identity;
  const struct tls_paths server_paths = {.certificate = ca_server_certificate_path(ca),
                                         .key = ca_server_key_path(ca),
                                         .ca = ca_root_path(ca)};
  const struct tls_paths client_paths = {.ca = ca_root_path(ca)};
  SSL_CTX *server = tls_server_context(&server_paths, why, sizeof why);
  SSL_CTX *client = tls_client_context(&client_paths, why, sizeof why);
  must(server && client && board_identity_make(ca, "floor", &identity, why, sizeof why) == 0, why);
  BIO *up = BIO_new(BIO_s_mem()), *down = BIO_new(BIO_s_mem());
  must(up != NULL && down != NULL, "no memory");
  SSL *board = make_end(board_identity_ssl(&identity, client), down, up, false);
  SSL *collector = make_end(SSL_new(server), up, down, true);
  for (int i = 0; i < 10 && !(SSL_is_init_finished(board) && SSL_is_init_finished(collector));
       i++) {
    SSL_do_handshake(board);
    SSL_do_handshake(collector);
  }
  uint64_t cpu_ns = 0;
  for (uint32_t i = 0; i < BATCHES; i++) {
    int len = (int)(batches->ends[i + 1] - batches->ends[i]);
    must(SSL_write(board, batches->frames.data + batches->ends[i], len) == len, "TLS write");
    if (i % CHUNK_BATCHES != CHUNK_BATCHES - 1) continue;
    uint64_t before_ns = thread_cpu_ns();
    while (SSL_read(collector, room, sizeof room) > 0) continue;
    cpu_ns += thread_cpu_ns() - before_ns;
  }
  must(BIO_pending(up) == 0, "TLS read");
  SSL_free(board);
  SSL_free(collector);
  BIO_free(up);
  BIO_free(down);
  board_identity_fini(&identity);
  SSL_CTX_free(server);
  SSL_CTX_free(client);
  return cpu_ns;
}

static uint64_t inflate_all(const struct batches *batches) {
  struct buf raw = {0};
  uint64_t before_ns = thread_cpu_ns();
  for (uint32_t i = 0; i < BATCHES; i++) {
    buf_clear(&raw);
    must(decompress(batches->zstd[i], batches->raw_lens[i], LIMIT_BATCH_RAW_BYTES, &raw) == 0,
         "a batch does not inflate");
  }
  uint64_t cpu_ns = thread_cpu_ns() - before_ns;
  buf_fini(&raw);
  return cpu_ns;
}

static void run_sql(sqlite3 *db, const char *sql) {
  must(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
}

static uint64_t commit_all(const char *dir, const struct batches *batches, uint64_t *ret_wall_ns) {
  char path[4096];
  sqlite3 *db;
  sqlite3_stmt *insert;
  snprintf(path, sizeof path, "%s/floor.sqlite", dir);
  must(sqlite3_open(path, &db) == SQLITE_OK, "no database");
  run_sql(db,
          "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
          "CREATE TABLE IF NOT EXISTS batch(id INTEGER PRIMARY KEY, board, run, seq, envelope)");
  must(sqlite3_prepare_v2(db, "INSERT INTO batch(board,run,seq,envelope) VALUES(?,?,?,?)", -1,
                          &insert, NULL) == SQLITE_OK,
       sqlite3_errmsg(db));
  uint64_t before_ns = thread_cpu_ns(), wall_ns = clock_monotonic_ns();
  for (uint32_t i = 0; i < BATCHES; i++) {
    if (i % GROUP == 0) run_sql(db, "BEGIN");
    for (int column = 1; column <= 3; column++) sqlite3_bind_int64(insert, column, i);
    sqlite3_bind_blob(insert, 4, batches->zstd[i].data, (int)batches->zstd[i].len, SQLITE_STATIC);
    must(sqlite3_step(insert) == SQLITE_DONE, sqlite3_errmsg(db));
    sqlite3_reset(insert);
    if (i % GROUP == GROUP - 1) run_sql(db, "COMMIT");
  }
  *ret_wall_ns = clock_monotonic_ns() - wall_ns;
  uint64_t cpu_ns = thread_cpu_ns() - before_ns;
  sqlite3_finalize(insert);
  sqlite3_close(db);
  return cpu_ns;
}

static void print(const char *name, uint64_t ns) {
  printf("%s_cpu_us %.2f\n", name, (double)ns / BATCHES / 1000);
}

int main(int argc, char **argv) {
  static struct batches batches;
  static const struct recordings_floor floor = {RECORDS_MIN, NODES_MIN};
  struct recordings recordings = {0};
  struct ca *ca;
  char why[256];
  must(argc > 2, "usage: ingest_floor DIR RECORDING...");
  for (int i = 2; i < argc; i++) {
    int error = recordings_add(&recordings, argv[i], &floor);
    must(error == 0 || error == -ENODATA, argv[i]);
  }
  must(recordings.count > 0, "no window has 500 records and 180 nodes");
  must(ca_open(argv[1], &ca, why, sizeof why) == 0, why);
  make_batches(&recordings, &batches);
  uint64_t wall_ns, tls_ns = decrypt_all(ca, &batches), zstd_ns = inflate_all(&batches);
  uint64_t sqlite_ns = commit_all(argv[1], &batches, &wall_ns);
  printf("batches %d\nrecords_a_batch %.1f\nraw_bytes_a_batch %.1f\nzstd_bytes_a_batch %.1f\n",
         BATCHES, (double)batches.records / BATCHES, (double)batches.raw_bytes / BATCHES,
         (double)batches.zstd_bytes / BATCHES);
  print("tls", tls_ns);
  print("zstd", zstd_ns);
  print("sqlite", sqlite_ns);
  printf("sqlite_wall_us %.2f\n", (double)wall_ns / BATCHES / 1000);
  printf("floor_batches_a_core_second %.0f\n",
         (double)BATCHES * 1e9 / (double)(tls_ns + zstd_ns + sqlite_ns));
  buf_fini(&batches.frames);
  recordings_fini(&recordings);
  ca_close(ca);
  return 0;
}
