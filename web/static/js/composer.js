// Where a person writes an action: as text, or as tool calls that are filled in.

import { h, fill } from "./dom.js";
import { actionOf, argumentsOf, fieldsOf, insert, shapeOf, write } from "./forms.js";

/** Composer writes one action after the other. do has send(action), score() and leave(). */
export class Composer {
  constructor(acts) {
    this.acts = acts;
    this.calls = [];
    this.text = h("textarea", {
      id: "action", rows: 5, spellcheck: "false", autocomplete: "off", "aria-describedby": "action-hint",
      onkeydown: (e) => {
        if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
        e.preventDefault();
        this.send();
      },
    });
    this.queue = h("ol", { class: "queue", "aria-label": "Tool calls to send", hidden: true });
    this.fault = h("p", { class: "bad-text", role: "alert" });
    this.buttons = [
      h("button", { type: "submit", class: "main" }, "Send"),
      h("button", { type: "button", onclick: () => acts.score() }, "Grade it as it stands"),
      h("button", { type: "button", onclick: () => acts.leave() }, "Give up"),
    ];
    this.el = h("form", { class: "card composer", "aria-label": "Your action", onsubmit: (e) => { e.preventDefault(); this.send(); } },
      h("label", { for: "action" }, "Your action"), this.text, this.queue, this.fault,
      h("div", { class: "bar" }, this.buttons, h("span", { id: "action-hint", class: "dim" }, "Ctrl+Enter sends it just as it stands")));
  }

  send() {
    this.fault.textContent = "";
    if (this.waiting) return;
    if (this.text.value.trim() === "" && this.calls.length === 0) {
      this.fault.textContent = "Write an action first.";
      return;
    }
    this.acts.send(actionOf(this.text.value, this.calls));
  }

  busy(yes) {
    this.waiting = yes;
    this.el.setAttribute("aria-busy", String(yes));
    for (const b of this.buttons) b.disabled = yes;
  }

  clear() {
    this.text.value = "";
    this.calls = [];
    this.drawQueue();
  }

  focus() {
    this.text.focus();
  }

  put(form) {
    const at = insert(this.text.value, this.text.selectionStart, this.text.selectionEnd, form);
    this.text.value = at.text;
    this.text.focus();
    this.text.setSelectionRange(at.from, at.to);
  }

  drawQueue() {
    this.queue.hidden = this.calls.length === 0;
    fill(this.queue, this.calls.map((c, i) => h("li", {},
      h("code", {}, `${c.name}(${JSON.stringify(c.args)})`), " ",
      h("button", { type: "button", "aria-label": `Take out call ${i + 1}, ${c.name}`, onclick: () => { this.calls.splice(i, 1); this.drawQueue(); } }, "Take out"))));
  }

  /** help is what an env type lets a person do. */
  help(type) {
    const forms = type.action_forms ?? [];
    return [
      h("h2", {}, "How to act"),
      h("pre", {}, type.action_help),
      forms.length > 0 && [
        h("h3", {}, "Forms of an action"),
        h("p", { class: "dim" }, "Each goes into your text where the cursor is."),
        h("ul", { class: "forms" }, forms.map((f) => h("li", {},
          h("button", { type: "button", class: "mono", onclick: () => this.put(f) }, f.replace(/^Action: /, ""))))),
      ],
      h("h3", {}, "Tools"),
      h("p", { class: "dim" }, "Filled in here they need no brackets and no escapes; several can go in one action."),
      type.tools.map((t) => this.tool(t, forms.find((f) => shapeOf(f)?.tool === t.function.name))),
    ];
  }

  // tool is the fields of a tool, written into the text or kept as a call.
  tool(tool, form) {
    const fn = tool.function;
    const fields = fieldsOf(tool);
    const inputs = fields.map((f) => (f.kind === "lines"
      ? h("textarea", { rows: 6, spellcheck: "false" })
      : h("input", { type: f.kind === "number" ? "number" : "text", spellcheck: "false", autocomplete: "off" })));
    const fault = h("p", { class: "bad-text", role: "alert" });
    const filled = (use) => () => {
      fault.textContent = "";
      try {
        use(argumentsOf(fields, Object.fromEntries(fields.map((f, i) => [f.name, inputs[i].value]))));
      } catch (err) {
        fault.textContent = err.message;
      }
    };
    return h("details", {},
      h("summary", {}, h("code", {}, fn.name), " ", h("span", { class: "dim" }, fn.description)),
      fields.map((f, i) => h("label", { class: "field" }, f.about ? `${f.name}: ${f.about}` : f.name, inputs[i])),
      fault,
      h("div", { class: "bar" },
        form && h("button", { type: "button", onclick: filled((args) => this.put(write(form, args))) }, "Write into the text"),
        h("button", { type: "button", onclick: filled((args) => { this.calls.push({ name: fn.name, args }); this.drawQueue(); this.focus(); }) }, "Add as a tool call")));
  }
}
