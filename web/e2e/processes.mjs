// Starts programs and waits for things, for the browser test.

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** repo is the repository's root. */
export const repo = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** start runs a program, with env added to its surroundings, and keeps the end of what it says. */
export function start(command, args, env = {}) {
  const child = spawn(command, args, { cwd: repo, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let said = "";
  let ended = null;
  const keep = (chunk) => { said = (said + chunk).slice(-6000); };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const end = new Promise((done) => {
    child.on("exit", (code, signal) => { ended = code ?? signal; done(); });
    child.on("error", (err) => { ended = err.message; done(); });
  });
  return {
    ended: () => ended,
    tail: () => `--- ${command} (${ended ?? "running"}) said:\n${said}`,
    // stop asks politely, then does not.
    stop: async () => {
      if (ended !== null) return;
      child.kill("SIGTERM");
      const hard = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await end;
      clearTimeout(hard);
    },
  };
}

/** freePort finds a port that nothing listens on. */
export function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.on("error", fail);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

/** until asks holds() again and again; a program that failed meanwhile ends the wait. */
export async function until(what, ms, holds, processes = []) {
  const deadline = Date.now() + ms;
  let last;
  for (;;) {
    try {
      if (await holds()) return;
    } catch (err) {
      last = err;
    }
    const dead = processes.find((p) => p.ended() !== null && p.ended() !== 0);
    if (dead) throw new Error(`${what}: a program ended first with ${dead.ended()}`);
    if (Date.now() > deadline) throw new Error(`${what}: not within ${ms} ms${last ? ` (${last.message})` : ""}`);
    await new Promise((next) => setTimeout(next, 150));
  }
}
