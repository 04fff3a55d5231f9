// SPDX-License-Identifier: Apache-2.0
// Comes before all else that the page is made of: libraries and a first drawing take as long as some frames, during which
// the collector answers already.
import { askEarly } from "./api";
import { firstQuestion } from "./model/question";
import { parseSelection } from "./model/selection";

const question = firstQuestion(parseSelection(location.search));
if (question) askEarly(...question);
