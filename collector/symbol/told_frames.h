/* SPDX-License-Identifier: Apache-2.0 */
/* Adds declarations to functions that a translator has named. */
#ifndef SYMBOL_TOLD_FRAMES_H
#define SYMBOL_TOLD_FRAMES_H

struct symbol_frame;

/* Sets the declarations of the COUNT functions TOLD of an address. KNOWN, KNOWN_COUNT functions of
   the same address or none, supplies them by name; otherwise the file of the line is used. Pure. */
void told_frames_declare(struct symbol_frame *told, int count, const struct symbol_frame *known,
                         int known_count);

#endif
