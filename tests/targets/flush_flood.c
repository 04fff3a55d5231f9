/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the daemon at SOCKET again and again that the program PID has ended.
   Usage: flush_flood SOCKET PID TIMES; prints how many answers came. */
#include "intake/intake_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TIMEOUT_MS = 2000 };

int main(int argc, char **argv) {
  struct intake_request request;
  struct intake_answer answer;
  unsigned answers = 0;
  int socket;
  if (argc != 4) return 2;
  for (long i = strtol(argv[3], NULL, 10); i > 0; i--) {
    if (intake_client_connect(argv[1], TIMEOUT_MS, &socket) < 0) continue;
    intake_client_request(&request, INTAKE_FLUSH);
    request.pid = (int32_t)strtol(argv[2], NULL, 10);
    const struct intake_call call = {.request = &request, .timeout_ms = TIMEOUT_MS};
    if (intake_client_call(socket, &call, &answer) == 0) answers++;
    close(socket);
  }
  printf("%u\n", answers);
  return 0;
}
