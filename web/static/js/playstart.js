// Where a person chooses what to play.

import { api } from "./api.js";
import { fill, h } from "./dom.js";
import { problem } from "./playend.js";

const mark = { played_by: "page" }; // the label by which the page knows its own envs

/** chooser shows the form that starts an episode. The address may name type, split and task. */
export function chooser(root, params, page) {
  const abort = new AbortController();
  const want = { type: params.get("type") ?? "", split: params.get("split") ?? "", task: params.get("task") ?? "" };
  let types = [];

  const typeField = h("select", { required: true, onchange: () => pickType("") });
  const splitField = h("select", { onchange: () => listTasks() });
  const tasks = h("datalist", { id: "play-tasks" });
  const taskField = h("input", { type: "text", list: "play-tasks", spellcheck: "false", autocomplete: "off", placeholder: "any of the split", value: want.task });
  const patient = h("input", { type: "checkbox", checked: true });
  const about = h("p", { class: "dim" });
  const trouble = h("div", { role: "alert" });
  const button = h("button", { type: "submit", class: "main", disabled: true }, "Start");
  const open = h("div", {});
  const form = h("form", { class: "card stack", "aria-label": "What to play", onsubmit: start },
    h("div", { class: "bar" },
      h("label", { class: "field" }, "Environment", typeField),
      h("label", { class: "field" }, "Split", splitField),
      h("label", { class: "field grow" }, "Task (empty takes any)", taskField), tasks,
      button),
    h("label", { class: "check" }, patient, " Give me all the time that the environment allows"),
    about, trouble);
  fill(root, h("h1", {}, "Play"),
    h("p", { class: "dim" }, "Do what an agent does: read the observation, write an action, and see what it earns. It goes by the same requests, is kept under Episodes, and is marked by the policy version human."),
    h("div", { class: "stack" }, form, open));

  Promise.all([api.envTypes(abort.signal), api.envs(abort.signal)]).then(([all, envs]) => {
    types = all;
    page.link("up");
    fill(typeField, types.map((t) => h("option", { value: t.name }, t.name)));
    typeField.value = types.some((t) => t.name === want.type) ? want.type : types.find((t) => t.name === "react")?.name ?? types[0]?.name ?? "";
    pickType(want.split);
    button.disabled = types.length === 0;
    const mine = envs.filter((e) => e.labels?.played_by === mark.played_by && e.status === "running");
    if (mine.length > 0) {
      fill(open, h("section", { class: "card" }, h("h2", {}, "Begun and not ended"),
        h("ul", {}, mine.map((e) => h("li", {}, h("a", { href: `#/play/${encodeURIComponent(e.episode_id)}` }, `${e.type}, at step ${e.step}`))))));
    }
  }).catch((err) => abort.signal.aborted || page.link(err));
  return () => abort.abort();

  function chosen() {
    return types.find((t) => t.name === typeField.value);
  }

  function pickType(split) {
    const t = chosen();
    if (!t) return;
    fill(splitField, t.splits.map((s) => h("option", { value: s.name }, `${s.name} (${s.tasks} tasks)`)));
    if (t.splits.some((s) => s.name === split)) splitField.value = split;
    about.textContent = `${t.summary} At most ${t.default_limits.max_steps} steps; an agent has ${minutes(t.default_limits.wall_time_seconds)}, and ${minutes(t.max_limits.wall_time_seconds)} can be had.`;
    if (t.name !== want.type) taskField.value = "";
    listTasks();
  }

  // Some tasks by name; any other id can be typed.
  async function listTasks() {
    fill(tasks);
    try {
      const found = await api.tasks(typeField.value, splitField.value, 100, abort.signal);
      fill(tasks, found.tasks.map((t) => h("option", { value: t.task_id }, describe(t.public))));
    } catch {
      // The list only helps; starting says what is wrong.
    }
  }

  async function start(e) {
    e.preventDefault();
    const t = chosen();
    if (!t || button.disabled) return;
    button.disabled = true;
    fill(trouble);
    let env = null;
    try {
      const limits = patient.checked ? { wall_time_seconds: t.max_limits.wall_time_seconds } : {};
      const ttl = Math.min(86_400, (limits.wall_time_seconds ?? t.default_limits.wall_time_seconds) + 600);
      env = await api.create({ type: t.name, labels: mark, limits, ttl_seconds: ttl }, abort.signal);
      const task = taskField.value.trim();
      const reset = await api.reset(env.env_id, {
        ...(task ? { task_id: task } : {}), ...(splitField.value ? { split: splitField.value } : {}), policy_version: "human",
      }, abort.signal);
      page.go(`#/play/${encodeURIComponent(reset.episode_id)}`);
    } catch (err) {
      if (env) api.end(env.env_id).catch(() => {}); // it would be swept up later on anyway
      if (abort.signal.aborted) return;
      page.link(err.status && err.status !== 401 ? "up" : err);
      if (err.status !== 401) fill(trouble, problem(err));
    } finally {
      button.disabled = false;
    }
  }
}

const minutes = (seconds) => (seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);

function describe(fields) {
  return Object.entries(fields ?? {}).filter(([, v]) => typeof v !== "object").map(([k, v]) => `${k} ${v}`).join(", ").slice(0, 120);
}
