// The list of stored episodes and its filters.

import { api } from "./api.js";
import { fill, h } from "./dom.js";
import { ago, number, short } from "./format.js";
import { poll } from "./poll.js";

const statuses = ["running", "terminated", "truncated", "failed", "closed"];

export function mount(root, params, page) {
  const filter = { type: "", status: "", task_id: "", group_id: "" };
  for (const name of Object.keys(filter)) filter[name] = params.get(name) ?? "";
  let shown = []; // beyond the first page, once the person has asked for more
  let cursor = "";
  let follow = true;

  const table = h("div", { class: "scroll" });
  const more = h("button", { type: "button", hidden: true, onclick: loadMore }, "Show older episodes");
  const types = h("select", { onchange: (e) => change("type", e.target.value) }, h("option", { value: "" }, "all types"));
  const text = (name, label) => h("label", { class: "field" }, label,
    h("input", { type: "text", value: filter[name], spellcheck: "false", onchange: (e) => change(name, e.target.value.trim()) }));

  fill(root,
    h("h1", {}, "Episodes"),
    h("form", { class: "bar", "aria-label": "Filters", onsubmit: (e) => e.preventDefault() },
      h("label", { class: "field" }, "Environment", types),
      h("label", { class: "field" }, "Status",
        h("select", { onchange: (e) => change("status", e.target.value) },
          h("option", { value: "" }, "any status"),
          statuses.map((v) => h("option", { value: v, selected: v === filter.status }, v)))),
      text("task_id", "Task id"), text("group_id", "Group id"),
      h("button", { type: "reset", onclick: () => page.go("#/episodes") }, "Clear")),
    h("section", { class: "card stack" }, table, more));

  api.envTypes().then((all) => {
    for (const t of all) types.append(h("option", { value: t.name, selected: t.name === filter.type }, t.name));
  }, page.link);

  const stop = poll(async (signal) => {
    if (!follow) return;
    const first = await api.episodes(filter, "", 50, signal);
    if (!follow) return;
    cursor = first.next_cursor ?? "";
    shown = first.episodes;
    draw();
  }, 2500, page.link);

  // Reading older pages stops the list from moving under the reader.
  async function loadMore() {
    follow = false;
    more.disabled = true;
    try {
      const next = await api.episodes(filter, cursor, 50);
      cursor = next.next_cursor ?? "";
      shown = shown.concat(next.episodes);
      draw();
    } catch (err) {
      page.link(err);
    } finally {
      more.disabled = false;
    }
  }

  function change(name, value) {
    const query = new URLSearchParams(Object.entries({ ...filter, [name]: value }).filter(([, v]) => v !== ""));
    page.go(query.size > 0 ? `#/episodes?${query}` : "#/episodes");
  }

  function draw() {
    fill(table, episodeTable(shown));
    more.hidden = cursor === "";
  }

  return stop;
}

/** episodeTable draws episodes as rows that lead to their transcripts. */
export function episodeTable(episodes) {
  if (episodes.length === 0) return h("p", { class: "empty" }, "No episodes here yet.");
  return h("table", {},
    h("thead", {}, h("tr", {},
      ["Episode", "Environment", "Task", "Status"].map((t) => h("th", { scope: "col" }, t)),
      h("th", { scope: "col", class: "right" }, "Return"), h("th", { scope: "col", class: "right" }, "Steps"),
      ["Policy", "Group", "Started"].map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, episodes.map((e) => h("tr", {},
      h("td", {}, h("a", { class: "mono", href: `#/episodes/${encodeURIComponent(e.episode_id)}` }, short(e.episode_id))),
      h("td", {}, e.type),
      h("td", { class: "mono" }, h("span", { title: e.task_id }, short(e.task_id)), " ", h("span", { class: "dim" }, e.split)),
      h("td", {}, statusPill(e), " ", flagPills(e.grade?.integrity?.flags)),
      h("td", { class: "right" }, e.status === "failed" ? h("span", { title: "not measured: our side broke" }, "null") : number(e.return)),
      h("td", { class: "right" }, e.steps),
      h("td", { class: "mono" }, e.policy_version ? short(e.policy_version, 14) : ""),
      h("td", { class: "mono" }, e.group_id
        ? h("a", { href: `#/episodes?group_id=${encodeURIComponent(e.group_id)}`, title: e.group_id }, short(e.group_id, 12)) : ""),
      h("td", { class: "num" }, h("time", { datetime: e.started_at, title: e.started_at }, ago(e.started_at)))))));
}

/** statusPill says how an episode stands; colour repeats what the words say. */
export function statusPill(e) {
  const passed = e.grade?.passed;
  const kind = e.status === "failed" ? "bad" : passed === true ? "good" : e.status === "truncated" ? "warn" : "";
  const verdict = passed === true ? " · passed" : passed === false && e.status === "terminated" ? " · not passed" : "";
  const reason = e.stop_reason ? ` (${e.stop_reason})` : "";
  return h("span", { class: `pill ${kind}` }, e.status + reason + verdict);
}

export function flagPills(flags) {
  return (flags ?? []).map((f) => [h("span", { class: "pill bad", title: "integrity flag" }, f), " "]);
}
