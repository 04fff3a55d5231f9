// SPDX-License-Identifier: Apache-2.0
// The whole state library: an atom is a value that notifies its subscribers of changes.
//
//   const selection = new Atom(parse(location.search));
//   selection.set(next);                       // its components draw again
//   const { match } = useAtom(selection);      // in a component
import { useEffect, useState } from "preact/hooks";

export class Atom<T> {
  private readonly listeners = new Set<(value: T) => void>();
  constructor(private value: T) {}
  get(): T {
    return this.value;
  }
  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of [...this.listeners]) listener(value);
  }
  subscribe(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export function useAtom<T>(atom: Atom<T>): T {
  const [value, setValue] = useState(atom.get());
  useEffect(() => {
    setValue(atom.get()); // it may have changed since drawing
    return atom.subscribe(setValue);
  }, [atom]);
  return value;
}
