/* SPDX-License-Identifier: Apache-2.0 */
/* The file was created for a program of the daemon's own user, but that program and others may have
   written to it since.  So the contents are untrusted: sizes must match the file's size, rates and
   the signal must be values that a daemon of this version sets, and texts must be terminated.  A
   file that passes is equivalent to a registration. */
#include "kept_target.h"

#include "common/clock.h"
#include "proc/proc_stat.h"
#include "ring/histogram_reader.h"
#include "ring/recorder_reader.h"
#include "ring/wide.h"
#include "targets/rate.h"
#include "targets/timer_ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char nonsense[] = "it makes no sense";

static const char *explain(int error) {
  if (error == -EPROTO) return "written by another version of the agent";
  return error == -EBADMSG ? nonsense : strerror(-error);
}

/* Fills in the sizes and unit of RET, and a checked copy of the image table.  Returns 0 or
   -errno. */
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
  ret->set_period_ns = wide_load(&header->period_ns);
  bool is_sane = ret->control <= RING_OFF && ret->clock == RING_CLOCK_THREAD &&
                 header->signal == timer_ring_signal(ret) &&
                 ret->set_period_ns >= RATE_PERIOD_NS_MIN &&
                 ret->set_period_ns <= RATE_PERIOD_NS_MAX;
  return is_sane ? NULL : nonsense;
}

static bool is_rate(uint32_t mhz) {
  return mhz >= INTAKE_RATE_MHZ_MIN && mhz <= INTAKE_RATE_MHZ_MAX;
}

static uint64_t period_of(uint32_t mhz) {
  return mhz != 0 ? 1000 * NS_PER_SECOND / mhz : 0;
}

static const char *take_image(const struct image_table *image, struct hold_target *ret) {
  bool is_wish = image->wish_mhz == 0 || is_rate(image->wish_mhz);
  if (image->pid <= 0 || !is_rate(image->asked_mhz) || !is_wish) return nonsense;
  ret->pid = image->pid;
  ret->uid = geteuid(); /* as in kept_files_make */
  ret->start_ticks = image->start_boottime_ns / proc_ticks_to_ns(1);
  ret->filters = image->filters;
  ret->asked_mhz = image_rate_mhz(image);
  ret->period_ns = period_of(image->asked_mhz);
  ret->wish_period_ns = period_of(image->wish_mhz);
  snprintf(ret->service, sizeof ret->service, "%s", image->service);
  snprintf(ret->exe, sizeof ret->exe, "%s", image->exe);
  snprintf(ret->labels, sizeof ret->labels, "%s", image->labels);
  snprintf(ret->why, sizeof ret->why, "timer: taken on from an earlier daemon");
  return NULL;
}

const char *kept_target_read(const uint8_t *bytes, size_t size, struct hold_target *ret) {
  struct ring_header header;
  if (size < IMAGE_OFFSET + IMAGE_BYTES) return nonsense;
  struct image_table *image = calloc(1, sizeof *image);
  if (image == NULL) return strerror(ENOMEM);
  int error = ret->collect == RING_HISTOGRAM ? read_histogram(bytes, size, ret, image)
                                             : read_recorder(bytes, size, ret, image);
  const char *fault = error ? explain(error) : NULL;
  memcpy((void *)&header, bytes, sizeof header);
  if (fault == NULL) fault = take_header(&header, ret);
  if (fault == NULL) fault = take_image(image, ret);
  bool is_fit = timer_ring_bytes(ret) == size && timer_ring_is_unit(ret, ret->unit_ns);
  if (fault == NULL && !is_fit) fault = nonsense;
  free(image);
  return fault;
}
