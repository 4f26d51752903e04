// Says in words what an answer of the server means for a person who plays.

const sentences = {
  unauthenticated: "This server wants a token.",
  forbidden: "Your token does not allow this; playing needs one of the scope rollout.",
  "env-type-not-found": "This server does not play that environment.",
  "env-not-found": "The server has closed this environment, so the episode is over.",
  "env-expired": "Nothing was played here for longer than the environment lives, so the server closed it.",
  "task-not-found": "There is no such task in this split.",
  "episode-not-found": "There is no such episode that you may see.",
  "reset-required": "No episode runs here.",
  "episode-over": "This episode is over.",
  "step-conflict": "This episode was played on elsewhere, in another tab perhaps.",
  "step-out-of-order": "This episode was played on elsewhere, in another tab perhaps.",
  "step-in-progress": "The action before this one still runs. Send again in a moment.",
  "body-too-large": "The action is longer than the server takes.",
  capacity: "The server has no room for another environment now. Try again later.",
  "rate-limited": "Too many requests. Try again in a moment.",
  "env-crashed": "The environment broke on the server's side. That is not your doing, and nothing was measured.",
  internal: "The server broke. That is not your doing.",
  "not-supported": "This environment cannot do that.",
  draining: "The server is shutting down and starts nothing new.",
  "sandbox-unavailable": "This server cannot run code, which this environment needs.",
  "step-timeout": "The environment did not answer in time.",
  "reset-timeout": "The environment did not start in time.",
  "grade-timeout": "The grading was not done in time.",
};

/** saying is {words, detail} of an error: what it means, and what the server wrote. */
export function saying(err) {
  if (!err.status) {
    return { words: "The server cannot be reached. Sending the same action again is safe: a step counts once.", detail: err.message ?? "" };
  }
  const known = sentences[err.code];
  const detail = [known ? err.message : "", err.code, err.status >= 500 && err.requestID ? `request ${err.requestID}` : ""];
  return { words: known ?? err.message, detail: detail.filter((d) => d).join(" · ") };
}

/** isOver says whether an error means that the episode cannot go on. */
export function isOver(err) {
  return ["env-not-found", "env-expired", "episode-over", "reset-required"].includes(err.code) || (err.status >= 500 && err.effect === "applied");
}

/** isElsewhere says whether an error means that the page has not seen the last steps. */
export function isElsewhere(err) {
  return err.code === "step-conflict" || err.code === "step-out-of-order";
}

/** verdict is {kind, title, words} of an episode that has ended. */
export function verdict(episode) {
  if (episode.status === "failed") {
    return {
      kind: "bad", title: "Reward null",
      words: "Not measured: the environment broke on the server's side. This is no zero and not your doing; a trainer leaves such an episode out.",
    };
  }
  if (episode.status === "closed") {
    return {
      kind: "warn", title: "Closed without a reward",
      words: "The server closed this episode before it ended: its environment was ended or not used for too long, or the server shut down. Nothing was graded.",
    };
  }
  const passed = episode.grade?.passed;
  const why = {
    max_steps: "No steps were left, so it was graded as it stood.",
    wall_time: "The time was up, so it was graded as it stood.",
    budget: "No tool calls were left, so it was graded as it stood.",
    client: "It was graded as it stood, as you asked.",
  }[episode.stop_reason];
  return {
    kind: passed ? "good" : passed === false ? "bad" : "",
    title: passed ? "Passed" : passed === false ? "Not passed" : "Over",
    words: why ?? "",
  };
}
