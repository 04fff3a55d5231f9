/* SPDX-License-Identifier: Apache-2.0 */
/* Where functions are declared of which somebody else told the names and lines. */
#ifndef SYMBOL_TOLD_FRAMES_H
#define SYMBOL_TOLD_FRAMES_H

struct symbol_frame;

/* Gives the COUNT functions TOLD of an address their declarations: those that KNOWN, KNOWN_COUNT
   functions of the same address or none, has of them by their names; else the file of their line.
   Pure. */
void told_frames_declare(struct symbol_frame *told, int count, const struct symbol_frame *known,
                         int known_count);

#endif
