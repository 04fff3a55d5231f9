# SPDX-License-Identifier: Apache-2.0
"""Writes debug files that are small and want much: bombs.py FOLDER.

Each is a 64-bit ELF file of at most some megabytes that claims, unpacks to, repeats or nests more than
anybody can read: one file a way to do it, named for it.
"""
import random
import struct
import sys
import zlib

CODE, ADDRESS, STRTAB, SYMTAB, PROGBITS, NOTE = 6, 0x1000, 3, 2, 1, 7
COMPRESSED = 0x800
MiB = 1 << 20


def deflated(head, data=b"", repeat=1):
    """HEAD and then DATA, REPEAT times, as a zlib stream: made of one piece, since a full flush forgets what was before."""
    if len(data) < MiB:  # rows: a piece of a MiB or so
        times = min(repeat, MiB // len(data))
        data, repeat = data * times, repeat // times
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    out = b"\x78\xda" + stream.compress(head) + stream.flush(zlib.Z_FULL_FLUSH)
    out += (stream.compress(data) + stream.flush(zlib.Z_FULL_FLUSH)) * repeat + stream.flush()
    low, high = zlib.adler32(head) & 0xffff, zlib.adler32(head) >> 16
    more = zlib.adler32(data)
    for _ in range(repeat):
        high = (high + (more >> 16) + (low - 1) * len(data)) % 65521
        low = (low + (more & 0xffff) - 1) % 65521
    return out + struct.pack(">I", high << 16 | low), len(head) + len(data) * repeat


def packed(head, claim=None, data=b"", repeat=1):
    """HEAD, and DATA about REPEAT times, as the bytes of a compressed section that claims CLAIM bytes."""
    stream, size = deflated(head, data, repeat) if data else (zlib.compress(head, 1), len(head))
    return struct.pack("<IIQQ", 1, 0, size if claim is None else claim, 1) + stream


def elf(sections, shnum=None, first_size=0):
    """SECTIONS: (name, type, flags, bytes, more of the header); code of 4 KiB comes by itself."""
    sections = [(".text", PROGBITS, CODE, b"\xc3" * 4096, {"addr": ADDRESS})] + sections
    names = b"\0" + b"".join(s[0].encode() + b"\0" for s in sections) + b".shstrtab\0"
    sections = sections + [(".shstrtab", STRTAB, 0, names, {})]
    body, headers, name_at = b"", [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, first_size, 0, 0, 0, 0)], 1
    for name, kind, flags, data, more in sections:
        offset = 64 + len(body)
        body += data + b"\0" * (-len(data) % 8)
        headers.append(struct.pack("<IIQQQQIIQQ", name_at, kind, flags, more.get("addr", 0), offset,
                                   more.get("size", len(data)), more.get("link", 0), more.get("info", 0), 8,
                                   more.get("entsize", 0)))
        name_at += len(name) + 1
    head = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 56, 0,
                                                     64, len(headers) if shnum is None else shnum, len(headers) - 1)
    return head + body + b"".join(headers)


def leb(value):
    out = b""
    while True:
        out += bytes([value & 0x7f | (0x80 if value > 0x7f else 0)])
        value >>= 7
        if not value:
            return out


# DWARF's numbers: tags, attributes, forms.
UNIT, SUBPROGRAM, INLINED, IMPORTED_UNIT, BLOCK = 0x11, 0x2e, 0x1d, 0x3d, 0x0b
SIBLING, NAME, STMT_LIST, LOW_PC, HIGH_PC, ORIGIN, IMPORT, SPECIFICATION, RANGES = 1, 3, 0x10, 0x11, 0x12, 0x31, 0x18, 0x47, 0x55
ADDR, DATA8, STRING, STRP, REF4, SEC_OFFSET, REF_ADDR = 1, 7, 8, 0xe, 0x13, 0x17, 0x10


def abbrev(*entries):
    out = b""
    for number, (tag, has_children, attributes) in enumerate(entries, 1):
        out += leb(number) + leb(tag) + bytes([has_children])
        out += b"".join(leb(a) + leb(f) for a, f in attributes) + b"\0\0"
    return out + b"\0"


def unit(dies, version=4):
    return struct.pack("<IHIB", len(dies) + 7, version, 0, 8) + dies


def dwarf(info, abbrevs, *more, pack=False):
    wrap = (lambda b: packed(b)) if pack else (lambda b: b)
    flags = COMPRESSED if pack else 0
    return elf([(".debug_info", PROGBITS, flags, wrap(info), {}), (".debug_abbrev", PROGBITS, 0, abbrevs, {}), *more,
                *symbols([(b"code", ADDRESS, 4096)], 1 + 2 + len(more))])


def symbols(rows, before, names=None):
    """A symbol table whose string table stands behind it; BEFORE sections stand before both."""
    texts, table = bytearray(b"\0" if names is None else names), bytearray(24)
    for name, address, size in rows:
        at = name if isinstance(name, int) else len(texts)
        texts += b"" if isinstance(name, int) else name + b"\0"
        table += struct.pack("<IBBHQQ", at, 2, 0, 1, address, size)
    texts, table = bytes(texts), bytes(table)
    return [(".symtab", SYMTAB, 0, table, {"link": before + 2, "info": 1, "entsize": 24}), (".strtab", STRTAB, 0, texts, {})]


ROOT = leb(1) + struct.pack("<QQ", ADDRESS, 4096)
root = (UNIT, 1, [(LOW_PC, ADDR), (HIGH_PC, DATA8)])
plain = abbrev(root)


def line_program(rows, repeat=1):
    """A line table of ROWS, opcodes, about REPEAT times, compressed."""
    header = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0a.c\0\0\0\0\0"
    start = b"\0\x09\x02" + struct.pack("<Q", ADDRESS)
    size = deflated(b"", rows, repeat)[1]
    head = struct.pack("<IHI", 2 + 4 + len(header) + len(start) + size, 4, len(header)) + header + start
    return (".debug_line", PROGBITS, COMPRESSED, packed(head, None, rows, repeat), {})


def lines(rows, repeat=1):
    lined = abbrev((UNIT, 0, [(LOW_PC, ADDR), (HIGH_PC, DATA8), (STMT_LIST, SEC_OFFSET)]))
    return dwarf(unit(ROOT + struct.pack("<I", 0)), lined, line_program(rows, repeat))


def cycle(attribute, form=REF4):
    """Two functions and two inlined ones, each the other's origin, and one its own."""
    table = abbrev(root, (SUBPROGRAM, 1, [(attribute, form), (LOW_PC, ADDR), (HIGH_PC, DATA8)]),
                   (INLINED, 0, [(attribute, form), (LOW_PC, ADDR), (HIGH_PC, DATA8)]))
    dies, place = ROOT, struct.pack("<QQ", ADDRESS, 4096)
    one = 11 + len(dies)
    size = 1 + 4 + 16
    for number, to in ((2, one + size), (3, one), (3, one + 2 * size)):
        dies += leb(number) + struct.pack("<I", to) + place
    return dwarf(unit(dies + b"\0\0"), table)


def bombs():
    text = (".debug_str", PROGBITS, 0, b"n" * MiB + b"\0", {})
    place = struct.pack("<QQ", ADDRESS, 4096)
    for name in ("info", "line", "str", "abbrev"):
        table = {".debug_info": b"", ".debug_abbrev": plain}
        rest = [(n, PROGBITS, 0, b or unit(ROOT + b"\0"), {}) for n, b in table.items() if n != ".debug_" + name]
        sections = [(".debug_" + name, PROGBITS, COMPRESSED, packed(b"", None, b"\0" * MiB, 1024), {}), *rest]
        yield f"zeros_{name}", elf(sections + symbols([(b"code", ADDRESS, 4096)], 1 + len(sections)))
    for claim in (1 << 32, 1 << 40, (1 << 63) - 1, (1 << 64) - 1):
        sections = [(".debug_info", PROGBITS, COMPRESSED, packed(b"\0" * 64, claim), {}), (".debug_abbrev", PROGBITS, 0, plain, {})]
        yield f"claim_{claim.bit_length()}", elf(sections + symbols([(b"code", ADDRESS, 4096)], 3))
    many = [(f".debug_{i}", PROGBITS, COMPRESSED, packed(b"", None, b"\0" * MiB, 128), {}) for i in range(16)]
    yield "many_zeros", elf(many + symbols([(b"code", ADDRESS, 4096)], 17))
    yield "cycle_origin", cycle(ORIGIN)
    yield "cycle_specification", cycle(SPECIFICATION)
    yield "cycle_origin_anywhere", cycle(ORIGIN, REF_ADDR)
    imports = abbrev(root, (IMPORTED_UNIT, 0, [(IMPORT, REF_ADDR)]))
    yield "cycle_import", dwarf(unit(ROOT + (leb(2) + struct.pack("<I", 11)) * 1000 + b"\0"), imports)
    siblings = abbrev(root, (SUBPROGRAM, 1, [(SIBLING, REF4)]))
    yield "cycle_sibling", dwarf(unit(ROOT + leb(2) + struct.pack("<I", 28) + leb(2) + struct.pack("<I", 28) + b"\0\0\0"), siblings)
    deep = abbrev(root, (INLINED, 1, [(NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA8)]), (BLOCK, 1, []))
    yield "deep", dwarf(unit(ROOT + (leb(2) + b"f\0" + place) * 1000000), deep, pack=True)
    yield "deep_blocks", dwarf(unit(ROOT + leb(3) * 4000000), deep, pack=True)
    wide = abbrev(root, (SUBPROGRAM, 0, [(NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA8)]))
    yield "wide", dwarf(unit(ROOT + (leb(2) + b"f\0" + place) * 1000000), wide, pack=True)
    named = abbrev(root, (SUBPROGRAM, 0, [(NAME, STRP), (LOW_PC, ADDR), (HIGH_PC, DATA8)]))
    dies = b"".join(leb(2) + struct.pack("<IQQ", i % MiB, ADDRESS + i % 4096, 1) for i in range(400000))
    yield "long_names", dwarf(unit(ROOT + dies), named, text, pack=True)
    yield "units", dwarf(unit(ROOT + b"\0") * 400000, plain, pack=True)
    attributes = abbrev(root, (SUBPROGRAM, 0, [(NAME, STRP)] * 200000))
    yield "attributes", dwarf(unit(ROOT + (leb(2) + b"\0" * 800000) * 50), attributes, text, pack=True)
    numbers = b"".join(leb(i + 2) + leb(SUBPROGRAM) + b"\0\0\0" for i in range(1000000))
    yield "abbreviations", dwarf(unit(ROOT + leb(1000001) + b"\0"), plain[:-1] + numbers + b"\0")
    ranged = abbrev(root, (INLINED, 0, [(RANGES, SEC_OFFSET)]))
    ranges = b"".join(struct.pack("<QQ", i % 4096, i % 4096 + 1) for i in range(200000)) + b"\0" * 16
    yield "ranges", dwarf(unit(ROOT + (leb(2) + struct.pack("<I", 0)) * 20000), ranged,
                          (".debug_ranges", PROGBITS, COMPRESSED, packed(ranges), {}), pack=True)
    yield "lines", lines(b"\x13\xf0" * (MiB // 2), 400)
    yield "lines_in_place", lines(b"\x01" * MiB, 200)
    yield "line_sequences", lines(b"\0\x01\x01\0\x09\x02" + struct.pack("<Q", ADDRESS) + b"\x01", 4000000)
    yield "line_files", lines(b"\0\x06\x03a\0\0\0\0", 4000000)
    rows = [(1, ADDRESS + i % 4096, 1) for i in range(100000)]
    yield "long_symbols", elf(symbols(rows, 1, b"\0" + b"s" * MiB + b"\0"))
    letters = bytes(random.Random(1).choices(range(97, 123), k=60000))
    yield "suffixes", elf(symbols([(1 + 20 * i, ADDRESS + i, 1) for i in range(2900)], 1, b"\0" + letters + b"\0"))
    nested = b"_Z1f" + b"P" * 300000 + b"i"
    doubled = b"_Z1fSt4pairIiiE" + b"".join(b"St4pairIS%s_S%s_E" % (n, n) for n in [b""] + [b"%X" % i if i < 10 else bytes([55 + i]) for i in range(34)])
    rust = b"_RINvC1a1f" + b"T" * 5000 + b"E" * 5000 + b"E"
    backward = b"_RNvC1a1f" + b"".join(b"TB%s_" % bytes([97 + i]) for i in range(20)) + b"E" * 20
    yield "mangled", elf(symbols([(n, ADDRESS + 16 * i, 16) for i, n in enumerate([nested, doubled, rust, backward] * 20)], 1))
    yield "table_claims", elf([(".symtab", SYMTAB, 0, b"\0" * 48, {"size": 1 << 32, "link": 3, "entsize": 24}),
                               (".strtab", STRTAB, 0, b"\0", {"size": 1 << 32})])
    yield "sections_claimed", elf(symbols([(b"code", ADDRESS, 4096)], 1), shnum=0, first_size=1 << 32)
    note = struct.pack("<III", 0xffffffff, 0xffffffff, 3) + b"GNU\0" + b"\0" * 20
    yield "notes", elf([(".note.gnu.build-id", NOTE, 2, note, {})] + symbols([(b"code", ADDRESS, 4096)], 2))
    yield "notes_many", elf([(".note.gnu.build-id", NOTE, 2, struct.pack("<III", 0, 0, 3) * 400000, {})] +
                            symbols([(b"code", ADDRESS, 4096)], 2))
    frames = struct.pack("<II", 16, 0) + b"\1\0\1\1\1" + b"\0" * 11
    yield "frames", elf([(".eh_frame", PROGBITS, 2, frames + b"".join(struct.pack("<IIQI", 16, 24 + 20 * i, ADDRESS, 1) for i in range(400000)), {})])


for name, data in bombs():
    with open(f"{sys.argv[1]}/{name}", "wb") as file:
        file.write(data)
