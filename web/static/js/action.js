// Splits what an agent wrote into parts for reading. Pure functions; what an
// environment understood is decided by the environment, not here.

/**
 * parts splits an action into [{kind, text}]: kind is thought, action or text.
 * An action is a string, {text}, {tool_calls} or {message}.
 */
export function parts(action) {
  if (action === null || action === undefined) return [];
  if (typeof action === "string") return reactParts(action);
  if (typeof action.text === "string") return reactParts(action.text);
  const message = action.message ?? action;
  const out = [];
  if (typeof message.content === "string" && message.content !== "") out.push({ kind: "thought", text: message.content });
  for (const call of message.tool_calls ?? []) {
    const fn = call?.function ?? call ?? {};
    const args = typeof fn.arguments === "string" ? fn.arguments : JSON.stringify(fn.arguments ?? {});
    out.push({ kind: "action", text: `${fn.name ?? "?"}(${args})` });
  }
  return out.length > 0 ? out : [{ kind: "text", text: JSON.stringify(action, null, 2) }];
}

// A part begins at "Thought:" or "Action:" at the start of a line and ends at the next one.
function reactParts(text) {
  const out = [];
  for (const line of text.replace(/\n+$/, "").split("\n")) {
    const head = /^\s*(thought|action)(?:\s+\d+)?\s*:\s?/i.exec(line);
    if (head) out.push({ kind: head[1].toLowerCase(), text: line.slice(head[0].length) });
    else if (out.length > 0) out[out.length - 1].text += "\n" + line;
    else out.push({ kind: "text", text: line });
  }
  return out.map((p) => ({ ...p, text: p.text.trimEnd() }));
}
