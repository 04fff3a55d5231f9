// SPDX-License-Identifier: Apache-2.0
// A separate, small script that runs long before the page's main script. It sends the first query,
// so the collector answers while the browser loads, parses and draws the page.
import { askEarly } from "./api";
import { firstQuestion } from "./model/question";
import { parseSelection } from "./model/selection";

const question = firstQuestion(parseSelection(location.search));
if (question) askEarly(...question);
