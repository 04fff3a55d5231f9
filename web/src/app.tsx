// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { Page } from "./views/page";

const root = document.getElementById("app");
if (root) render(<Page />, root);
