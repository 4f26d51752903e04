import assert from "node:assert/strict";
import { test } from "node:test";

// A browser's surroundings, as far as live.js looks at them.
const listeners = [];
globalThis.document = { hidden: false, addEventListener: (_, f) => listeners.push(f) };
globalThis.location = { href: "http://proctor.example/#/episodes" };
globalThis.sessionStorage = { getItem: () => globalThis.secret ?? null };

class FakeSocket {
  static all = [];
  sent = [];
  constructor(url, protocols) {
    Object.assign(this, { url, protocols });
    FakeSocket.all.push(this);
  }
  send(text) { this.sent.push(JSON.parse(text)); }
  close() { this.onclose?.(); }
  hear(frame) { return this.onmessage({ data: JSON.stringify(frame) }); }
  agree(seq, gap = false) { return this.hear({ id: 1, ok: true, result: { stream: "s", seq, gap } }); }
}
globalThis.WebSocket = FakeSocket;
const { live } = await import("../static/js/live.js");

function view(t) {
  FakeSocket.all = [];
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const seen = { loads: 0, events: [], states: [] };
  const stop = live({ events: ["step"], episode_id: "e" }, {
    load: async () => { seen.loads++; },
    apply: (e) => seen.events.push(e.seq),
  }, 1000, (s) => seen.states.push(s));
  t.after(stop);
  return { seen, stop, socket: () => FakeSocket.all.at(-1) };
}

test("the subscription comes before the state, and events wait for it", async (t) => {
  const { seen, socket } = view(t);
  assert.equal(socket().url, "ws://proctor.example/ws");
  socket().onopen();
  assert.deepEqual(socket().sent, [{ id: 1, op: "subscribe", events: ["step"], episode_id: "e" }]);
  const read = socket().agree(4);
  socket().hear({ event: "step", seq: 5 });
  assert.deepEqual(seen.events, []);
  await read;
  assert.equal(seen.loads, 1);
  await socket().hear({ event: "step", seq: 7 });
  assert.deepEqual(seen.events, [5, 7]);
  assert.deepEqual(seen.states, ["up"]);
});

test("a broken socket is taken up where it stopped", async (t) => {
  const { seen, socket } = view(t);
  socket().onopen();
  await socket().agree(4);
  await socket().hear({ event: "step", seq: 9 });
  socket().close();
  t.mock.timers.tick(1000);
  assert.equal(FakeSocket.all.length, 2);
  const polled = seen.loads;
  socket().onopen();
  assert.deepEqual(socket().sent[0].after, 9);
  assert.deepEqual(socket().sent[0].stream, "s");
  await socket().agree(9);
  assert.equal(seen.loads, polled, "nothing was lost, so nothing is read anew");
  await socket().hear({ event: "step", seq: 10 });
  assert.deepEqual(seen.events, [9, 10]);
});

test("where events are lost the state is read anew", async (t) => {
  const { seen, socket } = view(t);
  socket().onopen();
  await socket().agree(4);
  socket().close();
  t.mock.timers.tick(1000);
  const before = seen.loads;
  socket().onopen();
  await socket().agree(50, true);
  assert.equal(seen.loads, before + 1);
});

test("without a socket the state is polled", async (t) => {
  const { seen, socket } = view(t);
  socket().close();
  await new Promise(setImmediate);
  assert.equal(seen.loads, 1);
  assert.deepEqual(seen.states, ["up"]);
});

test("a hidden tab lets go of its socket", async (t) => {
  const { seen, socket } = view(t);
  socket().onopen();
  await socket().agree(3);
  document.hidden = true;
  listeners.forEach((f) => f());
  t.mock.timers.tick(60_000);
  assert.equal(FakeSocket.all.length, 1);
  document.hidden = false;
  listeners.forEach((f) => f());
  assert.equal(FakeSocket.all.length, 2);
  socket().onopen();
  assert.equal(socket().sent[0].after, 3);
  assert.equal(seen.loads, 1);
});

test("a token travels as a subprotocol", (t) => {
  globalThis.secret = "a+b/ü?>";
  t.after(() => delete globalThis.secret);
  const { socket } = view(t);
  const coded = socket().protocols[1].replace("bearer.", "");
  assert.match(coded, /^[A-Za-z0-9_-]+$/);
  assert.equal(Buffer.from(coded, "base64url").toString(), "a+b/ü?>");
});

test("the end is the end", async (t) => {
  const { stop, socket } = view(t);
  socket().onopen();
  await socket().agree(1);
  stop();
  t.mock.timers.tick(60_000);
  assert.equal(FakeSocket.all.length, 1);
});
