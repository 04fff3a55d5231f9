/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatedly reports to the daemon at SOCKET that the program PID has ended.

     flush_flood SOCKET PID TIMES [WAIT_S]

   Prints the number of answers. With WAIT_S it first sends all requests, within ten minutes, and
   then waits WAIT_S seconds or until SIGTERM. */
#include "intake/intake_client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TIMEOUT_MS = 2000, LONG_MS = 600000, WAITING_MAX = 256 };

static void wake(int signal) {
  (void)signal;
}

static unsigned ask_in_turn(const char *path, struct intake_request *request, long times) {
  struct intake_answer answer;
  unsigned answers = 0;
  int socket;
  for (; times > 0; times--) {
    if (intake_client_connect(path, TIMEOUT_MS, &socket) < 0) continue;
    const struct intake_call call = {.request = request, .timeout_ms = TIMEOUT_MS};
    if (intake_client_call(socket, &call, &answer) == 0) answers++;
    close(socket);
  }
  return answers;
}

static unsigned ask_together(const char *path, struct intake_request *request, long times,
                             unsigned wait_s) {
  static int sockets[WAITING_MAX];
  struct intake_reply reply;
  unsigned answers = 0;
  request->deadline_ms = LONG_MS;
  for (long i = 0; i < times; i++) {
    sockets[i] = -1;
    if (intake_client_connect(path, TIMEOUT_MS, &sockets[i]) == 0)
      send(sockets[i], request, sizeof *request, MSG_NOSIGNAL);
  }
  signal(SIGTERM, wake);
  sleep(wait_s);
  for (long i = 0; i < times; i++)
    answers += recv(sockets[i], &reply, sizeof reply, MSG_DONTWAIT) == (ssize_t)sizeof reply;
  return answers;
}

int main(int argc, char **argv) {
  struct intake_request request;
  if (argc != 4 && argc != 5) return 2;
  long times = strtol(argv[3], NULL, 10);
  intake_client_request(&request, INTAKE_FLUSH);
  request.pid = (int32_t)strtol(argv[2], NULL, 10);
  if (argc == 4) {
    printf("%u\n", ask_in_turn(argv[1], &request, times));
    return 0;
  }
  if (times > WAITING_MAX) return 2;
  printf("%u\n", ask_together(argv[1], &request, times, (unsigned)strtoul(argv[4], NULL, 10)));
  return 0;
}
