// Follows what the server tells over one WebSocket, and asks by itself where
// there is none.

import { token } from "./api.js";
import { poll } from "./poll.js";

const longest = 15_000; // between two attempts to connect

/**
 * live keeps a view true. load(signal) reads the state anew; apply(event) adds
 * one event to it. The subscription begins before the state is read, so nothing
 * falls between; an event may tell of what the state already has. After a break
 * it goes on where it stopped, and reads anew only where the server has
 * forgotten what came since. While the socket is away, load runs every ms
 * milliseconds instead. onState hears "up" or an Error. The returned function
 * ends it all.
 */
export function live(filter, { load, apply }, ms, onState) {
  const abort = new AbortController();
  let socket = null;
  let stopPoll = null;
  let place = null; // {stream, after} once the state has been read under a subscription
  let failures = 0;
  let timer = 0;

  function fallBack() {
    stopPoll ??= poll(load, ms, onState);
  }

  function connect() {
    clearTimeout(timer);
    if (abort.signal.aborted || socket || document.hidden) return;
    const ws = new WebSocket(address(), protocols());
    socket = ws;
    let waiting = []; // events that came while the state is being read, or null
    ws.onopen = () => ws.send(JSON.stringify({ id: 1, op: "subscribe", ...filter, ...(place ?? {}) }));
    ws.onmessage = async (m) => {
      const frame = JSON.parse(m.data);
      if (frame.event) {
        if (waiting) waiting.push(frame);
        else take(frame);
        return;
      }
      if (!frame.ok) {
        ws.close();
        return;
      }
      stopPoll?.();
      stopPoll = null;
      try {
        if (!place || frame.result.gap) {
          await load(abort.signal);
          place = { stream: frame.result.stream, after: frame.result.seq };
        }
      } catch (err) {
        if (!abort.signal.aborted) onState(err);
        ws.close();
        return;
      }
      if (abort.signal.aborted || socket !== ws) return;
      failures = 0;
      onState("up");
      const missed = waiting;
      waiting = null;
      missed.forEach(take);
    };
    ws.onclose = () => {
      if (socket !== ws) return;
      socket = null;
      if (abort.signal.aborted || document.hidden) return;
      failures++;
      fallBack();
      timer = setTimeout(connect, Math.min(longest, 500 * 2 ** failures));
    };
  }

  function take(event) {
    if (abort.signal.aborted) return;
    place.after = event.seq;
    apply(event);
  }

  // A hidden tab lets go of its socket and takes the stream up again later.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      clearTimeout(timer);
      socket?.close();
      socket = null;
    } else {
      connect();
    }
  }, { signal: abort.signal });
  connect();
  return () => {
    abort.abort();
    clearTimeout(timer);
    stopPoll?.();
    socket?.close();
    socket = null;
  };
}

function address() {
  const u = new URL("/ws", location.href);
  u.protocol = u.protocol === "https:" ? "wss:" : "ws:";
  return u.href;
}

// A page cannot set a header on a socket; its token travels as a subprotocol.
function protocols() {
  const secret = token();
  if (!secret) return ["proctor.v1"];
  const bytes = String.fromCharCode(...new TextEncoder().encode(secret));
  return ["proctor.v1", `bearer.${btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`];
}
