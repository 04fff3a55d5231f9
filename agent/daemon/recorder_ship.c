/* SPDX-License-Identifier: Apache-2.0 */
/* Once and only once, whenever the worker is killed:

     1. the window is closed, so that nothing else is on its way
     2. the recorder notes the batch that will have its values: run and seq    (on disk)
     3. the batch is spooled and booked (shipper_ship_apart)
     4. the spool is synced; the file goes

   Who finds a recorder with such a note asks the spool whether that batch was ever appended: then
   its values are shipped and only 4 is left, else they are shipped now.  Nothing is sent between 3
   and 4, so the spool still knows.

   Recorders are read by pread into memory of our own: a file that a disk cannot give back is an
   error here and not a SIGBUS.  What cannot be read is counted as one bad record and removed. */
#include "recorder_ship.h"
#include "recorder_files.h"

#include "common/clock.h"
#include "common/log.h"
#include "drain/postmortem.h"
#include "proc/proc_stat.h"
#include "proto/batch_codec.h"
#include "ring/recorder_reader.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_FIELD(field) (IMAGE_OFFSET + (off_t)offsetof(struct image_table, field))

struct note {
  uint64_t run, seq;
};

static int read_all(int fd, void **ret, size_t *ret_size) {
  struct stat found;
  if (fstat(fd, &found) < 0) return -errno;
  uint64_t most = recorder_total_bytes(RING_SLOTS_MAX, RING_SLOT_BYTES_DEFAULT * 2);
  if (found.st_size < RECORDER_OFFSET || (uint64_t)found.st_size > most) return -EBADMSG;
  size_t size = (size_t)found.st_size, at = 0;
  uint8_t *bytes = malloc(size);
  if (bytes == NULL) return -ENOMEM;
  while (at < size) {
    ssize_t got = pread(fd, bytes + at, size - at, (off_t)at);
    if (got <= 0) {
      int error = got < 0 ? -errno : -EBADMSG;
      free(bytes);
      return error;
    }
    at += (size_t)got;
  }
  *ret = bytes;
  *ret_size = size;
  return 0;
}

static bool was_spooled(const struct shipper *shipper, const struct note *note) {
  const struct counter_page *page = shipper->drain->page;
  if (note->run == 0) return false;
  if (shipper_last_seq(shipper, note->run) >= note->seq) return true;
  return note->run == counter_page_books(page)->run && atomic_load(&page->next_seq) > note->seq;
}

static int write_note(const struct shipper *shipper, int fd) {
  const struct counter_page *page = shipper->drain->page;
  struct note note = {counter_page_books(page)->run, atomic_load(&page->next_seq)};
  if (pwrite(fd, &note, sizeof note, IMAGE_FIELD(shipped_run)) != (ssize_t)sizeof note) return -EIO;
  return fdatasync(fd) < 0 && errno != EINVAL ? -errno : 0; /* EINVAL: memory, no file */
}

static int ship(struct shipper *shipper, int fd, struct batch *batch,
                struct recorder_shipped *ret) {
  uint64_t weight_ns = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) weight_ns += batch->samples[i].weight;
  if (batch->sample_count == 0) return 0;
  int error = shipper_close_window(shipper, false);
  if (!error) error = write_note(shipper, fd);
  if (!error) error = shipper_ship_apart(shipper, batch);
  if (error) return error;
  spool_sync(shipper->spool, true);
  *ret = (struct recorder_shipped){batch_record_count(batch), weight_ns};
  return 0;
}

int recorder_ship(struct shipper *shipper, int fd, struct recorder_shipped *ret) {
  struct arena arena;
  struct batch batch = {0};
  void *bytes = NULL;
  size_t size = 0;
  *ret = (struct recorder_shipped){0, 0};
  int error = read_all(fd, &bytes, &size);
  if (error) return error;
  const struct image_table *image = image_table_of(bytes);
  struct note note = {image->shipped_run, image->shipped_seq};
  arena_init(&arena, POSTMORTEM_ARENA_BYTES);
  if (!was_spooled(shipper, &note)) {
    error = postmortem_read(bytes, size, &arena, &batch);
    if (!error) error = ship(shipper, fd, &batch, ret);
  }
  arena_fini(&arena);
  free(bytes);
  return error;
}

/* The process that registered it lives. */
static bool is_alive(int fd) {
  void *bytes;
  size_t size;
  bool is_found = false;
  if (read_all(fd, &bytes, &size) < 0) return false;
  struct recorder_reader *reader = calloc(1, sizeof *reader);
  struct proc_stat stat;
  if (reader != NULL && recorder_reader_open(reader, bytes, size, true) == 0) {
    const struct image_table *image = &reader->image;
    is_found = proc_stat_read(image->pid, &stat) == 0 && stat.state != 'Z' &&
               proc_ticks_to_ns(stat.start_ticks) == image->start_boottime_ns;
  }
  free(reader);
  free(bytes);
  return is_found;
}

static void stamp(int fd) {
  const uint64_t now[2] = {clock_boottime_ns(), clock_walltime_ns()};
  if (pwrite(fd, now, sizeof now, IMAGE_FIELD(alive_boottime_ns)) != (ssize_t)sizeof now)
    log_debug("recorder: no stamp");
}

/* Returns whether FILE is done with. */
static bool ship_file(struct shipper *shipper, const struct recorder_file *file, int fd) {
  struct recorder_shipped shipped;
  struct counter_page *page = shipper->drain->page;
  if (file->is_this_boot && is_alive(fd)) {
    stamp(fd);
    return false;
  }
  int error = recorder_ship(shipper, fd, &shipped);
  if (error == 0) {
    log_info("recorder %s: %llu samples shipped post mortem", file->name,
             (unsigned long long)shipped.records);
    return true;
  }
  log_warn("recorder %s: %s: %s", file->name,
           error == -EBADMSG || error == -EPROTO ? "cannot be read and is removed" : "not shipped",
           strerror(-error));
  if (error != -EBADMSG && error != -EPROTO) return false;
  counter_page_produce(page, 1);
  counter_page_drop(page, LOSS_BAD_RECORD, 1);
  return true;
}

void recorder_ship_target(struct shipper *shipper, const char *state_dir, struct target *target) {
  struct recorder_shipped shipped;
  struct counter_page *page = shipper->drain->page;
  uint64_t run = counter_page_books(page)->run;
  if (target->is_shipped) return;
  int error = recorder_ship(shipper, target->fds[0], &shipped);
  target->is_shipped = true;
  target->records += shipped.records;
  target->weight_ns += shipped.weight_ns;
  bool is_kept = target->held.is_file && error != -EBADMSG && error != -EPROTO;
  if (error) {
    log_warn("recorder of target %d: not shipped%s: %s", (int)target->held.pid,
             is_kept ? " yet" : "", strerror(-error));
    if (!is_kept) counter_page_produce(page, 1);
    if (!is_kept) counter_page_drop(page, LOSS_BAD_RECORD, 1);
  }
  if (target->held.is_file && !(error && is_kept))
    recorder_files_remove(state_dir, run, target->held.id);
}

void recorder_ship_left(struct shipper *shipper, const char *state_dir) {
  struct recorder_file *files = calloc(RECORDER_FILES_MAX, sizeof *files);
  int count = files != NULL ? recorder_files_list(state_dir, files) : 0;
  uint64_t run = counter_page_books(shipper->drain->page)->run;
  for (int i = 0; i < count; i++) {
    if (files[i].run == run && targets_find(shipper->drain->targets, files[i].id) != NULL) continue;
    int fd = recorder_files_open(state_dir, &files[i]);
    if (fd < 0) continue;
    if (ship_file(shipper, &files[i], fd)) recorder_files_unlink(state_dir, &files[i]);
    close(fd);
  }
  free(files);
}
