/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram or recorder that is a file needs no daemon: its program goes on when one ends, in
   order or not.  Left alone it would be out of everybody's reach from then on: no kill switch, no
   `ctl`, no budget, no word of code that is mapped later.  So the next daemon takes it on, and
   finds all that it needs in the file itself: the ring's header has the switches and sizes, the
   image table who the program is, the books what was shipped.  It goes on as with a new worker,
   which knows no more: what was counted since is shipped in windows again, once
   (histogram_books.h).

     left, mapped by somebody ─▶ checked ─▶ renamed ─▶ a target, held by the keeper

   A daemon that dies between the last two leaves a file like any other.  That only one daemon at a
   time does this is the state directory's lock, which an ending worker has until it is gone.

   A file was made for a program of the daemon's own user; but the program has written into it
   since: nothing of it is believed that its size does not bear out. */
#include "kept_adopt.h"
#include "kept_files.h"
#include "registrar.h"

#include "common/clock.h"
#include "common/log.h"
#include "proc/proc_stat.h"
#include "ring/histogram_reader.h"
#include "ring/recorder_reader.h"
#include "targets/image.h"
#include "targets/rate.h"
#include "targets/timer_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char nonsense[] = "it makes no sense";

static const char *explain(int error) {
  if (error == -EPROTO) return "written by another version of the agent";
  return error == -EBADMSG ? nonsense : strerror(-error);
}

/* Fills sizes and unit of RET and the checked copy of the image table.  Returns 0 or -errno. */
static int read_histogram(const void *bytes, size_t size, struct hold_target *ret,
                          struct image_table *ret_image) {
  struct histogram_reader *reader = calloc(1, sizeof *reader);
  int error = reader != NULL ? histogram_reader_open(reader, bytes, size, true) : -ENOMEM;
  if (!error && !histogram_reader_is_shipped(reader)) error = -EBADMSG;
  if (!error) {
    ret->bin_bytes = reader->bin_bytes;
    ret->counter_bytes = reader->counter_bytes;
    ret->bin_count = reader->bin_count;
    ret->unit_ns = reader->unit_ns;
    *ret_image = reader->image;
  }
  free(reader);
  return error;
}

static int read_recorder(const void *bytes, size_t size, struct hold_target *ret,
                         struct image_table *ret_image) {
  struct recorder_reader *reader = calloc(1, sizeof *reader);
  int error = reader != NULL ? recorder_reader_open(reader, bytes, size, true) : -ENOMEM;
  if (!error) {
    ret->slot_count = reader->slot_count;
    ret->slot_bytes = reader->slot_bytes;
    ret->unit_ns = reader->unit_ns;
    *ret_image = reader->image;
  }
  free(reader);
  return error;
}

static const char *take_header(const struct ring_header *header, struct hold_target *ret) {
  ret->control = header->control;
  ret->has_paused = ret->control != RING_RUN;
  ret->clock = header->clock;
  ret->begin_cpu_ns = header->begin_cpu_ns;
  ret->set_period_ns = header->period_ns;
  bool is_sane = ret->control <= RING_OFF && ret->clock == RING_CLOCK_THREAD &&
                 header->signal == timer_ring_signal(ret) &&
                 ret->set_period_ns >= RATE_PERIOD_NS_MIN &&
                 ret->set_period_ns <= RATE_PERIOD_NS_MAX;
  return is_sane ? NULL : nonsense;
}

static const char *take_image(const struct image_table *image, struct hold_target *ret) {
  if (image->pid <= 0 || image->asked_mhz < INTAKE_RATE_MHZ_MIN ||
      image->asked_mhz > INTAKE_RATE_MHZ_MAX)
    return nonsense;
  ret->pid = image->pid;
  ret->uid = geteuid(); /* as kept_files_make had it */
  ret->start_ticks = image->start_boottime_ns / proc_ticks_to_ns(1);
  ret->filters = image->filters;
  ret->asked_mhz = image->asked_mhz;
  ret->period_ns = 1000 * NS_PER_SECOND / image->asked_mhz;
  snprintf(ret->service, sizeof ret->service, "%s", image->service);
  snprintf(ret->exe, sizeof ret->exe, "%s", image->exe);
  snprintf(ret->labels, sizeof ret->labels, "%s", image->labels);
  snprintf(ret->why, sizeof ret->why, "timer: taken on from an earlier daemon");
  return NULL;
}

/* What stands in BYTES, as a target that has no id yet.  Returns NULL, or what is wrong with it. */
static const char *read_target(const uint8_t *bytes, size_t size, struct hold_target *ret) {
  struct ring_header header;
  struct image_table *image = calloc(1, sizeof *image);
  if (image == NULL) return strerror(ENOMEM);
  int error = ret->collect == RING_HISTOGRAM ? read_histogram(bytes, size, ret, image)
                                             : read_recorder(bytes, size, ret, image);
  const char *fault = error ? explain(error) : NULL;
  memcpy((void *)&header, bytes, sizeof header);
  if (fault == NULL) fault = take_header(&header, ret);
  if (fault == NULL) fault = take_image(image, ret);
  uint64_t unit_ns = ret->unit_ns;
  if (fault == NULL && (timer_ring_bytes(ret) != size || timer_ring_unit_ns(ret) != unit_ns))
    fault = nonsense;
  free(image);
  return fault;
}

static const char *read_file(int fd, struct hold_target *ret) {
  struct stat found;
  if (fstat(fd, &found) < 0) return strerror(errno);
  size_t size = (size_t)found.st_size;
  if (size < IMAGE_OFFSET + IMAGE_BYTES) return nonsense;
  void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) return strerror(errno);
  const char *fault = read_target(bytes, size, ret);
  munmap(bytes, size);
  return fault;
}

static int open_maps(pid_t pid) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  return open(path, O_RDONLY | O_CLOEXEC);
}

/* Takes FD over where it succeeds. */
static const char *take_on_take(struct worker *worker, const struct kept_file *file,
                                struct hold_target *held, int fd) {
  if (!registrar_has_room(worker, held->uid, timer_ring_bytes(held)))
    return "256 targets or 64 MiB of rings are in use";
  bool is_root_alive = proc_lives(held->pid, held->start_ticks);
  int fds[2] = {fd, is_root_alive ? open_maps(held->pid) : -1};
  uint64_t set_period_ns = held->set_period_ns;
  held->id = worker->targets.next_id++;
  held->kind = HOLD_TIMER;
  held->is_file = true;
  held->start_cpu_ns = is_root_alive ? proc_cpu_ns(held->pid) : 0;
  held->fd_count = fds[1] >= 0 ? 2 : 1;
  int error = kept_files_rename(worker->settings->state_dir, file, worker->keeper->run, held);
  struct target *target = error ? NULL : registrar_take(worker, held, fds);
  if (target == NULL) {
    if (fds[1] >= 0) close(fds[1]);
    return error ? strerror(-error) : "it could not be set up";
  }
  if (is_root_alive) processes_get(worker->processes, held->pid, held->id, fds[1]);
  if (set_period_ns != held->period_ns) rate_set(target, held->period_ns);
  return NULL;
}

/* Somebody may write into FILE, and no target stands for it. */
static bool is_left(const struct worker *worker, const struct kept_file *file) {
  if (!file->is_this_boot) return false;
  bool is_ours = file->run == worker->keeper->run;
  return !is_ours || targets_find(&worker->targets, file->id) == NULL;
}

static void adopt_file(struct worker *worker, const struct kept_file *file) {
  const char *state_dir = worker->settings->state_dir;
  struct hold_target held = {.collect = file->collect};
  int is_free = kept_files_is_free(state_dir, file); /* before we open it ourselves */
  if (is_free == 1) return;
  int fd = kept_files_open(state_dir, file);
  if (fd < 0) return;
  const char *fault = read_file(fd, &held);
  /* No word from the kernel on who has it: only a program that lives is known to. */
  bool is_meant = fault != NULL || is_free == 0 || proc_lives(held.pid, held.start_ticks);
  if (fault == NULL && is_meant) fault = take_on_take(worker, file, &held, fd);
  if (fault != NULL)
    log_warn("kept %s: a program of an earlier daemon writes into it, out of reach: %s", file->name,
             fault);
  else if (is_meant)
    log_info("kept %s: target %u, process %d, is taken on", file->name, held.id, (int)held.pid);
  if (fault != NULL || !is_meant) close(fd);
}

void kept_adopt(struct worker *worker) {
  struct kept_file *files = calloc(KEPT_FILES_MAX, sizeof *files);
  int count = files != NULL ? kept_files_list(worker->settings->state_dir, files) : 0;
  for (int i = 0; i < count; i++)
    if (is_left(worker, &files[i])) adopt_file(worker, &files[i]);
  free(files);
}
