/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a file an index is made of. */
#ifndef SYMBOL_INDEX_DEPTH_H
#define SYMBOL_INDEX_DEPTH_H

enum index_depth {
  INDEX_SYMBOLS_ONLY, /* its symbol table: at once, one name an address */
  INDEX_ALL,          /* its debug information too: inlined functions, files, lines */
};

#endif
