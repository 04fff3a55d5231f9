# SPDX-License-Identifier: Apache-2.0
"""Whether one place can have called another, as the machine code of x86-64 files says.

A file is read through its sections, its symbols and its call frame information. Needs Debian's
python3-capstone and python3-pyelftools.
"""
import bisect
import functools
import struct

import capstone
from elftools.elf.elffile import ELFFile

GO_ROOTS = ("runtime.goexit", "runtime.mstart", "runtime.rt0_go", "_rt0_amd64_linux", "runtime.sigtramp")
GO_UNCALLED = "runtime.goexit"
GO_SIGNAL_RETURN = "runtime.sigreturn"
INSTRUCTIONS_MAX = 200000  # that are followed from one call's target
RUN_BYTES = 4096
ENTRY_BYTES_MAX = 64

decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
decoder.skipdata = True


class Function:
    def __init__(self, start, end, is_root=False, is_signal=False):
        self.start, self.end, self.is_root, self.is_signal = start, end, is_root, is_signal
        self.is_entry = False
        self.is_uncalled = False  # as a caller it is no call: Go writes its address where a goroutine begins


def leb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


class File:
    """The code of one ELF file. Places are file offsets outside, addresses inside."""

    def __init__(self, path):
        self.data = open(path, "rb").read()
        self.elf = ELFFile(open(path, "rb"))
        self.loads = [(s["p_offset"], s["p_filesz"], s["p_vaddr"]) for s in self.elf.iter_segments("PT_LOAD")]
        self.stubs = [(s["sh_addr"], s["sh_addr"] + s["sh_size"]) for s in self.elf.iter_sections() if s.name.startswith(".plt")]
        functions = {}
        self.is_go = any(s.name == ".gopclntab" for s in self.elf.iter_sections())
        for section in self.elf.iter_sections():
            if section["sh_type"] in ("SHT_SYMTAB", "SHT_DYNSYM"):
                for symbol in section.iter_symbols():
                    if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"] and symbol["st_shndx"] != "SHN_UNDEF":
                        start, name = symbol["st_value"], symbol.name
                        functions[start] = Function(start, start + symbol["st_size"],
                                                    self.is_go and name.startswith(GO_ROOTS),
                                                    self.is_go and name.startswith(GO_SIGNAL_RETURN))
                        functions[start].is_uncalled = self.is_go and name.startswith(GO_UNCALLED)
        functions.update((f.start, f) for f in self.frame_functions())
        # The loader begins programs, and has neither a symbol nor unwind information there.
        entry = self.elf.header["e_entry"]
        if entry and not any(f.start <= entry < f.end for f in functions.values()):
            functions[entry] = Function(entry, entry + ENTRY_BYTES_MAX)
        self.functions = sorted(functions.values(), key=lambda f: f.start)
        self.starts = [f.start for f in self.functions]
        entry = self.function_at(self.elf.header["e_entry"])
        if entry is not None:
            entry.is_root = entry.is_entry = True

    def frame_functions(self):
        """Of .eh_frame; a function that has no caller says that its return address is undefined."""
        section = self.elf.get_section_by_name(".eh_frame")
        if section is None:
            return
        data, base, at, commons = section.data(), section["sh_addr"], 0, {}
        while at + 8 <= len(data):
            (size,) = struct.unpack_from("<I", data, at)
            if size == 0:
                at += 4
                continue
            end, body = at + 4 + size, at + 4
            (identity,) = struct.unpack_from("<I", data, body)
            if identity == 0:
                commons[at] = self.common(data, body + 4)
            else:
                encoding, has_data, is_signal = commons.get(body - identity, (0x1B, True, False))
                if encoding & 0x7F == 0x1B:
                    (start,) = struct.unpack_from("<i", data, body + 4)
                    (length,) = struct.unpack_from("<I", data, body + 8)
                    start += base + body + 4
                    rules = body + 12
                    if has_data:
                        skip, rules = leb(data, rules)
                        rules += skip
                    yield Function(start, start + length, data[rules:end].startswith((b"\x07\x10", b"\x0e\x08\x07\x10")), is_signal)
            at = end

    @staticmethod
    def common(data, at):
        end = data.index(b"\0", at + 1)
        letters, at = data[at + 1:end].decode("latin1"), end + 1
        encoding = 0
        for _ in range(3):  # alignments and the return address's column
            _, at = leb(data, at)
        if letters.startswith("z"):
            _, at = leb(data, at)
        for letter in letters[1:]:
            if letter == "R":
                encoding = data[at]
                at += 1
            elif letter == "L":
                at += 1
            elif letter == "P":
                at += 1 + {0: 8, 4: 8, 12: 8}.get(data[at] & 15, 4)
        return encoding, letters.startswith("z"), "S" in letters

    def address(self, offset):
        for start, size, address in self.loads:
            if start <= offset < start + size:
                return offset - start + address
        return None

    def bytes_at(self, address, size):
        for start, length, first in self.loads:
            if first <= address < first + length:
                at = address - first + start
                return self.data[at:at + min(size, first + length - address)]
        return b""

    def function_at(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        while i >= 0 and i >= bisect.bisect_right(self.starts, address) - 4:
            if address < self.functions[i].end:
                return self.functions[i]
            i -= 1
        return None

    def is_stub(self, address):
        return any(start <= address < end for start, end in self.stubs)

    @functools.lru_cache(maxsize=None)
    def calls_before(self, address):
        """The calls that end at ADDRESS: the target of a direct one, None of an indirect one."""
        found = []
        for size in range(2, 9):
            code = self.bytes_at(address - size, size)
            if len(code) < size:
                continue
            for at, length, name, operands in decoder.disasm_lite(code, address - size, 1):
                if length == size and name.split()[-1] == "call":
                    found.append(int(operands, 16) if operands.startswith("0x") else None)
        return found

    @functools.lru_cache(maxsize=None)
    def reached_from(self, start):
        """The instructions that follow START without a return, as far as jumps say where they go: their
        addresses in order, where each ends, and whether there is a jump that computes its target."""
        ends, left, is_computed = {}, [start], False
        while left and len(ends) < INSTRUCTIONS_MAX:
            at = left.pop()
            if self.is_stub(at):
                is_computed = True
                continue
            for address, length, name, operands in decoder.disasm_lite(self.bytes_at(at, RUN_BYTES), at):
                if address in ends or len(ends) >= INSTRUCTIONS_MAX:
                    break
                ends[address] = address + length
                word = name.split()[-1]
                if word.startswith("j"):
                    if operands.startswith("0x"):
                        left.append(int(operands, 16))
                    else:
                        is_computed = True
                if word == ".byte":  # an instruction that capstone does not have
                    is_computed = True
                if word in ("jmp", "ret", "int3", "ud2", "hlt", ".byte"):
                    break
            else:
                left.append(max(ends.values()) if ends else at)
        return sorted(ends), ends, is_computed or len(ends) >= INSTRUCTIONS_MAX

    def is_in(self, place, target):
        """PLACE is in the function that begins with TARGET, as symbols or unwind information say."""
        function = self.function_at(place)
        return function is not None and function.start <= target < function.end

    def how_reached(self, target, place):
        """How control gets from TARGET to PLACE without a call: `direct`, `computed` (perhaps) or `other` (not).
        PLACE is None: in another file."""
        starts, ends, is_computed = self.reached_from(target)
        i = bisect.bisect_right(starts, place) - 1 if place is not None else -1
        if i >= 0 and place < ends[starts[i]]:
            return "direct"
        return "computed" if is_computed else "other"


@functools.lru_cache(maxsize=None)
def file_of(path):
    if not path.startswith("/") or path.startswith("//"):
        return None
    try:
        return File(path)
    except Exception as error:  # whatever the error, its code cannot be judged
        print(f"    {path}: {error!r}")
        return None


def function_of(path, offset):
    """(file, address, function) of a place, each None where it is not known."""
    file = file_of(path)
    address = file.address(offset) if file else None
    return file, address, file.function_at(address) if address is not None else None


@functools.lru_cache(maxsize=None)
def is_root(path, offset, is_leaf):
    """A function that no other calls: the program's first one, a thread's, a goroutine's."""
    _, _, function = function_of(path, offset - (not is_leaf))
    return function is not None and function.is_root


@functools.lru_cache(maxsize=None)
def judge(callee_path, callee, is_leaf, caller_path, caller):
    """Of CALLER, a return address, and CALLEE, the interrupted place or a return address: `direct`,
    the call that stands before it leads to the callee, perhaps by jumps; `indirect`, that call computes its target;
    `computed`, a jump behind it does; `signal`; `root`, what Go writes where a goroutine begins; `unknown`, the
    code of one cannot be read; `none`, there is no call; `other`, it calls another function."""
    inner_file, inner, inner_function = function_of(callee_path, callee - (not is_leaf))
    file, _, function = function_of(caller_path, caller - 1)
    if function and function.is_root and function.is_uncalled:
        return "root"
    if (inner_function and inner_function.is_signal) or (function and function.is_signal):
        return "signal"
    address = file.address(caller - 1) if file else None
    if address is None:
        return "unknown"
    calls = file.calls_before(address + 1)
    if not calls:
        return "none"
    if None in calls:
        return "indirect"
    if inner is None:
        return "unknown"
    if any(file.is_stub(target) for target in calls):
        return "indirect"
    if file is inner_file and any(file.is_in(inner, target) for target in calls):
        return "direct"
    ways = {file.how_reached(target, inner if file is inner_file else None) for target in calls}
    return next(way for way in ("direct", "computed", "other") if way in ways)
