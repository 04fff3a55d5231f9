/* SPDX-License-Identifier: Apache-2.0 */
/* Telling the daemon which sampler `fleetprof run` took, and why. */
#ifndef CLI_NOTE_H
#define CLI_NOTE_H

#include "sampling_choice.h"

/* Milliseconds until CHOICE's deadline; 0 when it has passed. */
uint32_t note_left_ms(const struct sampling_choice *choice);

/* Tells the daemon that the program of CHOICE runs under SAMPLER (at most 15 bytes).  Returns 0 or
   -errno: -ETIMEDOUT when the deadline has passed, -EACCES when nothing is to be sampled; CHOICE
   then says why. */
int note_sampler(struct sampling_choice *choice, const char *sampler);

#endif
