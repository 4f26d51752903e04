// The view of running and finished trainers: their curves, as they grow.

import { api } from "./api.js";
import { Chart } from "./chart.js";
import { fill, h } from "./dom.js";
import { ago, duration, number, percent, words } from "./format.js";
import { poll } from "./poll.js";
import { merge, panelOf, pick, whiskers } from "./series.js";
import { episodeTable } from "./episodes.js";

const colours = 6;
const liveWithin = 30_000; // a run that pushed a point this recently is running

export function mount(root, _params, page) {
  const state = {
    runs: [],
    points: new Map(), // run_id -> points
    shown: new Set(),
    colour: new Map(), // run_id -> index, kept for as long as the run is shown
    chosen: false, // whether the person has picked runs
    axis: "update",
    smoothing: 0.6,
    signature: "",
  };
  const reward = new Chart("Reward", { height: 270 });
  const success = new Chart("Success", { height: 270, share: true });
  const others = new Map(); // metric -> Chart

  const list = h("ul", { class: "runs" });
  const tiles = h("div", { class: "tiles" });
  const multiples = h("div", { class: "multiples" });
  const more = h("details", { class: "card", ontoggle: () => draw() }, h("summary", {}, "All other metrics"), multiples);
  const recent = h("div", { class: "scroll" });
  const charts = h("div", { class: "stack" }, tiles, h("div", { class: "pair" }, reward.el, success.el), more);
  const none = h("div", { class: "card empty" }, "No trainer has announced a run yet. Start one with ",
    h("br"), h("code", {}, "make demo"));
  const body = h("div", { class: "training" },
    h("section", { class: "card", "aria-label": "Runs" }, h("h2", {}, "Runs"), list), charts);

  fill(root,
    h("div", { class: "bar" },
      h("div", { class: "grow" }, h("h1", {}, "Training"), h("p", { class: "dim" }, "Reward and success of each run, as its trainer reports them.")),
      h("label", { class: "field" }, "Horizontal axis",
        h("select", { onchange: (e) => { state.axis = e.target.value; draw(); } },
          h("option", { value: "update" }, "updates"), h("option", { value: "time" }, "wall time"))),
      h("label", { class: "field" }, "Smoothing",
        h("input", { type: "range", min: 0, max: 0.95, step: 0.05, value: state.smoothing, oninput: (e) => { state.smoothing = Number(e.target.value); draw(); } }))),
    h("div", { class: "stack" }, body, none,
      h("section", { class: "card", "aria-label": "Latest episodes" },
        h("div", { class: "bar" }, h("h2", { class: "grow" }, "Latest episodes"), h("a", { href: "#/episodes" }, "All episodes")), recent)));
  body.hidden = true;
  none.hidden = true;

  const stopRuns = poll(async (signal) => {
    state.runs = await api.runs(signal);
    if (!state.chosen) showNewest();
    await Promise.all(state.runs.filter((r) => state.shown.has(r.run_id)).map(async (r) => {
      const known = state.points.get(r.run_id) ?? [];
      const after = known.at(-1)?.update;
      state.points.set(r.run_id, merge(known, await api.points(r.run_id, after, signal)));
    }));
    draw();
  }, 1500, page.link);
  const stopEpisodes = poll(async (signal) => {
    fill(recent, episodeTable((await api.episodes({}, "", 12, signal)).episodes));
  }, 3000, page.link);

  // Until the person chooses, the newest runs are shown: all that are running, or the last.
  function showNewest() {
    const live = state.runs.filter(isLive).slice(0, colours);
    const want = live.length > 0 ? live : state.runs.slice(0, 1);
    for (const r of want) show(r.run_id);
  }

  function show(run) {
    if (state.shown.has(run)) return;
    const taken = new Set([...state.shown].map((id) => state.colour.get(id)));
    const free = [...Array(colours).keys()].find((c) => !taken.has(c));
    state.colour.set(run, free ?? state.shown.size % colours);
    state.shown.add(run);
  }

  function toggle(run, on) {
    state.chosen = true;
    if (on) show(run);
    else state.shown.delete(run);
    stopRuns.now();
    draw();
  }

  function draw() {
    none.hidden = state.runs.length > 0;
    body.hidden = state.runs.length === 0;
    drawRuns();
    const runs = state.runs.filter((r) => state.shown.has(r.run_id));
    const metrics = new Set();
    for (const r of runs) for (const p of state.points.get(r.run_id) ?? []) for (const m of Object.keys(p.values)) metrics.add(m);
    const rank = (m) => (isEval(m) ? `1${m}` : `0${m}`);
    const of = (panel) => [...metrics].filter((m) => panelOf(m) === panel).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
    reward.show(curves(runs, of("reward")), state);
    success.show(curves(runs, of("success")), state);
    drawTiles(runs[0]);
    if (more.open) drawOthers(runs, of("other"));
  }

  // One line for each run and metric of a panel; evaluations are dashed.
  function curves(runs, metrics) {
    return runs.flatMap((r) => metrics.map((m) => ({
      name: runs.length === 1 ? words(m) : metrics.length === 1 ? r.name : `${r.name}: ${words(m)}`,
      colour: runs.length === 1 && metrics.length > 1 ? metrics.indexOf(m) % colours : state.colour.get(r.run_id),
      dash: isEval(m) ? 1 + (metrics.filter(isEval).indexOf(m) % 3) : 0,
      whiskers: whiskers(state.points.get(r.run_id) ?? [], m, state.axis),
      xy: pick(state.points.get(r.run_id) ?? [], m, state.axis),
    })));
  }

  // The list is rebuilt only when it has changed, so that focus stays where it is.
  function drawRuns() {
    const signature = JSON.stringify(state.runs.map((r) => [r.run_id, r.name, r.points, isLive(r), state.shown.has(r.run_id)]));
    if (signature === state.signature) return;
    state.signature = signature;
    const focused = document.activeElement?.getAttribute("data-run");
    fill(list, state.runs.map((r) => h("li", {}, h("label", { class: `c${state.colour.get(r.run_id) ?? 0}` },
      h("input", { type: "checkbox", "data-run": r.run_id, checked: state.shown.has(r.run_id), onchange: (e) => toggle(r.run_id, e.target.checked) }),
      state.shown.has(r.run_id) ? h("i", { class: "swatch" }) : h("i"),
      h("span", { class: "name" }, r.name),
      h("small", {}, isLive(r) ? h("span", { class: "live" }, "running") : ago(r.updated_at ?? r.created_at), ` · ${r.points} points`)))));
    if (focused) list.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus();
  }

  function drawTiles(run) {
    const points = run ? state.points.get(run.run_id) ?? [] : [];
    const last = points.at(-1);
    tiles.hidden = !last;
    if (!last) return;
    const value = (test) => {
      const found = points.flatMap((p) => Object.entries(p.values).filter(([m]) => test(m))).at(-1);
      return found ? [words(found[0]), found[1]] : null;
    };
    const tile = (label, text) => h("div", { class: "card tile" }, h("b", {}, text), h("span", {}, label));
    const rew = value((m) => panelOf(m) === "reward" && !isEval(m));
    const train = value((m) => panelOf(m) === "success" && !isEval(m));
    const evaluated = value((m) => panelOf(m) === "success" && isEval(m));
    fill(tiles, tile("update", number(last.update)), tile("wall time", duration(last.wall_seconds)),
      rew && tile(rew[0], number(rew[1])), train && tile(train[0], percent(train[1])), evaluated && tile(evaluated[0], percent(evaluated[1])));
  }

  function drawOthers(runs, metrics) {
    for (const [m, chart] of others) {
      if (metrics.includes(m)) continue;
      chart.destroy();
      chart.el.remove();
      others.delete(m);
    }
    for (const m of metrics) {
      if (!others.has(m)) others.set(m, new Chart(words(m), { height: 130, legend: false }));
      const chart = others.get(m);
      if (!chart.el.isConnected) multiples.append(chart.el);
      chart.show(curves(runs, [m]).map((c, i) => ({ ...c, name: runs[i].name })), state);
    }
  }

  return () => {
    stopRuns();
    stopEpisodes();
    for (const c of [reward, success, ...others.values()]) c.destroy();
  };
}

function isEval(metric) {
  return /eval|held_?out/.test(metric);
}

function isLive(run) {
  return Date.now() - Date.parse(run.updated_at ?? run.created_at) < liveWithin;
}
