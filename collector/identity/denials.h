/* SPDX-License-Identifier: Apache-2.0 */
/* Who was turned away, written down by a thread of its own: a few lines a second at most. */
#ifndef IDENTITY_DENIALS_H
#define IDENTITY_DENIALS_H

struct denials;

/* For the log at PATH (audit.h), which is not touched before there is a denial.  Returns NULL
   without memory. */
struct denials *denials_new(const char *path);

/* Writes what still waits, and frees.  A disk that takes longer than two seconds is left to the
   thread, which frees when it has done. */
void denials_free(struct denials *denials);

/* Notes that SUBJECT was denied WHAT; beyond DENIALS_PER_SECOND it is only counted, and how many
   were is a line, too.  Waits for no disk.  Any thread. */
void denials_note(struct denials *denials, const char *subject, const char *what);

#endif
