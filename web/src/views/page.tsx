// SPDX-License-Identifier: Apache-2.0
// The frame around every view: navigation, selection, sign-in.
import { useEffect, useState } from "preact/hooks";
import type { JSX } from "preact";
import { setToken } from "../api";
import { viewNameOf, viewOf } from "../model/selection";
import { shown } from "../model/text";
import { follow, isSignInWanted, selection, signedIn } from "../state/app";
import { useAtom } from "../state/atom";
import { DiffView } from "./diff";
import { FleetView } from "./fleet";
import { FunctionView } from "./function";
import { LossView } from "./loss";
import { ProfileView } from "./profile";
import { SelectorBar } from "./selector";
import { SymbolsView } from "./symbols";

interface ViewRow { readonly name: string; readonly title: string; readonly view: () => JSX.Element; readonly selects: boolean }

// The first view shows the boards and the fleet's time; it is also used for an unknown view name.
const VIEWS: readonly ViewRow[] = [
  { name: "fleet", title: "Fleet", view: FleetView, selects: false },
  { name: "profile", title: "Profile", view: ProfileView, selects: true },
  { name: "function", title: "Function", view: FunctionView, selects: true },
  { name: "diff", title: "Diff", view: DiffView, selects: false },
  { name: "symbols", title: "Symbols", view: SymbolsView, selects: false },
  { name: "loss", title: "Loss and health", view: LossView, selects: false },
];

function SignIn() {
  const [token, setText] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    setToken(token.trim());
    setText("");
    isSignInWanted.set(false);
    signedIn.set(signedIn.get() + 1);
  };
  return <form id="sign-in" onSubmit={submit}>
    <label class="wide">Token
      <input id="token" type="password" autocomplete="off" value={token}
             onInput={(event) => setText(event.currentTarget.value)} /></label>
    <button type="submit">Use</button>
  </form>;
}

export function Page() {
  const chosen = useAtom(selection);
  const isWanted = useAtom(isSignInWanted);
  const current = VIEWS.find(({ name }) => name === viewNameOf(chosen)) ?? (VIEWS[0] as ViewRow);
  const what = chosen.function || chosen.match;
  useEffect(() => {
    document.title = ["fleetprof", current.title, shown(what, 80)].filter(Boolean).join(" · ");
  }, [current, what]);
  return <>
    <header>
      <h1><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1 11h14v3H1z" /><path d="M1 7h9v3H1z" /><path d="M3 3h4v3H3z" /></svg>fleetprof</h1>
      <nav aria-label="Views">{VIEWS.map(({ name, title }) =>
        <a {...follow(viewOf(chosen, name))} aria-current={current.name === name ? "page" : undefined}>{title}</a>)}</nav>
    </header>
    <main>
      {current.selects && <SelectorBar />}
      {isWanted && <SignIn />}
      <current.view />
    </main>
  </>;
}
