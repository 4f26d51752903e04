import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, duration, number, percent, short, words } from "../static/js/format.js";

test("number", () => {
  for (const [v, want] of [[0, "0"], [1, "1"], [0.5, "0.5"], [0.12345, "0.1235"], [-2.5, "−2.5"], [123.456, "123.5"],
    [1234567, "1.23e+6"], [0.00001, "1.00e−5"], [null, "–"], [NaN, "–"], [Infinity, "∞"], [100, "100"]]) {
    assert.equal(number(v), want);
  }
});

test("percent, duration, ago, short, words", () => {
  assert.equal(percent(0.9125), "91.3 %");
  assert.equal(percent(undefined), "–");
  assert.equal(duration(0.25), "250 ms");
  assert.equal(duration(12.34), "12.3 s");
  assert.equal(duration(125), "2 min 5 s");
  assert.equal(duration(7500), "2 h 5 min");
  assert.equal(ago(1000, 2000), "now");
  assert.equal(ago(0, 90_000), "1 min ago");
  assert.equal(ago("not a time"), "–");
  assert.equal(short("abcdefghijklmnopqrstuvwxyz", 10), "abcdef…xyz");
  assert.equal(short("abc", 10), "abc");
  assert.equal(words("eval/success_rate"), "eval success rate");
});
