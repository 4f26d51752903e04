import assert from "node:assert/strict";
import { test } from "node:test";
import { actionOf, argumentsOf, fieldsOf, insert, paid, shapeOf, write } from "../static/js/forms.js";

const edit = { function: { name: "edit_file", parameters: { properties: { path: { type: "string" }, content: { type: "string" } }, required: ["path", "content"] } } };

test("a form tells its tool", () => {
  assert.deepEqual(shapeOf("Action: search[title]"), { before: "Action: search[", tool: "search", bracket: "[" });
  assert.deepEqual(shapeOf('Action: read_file({"path": "a"})'), { before: "Action: read_file(", tool: "read_file", bracket: "(" });
  assert.deepEqual(shapeOf("finish[answer]"), { before: "finish[", tool: "finish", bracket: "[" });
  assert.equal(shapeOf("a word"), null);
});

test("arguments are written as the form has them", () => {
  assert.equal(write("Action: search[title]", { query: "a [b]\n c" }), "Action: search[a [b] c]");
  assert.equal(write("Action: edit_file({})", { path: "s.py", content: "a = \"1\"\nb = 2\n" }),
    "Action: edit_file({\"path\":\"s.py\",\"content\":\"a = \\\"1\\\"\\nb = 2\\n\"})");
});

test("fields come from the schema, and arguments from what was typed", () => {
  assert.deepEqual(fieldsOf(edit).map((f) => [f.name, f.kind]), [["path", "text"], ["content", "lines"]]);
  assert.deepEqual(fieldsOf({ function: { name: "run" } }), []);
  const fields = fieldsOf({ function: { parameters: { properties: { n: { type: "integer" }, o: { type: "object" }, s: { type: "string" }, t: { type: "string" } }, required: ["n", "s"] } } });
  assert.deepEqual(argumentsOf(fields, { n: "3", o: "{\"a\":1}", s: "" }), { n: 3, o: { a: 1 }, s: "" });
  assert.throws(() => argumentsOf(fields, { s: "x" }), /n is missing/);
  assert.throws(() => argumentsOf(fields, { n: "x", s: "" }), /n is no number/);
  assert.throws(() => argumentsOf(fields, { n: "1", o: "{", s: "" }), /o is no JSON/);
});

test("a form goes on lines of its own, with its argument selected", () => {
  const empty = insert("", 0, 0, "Action: search[title]");
  assert.equal(empty.text, "Thought: \nAction: search[title]");
  assert.equal(empty.text.slice(empty.from, empty.to), "title");
  const middle = insert("Thought: hm\nrest", 11, 11, "Action: run_tests({})");
  assert.equal(middle.text, "Thought: hm\nAction: run_tests({})\nrest");
  assert.equal(middle.from, middle.to);
  assert.equal(insert("abc", 1, 2, "a word").text, "a\na word\nc");
  const code = insert("", 0, 0, "Action: edit[ 1]>> code");
  assert.equal(code.text.slice(code.from, code.to), " 1");
});

test("text is sent as it is, tool calls as a message", () => {
  assert.equal(actionOf(" Action: x[1]\n", []), " Action: x[1]\n");
  assert.deepEqual(actionOf("hm", [{ name: "a", args: { b: 1 } }, { name: "c", args: {} }]).message.tool_calls.map((c) => [c.id, c.type, c.function]), [
    ["call_1", "function", { name: "a", arguments: "{\"b\":1}" }], ["call_2", "function", { name: "c", arguments: "{}" }],
  ]);
});

test("parts add up over steps", () => {
  const part = (value, weight = 1) => ({ name: "p", kind: "outcome", value, weight });
  assert.deepEqual(paid([{ reward_parts: [part(0.5)] }, {}, { reward_parts: [part(0.25), part(1, 0)] }]), [
    { name: "p", kind: "outcome", weight: 1, value: 0.75, paid: 0.75 },
    { name: "p", kind: "outcome", weight: 0, value: 1, paid: 0 },
  ]);
});
