// The view in which a person plays: one environment, by the same requests that
// an agent makes. What is known of an episode comes from the server, so that a
// page that is loaded again goes on where it was.

import { api } from "./api.js";
import { Composer } from "./composer.js";
import { fill, h } from "./dom.js";
import { number } from "./format.js";
import { live } from "./live.js";
import { chooser } from "./playstart.js";
import { outcome, problem } from "./playend.js";
import { isElsewhere, isOver } from "./problems.js";
import { first, step } from "./transcript.js";

/** mount shows the choice of a task, or with an id the episode of that id. */
export function mount(root, params, page) {
  return params.get("id") ? game(root, params.get("id"), page) : chooser(root, params, page);
}

function game(root, episodeID, page) {
  const abort = new AbortController();
  let episode = null;
  let type = null;
  let steps = [];
  let budget = null; // {steps_left, tool_calls_left, until}
  let sending = false;
  let over = false;
  let stop = () => {};

  const head = h("div", {});
  const list = h("ol", { class: "steps" });
  const trouble = h("div", { role: "alert" });
  const news = h("p", { class: "dim num", role: "status" });
  const left = h("p", { class: "dim num" });
  const end = h("div", {});
  const composer = new Composer({ send, score, leave });
  composer.el.hidden = true;
  const side = h("aside", { class: "card how", "aria-label": "How to act" });
  fill(root, head, h("div", { class: "play" },
    h("div", {}, h("div", { role: "log", "aria-label": "The episode so far" }, list), end, trouble, composer.el, left, news), side));

  const clock = setInterval(drawLeft, 1000);
  begin();
  return () => {
    abort.abort();
    clearInterval(clock);
    stop();
  };

  async function begin() {
    try {
      episode = await api.episode(episodeID, abort.signal);
      type = await api.envType(episode.type, abort.signal);
    } catch (err) {
      if (abort.signal.aborted) return;
      page.link(err);
      if (err.status !== 401) fill(root, h("div", { class: "card" }, problem(err)), h("p", {}, h("a", { href: "#/play" }, "Play another episode")));
      return;
    }
    fill(head, title(episode, type));
    fill(side, composer.help(type));
    stop = live({ events: ["episode", "step"], episode_id: episodeID }, {
      load: async (signal) => {
        if (!sending && !over) await reload(signal);
      },
      apply: (e) => {
        if (sending || over) return; // what the page does itself, it hears of by the reply
        // A server that shuts down may tell of the end and answer nothing any more.
        if (e.event === "episode" && e.episode.status !== "running") reload(abort.signal).catch(() => abort.signal.aborted || finish(e.episode));
        if (e.event === "step" && e.step.step >= steps.length) reload(abort.signal).catch(page.link);
      },
    }, 3000, page.link);
  }

  // reload takes the state from the server: at the start, and where it has changed without us.
  async function reload(signal) {
    const [now, trajectory] = await Promise.all([api.episode(episodeID, signal), api.steps(episodeID, signal)]);
    if (sending || over) return;
    const known = steps.length;
    episode = now;
    if (list.childElementCount === 0 || trajectory.steps.length !== known) {
      steps = trajectory.steps;
      fill(list, first(trajectory.observation), steps.map(step));
    }
    page.link("up");
    if (now.status !== "running") return finish(now);
    if (composer.el.hidden) {
      composer.el.hidden = false;
      composer.focus();
    }
    budget ??= {
      steps_left: now.limits.max_steps - steps.length,
      until: Date.parse(now.started_at) + 1000 * now.limits.wall_time_seconds,
    };
    drawLeft();
  }

  async function send(action) {
    const index = steps.length;
    await act(() => api.step(episode.env_id, { action, step: index, episode_id: episodeID }, abort.signal), action);
  }

  async function score() {
    await act(() => api.score(episode.env_id, abort.signal), null);
  }

  // act makes one request that plays; while it runs no other is made.
  async function act(request, action) {
    if (sending || over) return;
    sending = true;
    composer.busy(true);
    fill(trouble);
    news.textContent = "The action is being played …";
    let err = null;
    let result = null;
    try {
      result = await request();
    } catch (e) {
      err = e;
    }
    sending = false;
    if (abort.signal.aborted) return;
    composer.busy(false);
    news.textContent = "";
    if (err) return failed(err);
    page.link("up");
    took({ ...result, action });
  }

  function took(result) {
    steps.push(result);
    const el = step(result);
    list.append(el);
    composer.clear();
    budget = { ...result.budget, until: Date.now() + 1000 * result.budget.seconds_left };
    const reward = result.reward === null ? "null" : number(result.reward);
    news.textContent = `Step ${result.step} was played, reward ${reward}${result.info?.parse_error ? ", not understood" : ""}.`;
    drawLeft();
    if (result.done) {
      finish({ ...episode, status: result.status, stop_reason: result.stop_reason, return: result.return, grade: result.grade, steps: steps.length });
      return;
    }
    el.scrollIntoView({ block: "nearest" });
    composer.focus();
  }

  async function failed(err) {
    page.link(err.status && err.status !== 401 ? "up" : err);
    if (err.status === 401) return;
    fill(trouble, problem(err));
    if (!isOver(err) && !isElsewhere(err)) {
      composer.focus();
      return;
    }
    try {
      await reload(abort.signal);
    } catch (e) {
      if (!abort.signal.aborted) page.link(e);
    }
    // An env that is gone takes its episode along, whatever is read of it so far.
    if (!over && isOver(err)) finish({ ...episode, status: err.status === 504 ? "failed" : "closed", stop_reason: null, return: null, grade: undefined });
  }

  // leave ends the env of an episode that the person gives up.
  async function leave() {
    if (sending || over) return;
    try {
      await api.end(episode.env_id, abort.signal);
      await reload(abort.signal);
    } catch (err) {
      if (!abort.signal.aborted) await failed(err);
    }
  }

  function finish(now) {
    if (over) return;
    over = true;
    episode = now;
    stop();
    page.link("up");
    composer.el.hidden = true;
    budget = null;
    drawLeft();
    fill(head, title(now, type));
    const card = outcome(now, steps, type);
    fill(end, card);
    card.focus();
    card.scrollIntoView({ block: "nearest" });
    // Nobody plays on it any more; where it is gone already, all is well.
    api.end(now.env_id).catch(() => {});
  }

  function drawLeft() {
    if (!budget) {
      left.textContent = "";
      return;
    }
    const seconds = Math.max(0, Math.round((budget.until - Date.now()) / 1000));
    const words = [`${budget.steps_left} steps left`];
    if (budget.tool_calls_left !== undefined) words.push(`${budget.tool_calls_left} tool calls`);
    words.push(seconds > 0 ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min` : "the time is up: whatever comes next is graded as it stands");
    left.textContent = words.join(" · ");
  }
}

function title(e, type) {
  const limits = e.limits;
  return [
    h("h1", {}, "Play ", e.type),
    h("p", { class: "dim" }, type?.summary ?? ""),
    h("p", { class: "dim" }, "Task ", h("span", { class: "mono" }, e.task_id), ` of ${e.split} · at most ${limits.max_steps} steps, ${limits.max_tool_calls} tool calls, `,
      `${Math.round(limits.wall_time_seconds / 60)} minutes, ${limits.max_observation_bytes} bytes an observation · `,
      h("a", { href: `#/episodes/${encodeURIComponent(e.episode_id)}` }, "its record")),
  ];
}
