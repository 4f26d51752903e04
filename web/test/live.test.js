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

// A clock that stands until tick moves it. The mock timers of node's test runner
// are called otherwise in Debian's node 18 than in later ones.
class FakeClock {
  now = 0;
  next = 1;
  waiting = new Map();
  // install puts the clock in place and returns what takes it away.
  install() {
    const { setTimeout, clearTimeout } = globalThis;
    globalThis.setTimeout = (f, ms = 0) => {
      this.waiting.set(this.next, { f, at: this.now + ms });
      return this.next++;
    };
    globalThis.clearTimeout = (id) => this.waiting.delete(id);
    return () => Object.assign(globalThis, { setTimeout, clearTimeout });
  }
  tick(ms) {
    const end = this.now + ms;
    for (;;) {
      const [id, due] = [...this.waiting].reduce((a, b) => (b[1].at < a[1].at ? b : a), [0, { at: Infinity }]);
      if (due.at > end) break;
      this.waiting.delete(id);
      this.now = due.at;
      due.f();
    }
    this.now = end;
  }
}

function view(t) {
  FakeSocket.all = [];
  const clock = new FakeClock();
  const remove = clock.install();
  const seen = { loads: 0, events: [], states: [] };
  const stop = live({ events: ["step"], episode_id: "e" }, {
    load: async () => { seen.loads++; },
    apply: (e) => seen.events.push(e.seq),
  }, 1000, (s) => seen.states.push(s));
  t.after(() => {
    stop();
    remove();
  });
  return { seen, stop, clock, socket: () => FakeSocket.all.at(-1) };
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
  const { seen, socket, clock } = view(t);
  socket().onopen();
  await socket().agree(4);
  await socket().hear({ event: "step", seq: 9 });
  socket().close();
  clock.tick(1000);
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
  const { seen, socket, clock } = view(t);
  socket().onopen();
  await socket().agree(4);
  socket().close();
  clock.tick(1000);
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
  const { seen, socket, clock } = view(t);
  socket().onopen();
  await socket().agree(3);
  document.hidden = true;
  listeners.forEach((f) => f());
  clock.tick(60_000);
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
  const { stop, socket, clock } = view(t);
  socket().onopen();
  await socket().agree(1);
  stop();
  clock.tick(60_000);
  assert.equal(FakeSocket.all.length, 1);
});
