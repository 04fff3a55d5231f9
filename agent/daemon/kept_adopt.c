/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram or recorder in a file needs no daemon: its program continues when the daemon ends or
   crashes.  Without adoption it would be out of reach: no kill switch, no `ctl`, no budget, and no
   knowledge of code that is mapped later.  So the next daemon adopts it.  All that it needs is in
   the file: the ring's header has the switches and sizes, the image table the program, and the
   accounting the shipped records.  Adoption continues as after a worker's restart: counts since
   then are shipped in windows, once (histogram_books.h).

   left, mapped by a process ─▶ checked ─▶ renamed ─▶ a target, held by the supervisor

   A daemon that dies between the last two steps leaves an ordinary file.  The state directory's
   lock ensures that only one daemon does this; an ending worker holds the lock until it exits.

   kept_target.c checks the file's contents. */
#include "kept_adopt.h"
#include "kept_files.h"
#include "kept_target.h"
#include "registrar.h"

#include "common/log.h"
#include "proc/maps_file.h"
#include "proc/proc_stat.h"
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

static const char *read_file(int fd, struct hold_target *ret) {
  struct stat found;
  if (fstat(fd, &found) < 0) return strerror(errno);
  size_t size = (size_t)found.st_size;
  if (size == 0) return "it is empty";
  void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) return strerror(errno);
  const char *fault = kept_target_read(bytes, size, ret);
  munmap(bytes, size);
  return fault;
}

/* The program itself has written its data into the file, and may have dropped its privileges since.
   So the kernel must confirm that the process has mapped the file. */
static bool is_program_of(const struct kept_file *file, int fd, pid_t pid) {
  struct stat found;
  return fstat(fd, &found) == 0 && maps_file_shows(pid, found.st_ino, file->name);
}

static int open_maps(pid_t pid) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  return open(path, O_RDONLY | O_CLOEXEC);
}

/* Takes ownership of FD on success. */
static const char *take_on_take(struct worker *worker, const struct kept_file *file,
                                struct hold_target *held, int fd) {
  if (!registrar_has_room(worker, held->uid, timer_ring_bytes(held)))
    return "256 targets or 64 MiB of rings are in use";
  bool is_root_alive = proc_lives(held->pid, held->start_ticks);
  if (is_root_alive && !is_program_of(file, fd, held->pid))
    return "the process that it names has not mapped it";
  int fds[2] = {fd, is_root_alive ? open_maps(held->pid) : -1};
  uint64_t set_ns = held->set_period_ns;
  uint64_t wish_ns = held->wish_period_ns != 0 ? held->wish_period_ns : held->period_ns;
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
  if (set_ns != wish_ns) rate_set(target, wish_ns); /* the budget starts again */
  return NULL;
}

/* A process may write to FILE, and it has no target. */
static bool is_left(const struct worker *worker, const struct kept_file *file) {
  if (!file->is_this_boot) return false;
  bool is_ours = file->run == worker->keeper->run;
  return !is_ours || targets_find(&worker->targets, file->id) == NULL;
}

static void adopt_file(struct worker *worker, const struct kept_file *file) {
  const char *state_dir = worker->settings->state_dir;
  struct hold_target held = {.collect = file->collect};
  int is_free = kept_files_is_free(state_dir, file); /* checked before our own open */
  if (is_free == 1) return;
  int fd = kept_files_open(state_dir, file);
  if (fd < 0) return;
  const char *fault = read_file(fd, &held);
  /* If the kernel does not report users of the file, only a live program's file is adopted. */
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
