// The browser test. It starts the real server, trains a small policy for real,
// and watches the page in Chromium meanwhile: the curve must grow, an episode
// must be readable, hostile text must stay text, and nothing may land in the
// browser's console. Before that a person plays (play.mjs).

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { playTests, writeTasks } from "./play.mjs";
import { freePort, repo, start, until } from "./processes.mjs";

const dir = await mkdtemp(join(tmpdir(), "proctor-e2e-"));
const port = await freePort();
const base = `http://127.0.0.1:${port}`;
const processes = [];
let browser;
const complaints = [];

try {
  processes.push(start(join(repo, "bin/proctor"), ["serve", "--listen", `127.0.0.1:${port}`, "--data", join(dir, "data"), "--tasks", await writeTasks(dir)]));
  await until("the server is ready", 60_000, async () => (await fetch(`${base}/readyz`)).ok, processes);

  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    timeout: 120_000,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
  await playTests({ browser, base, processes, dir });
  const page = await browser.newPage({ viewport: { width: 1360, height: 900 } });
  page.setDefaultTimeout(30_000);
  page.on("console", (m) => complaints.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => complaints.push(`uncaught: ${e.stack}`));
  page.on("requestfailed", (r) => r.failure()?.errorText !== "net::ERR_ABORTED" && complaints.push(`failed: ${r.url()}`));
  page.on("dialog", (d) => { complaints.push(`dialog: ${d.message()}`); d.dismiss(); });

  await emptyPage(page);
  processes.push(start(join(repo, "bin/trainer"), trainerArgs(base, dir)));
  await curveGrows(page);
  await episodesAndTranscript(page);
  await liveEpisode(page);
  await hostileTextStaysText(page);
  await catalogue(page);
  await phoneAndDark(page);
  assert.deepEqual(complaints, [], "the browser complained");
  console.log("browser test passed");
} catch (err) {
  for (const p of processes) console.error(p.tail());
  if (complaints.length > 0) console.error("the browser said:", complaints);
  throw err;
} finally {
  await browser?.close();
  for (const p of processes.reverse()) await p.stop();
  await rm(dir, { recursive: true, force: true });
}

function trainerArgs(server, out) {
  return ["train", "--recipe", join(repo, "recipes/react-mini.yaml"), "--server", server, "--out", join(out, "run"), "--seed", "1", "--quiet",
    "--set", "rl.updates=100000", "--set", "eval.every=5", "--set", "eval.validation=20", "--set", "eval.test=20"];
}

// Before the first run the page says what to do, and answers carry the policy
// that refuses inline code and other hosts.
async function emptyPage(page) {
  const answer = await page.goto(`${base}/`);
  assert.match(answer.headers()["content-security-policy"] ?? "", /default-src 'self'/);
  await page.getByText("No trainer has announced a run yet").waitFor();
  assert.equal(await page.locator("#link").textContent(), "connected");
}

// The reward's curve appears without a reload and reaches further later on.
async function curveGrows(page) {
  const line = page.locator(".chart", { hasText: "Reward" }).locator("path.line").first();
  const updates = async () => Number((await page.locator(".tile b").first().textContent()).replace(/\D/g, ""));
  await line.waitFor({ state: "attached", timeout: 120_000 });
  const before = { path: await line.getAttribute("d"), update: await updates() };
  await until("the curve grows", 60_000, async () => (await updates()) >= before.update + 3, processes);
  assert.notEqual(await line.getAttribute("d"), before.path);
  const label = await page.locator(".chart svg[role=img]").first().getAttribute("aria-label");
  assert.match(label, /Reward\..*first .*last /);

  // The crosshair tells the value of a point.
  const box = await page.locator(".plot > svg").first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.locator(".tip").first().getByText("update").waitFor();
}

// From the list, filtered, to one episode of this training run.
async function episodesAndTranscript(page) {
  await page.getByRole("link", { name: "Episodes", exact: true }).click();
  await page.getByLabel("Status").selectOption("terminated");
  await page.waitForURL(/status=terminated/);
  const rows = page.locator("tbody tr");
  await rows.first().waitFor();
  for (const text of await rows.locator("td:nth-child(4)").allTextContents()) assert.match(text, /^terminated/);
  await rows.first().getByRole("link").first().click();
  await page.locator(".step .observation").first().waitFor();
  assert.ok(await page.locator(".step").count() >= 2, "a transcript has the reset and at least one step");
  assert.ok(await page.locator(".step .action, .step .turn pre").count() > 0);
  await page.getByText("reward", { exact: false }).first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.equal(await page.evaluate(() => [...document.querySelectorAll(".step")].indexOf(document.activeElement)), 1);
}

// A running episode grows before the reader's eyes, told over the socket: its
// trajectory is asked for once.
async function liveEpisode(page) {
  const { env_id } = await post("/envs", { type: "react-compact" });
  const { episode_id } = await post(`/envs/${env_id}/reset`, { split: "train", index: 1 });
  let asked = 0;
  const count = (r) => { if (r.url().endsWith(`${episode_id}/steps`)) asked++; };
  page.on("request", count);
  await page.goto(`${base}/#/episodes/${episode_id}`);
  await page.locator(".facts", { hasText: "running" }).waitFor();
  for (let i = 1; i <= 3; i++) {
    await post(`/envs/${env_id}/step`, { action: `Thought: look ${i}\nAction: search[nothing ${i}]` });
    await page.locator(".thought p", { hasText: `look ${i}` }).waitFor();
  }
  await post(`/envs/${env_id}/score`, {});
  await page.locator(".facts", { hasText: "truncated" }).waitFor();
  assert.equal(await page.locator(".step").count(), 5, "the reset, three steps and the grading");
  assert.equal(asked, 1, "a live episode is told of, not asked for again and again");
  page.off("request", count);
  await fetch(`${base}/envs/${env_id}`, { method: "DELETE" });
}

// An agent writes markup; a person who reads the transcript sees its letters.
async function hostileTextStaysText(page) {
  const attack = "<img src=x onerror=alert(1)><script>alert(2)</script>";
  const { env_id } = await post("/envs", { type: "react-compact" });
  const { episode_id } = await post(`/envs/${env_id}/reset`, { split: "train", index: 0 });
  await post(`/envs/${env_id}/step`, { action: `Thought: ${attack}\nAction: finish[${attack}]` });
  await fetch(`${base}/envs/${env_id}`, { method: "DELETE" });
  await until("the episode is stored", 15_000, async () => (await fetch(`${base}/episodes/${episode_id}/steps`)).ok, processes);
  await page.goto(`${base}/#/episodes/${episode_id}`);
  await page.locator(".thought p", { hasText: attack }).waitFor();
  assert.equal(await page.locator("main img, main script").count(), 0);
}

async function post(path, body) {
  const answer = await fetch(base + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  assert.ok(answer.ok, `POST ${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer.json();
}

async function catalogue(page) {
  await page.getByRole("link", { name: "Environments" }).click();
  await page.locator("article h2", { hasText: "react-compact" }).waitFor();
  const names = (await (await fetch(`${base}/env-types`)).json()).env_types.map((t) => t.name);
  assert.equal(await page.locator("article").count(), names.length);
  await page.locator("article summary").first().click();
  await page.locator("article td").first().waitFor();
}

// The page fits a phone, and the theme can be turned.
async function phoneAndDark(page) {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole("link", { name: "Training" }).click();
  await page.locator(".chart path.line").first().waitFor({ state: "attached" });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  await until("the page is dark", 5000, async () => (await background()) !== light, processes);
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT, fullPage: true });
}
