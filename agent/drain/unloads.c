/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the library of a sample when libraries are unloaded. A sample does not have a time, and
   /proc shows the present. The changes in between are known from two sources. The program
   increments a number before and after it unloads a library, and it logs unloaded objects
   (ring/unload_format.h):

     sample     taken when the number was as in its slot's last mark
     log        an unloaded object, and the number at that time
     mappings   read when the number was `maps_unloads`, as it is now

   A sample's address is in the first object unloaded since that contained it, else in the mappings.
   If the log is incomplete since the sample, only mappings from the program's start, which are
   never unloaded, are used; the rest is [unknown]. (Libraries that libc unloads by itself do not
   change the number: for them the mappings are read once a window.)

   Without a log, two moments are compared. The samples are younger than the last time that their
   slot was empty, and are used if the number then equals the current one.

   An object in the log is identified by its file's first bytes. A child opens the file once for
   each, because its path is untrusted. If the file is another one by now, it is not used, unless it
   was known before it was replaced.

   The numbers are untrusted: a lying program gets [unknown], or wrong names for itself. */
#include "unloads.h"

#include "common/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES_MAX = 3, KEPT_MAX = 256 };

#define TRY_NS (100 * NS_PER_MS)

struct unload_history {
  uint32_t event_count; /* taken from the log */
  uint32_t lost;        /* events of numbers up to this may be missing */
  bool is_told;         /* there is a log */
  uint64_t tried_ns;    /* CLOCK_MONOTONIC: last search for files not found before */
  struct {
    uint32_t number, module;
  } images[UNLOAD_IMAGES_MAX]; /* number 0: none, else the log's plus 1 */
  struct process_past past[KEPT_MAX];
  uint32_t past_count;
};

uint32_t unloads_now(const struct target *target) {
  return ring_reader_unloads(&target->ring);
}

void unloads_settle(struct slot_mark *mark, uint32_t before) {
  if (mark != NULL && before != 0) mark->settled = before;
}

static void lose(struct unload_history *history, uint32_t unloads) {
  if (unloads > history->lost) history->lost = unloads;
}

/* Fills RET with PATH, which may be relative to PID's working directory. */
static bool find_path(const char *path, pid_t pid, char ret[LIMIT_PATH_BYTES]) {
  char link[32], folder[LIMIT_PATH_BYTES];
  if (path[0] == '/') return snprintf(ret, LIMIT_PATH_BYTES, "%s", path) < LIMIT_PATH_BYTES;
  snprintf(link, sizeof link, "/proc/%d/cwd", (int)pid);
  ssize_t len = readlink(link, folder, sizeof folder - 1);
  if (len <= 0 || path[0] == '\0') return false;
  folder[len] = '\0';
  while (strncmp(path, "./", 2) == 0) path += 2;
  return snprintf(ret, LIMIT_PATH_BYTES, "%s/%s", folder, path) < LIMIT_PATH_BYTES;
}

/* The module of IMAGE; MODULE_UNKNOWN if no matching file is known. */
static uint32_t identify(struct modules *modules, const struct unload_image *image, pid_t pid) {
  char path[LIMIT_PATH_BYTES];
  if (image->hash == 0 || !find_path(image->path, pid, path)) return MODULE_UNKNOWN;
  uint32_t known = modules_find_image(modules, path, image->hash);
  if (known != MODULE_NONE) return known;
  struct module_file file = {span_of_string(path), 0, MODULES_DEVICE_UNSURE};
  uint32_t module = modules_identify(modules, modules_intern(modules, &file), pid);
  return modules_first_hash(modules, module) == image->hash ? module : MODULE_UNKNOWN;
}

static uint32_t find_module(struct unload_history *history, struct modules *modules,
                            const struct unload_log *log, uint32_t number, pid_t pid) {
  uint32_t row = number % UNLOAD_IMAGES_MAX;
  if (history->images[row].number != number + 1) {
    history->images[row].number = number + 1;
    history->images[row].module = identify(modules, &log->images[row], pid);
  }
  return history->images[row].module;
}

static void add(struct unload_history *history, const struct process_past *past) {
  if (history->past_count == KEPT_MAX) {
    uint32_t half = KEPT_MAX / 2;
    lose(history, history->past[half - 1].unloads);
    memmove(history->past, history->past + half, half * sizeof *history->past);
    history->past_count = half;
  }
  history->past[history->past_count++] = *past;
}

static void take_event(struct unload_history *history, struct modules *modules,
                       const struct unload_log *log, uint32_t index, pid_t pid) {
  const struct unload_event *event = &log->events[index % UNLOAD_EVENTS_MAX];
  const struct unload_image *image = &log->images[event->image % UNLOAD_IMAGES_MAX];
  if (log->image_count - event->image - 1 >= UNLOAD_IMAGES_MAX ||
      image->bytes > UINT64_MAX - image->start) {
    lose(history, event->unloads);
    return;
  }
  const struct process_past past = {.unloads = event->unloads,
                                    .pid = event->pid,
                                    .module = find_module(history, modules, log, event->image, pid),
                                    .start = image->start,
                                    .end = image->start + image->bytes,
                                    .file_offset = image->file_offset};
  add(history, &past);
}

/* A file that did not match may match by now: a program may alternate two files there. */
static void forget_unknown(struct unload_history *history) {
  uint64_t now = clock_monotonic_ns();
  if (now - history->tried_ns < TRY_NS) return;
  history->tried_ns = now;
  for (unsigned i = 0; i < UNLOAD_IMAGES_MAX; i++)
    if (history->images[i].module == MODULE_UNKNOWN) history->images[i].number = 0;
}

/* Takes the new entries of TARGET's log, with files that PID can reach. Most programs unload
   nothing, so the history is allocated only here. */
static void take_log(struct target *target, struct modules *modules, pid_t pid) {
  struct unload_log log;
  bool is_whole = false;
  if (target->unload_history == NULL)
    target->unload_history = calloc(1, sizeof *target->unload_history);
  struct unload_history *history = target->unload_history;
  if (history == NULL) return;
  for (unsigned i = 0; i < TRIES_MAX && !is_whole; i++)
    is_whole = ring_reader_unload_log(&target->ring, &log);
  if (!is_whole) return;
  history->is_told = true;
  forget_unknown(history);
  uint32_t from = history->event_count;
  if (log.event_count - from > UNLOAD_EVENTS_MAX) {
    from = log.event_count - UNLOAD_EVENTS_MAX;
    lose(history, log.events[from % UNLOAD_EVENTS_MAX].unloads);
  }
  lose(history, atomic_load_explicit(&log.lost, memory_order_relaxed));
  for (uint32_t i = from; i != log.event_count; i++) take_event(history, modules, &log, i, pid);
  history->event_count = log.event_count;
}

/* Reads mappings and log until no library is unloaded meanwhile. Returns false if that did not
   succeed. */
static bool catch_up(struct target *target, struct processes *processes, struct modules *modules,
                     const struct unloads_sample *sample) {
  struct process *process = sample->process;
  for (unsigned i = 0; i < TRIES_MAX; i++) {
    uint32_t now = unloads_now(target);
    bool is_behind = process->maps_unloads != now;
    if (is_behind || process->is_old) process_read_maps(processes, process, sample->maps_fd, now);
    if (is_behind) take_log(target, modules, process->pid);
    if (unloads_now(target) == now) return process->maps_unloads == now || process->has_ended;
  }
  return false;
}

static bool is_sure(const struct target *target, const struct slot_mark *mark) {
  const struct unload_history *history = target->unload_history;
  uint32_t now = unloads_now(target);
  if (now == 0) return true;
  if (mark == NULL) return false;
  if (history == NULL || !history->is_told) return mark->settled == now;
  return mark->is_known && (mark->unloads > history->lost || history->lost == 0);
}

void unloads_prepare(struct target *target, struct processes *processes, struct modules *modules,
                     const struct unloads_sample *sample) {
  struct process *process = sample->process;
  process->past_count = 0;
  process->is_unsure =
      !catch_up(target, processes, modules, sample) || !is_sure(target, sample->mark);
  const struct unload_history *history = target->unload_history;
  if (process->is_unsure || sample->mark == NULL || history == NULL || !history->is_told) return;
  process->past = history->past;
  process->past_count = history->past_count;
  process->past_unloads = sample->mark->unloads;
  process->past_pid = (uint32_t)(sample->mark->owner >> 32);
}
