// SPDX-License-Identifier: Apache-2.0
// The flame graph as a component: the canvas, zoom, and a text about the node under the pointer or
// the keyboard's cursor. It draws at most once per frame of the screen.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { draw, levelsShown, nodeAtPoint, resize, ROW_PX, sceneLayout, scrollFor, step, type Scene } from "../canvas/flame";
import type { Palette } from "../canvas/colour";
import type { Found, Pattern } from "../model/search";
import { count, percent, seconds, shown } from "../model/text";
import { fnAt, pathNames, type Fn, type Tree } from "../model/tree";
import { adjust } from "../state/app";
import { Legend } from "./parts";

interface FlameProps {
  readonly tree: Tree;
  readonly found: Found | null;
  readonly palette: Palette;
  readonly colourOf: (node: number) => string;
  readonly label: string;
  readonly legend?: readonly (readonly [string, string])[]; // meaning of the colours
  readonly zoom: string; // the name of the node that fills the width
  readonly onZoom: (zoom: string) => void;
  readonly onOpen?: (fn: Fn, isOutermost: boolean, node: number) => void;
  readonly describe?: (node: number) => string;
  readonly onScene?: (scene: Scene) => void;
}

const shareText = (tree: Tree, node: number): string =>
  `${percent((tree.total[node] ?? 0) / (tree.total[0] || 1))}, ${seconds(tree.total[node] ?? 0)}, ` +
  `self ${percent((tree.self[node] ?? 0) / (tree.total[0] || 1))}`;

// The number of matches in TREE, or the reason why a search is impossible.
export const foundText = (pattern: Pattern | string | null, found: Found | null, tree: Tree): string =>
  typeof pattern === "string" ? pattern
    : found ? `${count(found.functions)} functions, ${percent(found.weight / (tree.total[0] || 1))} of the time` +
              (found.isCut ? " so far: the pattern takes too long" : "") : "";

export function SearchField({ search }: { search: string }) {
  return <label>Search <input id="search" type="search" value={search} placeholder="regular expression" spellcheck={false}
                              onInput={(event) => adjust({ search: event.currentTarget.value })} /></label>;
}

// The cursor's position. A node's number is valid in one tree; in the next answer the node is found
// by its name.
interface Place { readonly tree: Tree; readonly node: number; readonly name: number; readonly isByKey: boolean }

// The nodes' names, computed at first use: not before the first picture.
function namesOf(tree: Tree): () => Uint32Array {
  let made: Uint32Array | null = null;
  return () => (made ??= pathNames(tree));
}

function useCursor(tree: Tree, names: () => Uint32Array): [number, boolean, (node: number, isByKey: boolean) => void] {
  const [place, setPlace] = useState<Place>({ tree, node: -1, name: 0, isByKey: false });
  const node = useMemo(() => (place.tree === tree || place.node < 0 ? place.node : names().indexOf(place.name)), [place, tree, names]);
  return [node, place.isByKey, (at, isByKey) => setPlace({ tree, node: at, name: at >= 0 ? names()[at] as number : 0, isByKey })];
}

export function Flame(props: FlameProps) {
  const { tree, found, palette, colourOf, zoom } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef(0);
  const pointer = useRef(""); // its last position
  const [width, setWidth] = useState(0);
  const layout = useMemo(() => sceneLayout(tree), [tree]);
  const names = useMemo(() => namesOf(tree), [tree]);
  const [cursor, isByKey, setCursor] = useCursor(tree, names);
  const zoomed = useMemo(() => (zoom ? Math.max(0, names().indexOf(parseInt(zoom, 36))) : 0), [names, zoom]);
  const scene: Scene = { tree, layout, zoom: zoomed, cursor, found, colourOf, palette };
  const last = useRef(scene);
  last.current = scene;

  const redraw = (): void => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const [drawn, holder] = [canvas.current, box.current];
      if (!drawn || !holder || holder.clientWidth === 0) return;
      const began = performance.now();
      resize(drawn, holder.clientWidth, levelsShown(last.current.layout) * ROW_PX);
      draw(drawn, last.current, holder.clientWidth, holder.scrollTop - ROW_PX, holder.scrollTop + holder.clientHeight + ROW_PX);
      performance.measure("flame", { start: began });
    });
  };
  useLayoutEffect(() => { // useEffect would run a frame later
    redraw();
    props.onScene?.(scene);
  }, [tree, found, palette, colourOf, zoomed, cursor, width]);
  useEffect(() => {
    const holder = box.current;
    if (!holder) return;
    const observer = new ResizeObserver(() => setWidth(holder.clientWidth));
    observer.observe(holder);
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame.current);
    };
  }, []);

  const at = (event: MouseEvent): number => {
    const shape = canvas.current?.getBoundingClientRect();
    return shape ? nodeAtPoint(scene, shape.width, event.clientX - shape.left, event.clientY - shape.top) : -1;
  };
  const zoomTo = (node: number): void => props.onZoom(node > 0 ? (names()[node] as number).toString(36) : "");
  const open = (node: number): void => {
    if (node > 0) props.onOpen?.(fnAt(tree, node), tree.parent[node] === 0, node);
  };
  const moveTo = (node: number): void => {
    setCursor(node, true);
    const holder = box.current;
    if (!holder) return;
    holder.scrollTop = scrollFor(layout, node, holder.scrollTop, holder.clientHeight);
    holder.scrollIntoView({ block: "nearest" });
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key.startsWith("Arrow")) moveTo(step(scene, event.key));
    else if (event.key === "Enter" && event.shiftKey && cursor >= 0) open(cursor);
    else if (event.key === "Enter" && cursor >= 0) zoomTo(cursor);
    else if (event.key === "Escape") zoomTo(0);
    else return;
    event.preventDefault();
  };
  // Scrolling under a resting pointer is handled like a movement of the pointer.
  const onMove = (event: MouseEvent): void => {
    const where = `${event.clientX} ${event.clientY}`;
    if (!isByKey || where !== pointer.current) setCursor(at(event), false);
    pointer.current = where;
  };
  const deeper = layout.levels.length - levelsShown(layout);
  const fn = cursor >= 0 ? fnAt(tree, cursor) : null;
  return <div class="flame">
    <p class="under" role="status" aria-live="polite"><span>{fn
      ? <><span class="name">{shown(fn.name) || "(no name)"}</span>{fn.module && <> in <span class="name">{shown(fn.module)}</span></>}
          {": "}{(props.describe ?? ((node: number) => shareText(tree, node)))(cursor)}</>
      : props.onOpen ? "Click a frame to zoom, double-click to open its function; arrow keys, Enter, Shift+Enter and Escape do the same."
      : "Click a frame to zoom; arrow keys, Enter and Escape do the same."}</span></p>
    {props.legend && <Legend rows={props.legend} />}
    <div class="flame-box" ref={box} onScroll={redraw} tabIndex={0} role="application"
         aria-roledescription="flame graph" aria-label={props.label} onKeyDown={onKey}>
      <canvas ref={canvas} aria-hidden="true"
              onMouseMove={onMove} onMouseLeave={() => { if (!isByKey) setCursor(-1, false); }}
              onClick={(event) => { const node = at(event); if (node >= 0) zoomTo(node); }}
              onDblClick={(event) => open(at(event))} />
    </div>
    {deeper > 0 && <p class="status">{count(deeper)} more levels are too deep to be drawn here.</p>}
    {zoomed > 0 && <button type="button" onClick={() => zoomTo(0)}>Whole graph</button>}
  </div>;
}
