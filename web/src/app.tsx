// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { Page } from "./views/page";

const root = document.getElementById("app");
performance.mark("draws"); // together with each drawing's "flame" mark: the time of each step
if (root) render(<Page />, root);
