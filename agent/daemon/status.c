/* SPDX-License-Identifier: Apache-2.0 */
/* Written straight into a buffer: one object, made seldom, read by `fleetprof status` and by people
   with jq.  Strings that came from targets are cleaned first (text.h), after which only quote and
   backslash need an escape.  The answer travels as a memfd, so its length has no limit of a
   packet's. */
#include "status.h"
#include "debug_sender.h"
#include "intake.h"
#include "worker.h"

#include "common/buf.h"
#include "common/clock.h"
#include "proto/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEXT_BYTES_MAX = SETTINGS_PATH_BYTES };

static void print_text(struct buf *out, const char *text, size_t len) {
  char clean[TEXT_BYTES_MAX];
  if (len > sizeof clean - 1) len = sizeof clean - 1;
  memcpy(clean, text, len);
  clean[len] = '\0';
  text_clean(clean);
  buf_append_byte(out, '"');
  for (const char *c = clean; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') buf_append_byte(out, '\\');
    buf_append_byte(out, (uint8_t)*c);
  }
  buf_append_byte(out, '"');
}

/* "NAME": "TEXT", with a comma before it unless an object has just been opened. */
static void print_name(struct buf *out, const char *name) {
  if (out->len > 0 && out->data[out->len - 1] != '{') buf_append_byte(out, ',');
  print_text(out, name, strlen(name));
  buf_append_byte(out, ':');
}

static void print_string(struct buf *out, const char *name, const char *text) {
  print_name(out, name);
  print_text(out, text ? text : "", text ? strlen(text) : 0);
}

static void print_number(struct buf *out, const char *name, uint64_t value) {
  print_name(out, name);
  buf_printf(out, "%llu", (unsigned long long)value);
}

static void print_fraction(struct buf *out, const char *name, double value) {
  print_name(out, name);
  buf_printf(out, "%.3f", value);
}

static void print_bool(struct buf *out, const char *name, bool value) {
  print_name(out, name);
  buf_append_string(out, value ? "true" : "false");
}

static void open_object(struct buf *out, const char *name) {
  print_name(out, name);
  buf_append_byte(out, '{');
}

static void print_head(const struct worker *worker, struct buf *out) {
  const struct keeper *keeper = worker->keeper;
  const struct settings *settings = worker->settings;
  char run[17], boot[33];
  snprintf(run, sizeof run, "%016llx", (unsigned long long)keeper->run);
  for (unsigned i = 0; i < 16; i++)
    snprintf(boot + 2 * i, 3, "%02x", (unsigned)keeper->page->boot_id[i]);
  print_string(out, "version", FLEETPROF_VERSION);
  print_number(out, "pid", (uint64_t)getppid());
  print_number(out, "worker_pid", (uint64_t)getpid());
  print_number(out, "worker_starts", keeper->worker_starts);
  print_string(out, "state", settings->state_dir);
  print_string(out, "run", run);
  print_string(out, "boot_id", boot);
  print_number(out, "started_walltime_ns", keeper->start_walltime_ns);
  print_number(out, "uptime_s", (clock_walltime_ns() - keeper->start_walltime_ns) / NS_PER_SECOND);
  print_string(out, "collector", worker->collector);
  open_object(out, "perf");
  print_bool(out, "available", keeper->perf.count > 0);
  print_string(out, "why", keeper->perf.why);
  buf_append_byte(out, '}');
}

static void print_budget(const struct worker *worker, struct buf *out) {
  open_object(out, "budget");
  print_number(out, "debug_used", debug_sender_used(worker->debug));
  print_number(out, "debug_bytes_day", worker->settings->budget_debug_bytes_day);
  print_number(out, "bytes_day", worker->settings->budget_bytes_day);
  print_fraction(out, "cpu_percent", worker->settings->budget_cpu);
  buf_append_byte(out, '}');
}

static void print_uplink(const struct worker *worker, struct buf *out) {
  struct uplink_figures figures;
  uplink_figures(worker->uplink, &figures);
  open_object(out, "uplink");
  print_string(out, "state", figures.state);
  print_string(out, "why", figures.why);
  print_string(out, "page_url", figures.page_url);
  print_bool(out, "connected", figures.is_connected);
  print_number(out, "acked_batches", figures.acked_batches);
  print_number(out, "sent_bytes", figures.sent_bytes);
  print_number(out, "reconnects", figures.reconnects);
  print_number(out, "retry_in_ms", figures.retry_in_ms);
  buf_append_byte(out, '}');
}

static void print_spool(const struct worker *worker, struct buf *out) {
  struct spool_figures figures;
  spool_figures(worker->spool, &figures);
  open_object(out, "spool");
  print_number(out, "entries", figures.entries);
  print_number(out, "records", figures.records);
  print_number(out, "bytes", figures.bytes);
  print_number(out, "bytes_max", worker->settings->spool_bytes);
  print_number(out, "corrupt_segments", figures.corrupt_segments);
  print_number(out, "quarantined", figures.quarantined);
  print_number(out, "bytes_written", figures.bytes_written);
  print_number(out, "syncs", figures.syncs);
  print_string(out, "error", figures.last_error ? strerror(abs(figures.last_error)) : "");
  buf_append_byte(out, '}');
}

static uint64_t unsampled_threads(const struct worker *worker) {
  uint64_t threads = worker->threads_unsampled;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target != NULL && target->held.kind == HOLD_TIMER)
      threads += ring_reader_unsampled(&target->ring);
  }
  return threads;
}

static void print_loss(const struct worker *worker, struct buf *out) {
  const struct counters *books = counter_page_books(worker->keeper->page);
  open_object(out, "loss");
  print_number(out, "produced", books->produced);
  print_number(out, "shipped", books->shipped);
  print_number(out, "open", counters_open(books));
  open_object(out, "dropped");
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    print_number(out, loss_name(i), books->dropped[i]);
  buf_append_byte(out, '}');
  print_number(out, "threads_unsampled", unsampled_threads(worker));
  print_number(out, "perf_throttled", worker->drain.figures.throttled);
  buf_append_byte(out, '}');
}

static void print_labels(struct buf *out, const char *text) {
  open_object(out, "labels");
  while (*text != '\0') {
    size_t len = strcspn(text, "\n");
    const char *equals = memchr(text, '=', len);
    if (equals != NULL && equals > text) {
      if (out->data[out->len - 1] != '{') buf_append_byte(out, ',');
      print_text(out, text, (size_t)(equals - text));
      buf_append_byte(out, ':');
      print_text(out, equals + 1, len - (size_t)(equals + 1 - text));
    }
    text += len + (text[len] == '\n');
  }
  buf_append_byte(out, '}');
}

static void print_target(const struct worker *worker, const struct target *target,
                         struct buf *out) {
  const struct hold_target *held = &target->held;
  const struct process *root = processes_find(worker->processes, held->pid);
  const char *exe = root && root->exe ? root->exe : held->exe;
  const char *slash = strrchr(exe, '/');
  const char *name = held->service[0] ? held->service : slash ? slash + 1 : exe;
  uint64_t cpu_ns = held->kind == HOLD_PERF ? target->residual.total_ns : target->weight_ns;
  buf_append_byte(out, '{');
  print_number(out, "id", held->id);
  print_number(out, "pid", (uint64_t)held->pid);
  print_string(out, "service", name);
  print_string(out, "exe", exe);
  print_string(out, "sampler", target_sampler(target));
  print_string(out, "why", held->why);
  print_fraction(out, "asked_hz", held->asked_mhz / 1000.0);
  print_fraction(out, "achieved_hz", target_achieved_mhz(target) / 1000.0);
  print_number(out, "samples", target->records);
  print_fraction(out, "cpu_seconds", (double)cpu_ns / 1e9);
  print_labels(out, held->labels);
  print_bool(out, "ended", target->ended_ns != 0);
  buf_append_byte(out, '}');
}

static void print_targets(const struct worker *worker, struct buf *out) {
  print_name(out, "targets");
  buf_append_byte(out, '[');
  for (uint32_t row = 0, printed = 0; row < HOLD_TARGETS_MAX; row++) {
    if (worker->targets.rows[row] == NULL) continue;
    if (printed++ > 0) buf_append_byte(out, ',');
    print_target(worker, worker->targets.rows[row], out);
  }
  buf_append_byte(out, ']');
}

static void print_notes(const struct worker *worker, struct buf *out) {
  print_name(out, "notes");
  buf_append_byte(out, '[');
  for (unsigned i = 0, printed = 0; i < WORKER_NOTES_MAX; i++) {
    const struct worker_note *note = &worker->notes[i];
    if (note->serial == 0) continue;
    if (printed++ > 0) buf_append_byte(out, ',');
    buf_append_byte(out, '{');
    print_number(out, "pid", (uint64_t)note->pid);
    print_string(out, "sampler", note->sampler);
    print_string(out, "why", note->why);
    buf_append_byte(out, '}');
  }
  buf_append_byte(out, ']');
}

static void print_intake(const struct worker *worker, struct buf *out) {
  struct intake_figures figures;
  intake_figures(worker->intake, &figures);
  open_object(out, "intake");
  print_number(out, "connections", figures.connections);
  print_number(out, "packets", figures.packets);
  print_number(out, "refused", figures.refused);
  print_number(out, "malformed", figures.malformed);
  buf_append_byte(out, '}');
}

void status_print(const struct worker *worker, struct buf *ret) {
  buf_append_byte(ret, '{');
  print_head(worker, ret);
  print_budget(worker, ret);
  print_uplink(worker, ret);
  print_spool(worker, ret);
  print_loss(worker, ret);
  print_targets(worker, ret);
  print_notes(worker, ret);
  print_intake(worker, ret);
  buf_append_string(ret, "}\n");
}

static int make_memfd(const struct buf *text) {
  int fd = memfd_create("fleetprof-status", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (write(fd, text->data, text->len) == (ssize_t)text->len && lseek(fd, 0, SEEK_SET) == 0)
    return fd;
  close(fd);
  return -1;
}

void status_on_request(struct worker *worker, struct intake_packet *packet) {
  struct intake_reply reply = {.kind = INTAKE_TEXT};
  struct buf text = {0};
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker->targets.rows[row] != NULL && worker->targets.rows[row]->held.kind == HOLD_PERF)
      target_read_total(worker->targets.rows[row]);
  status_print(worker, &text);
  int fd = text.failed ? -1 : make_memfd(&text);
  buf_fini(&text);
  if (fd < 0) {
    intake_refuse(packet->connection, "no memory for an answer");
    return;
  }
  intake_answer(packet->connection, &reply, fd);
  close(fd);
}
