/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in the fields that every request of `fleetprof run` has in common. */
#ifndef CLI_REQUEST_FILL_H
#define CLI_REQUEST_FILL_H

#include "sampling_choice.h"

/* Sets REQUEST to a request of KIND about the program of CHOICE. */
void request_fill(struct intake_request *request, enum intake_kind kind,
                  const struct sampling_choice *choice);

#endif
