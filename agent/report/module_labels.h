/* SPDX-License-Identifier: Apache-2.0 */
/* Which modules of two profiles are one and the same to their reader, and which only look so. */
#ifndef REPORT_MODULE_LABELS_H
#define REPORT_MODULE_LABELS_H

struct profile;

/* Sets `twin`, `shown` and `build` of the modules of A and of B, what A is compared with (NULL:
   nothing):

   A file that was sampled at several paths is one: what is known of it at one of them holds at all
   (namer.h).

   Functions are one row when their names and the file names of their modules are the same, whatever
   the build.  The program itself may have another file name in B (app.old, app.new): its functions
   are one row by their names too, unless either name is a module of the other side as well.

   A function without a name is known by its address, which is another one in another build: where
   there is more than one of a module, that of its build is told beside it.

   Returns 0 or -ENOMEM. */
int module_labels_set(struct profile *a, struct profile *b);

#endif
