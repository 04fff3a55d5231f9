// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { Page } from "./views/page";

const root = document.getElementById("app");
performance.mark("draws"); // beside the "flame" of each drawing: when what was asked
if (root) render(<Page />, root);
