/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to the daemon which sampler `fleetprof run` selected, and why. */
#ifndef CLI_NOTE_H
#define CLI_NOTE_H

#include "sampling_choice.h"

/* Milliseconds until CHOICE's deadline; 0 if it has passed. */
uint32_t note_left_ms(const struct sampling_choice *choice);

/* Reports that the program of CHOICE runs under SAMPLER (at most 15 bytes).  Returns 0 or -errno:
   -ETIMEDOUT if the deadline has passed; -EACCES if sampling is forbidden, with the reason in
   CHOICE. */
int note_sampler(struct sampling_choice *choice, const char *sampler);

#endif
