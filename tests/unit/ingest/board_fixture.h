/* SPDX-License-Identifier: Apache-2.0 */
/* Boards that connect to a collector: they enrol, greet, send batches, and query the store's
   figures of them. */
#ifndef TESTS_BOARD_FIXTURE_H
#define TESTS_BOARD_FIXTURE_H

#include "../identity/request_fixture.h"
#include "door_fixture.h"
#include "peer_fixture.h"

#include "common/clock.h"
#include "identity/ca_files.h"
#include "identity/certificate.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

#define HOUR_NS (3600 * NS_PER_SECOND)

/* State of each test: a listener, two peers, the last received message, a certificate request. */
extern struct door door;
extern struct peer peer, other;
extern struct message heard;
extern struct request request;

int start(void **state);
int stop(void **state);

/* Waits, within a limit, until figure NAME is VALUE: the listener may finish after a peer has its
   answer. */
void assert_metric(const char *name, unsigned long value);

/* Whether the log of changes contains LINE, or the log of denials, which is written a little later.
 */
void assert_audited(const char *line);
void assert_not_audited(const char *line);
void assert_denied(const char *line);
void assert_denied_once(const char *line);

/* --- enrolling --- */

void make_token(const char *board, uint64_t ttl_ns, char token[ACCESS_TOKEN_BYTES]);
void connect_stranger(struct peer *stranger); /* has only the CA's fingerprint */

/* Sends TOKEN and CSR; returns the answer, whose strings live until the connection is closed. */
struct enrolled ask_to_enrol(struct peer *stranger, const char *token, struct span csr);

/* BOARD's file of kind WHAT ("key", "crt", "ca"); valid until the fourth later call. */
const char *path_of(const char *board, const char *what);

/* Enrols BOARD and leaves its key, certificate and CA in the door's folder. */
void enrol(const char *board);

SSL_CTX *context_of(const char *board);
void connect_board(struct peer *board, const char *name);

/* --- talking --- */

struct message hello_of(uint64_t run);
void greet(struct peer *board, const char *name, uint64_t run); /* connected and welcomed */

struct content {
  uint64_t run, seq, produced;
  struct span module_id;
};

/* Makes the envelope of a batch with one sample of one record. */
struct envelope pack(const struct content *content, struct buf *raw, struct buf *zstd);
void send_content(struct peer *board, const struct content *content);
void send_batch(struct peer *board, uint64_t run, uint64_t seq);
void assert_acked(struct peer *board, uint64_t seq);

/* Asserts that the connection ends; earlier messages are dropped. */
void assert_ends(struct peer *board);

/* The store's figures of a board. */
struct board_figures {
  const char *name;
  uint64_t produced, stored, pending;
  uint32_t achieved_mhz, asked_mhz;
  uint64_t sample_ns;
  char sampler[32], clock[32];
};
struct board_figures figures_of(const char *name);

#define AT_DOOR(test) cmocka_unit_test_setup_teardown(test, start, stop)

#endif
