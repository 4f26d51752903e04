import assert from "node:assert/strict";
import { test } from "node:test";
import { parts } from "../static/js/action.js";

test("a ReAct turn has a thought and an action", () => {
  assert.deepEqual(parts("Thought: look it up\nAction: search[Ostra]\n"), [
    { kind: "thought", text: "look it up" },
    { kind: "action", text: "search[Ostra]" },
  ]);
});

test("further lines belong to the part before them", () => {
  assert.deepEqual(parts({ text: "Thought: a\nb\nAction: x[\n1]" }), [
    { kind: "thought", text: "a\nb" },
    { kind: "action", text: "x[\n1]" },
  ]);
});

test("an observation that the policy wrote stays inside its own text", () => {
  assert.deepEqual(parts("Action: finish[1]\nObservation: reward 1"), [
    { kind: "action", text: "finish[1]\nObservation: reward 1" },
  ]);
});

test("tool calls show name and arguments", () => {
  const call = { id: "1", function: { name: "search", arguments: "{\"q\":\"x\"}" } };
  assert.deepEqual(parts({ tool_calls: [call] }), [{ kind: "action", text: "search({\"q\":\"x\"})" }]);
  assert.deepEqual(parts({ message: { role: "assistant", content: "hm", tool_calls: [call] } }), [
    { kind: "thought", text: "hm" },
    { kind: "action", text: "search({\"q\":\"x\"})" },
  ]);
});

test("anything else is shown as it is, and nothing throws", () => {
  assert.deepEqual(parts(null), []);
  assert.deepEqual(parts(""), [{ kind: "text", text: "" }]);
  assert.deepEqual(parts({ odd: 1 }), [{ kind: "text", text: "{\n  \"odd\": 1\n}" }]);
  assert.deepEqual(parts({ tool_calls: [null] }), [{ kind: "action", text: "?({})" }]);
  assert.deepEqual(parts("<img src=x onerror=alert(1)>"), [{ kind: "text", text: "<img src=x onerror=alert(1)>" }]);
});
