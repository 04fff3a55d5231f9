/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is written, despite a slow reader and signals; or the error is returned. */
#include "common/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PIECE_BYTES = 1000, ALL_BYTES = 300 * PIECE_BYTES, PAUSE_NS = 200000 };

struct reader {
  int fd;
  pthread_t writer;
  uint8_t *got;
  size_t len;
};

static void on_signal(int number) {
  (void)number;
}

/* Takes pieces, and interrupts the writer before each. */
static void *read_slowly(void *context) {
  struct reader *reader = context;
  const struct timespec pause = {.tv_nsec = PAUSE_NS};
  while (reader->len < ALL_BYTES) {
    nanosleep(&pause, NULL);
    pthread_kill(reader->writer, SIGUSR1);
    size_t left = ALL_BYTES - reader->len;
    ssize_t got =
        read(reader->fd, reader->got + reader->len, left < PIECE_BYTES ? left : PIECE_BYTES);
    if (got <= 0) break;
    reader->len += (size_t)got;
  }
  return NULL;
}

static void all_is_written_in_pieces_and_under_signals(void **state) {
  (void)state;
  int ends[2];
  pthread_t thread;
  const struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART */
  uint8_t *bytes = malloc(ALL_BYTES);
  struct reader reader = {.got = calloc(1, ALL_BYTES), .writer = pthread_self()};
  assert_true(bytes != NULL && reader.got != NULL);
  for (size_t i = 0; i < ALL_BYTES; i++) bytes[i] = (uint8_t)(i * 2654435761u >> 13);
  assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
  assert_int_equal(pipe(ends), 0);
  assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
  reader.fd = ends[0];
  assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
  assert_int_equal(write_all(ends[1], span_of(bytes, ALL_BYTES)), 0);
  pthread_join(thread, NULL);
  assert_int_equal(reader.len, ALL_BYTES);
  assert_memory_equal(reader.got, bytes, ALL_BYTES);
  close(ends[0]);
  close(ends[1]);
  free(bytes);
  free(reader.got);
}

static void an_error_is_told(void **state) {
  (void)state;
  int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  assert_int_equal(write_all(full, span_of_string("text")), -ENOSPC);
  close(full);
  assert_int_equal(write_all(-1, span_of_string("text")), -EBADF);
  assert_int_equal(write_all(-1, span_of(NULL, 0)), 0); /* nothing to write */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_is_written_in_pieces_and_under_signals),
      cmocka_unit_test(an_error_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
