import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Problem } from "../static/js/api.js";
import { isElsewhere, isOver, saying, verdict } from "../static/js/problems.js";

const problem = (status, code, more = {}) => new Problem(status, { code, detail: "detail", request_id: "r1", ...more });

test("every code of the contract has words, or is told by its fields", () => {
  const contract = readFileSync(new URL("../../openapi.yaml", import.meta.url), "utf8");
  const codes = [.../ {4}ProblemCode:[\s\S]*?enum:\n((?: {8}- \S+\n)+)/.exec(contract)[1].matchAll(/- (\S+)/g)].map((m) => m[1]);
  assert.ok(codes.length > 25);
  const untold = codes.filter((c) => saying(problem(400, c)).words === "detail");
  // What only a program that is wrong can meet.
  assert.deepEqual(untold.sort(), ["invalid-field", "invalid-json", "method-not-allowed", "not-found", "run-not-found", "snapshot-not-found", "unknown-field", "unsupported-media-type", "wrong-node"]);
});

test("the server's own words, fields and the request are at hand", () => {
  assert.deepEqual(saying(problem(422, "invalid-field")), { words: "detail", detail: "invalid-field" });
  assert.equal(saying(problem(500, "env-crashed")).detail, "detail · env-crashed · request r1");
  assert.match(saying(new TypeError("Failed to fetch")).words, /cannot be reached/);
});

test("what ends an episode", () => {
  for (const [err, over] of [[problem(404, "env-not-found"), true], [problem(410, "env-expired"), true], [problem(409, "episode-over"), true],
    [problem(504, "step-timeout", { effect: "applied" }), true], [problem(504, "step-timeout", { effect: "unknown" }), false],
    [problem(503, "draining", { effect: "applied" }), true], [problem(409, "step-in-progress"), false], [problem(503, "draining"), false]]) assert.equal(isOver(err), over, err.code);
  assert.ok(isElsewhere(problem(409, "step-conflict")));
});

test("null is said to be no zero", () => {
  assert.match(verdict({ status: "failed" }).title + verdict({ status: "failed" }).words, /null.*no zero/);
  assert.match(verdict({ status: "closed" }).words, /Nothing was graded/);
  assert.equal(verdict({ status: "terminated", grade: { passed: true } }).title, "Passed");
  assert.match(verdict({ status: "truncated", stop_reason: "max_steps", grade: { passed: false } }).words, /No steps were left/);
});
