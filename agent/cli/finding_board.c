/* SPDX-License-Identifier: Apache-2.0 */
/* The installation and the board's files that samples need to reach a collector.  Checks only
   read. */
#include "amount.h"
#include "common/clock.h"
#include "daemon_call.h"
#include "daemon_start.h"
#include "finding.h"
#include "intake/kill_switch.h"

#include <errno.h>
#include <math.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_A_DAY = 86400, DAYS_LEFT_MIN = 7 };

#define SPOOL_ROOM_BYTES (64ULL << 20) /* default maximum of the spool */
#define LEAST_ROOM_BYTES (2ULL << 20)  /* two batches */
#define EARLIEST_SANE_TIME 1704067200  /* 2024-01-01: this program did not exist before */

void finding_agent(const struct patient *patient, struct finding *ret) {
  (void)patient;
  struct path agent;
  if (paths_agent(&agent) == 0) {
    finding_set(ret, FINDING_PASS, "%.250s", agent.text);
    return;
  }
  finding_set(ret, FINDING_WARN,
              "no libfleetprof.so in ../lib/fleetprof beside fleetprof: the "
              "timer sampler cannot run");
  finding_mend(ret, "install the whole tree: cmake --install BUILD --prefix PREFIX");
}

void finding_kill_switch(const struct patient *patient, struct finding *ret) {
  struct path own;
  const char *found = access(KILL_SWITCH_PATH, F_OK) == 0 ? KILL_SWITCH_PATH : NULL;
  if (paths_join(patient->state.text, "disable", &own) != 0) own.text[0] = '\0';
  if (found == NULL && access(own.text, F_OK) == 0) found = own.text;
  if (found == NULL && patient->kill_switch.text[0] != '\0') found = patient->kill_switch.text;
  if (found == NULL) {
    finding_set(ret, FINDING_PASS, "not set: there is neither %s nor %.180s", KILL_SWITCH_PATH,
                own.text);
    return;
  }
  finding_set(ret, FINDING_WARN, "%.250s turns all sampling off", found);
  finding_mend(ret, "rm %.250s", found);
}

void finding_daemon(const struct patient *patient, struct finding *ret) {
  static struct path socket;
  struct path program;
  char *status = NULL;
  int error = daemon_find(patient->given_state, &socket);
  if (error == 0) {
    error = daemon_call_status(socket.text, DAEMON_CALL_STATUS_MS, &status);
    free(status);
    if (error == 0)
      finding_set(ret, FINDING_PASS, "answers at %.250s", socket.text);
    else
      finding_set(ret, FINDING_FAIL, "listens at %.200s and does not answer: %s", socket.text,
                  strerror(-error));
    if (error != 0) finding_mend(ret, "look into fleetprofd.log in the state directory");
    return;
  }
  if (paths_program("fleetprofd", &program) == 0) {
    finding_set(ret, FINDING_PASS, "none listens; fleetprof run starts %.200s", program.text);
    return;
  }
  finding_set(ret, FINDING_FAIL,
              "none listens, and fleetprofd is neither beside fleetprof nor in "
              "PATH");
  finding_mend(ret, "install the whole tree, or add its bin to PATH");
}

void finding_enrolment(const struct patient *patient, struct finding *ret) {
  static const char *const names[] = {"board.key", "board.pem", "ca.pem", "collector"};
  struct path file;
  if (patient->is_closed) {
    finding_set(ret, FINDING_PASS, "is the daemon's, in %.200s, for its user to read; see uplink",
                patient->state.text);
    return;
  }
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    if (paths_join(patient->state.text, names[i], &file) == 0 && access(file.text, R_OK) == 0)
      continue;
    bool is_new = i == 0 && errno == ENOENT; /* any other failure is an error */
    finding_set(ret, is_new ? FINDING_WARN : FINDING_FAIL, "%.200s: %s", file.text,
                strerror(errno));
    finding_mend(ret, "fleetprof enroll --collector HOST:PORT --token TOKEN; samples stay in the "
                      "spool until then (run --output needs no collector)");
    return;
  }
  struct stat key;
  paths_join(patient->state.text, "board.key", &file);
  if (stat(file.text, &key) == 0 && (key.st_mode & 077) != 0) {
    finding_set(ret, FINDING_WARN, "%.200s can be read by others", file.text);
    finding_mend(ret, "chmod 600 %.200s", file.text);
    return;
  }
  finding_set(ret, FINDING_PASS, "key, certificate and collector are in %.200s",
              patient->state.text);
}

/* The current time by the collector's clock, if its offset is known. */
static time_t now_of(const struct patient *patient) {
  return time(NULL) + (time_t)(patient->clock_offset_ns / (int64_t)NS_PER_SECOND);
}

/* Seconds from now to TIME. */
static long seconds_to(const struct patient *patient, const ASN1_TIME *time) {
  int days = 0, seconds = 0;
  ASN1_TIME *now = ASN1_TIME_set(NULL, now_of(patient));
  bool is_told = now != NULL && ASN1_TIME_diff(&days, &seconds, now, time) == 1;
  ASN1_TIME_free(now);
  return is_told ? (long)days * SECONDS_A_DAY + seconds : 0;
}

static X509 *read_certificate(const struct patient *patient) {
  struct path file;
  if (paths_join(patient->state.text, "board.pem", &file) != 0) return NULL;
  FILE *stream = fopen(file.text, "re");
  if (stream == NULL) return NULL;
  X509 *certificate = PEM_read_X509(stream, NULL, NULL, NULL);
  fclose(stream);
  return certificate;
}

void finding_certificate(const struct patient *patient, struct finding *ret) {
  X509 *certificate = read_certificate(patient);
  if (certificate == NULL) {
    finding_set(ret, patient->is_closed ? FINDING_PASS : FINDING_WARN, "%s",
                patient->is_closed ? "is the daemon's, for its user to read; see uplink"
                                   : "there is none to look at");
    return;
  }
  long from = seconds_to(patient, X509_get0_notBefore(certificate));
  long left = seconds_to(patient, X509_get0_notAfter(certificate));
  X509_free(certificate);
  if (from > 0) {
    finding_set(ret, FINDING_FAIL, "is valid only in %ld hours: this clock is behind",
                from / 3600 + 1);
    finding_mend(ret, "set the clock (NTP)");
  } else if (left <= 0) {
    finding_set(ret, FINDING_FAIL, "ran out %ld days ago", -left / SECONDS_A_DAY);
    finding_mend(ret, "fleetprof enroll with a new token; nothing in the spool is lost");
  } else if (left < DAYS_LEFT_MIN * SECONDS_A_DAY) {
    finding_set(ret, FINDING_WARN, "runs out in %ld days", left / SECONDS_A_DAY);
    finding_mend(ret, "fleetprof enroll with a new token");
  } else {
    finding_set(ret, FINDING_PASS, "valid for another %ld days", left / SECONDS_A_DAY);
  }
}

void finding_clock(const struct patient *patient, struct finding *ret) {
  char text[32], apart[AMOUNT_BYTES];
  time_t now = now_of(patient);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  if (patient->clock_offset_ns != 0) {
    finding_set(ret, FINDING_WARN, "%s by the collector; this board's is %s %s", text,
                amount_time(fabs((double)patient->clock_offset_ns / 1e9), apart),
                patient->clock_offset_ns > 0 ? "behind" : "ahead");
    finding_mend(ret, "set the clock (NTP); samples have their right time all the same");
    return;
  }
  if (now >= EARLIEST_SANE_TIME) {
    finding_set(ret, FINDING_PASS, "%s", text);
    return;
  }
  finding_set(ret, FINDING_FAIL, "%s: certificates look as if they were not valid yet", text);
  finding_mend(ret, "set the clock (NTP); samples are kept and get their right time then");
}

/* Shortens PATH to its nearest existing ancestor. */
static void find_existing(struct path *path) {
  struct stat found;
  while (stat(path->text, &found) != 0) {
    char *slash = strrchr(path->text, '/');
    if (slash == NULL || slash == path->text) {
      path->text[1] = '\0';
      return;
    }
    *slash = '\0';
  }
}

void finding_disk(const struct patient *patient, struct finding *ret) {
  struct path directory = patient->state;
  struct statvfs disk;
  find_existing(&directory);
  if (statvfs(directory.text, &disk) != 0) {
    finding_set(ret, FINDING_FAIL, "%.200s: %s", directory.text, strerror(errno));
    return;
  }
  unsigned long long room = (unsigned long long)disk.f_bavail * disk.f_frsize;
  enum finding_verdict verdict = FINDING_PASS;
  if (room < SPOOL_ROOM_BYTES) verdict = FINDING_WARN;
  if (room < LEAST_ROOM_BYTES || (disk.f_flag & ST_RDONLY) != 0) verdict = FINDING_FAIL;
  finding_set(ret, verdict, "%llu MiB free for the spool in %.200s%s", room >> 20, directory.text,
              (disk.f_flag & ST_RDONLY) != 0 ? ", which is read-only" : "");
  if (verdict != FINDING_PASS)
    finding_mend(ret, "make room, or fleetprofd --spool-bytes, or --state on another disk");
}
