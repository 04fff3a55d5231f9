/* SPDX-License-Identifier: Apache-2.0 */
/* One simulated board: the daemon's side of the protocol over its own TLS connection. */
#ifndef FLEET_BOARD_H
#define FLEET_BOARD_H

#include "outbox.h"

#include <stdbool.h>
#include <stdint.h>

struct board;
struct crew;

/* Makes board INDEX of CREW, with key and certificate. Encodes its backlog if the plan requests
   that. Returns 0 or -errno with crew->why. */
int board_new(struct crew *crew, uint32_t index, struct board **ret);
void board_free(struct board *board);

/* It begins to live; on the crew's loop, as is all that follows. */
void board_start(struct board *board);

/* The phase has changed. */
void board_on_phase(struct board *board);

/* Nothing is left to deliver; once the phase is CLOSE: and it has left. */
bool board_is_settled(const struct board *board);

const char *board_name(const struct board *board);
const struct outbox *board_outbox(const struct board *board);

#endif
