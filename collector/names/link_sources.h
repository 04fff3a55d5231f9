/* SPDX-License-Identifier: Apache-2.0 */
/* Combines the tables about return addresses of one module's files. Pure. */
#ifndef NAMES_LINK_SOURCES_H
#define NAMES_LINK_SOURCES_H

#include "name_sources.h"

/* Returns the place of the link register at ADDRESS. */
enum lr_place link_sources_place(const struct name_sources *sources, uint64_t address);

/* Returns the kind of call that returns to ADDRESS + 1, and whether it calls FUNCTION. */
enum lr_call link_sources_call(const struct name_sources *sources, uint64_t address,
                               uint64_t function);

/* Returns e_machine, or 0 if no file has it. */
uint32_t link_sources_machine(const struct name_sources *sources);

#endif
