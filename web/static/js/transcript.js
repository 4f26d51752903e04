// One episode, readable from top to bottom.

import { parts } from "./action.js";
import { api } from "./api.js";
import { fill, h } from "./dom.js";
import { flagPills, statusPill } from "./episodes.js";
import { duration, number } from "./format.js";
import { live } from "./live.js";
import { saying } from "./problems.js";

export function mount(root, params, page) {
  const episodeID = params.get("id");
  const head = h("div", { class: "stack" });
  const steps = h("ol", { class: "steps" });
  fill(root, h("p", {}, h("a", { href: "#/episodes" }, "← Episodes")), h("div", { class: "stack" }, head, steps));
  let episode = null;

  // A running episode is followed; one that has ended is final.
  const stop = live({ events: ["episode", "step"], episode_id: episodeID }, {
    load: async (signal) => {
      const [now, trajectory] = await Promise.all([api.episode(episodeID, signal), api.steps(episodeID, signal)]);
      fill(steps, first(trajectory.observation), trajectory.steps.map(step));
      become(now);
    },
    apply: (e) => {
      // The reset stands first, so step i is child i + 1. What is there already was read with the state.
      if (e.event === "step" && e.step.step === steps.children.length - 1) steps.append(step(e.step));
      if (e.event === "episode") become(e.episode);
    },
  }, 1500, (s) => {
    page.link(s);
    if (s.status === 404) {
      stop();
      fill(head, h("p", { class: "card empty" }, `There is no episode ${episodeID} that you may see.`));
    }
  });

  function become(now) {
    if (episode && episode.status === now.status) return;
    episode = now;
    fill(head, header(now));
    if (now.status === "running") return;
    page.link("up");
    stop();
  }

  const keys = (e) => {
    if (e.target.closest?.("input, select, textarea") || e.ctrlKey || e.metaKey || e.altKey) return;
    const move = { j: 1, k: -1 }[e.key];
    if (!move) return;
    const all = [...steps.children];
    const at = all.indexOf(document.activeElement);
    const next = all[Math.max(0, Math.min(all.length - 1, at + move))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", keys);
  return () => {
    stop();
    document.removeEventListener("keydown", keys);
  };
}

function header(e) {
  const took = e.ended_at ? duration((Date.parse(e.ended_at) - Date.parse(e.started_at)) / 1000) : "running";
  const fact = (name, value) => value !== undefined && value !== "" && value !== null
    && h("div", {}, h("dt", {}, name), h("dd", {}, value));
  return [
    h("h1", {}, "Episode ", h("span", { class: "mono" }, e.episode_id)),
    h("div", { class: "card" },
      h("dl", { class: "facts" },
        fact("Status", [statusPill(e), " ", flagPills(e.grade?.integrity?.flags)]),
        fact("Return", e.status === "failed" ? "null (not measured: our side broke)" : number(e.return)),
        fact("Environment", h("a", { href: "#/environments" }, `${e.type} ${e.version}`)),
        fact("Task", [h("a", { class: "mono", href: `#/episodes?task_id=${encodeURIComponent(e.task_id)}` }, e.task_id), ` ${e.split}`]),
        Object.entries(e.public ?? {}).map(([k, v]) => fact(k, typeof v === "string" ? v : JSON.stringify(v))),
        fact("Seed", h("span", { class: "mono" }, e.seed)),
        fact("Policy version", e.policy_version),
        fact("Group", e.group_id && h("a", { class: "mono", href: `#/episodes?group_id=${encodeURIComponent(e.group_id)}` }, e.group_id)),
        fact("Took", took),
        e.grade && [
          fact("Score", number(e.grade.score)),
          fact("Hidden checks", `${e.grade.tests.passed} passed, ${e.grade.tests.failed} failed, ${e.grade.tests.errors} errors`),
          fact("Verifier", `${e.grade.verifier.name} ${e.grade.verifier.version}`),
          fact("Integrity", e.grade.integrity.ok ? "no attempt seen" : "attempts seen"),
        ]),
      e.status === "running" ? null : replay(e.episode_id),
      h("p", { class: "dim" }, "Keys j and k move between steps. Raw: ",
        h("a", { href: `/episodes/${encodeURIComponent(e.episode_id)}/steps` }, "JSON"), ". ",
        h("a", { href: `#/play?${new URLSearchParams({ type: e.type, split: e.split, task: e.task_id })}` }, "Play this task yourself"))),
  ];
}

// replay has the server play the stored actions again and compare every byte.
function replay(episodeID) {
  const said = h("span", { role: "status" });
  const button = h("button", {
    type: "button",
    onclick: async () => {
      button.disabled = true;
      said.textContent = "The server plays them …";
      try {
        const r = await api.replay(episodeID);
        said.textContent = r.identical ? `Played again on a fresh environment: identical in all ${r.steps} steps.`
          : `Played again, it differs at step ${r.first_divergence?.step} in ${r.first_divergence?.field}.`;
      } catch (err) {
        const { words, detail } = saying(err);
        said.textContent = `${words} ${detail}`;
      }
      button.disabled = false;
    },
  }, "Play its actions again");
  return h("p", { class: "bar" }, button, said);
}

/** first draws what an episode begins with. */
export function first(observation) {
  return h("li", { class: "card step", tabindex: "-1" }, h("div", { class: "no" }, "reset"), h("div", {}, observationBlock(observation)));
}

/** step draws one step of an episode. */
export function step(st) {
  const info = st.info ?? {};
  return h("li", { class: "card step", tabindex: "-1" },
    h("div", { class: "no" }, st.step),
    h("div", {},
      st.action === null ? h("p", { class: "dim" }, "Graded as it stood, without an action.") : parts(st.action).map(turn),
      observationBlock(st.observation)),
    h("div", { class: "side" },
      h("div", { class: "flags" },
        info.parse_error && h("span", { class: "pill warn", title: info.parse_error }, "not understood"),
        info.tool_error && h("span", { class: "pill warn", title: info.tool_error }, "tool error"),
        flagPills(info.flags),
        st.status !== "running" && statusPill(st)),
      h("p", {}, "reward ", h("b", { class: "num" }, st.reward === null ? "null" : number(st.reward))),
      st.reward_parts.length > 0 && h("table", {},
        h("thead", { class: "hidden-text" }, h("tr", {}, h("th", {}, "part"), h("th", {}, "value"), h("th", {}, "weight"))),
        h("tbody", {}, st.reward_parts.map((p) => h("tr", { title: p.kind },
          h("td", {}, p.name), h("td", { class: "right" }, number(p.value)), h("td", { class: "right dim" }, `× ${number(p.weight)}`))))),
      (info.parse_error || info.tool_error) && h("p", { class: "dim" }, info.parse_error || info.tool_error),
      info.action && h("p", { class: "dim mono" }, `${info.action.tool} ${JSON.stringify(info.action.arguments)}`),
      st.timing_ms && h("p", { class: "dim num" }, `${number(st.timing_ms.exec)} ms, grading ${number(st.timing_ms.grade)} ms`)));
}

function turn({ kind, text }) {
  if (kind === "thought") return h("div", { class: "turn thought" }, h("div", { class: "who" }, "Thought"), h("p", {}, text));
  return h("div", { class: `turn ${kind === "action" ? "action" : ""}` }, h("div", { class: "who" }, kind === "action" ? "Action" : "Text"), h("pre", {}, text));
}

function observationBlock(o) {
  return h("div", { class: "turn observation" }, h("div", { class: "who" }, "Observation"),
    h("pre", {}, o.text), o.elided && h("p", { class: "dim" }, `${o.elided.bytes} bytes left out`));
}
