/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of one module know of return addresses, together.  Pure. */
#ifndef NAMES_LINK_SOURCES_H
#define NAMES_LINK_SOURCES_H

#include "name_sources.h"

/* What is known of the link register at ADDRESS. */
enum lr_place link_sources_place(const struct name_sources *sources, uint64_t address);

/* What returns to ADDRESS + 1, and whether it calls FUNCTION. */
enum lr_call link_sources_call(const struct name_sources *sources, uint64_t address,
                               uint64_t function);

/* e_machine, or 0 where no file tells. */
uint32_t link_sources_machine(const struct name_sources *sources);

#endif
