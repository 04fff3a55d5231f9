/* SPDX-License-Identifier: Apache-2.0 */
/* Starting programs wait for the daemon (preload.c). 200 ms is little once, but much for a shell
   script that starts a thousand programs.  That matters while the worker is stopped, spins, or is
   restarted with back-off.  The supervisor is alive then, has the same listening socket, and sees
   pending connections.  A shared counter has the worker's accepts.

   If a connection is pending for PORTER_LOOKS checks and the counter does not change, the worker
   hangs.  From then on connections are answered BUSY instead of waiting, until the counter changes
   again.  The worker has PORTER_GRACE_MS for each connection, so its recovery is detected without a
   request.

   A worker that is only slow, with ever new pending connections, is left alone.  A check costs
   nothing without connections, and a healthy worker has accepted before the second check.

   No data is read from the sockets: closing with unread data sends a reset, and the answer stays
   readable behind it (intake_client.c).  The first bytes are peeked at, to count the peers that
   will not retry: a program tries once and continues without the daemon, a command retries.

   If both processes are stopped, no check runs: the queue (listener.c) fills with abandoned
   connections, and later peers wait only until they detect that (preload.c). */
#include "porter.h"

#include "intake/intake_format.h"
#include "ring/wide.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

void porter_open(struct porter *porter, int listener) {
  void *page =
      mmap(NULL, sizeof *porter->tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *porter = (struct porter){.listener = listener, .tally = page != MAP_FAILED ? page : NULL};
}

void porter_close(struct porter *porter) {
  if (porter->tally != NULL) munmap(porter->tally, sizeof *porter->tally);
  porter->tally = NULL;
}

/* A plain counter: no ordering depends on it. */
void porter_note(struct porter_tally *tally) {
  if (tally != NULL) wide_add(&tally->let_in, 1);
}

static bool is_program(int caller) {
  struct intake_request request = {.kind = INTAKE_TARGET};
  size_t len = offsetof(struct intake_request, kind) + sizeof request.kind;
  ssize_t got = recv(caller, &request, len, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 || (got == (ssize_t)len && request.kind == INTAKE_TARGET);
}

void porter_note_away(struct porter_tally *tally, int caller) {
  if (tally != NULL && is_program(caller)) wide_add(&tally->turned_away, 1);
}

uint64_t porter_turned_away(struct porter_tally *tally) {
  return tally != NULL ? wide_peek(&tally->turned_away) : 0;
}

int porter_fd(const struct porter *porter) {
  return porter->tally != NULL && porter->due_ms == 0 ? porter->listener : -1;
}

bool porter_judge(struct porter *porter, bool is_waiting, uint64_t let_in, uint64_t now_ms) {
  bool is_first = porter->due_ms == 0;
  if (let_in != porter->let_in) {
    porter->let_in = let_in;
    porter->is_hung = false;
    porter->looks = 0;
  }
  porter->due_ms = 0;
  if (!is_waiting) {
    porter->looks = 0;
    return false;
  }
  if (!is_first && (porter->is_hung || ++porter->looks >= PORTER_LOOKS)) {
    porter->is_hung = true;
    return true;
  }
  porter->due_ms = now_ms + (porter->is_hung ? PORTER_GRACE_MS : PORTER_LOOK_MS);
  return false;
}

static void turn_away(struct porter_tally *tally, int caller) {
  struct intake_reply reply = {
      .magic = INTAKE_MAGIC, .version = INTAKE_VERSION, .kind = INTAKE_BUSY};
  snprintf(reply.why, sizeof reply.why, "the daemon's worker does not answer");
  porter_note_away(tally, caller);
  send(caller, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(caller);
}

void porter_look(struct porter *porter, uint64_t now_ms) {
  struct pollfd door = {.fd = porter->listener, .events = POLLIN};
  if (porter->tally == NULL || now_ms < porter->due_ms) return;
  bool is_waiting = poll(&door, 1, 0) > 0 && (door.revents & POLLIN);
  uint64_t let_in = wide_peek(&porter->tally->let_in);
  if (!porter_judge(porter, is_waiting, let_in, now_ms)) return;
  for (unsigned i = 0; i < PORTER_CALLERS; i++) {
    int caller = accept4(porter->listener, NULL, NULL, SOCK_CLOEXEC);
    if (caller < 0) return;
    turn_away(porter->tally, caller);
  }
}
