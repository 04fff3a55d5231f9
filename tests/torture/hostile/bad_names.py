# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of an ELF file whose symbol tables have no strings; all else, its build-id too, is as it was.

  bad_names.py FROM TO
"""
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
is_64, order = data[4] == 2, "<" if data[5] == 1 else ">"
sections, = struct.unpack_from(order + "Q" if is_64 else order + "I", data, 40 if is_64 else 32)
entry_bytes, count = struct.unpack_from(order + "HH", data, 58 if is_64 else 46)
for at in range(sections, sections + count * entry_bytes, entry_bytes):
    kind, = struct.unpack_from(order + "I", data, at + 4)
    if kind in (2, 11):  # SHT_SYMTAB, SHT_DYNSYM
        struct.pack_into(order + "I", data, at + (40 if is_64 else 24), 0)
open(sys.argv[2], "wb").write(data)
