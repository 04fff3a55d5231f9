/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a file is read for its index. */
#ifndef SYMBOL_INDEX_DEPTH_H
#define SYMBOL_INDEX_DEPTH_H

enum index_depth {
  INDEX_SYMBOLS_ONLY, /* its symbol table: fast, one name for each address */
  INDEX_ALL,          /* also its debug information: inlined functions, files, lines */
};

#endif
