/* SPDX-License-Identifier: Apache-2.0 */
/* The settings were checked to fit when they were parsed.  Only the program's path is cut: it is a
   hint, because the kernel reports the true path once the program runs. */
#include "request_fill.h"
#include "intake/intake_client.h"

#include <string.h>

static void copy(char *field, size_t field_bytes, const char *text) {
  size_t len = strnlen(text, field_bytes - 1);
  memcpy(field, text, len);
  field[len] = '\0';
}

void request_fill(struct intake_request *request, enum intake_kind kind,
                  const struct sampling_choice *choice) {
  const struct run_settings *settings = choice->settings;
  intake_client_request(request, kind);
  request->pid = (int32_t)choice->pid;
  request->asked_mhz = settings->is_auto_rate ? 0 : settings->asked_mhz;
  request->collect = settings->collect.collect;
  request->unwind = settings->unwind;
  request->bin_bytes = settings->collect.bin_bytes;
  request->counter_bytes = settings->collect.counter_bytes;
  request->last = settings->collect.last;
  if (settings->options.service != NULL)
    copy(request->service, sizeof request->service, settings->options.service);
  copy(request->labels, sizeof request->labels, settings->labels);
  copy(request->exe, sizeof request->exe, settings->program[0]);
  copy(request->why, sizeof request->why, choice->why);
}
