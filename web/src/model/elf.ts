// SPDX-License-Identifier: Apache-2.0
// Reads the build-id of a file dropped on the page. It reads only the header, the section table and
// the notes. The file is untrusted: every offset is checked before use.
type Read = (offset: number, bytes: number) => Promise<ArrayBuffer>;

const SECTIONS_MAX = 65535;
const NOTES_BYTES_MAX = 65536;
const HEADER_BYTES = 64;
const SHT_NOTE = 7;
const NT_GNU_BUILD_ID = 3;

interface Form { is64: boolean; little: boolean }

function word(view: DataView, at: number, form: Form): number {
  return form.is64 ? Number(view.getBigUint64(at, form.little)) : view.getUint32(at, form.little);
}

const aligned = (length: number): number => (length + 3) & ~3;

// The build-id among NOTES, or null.
function idOfNotes(notes: DataView, little: boolean): string | null {
  for (let at = 0; at + 12 <= notes.byteLength;) {
    const nameBytes = notes.getUint32(at, little), idBytes = notes.getUint32(at + 4, little);
    const type = notes.getUint32(at + 8, little);
    if (nameBytes > NOTES_BYTES_MAX || idBytes > NOTES_BYTES_MAX) return null;
    const name = at + 12, id = name + aligned(nameBytes);
    if (id + idBytes > notes.byteLength) return null;
    const isGnu = nameBytes === 4 && notes.getUint32(name, false) === 0x474e5500;
    if (isGnu && type === NT_GNU_BUILD_ID && idBytes > 0 && idBytes <= 64)
      return Array.from({ length: idBytes }, (_, i) => notes.getUint8(id + i).toString(16).padStart(2, "0")).join("");
    at = id + aligned(idBytes);
  }
  return null;
}

// Returns the build-id in hexadecimal. Throws an Error with the reason if there is none.
export async function buildIdOf(read: Read, size: number): Promise<string> {
  const head = new DataView(await read(0, HEADER_BYTES));
  if (head.byteLength < 52 || head.getUint32(0, false) !== 0x7f454c46) throw new Error("not an ELF file");
  const form: Form = { is64: head.getUint8(4) === 2, little: head.getUint8(5) === 1 };
  if (form.is64 && head.byteLength < HEADER_BYTES) throw new Error("cut within its header");
  const table = word(head, form.is64 ? 40 : 32, form);
  const entry = head.getUint16(form.is64 ? 58 : 46, form.little);
  const count = Math.min(SECTIONS_MAX, head.getUint16(form.is64 ? 60 : 48, form.little));
  const least = form.is64 ? 64 : 40;
  if (count === 0 || entry < least || table + count * entry > size) throw new Error("no table of sections");
  const sections = new DataView(await read(table, count * entry));
  for (let i = 0; i < count && (i + 1) * entry <= sections.byteLength; i++) {
    const at = i * entry;
    if (sections.getUint32(at + 4, form.little) !== SHT_NOTE) continue;
    const offset = word(sections, at + (form.is64 ? 24 : 16), form);
    const bytes = word(sections, at + (form.is64 ? 32 : 20), form);
    if (bytes > NOTES_BYTES_MAX || offset + bytes > size) continue;
    const id = idOfNotes(new DataView(await read(offset, bytes)), form.little);
    if (id) return id;
  }
  throw new Error("no build-id: link with -Wl,--build-id");
}
