/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that start wait for the daemon (preload.c): 200 ms is little once, and much for a shell
   script that starts a thousand, when the worker is stopped, spins, or is being restarted ever more
   slowly.  The keeper is alive then, has the same listening socket, and sees who stands before it;
   a word that both share says how many the worker has let in.  When somebody stands there for
   PORTER_LOOKS looks and that word does not move, the worker hangs: from then on callers are told
   so (BUSY) instead of waiting, until it moves again.  The worker has PORTER_GRACE_MS for each
   caller, and so is back without being asked.

   A worker that is only slow, with ever new callers before its door, is left alone.  A look costs
   nothing while nobody comes, and a healthy worker has let the caller in before the second one.

   Nothing that callers say is taken from their sockets: the answer stands behind the reset that
   unread data make of a close (intake_client.c).  Their first words are looked at, to count those
   who will not come back: a program asks once and goes on without us, a command asks again.

   Where both processes are stopped nobody looks: then the queue (listener.c) fills with those who
   gave up, and later callers do not wait longer than it takes to see that (preload.c). */
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

/* A counter alone: nothing is ordered by it. */
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
