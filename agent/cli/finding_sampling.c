/* SPDX-License-Identifier: Apache-2.0 */
/* Consequences of the single checks: the sampler that `auto` selects and why, the timer's
   resolution, and whether samples reach the collector now.  As in finding_kernel.c, things are
   tried as this user, and settings appear only as reasons.

   The kernel's coarse clock advances at its tick, so its resolution is the tick.  That holds
   whatever CONFIG_HZ is reported for the kernel. */
#include "daemon_call.h"
#include "daemon_start.h"
#include "finding.h"

#include <cjson/cJSON.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE_USED_PERCENT_MAX = 75 /* the preloaded agent leaves a quarter free */ };

static bool can_make_timer(void) {
  struct sigevent event = {.sigev_notify = SIGEV_NONE};
  timer_t timer;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return false;
  timer_delete(timer);
  return true;
}

void finding_sampler(const struct patient *patient, struct finding *ret) {
  struct finding event = {.verdict = FINDING_FAIL}, ring = event, *refusal = NULL;
  struct path agent;
  finding_perf_events(patient, &event);
  finding_perf_ring(patient, &ring);
  if (ring.verdict != FINDING_PASS) refusal = &ring;
  if (event.verdict != FINDING_PASS) refusal = &event;
  const char *timer_fault = !can_make_timer()          ? "no CPU-time timer can be made"
                            : paths_agent(&agent) != 0 ? "no libfleetprof.so"
                                                       : NULL;
  if (refusal == NULL)
    finding_set(ret, FINDING_PASS,
                "auto takes perf, the first step of its ladder: no signal reaches the programs; "
                "the next, timer, %s%s",
                timer_fault == NULL ? "works too, and takes over where perf stops in mid-run"
                                    : "would not work: ",
                timer_fault == NULL ? "" : timer_fault);
  else if (timer_fault == NULL)
    finding_set(ret, FINDING_PASS,
                "auto takes timer, the second step of its ladder, because perf is refused, and "
                "nobody takes over where timers stop: %.150s",
                refusal->why);
  else
    finding_set(ret, FINDING_FAIL, "auto finds none: perf: %.120s; timer: %s", refusal->why,
                timer_fault);
  if (ret->verdict == FINDING_FAIL) finding_mend(ret, "mend one of them (see its own line)");
}

void finding_tick(const struct patient *patient, struct finding *ret) {
  (void)patient;
  struct timespec step;
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &step) != 0 || step.tv_nsec <= 0) {
    finding_set(ret, FINDING_WARN, "its length is not known: %s", strerror(errno));
    return;
  }
  long hz = (1000000000 + step.tv_nsec / 2) / step.tv_nsec;
  finding_set(ret, FINDING_PASS,
              "%ld a second: the timer sampler achieves at most %ld Hz a thread where 1000 are "
              "asked for; perf is not bound to it",
              hz, hz < 1000 ? hz : 1000);
}

void finding_signal_queue(const struct patient *patient, struct finding *ret) {
  (void)patient;
  char line[256];
  unsigned long long used = 0, limit = 0;
  FILE *file = fopen("/proc/self/status", "re");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "SigQ: %llu/%llu", &used, &limit) == 2) break;
  if (file != NULL) fclose(file);
  if (limit == 0) {
    finding_set(ret, FINDING_WARN, "/proc does not say how many signals may be queued");
    return;
  }
  bool is_low = used * 100 >= limit * QUEUE_USED_PERCENT_MAX;
  finding_set(ret, is_low ? FINDING_WARN : FINDING_PASS,
              "%llu of this user's %llu are in use; each thread under a timer takes one", used,
              limit);
  if (is_low)
    finding_mend(ret, "raise RLIMIT_SIGPENDING (ulimit -i), or end programs that hold many timers; "
                      "threads beyond it are counted as unsampled");
}

void finding_yama(const struct patient *patient, struct finding *ret) {
  (void)patient;
  int scope = -1;
  FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
  if (file != NULL) {
    if (fscanf(file, "%d", &scope) != 1) scope = -1;
    fclose(file);
  }
  if (scope < 0)
    finding_set(ret, FINDING_PASS, "none: programs of one user may look at each other");
  else
    finding_set(ret, FINDING_PASS,
                "ptrace_scope is %d: of no matter to perf and timer, which need no ptrace", scope);
}

/* Reads the ELF class and machine of PATH.  Returns false if it is no ELF file. */
static bool read_kind(const char *path, unsigned char *ret_class, uint16_t *ret_machine) {
  unsigned char head[20];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, head, sizeof head);
  close(fd);
  if (got != (ssize_t)sizeof head || memcmp(head, ELFMAG, SELFMAG) != 0) return false;
  *ret_class = head[EI_CLASS];
  memcpy(ret_machine, head + 18, sizeof *ret_machine);
  return true;
}

void finding_agent_kind(const struct patient *patient, struct finding *ret) {
  (void)patient;
  struct path agent;
  unsigned char class[2];
  uint16_t machine[2];
  if (paths_agent(&agent) != 0) {
    finding_set(ret, FINDING_WARN, "there is no agent to look at");
  } else if (!read_kind(agent.text, &class[0], &machine[0]) ||
             !read_kind("/proc/self/exe", &class[1], &machine[1])) {
    finding_set(ret, FINDING_FAIL, "%.200s is no ELF file", agent.text);
    finding_mend(ret, "install the whole tree again");
  } else if (class[0] != class[1] || machine[0] != machine[1]) {
    finding_set(ret, FINDING_FAIL, "the agent is built for another kind of program than this one");
    finding_mend(ret, "install the build for this machine");
  } else {
    finding_set(ret, FINDING_PASS,
                "made for %s-bit programs of this machine; others are sampled by perf only",
                class[0] == ELFCLASS64 ? "64" : "32");
  }
}

static void judge_uplink(const char *state, const char *why, bool is_connected,
                         struct finding *ret) {
  if (is_connected) {
    finding_set(ret, FINDING_PASS, "connected");
    return;
  }
  bool is_revoked = strstr(why, "revoked") != NULL;
  bool is_final = is_revoked || strstr(why, "expired") != NULL;
  finding_set(ret, is_final ? FINDING_FAIL : FINDING_WARN, "%.40s%s%.200s", state,
              why[0] ? ": " : "", why);
  if (is_revoked)
    finding_mend(ret, "fleetprof-collector revoke --undo --data DIR --board NAME on the collector; "
                      "nothing in the spool is lost");
  else if (is_final)
    finding_mend(ret, "fleetprof enroll with a new token; nothing in the spool is lost");
  else if (strcmp(state, "off") == 0)
    finding_mend(ret, "fleetprof enroll --collector HOST:PORT --token TOKEN");
  else
    finding_mend(ret, "see that the collector runs and its --agents port can be reached; samples "
                      "wait in the spool");
}

void finding_uplink(const struct patient *patient, struct finding *ret) {
  static struct path socket;
  char *text = NULL;
  if (daemon_find(patient->given_state, &socket) != 0) {
    finding_set(ret, FINDING_PASS, "no daemon runs that could have one");
    return;
  }
  int error = daemon_call_status(socket.text, DAEMON_CALL_STATUS_MS, &text);
  cJSON *status = error == 0 ? cJSON_Parse(text) : NULL;
  const cJSON *uplink = cJSON_GetObjectItemCaseSensitive(status, "uplink");
  const cJSON *state = cJSON_GetObjectItemCaseSensitive(uplink, "state");
  const cJSON *why = cJSON_GetObjectItemCaseSensitive(uplink, "why");
  if (cJSON_IsString(state)) {
    judge_uplink(state->valuestring, cJSON_IsString(why) ? why->valuestring : "",
                 cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(uplink, "connected")), ret);
  } else {
    finding_set(ret, FINDING_FAIL, "the daemon hangs: it does not say: %s",
                strerror(error ? -error : EBADMSG));
    finding_mend(ret, "look into fleetprofd.log; kill -9 of its worker loses nothing in a ring");
  }
  cJSON_Delete(status);
  free(text);
}
