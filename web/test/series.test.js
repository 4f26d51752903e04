import assert from "node:assert/strict";
import { test } from "node:test";
import { extent, merge, nearest, panelOf, pick, smooth, thin, ticks, whiskers } from "../static/js/series.js";

const point = (update, values) => ({ update, wall_seconds: update * 2, values });

test("merge appends what is newer", () => {
  const got = merge([point(0, { a: 1 })], [point(1, { a: 2 }), point(2, { a: 3 })]);
  assert.deepEqual(got.map((p) => p.values.a), [1, 2, 3]);
});

test("merge replaces an update that a resumed trainer repeats", () => {
  const got = merge([point(0, { a: 1 }), point(1, { a: 2 })], [point(1, { a: 9 }), point(2, { a: 3 })]);
  assert.deepEqual(got.map((p) => [p.update, p.values.a]), [[0, 1], [1, 9], [2, 3]]);
});

test("merge sorts and joins two reports of one update", () => {
  const got = merge([], [point(3, { a: 1 }), point(1, { a: 5 }), point(3, { b: 2 })]);
  assert.deepEqual(got.map((p) => [p.update, p.values]), [[1, { a: 5 }], [3, { a: 1, b: 2 }]]);
});

test("pick leaves out what was not measured", () => {
  const points = [point(0, { r: 0.5 }), point(1, {}), point(2, { r: null }), point(3, { r: 1 })];
  assert.deepEqual(pick(points, "r", "update"), [[0, 0.5], [3, 1]]);
  assert.deepEqual(pick(points, "r", "time"), [[0, 0.5], [6, 1]]);
});

test("smooth starts at the first value and keeps a constant", () => {
  assert.deepEqual(smooth([[0, 2], [1, 4]], 0)[1], [1, 4]);
  const flat = smooth([[0, 0.7], [1, 0.7], [2, 0.7]], 0.9);
  for (const [, y] of flat) assert.ok(Math.abs(y - 0.7) < 1e-12);
  // By hand: mean = .5*.5*0 + .5*1 = .5, divided by 1-.25.
  assert.ok(Math.abs(smooth([[0, 0], [1, 1]], 0.5)[1][1] - 0.5 / 0.75) < 1e-12);
});

test("thin keeps ends and spikes", () => {
  const xy = Array.from({ length: 10000 }, (_, i) => [i, i === 5000 ? 99 : 0]);
  const got = thin(xy, 100);
  assert.ok(got.length <= 200);
  assert.deepEqual(got[0], [0, 0]);
  assert.deepEqual(got.at(-1), [9999, 0]);
  assert.ok(got.some(([x, y]) => x === 5000 && y === 99));
});

test("ticks are round, inside and exact", () => {
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(0.13, 0.31, 4), [0.15, 0.2, 0.25, 0.3]);
  assert.deepEqual(ticks(-40, 40, 4), [-40, -20, 0, 20, 40]);
  assert.deepEqual(ticks(5, 5, 4), [5]);
});

test("extent gives flat lines room and shares the whole scale", () => {
  assert.deepEqual(extent([0.3, 0.4], true), [0, 1]);
  assert.deepEqual(extent([], false), [0, 1]);
  assert.deepEqual(extent([0, 0], false), [-1, 1]);
  const [lo, hi] = extent([10, 20], false);
  assert.ok(lo < 10 && hi > 20);
  assert.equal(extent([0, 50], false)[0], 0);
});

test("whiskers are there where both ends are", () => {
  const points = [point(0, { a: 0.5, a_low: 0.4, a_high: 0.6 }), point(1, { a: 0.5 }), point(2, { a_low: 0.1 })];
  assert.deepEqual(whiskers(points, "a", "update"), [[0, 0.4, 0.6]]);
});

test("nearest finds the closest x", () => {
  const xy = [[0, 0], [10, 0], [20, 0], [30, 0]];
  assert.equal(nearest(xy, -5), 0);
  assert.equal(nearest(xy, 14), 1);
  assert.equal(nearest(xy, 16), 2);
  assert.equal(nearest(xy, 99), 3);
  assert.equal(nearest([[7, 1]], 3), 0);
});

test("panelOf sorts metrics by what they measure", () => {
  assert.equal(panelOf("reward_mean"), "reward");
  assert.equal(panelOf("reward_std"), "other");
  assert.equal(panelOf("success_rate"), "success");
  assert.equal(panelOf("eval_success_greedy"), "success");
  assert.equal(panelOf("eval_success_greedy_low"), "other");
  assert.equal(panelOf("eval_success_greedy/chain"), "other");
  assert.equal(panelOf("success_rate/chain"), "other");
  assert.equal(panelOf("length_solved"), "other");
  assert.equal(panelOf("grad_norm"), "other");
});
