// The environment types that the server plays.

import { api } from "./api.js";
import { fill, h } from "./dom.js";
import { number } from "./format.js";
import { poll } from "./poll.js";

export function mount(root, _params, page) {
  const cards = h("div", { class: "catalogue" });
  fill(root, h("h1", {}, "Environments"), h("p", { class: "dim" }, "What this server plays, as clients see it."), cards);
  const stop = poll(async (signal) => {
    const types = await api.envTypes(signal);
    fill(cards, types.length === 0 ? h("p", { class: "empty" }, "No environment type is registered.") : types.map(card));
    page.link("up");
    stop(); // constant for the life of the server
  }, 3000, page.link);
  return stop;
}

function card(t) {
  const can = Object.entries(t.capabilities).filter(([, v]) => v === true).map(([k]) => k.replace("_", " "));
  const examples = h("div", {});
  return h("article", { class: "card" },
    h("div", {},
      h("h2", {}, t.name, " ", h("span", { class: "dim" }, t.version)),
      h("p", {}, t.summary),
      h("p", { class: "mono dim", title: t.digest }, t.digest.slice(0, 19), "…")),
    h("dl", { class: "facts" },
      t.splits.map((sp) => h("div", {}, h("dt", {}, sp.name), h("dd", { class: "num" }, `${sp.tasks} tasks`))),
      h("div", {}, h("dt", {}, "Reward"), h("dd", { class: "num" }, `${number(t.reward.min)} to ${number(t.reward.max)}`)),
      h("div", {}, h("dt", {}, "Steps"), h("dd", { class: "num" }, `${t.default_limits.max_steps ?? "–"}, at most ${t.max_limits.max_steps ?? "–"}`)),
      h("div", {}, h("dt", {}, "Can"), h("dd", {}, can.join(", ") || "–"))),
    h("div", {}, h("h3", {}, "Tools"), h("ul", { class: "tools" }, t.tools.map((tool) => {
      const fn = tool.function ?? tool;
      return h("li", {}, h("code", {}, fn.name), " ", fn.description);
    }))),
    t.reward.parts.length > 0 && h("div", {}, h("h3", {}, "Reward parts"), h("ul", { class: "tools" },
      t.reward.parts.map((p) => h("li", {}, h("code", {}, p.name), ` ${p.kind}, weight ${number(p.weight)}. `, p.help ?? "")))),
    h("details", { ontoggle: (e) => e.target.open && examples.childElementCount === 0 && load(t, examples) },
      h("summary", {}, "How an action is written, and some tasks"), h("pre", {}, t.action_help), examples),
    h("p", {}, h("a", { href: `#/episodes?type=${encodeURIComponent(t.name)}` }, "Its episodes"),
      " · ", h("a", { href: `#/play?type=${encodeURIComponent(t.name)}` }, "Play it yourself")));
}

async function load(t, into) {
  const split = t.splits.find((s) => s.tasks > 0)?.name;
  try {
    const page = await api.tasks(t.name, split, 5);
    fill(into, h("table", {}, h("tbody", {}, page.tasks.map((task) => h("tr", {},
      h("td", { class: "mono" }, task.task_id), h("td", { class: "mono" }, JSON.stringify(task.public)))))));
  } catch (err) {
    fill(into, h("p", { class: "dim" }, err.message));
  }
}
