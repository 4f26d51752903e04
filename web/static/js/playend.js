// What a person who plays is told at the end of an episode, and where something
// goes wrong.

import { h } from "./dom.js";
import { number } from "./format.js";
import { paid } from "./forms.js";
import { saying, verdict } from "./problems.js";

/** outcome draws the end of an episode. */
export function outcome(e, steps, type) {
  const v = verdict(e);
  const measured = e.status === "terminated" || e.status === "truncated";
  const query = new URLSearchParams({ type: e.type, split: e.split });
  const same = new URLSearchParams({ ...Object.fromEntries(query), task: e.task_id });
  return h("section", { class: "card outcome", tabindex: "-1", "aria-label": "The end of the episode" },
    h("h2", {}, h("span", { class: `pill ${v.kind}` }, v.title), measured && [" Reward ", h("b", { class: "num" }, number(e.return))]),
    v.words && h("p", {}, v.words),
    measured && breakdown(paid(steps), type),
    e.grade && h("p", { class: "dim" },
      `Hidden checks: ${e.grade.tests.passed} passed, ${e.grade.tests.failed} failed, ${e.grade.tests.errors} errors. `,
      `Judged by ${e.grade.verifier.name} ${e.grade.verifier.version}. `,
      e.grade.integrity.ok ? "" : `Attempts to win by other means were seen: ${e.grade.integrity.flags.join(", ")}.`),
    h("p", { class: "bar" },
      h("a", { href: `#/episodes/${encodeURIComponent(e.episode_id)}` }, "See the replay of this episode"),
      h("a", { href: `#/play?${same}` }, "Play this task again"),
      h("a", { href: `#/play?${query}` }, "Play another one")));
}

function breakdown(parts, type) {
  if (parts.length === 0) return null;
  const help = new Map((type?.reward.parts ?? []).map((p) => [p.name, p.help]));
  return h("div", { class: "scroll" }, h("table", {},
    h("caption", { class: "hidden-text" }, "What the reward is made of"),
    h("thead", {}, h("tr", {},
      h("th", { scope: "col" }, "Part"), h("th", { scope: "col" }, "Kind"), h("th", { scope: "col", class: "right" }, "Value"),
      h("th", { scope: "col", class: "right" }, "Weight"), h("th", { scope: "col", class: "right" }, "Paid"))),
    h("tbody", {}, parts.map((p) => h("tr", {},
      h("td", {}, p.name, help.get(p.name) && h("div", { class: "dim" }, help.get(p.name))), h("td", {}, p.kind),
      h("td", { class: "right" }, number(p.value)), h("td", { class: "right" }, number(p.weight)), h("td", { class: "right" }, number(p.paid)))))));
}

/** problem draws what went wrong. */
export function problem(err) {
  const { words, detail } = saying(err);
  return h("div", { class: "card error" }, h("p", {}, words), detail && h("p", { class: "dim mono" }, detail));
}
