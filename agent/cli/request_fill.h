/* SPDX-License-Identifier: Apache-2.0 */
/* What `fleetprof run` tells the daemon of its program, the same in every request. */
#ifndef CLI_REQUEST_FILL_H
#define CLI_REQUEST_FILL_H

#include "sampling_choice.h"

/* Makes REQUEST one of KIND about the program of CHOICE. */
void request_fill(struct intake_request *request, enum intake_kind kind,
                  const struct sampling_choice *choice);

#endif
