// Writes actions from the forms that an env type declares and from the
// parameters of its tools. Pure functions; the server alone decides what an
// action means.

/**
 * shapeOf reads a form such as "Action: search[title]": what stands before the
 * arguments, the tool and the bracket. It is null for a form without any.
 */
export function shapeOf(form) {
  const found = /^(.*?\b)([A-Za-z_]\w*)([[(])/s.exec(form);
  return found && { before: found[1] + found[2] + found[3], tool: found[2], bracket: found[3] };
}

/** fill writes arguments into a form: as JSON in round brackets, or the only one as it is in square ones. */
export function write(form, args) {
  const shape = shapeOf(form);
  if (shape.bracket === "(") return `${shape.before}${JSON.stringify(args)})`;
  return `${shape.before}${Object.values(args).join(" ").replace(/\s*\n\s*/g, " ")}]`;
}

/**
 * fieldsOf is what a person has to give for a tool: [{name, kind, about,
 * required}] where kind is text, lines, number or json.
 */
export function fieldsOf(tool) {
  const schema = tool.function.parameters ?? {};
  const required = schema.required ?? [];
  return Object.entries(schema.properties ?? {}).map(([name, p]) => ({
    name,
    kind: { string: name === "content" ? "lines" : "text", integer: "number", number: "number" }[p.type] ?? "json",
    about: p.description ?? "",
    required: required.includes(name),
  }));
}

/** argumentsOf turns what was typed, by field name, into arguments; a field that does not fit is an Error. */
export function argumentsOf(fields, typed) {
  const out = {};
  for (const f of fields) {
    const text = typed[f.name] ?? "";
    if (text === "" && (!f.required || f.kind === "number" || f.kind === "json")) {
      if (f.required) throw new Error(`${f.name} is missing`);
      continue;
    }
    if (f.kind === "number") {
      out[f.name] = Number(text);
      if (!Number.isFinite(out[f.name])) throw new Error(`${f.name} is no number`);
    } else if (f.kind === "json") {
      try {
        out[f.name] = JSON.parse(text);
      } catch {
        throw new Error(`${f.name} is no JSON`);
      }
    } else {
      out[f.name] = text;
    }
  }
  return out;
}

/**
 * insert puts a form into a text whose selection is from start to end, on lines
 * of its own, and says what to select: the argument in square brackets, where
 * typing goes on. An empty text gets a line for the thought first.
 */
export function insert(text, start, end, form) {
  let before = text.slice(0, start);
  let after = text.slice(end);
  if (text.trim() === "") {
    before = form.startsWith("Action:") ? "Thought: \n" : "";
    after = "";
  }
  if (before !== "" && !before.endsWith("\n")) before += "\n";
  if (after !== "" && !after.startsWith("\n")) after = "\n" + after;
  const shape = shapeOf(form);
  const close = form.lastIndexOf("]");
  const open = before.length + (shape?.before.length ?? form.length);
  const inside = shape?.bracket === "[" && close >= shape.before.length;
  const at = before.length + form.length;
  return { text: before + form + after, from: inside ? open : at, to: inside ? before.length + close : at };
}

/**
 * actionOf is the body of a step's action: the text, or with tool calls an
 * assistant's message that has the text as its thought.
 */
export function actionOf(text, calls) {
  if (calls.length === 0) return text;
  return {
    message: {
      role: "assistant",
      content: text,
      tool_calls: calls.map((c, i) => ({ id: `call_${i + 1}`, type: "function", function: { name: c.name, arguments: JSON.stringify(c.args) } })),
    },
  };
}

/** paid adds up the parts of a reward over steps: [{name, kind, weight, value, paid}] in the order of their first use. */
export function paid(steps) {
  const parts = new Map();
  for (const st of steps) {
    for (const p of st.reward_parts ?? []) {
      const key = `${p.name} ${p.kind} ${p.weight}`;
      const sum = parts.get(key) ?? { name: p.name, kind: p.kind, weight: p.weight, value: 0, paid: 0 };
      sum.value += p.value;
      sum.paid += p.value * p.weight;
      parts.set(key, sum);
    }
  }
  return [...parts.values()];
}
