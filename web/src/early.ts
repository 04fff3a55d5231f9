// SPDX-License-Identifier: Apache-2.0
// A script by itself, which is here and runs long before the page's: what that takes to come, to be read and to draw are
// frames during which the collector answers already.
import { askEarly } from "./api";
import { firstQuestion } from "./model/question";
import { parseSelection } from "./model/selection";

const question = firstQuestion(parseSelection(location.search));
if (question) askEarly(...question);
