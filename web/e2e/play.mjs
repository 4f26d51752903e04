// A person plays on the page: the whole way from the choice to the reward, and
// what can go wrong on it. All of it against real servers in a real browser.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, repo, start, until } from "./processes.mjs";

const markup = "<img src=x onerror=alert(1)><script>alert(2)</script>";
const unseen = "Unseen-7-City"; // in the tasks' private part, and nowhere else
const fixed = "def double(n):\n    # unseen-7\n    return 2 * n\n";

/** writeTasks makes a folder of tasks whose answers the test knows. */
export async function writeTasks(dir) {
  const tasks = join(dir, "tasks");
  const put = async (type, task) => {
    await mkdir(join(tasks, type), { recursive: true });
    await writeFile(join(tasks, type, `${task.id}.json`), JSON.stringify(task));
  };
  await put("react", {
    id: "capital", question: `What is the capital of Freedonia? ${markup}`,
    documents: [{ title: "Freedonia", text: `Freedonia is small ${markup}. Its capital is Zed.` }],
    answers: [{ type: "string", value: "Zed", aliases: [unseen] }],
  });
  await put("codefix", {
    id: "double", prompt: "double(n) gives twice n.",
    files: { "solution.py": "def double(n):\n    return n + 2\n", "test_solution.py": "from solution import double\n\ndef test_one():\n    assert double(3) == 6\n" },
    fixed, hidden_cases: [{ fn: "double", args: [5], want: 10 }, { fn: "double", args: [unseen], want: unseen + unseen }],
  });
  return tasks;
}

/** playTests runs them all on a page of their own. */
export async function playTests({ browser, base, processes, dir }) {
  const page = await open(browser, base);
  await rightAnswer(page);
  await wrongAnswer(page);
  await malformedAction(page);
  await repairOfCode(page);
  await refusedTask(page);
  await closedMeanwhile(page);
  await closedUnnoticed(browser, base);
  await lostReply(page);
  await goesOnAfterReload(page);
  await narrowWindow(page);
  await page.close();
  page.check();
  await tokenAndNull(browser, processes, dir);
}

// open makes a page that keeps what the browser complains of and what the
// server tells it. That a refusal is a refusal is no complaint.
async function open(browser, base) {
  const page = await browser.newPage({ viewport: { width: 1360, height: 900 } });
  page.setDefaultTimeout(Number(process.env.T ?? 30_000));
  const complaints = [];
  const told = [];
  page.on("console", (m) => m.text().startsWith("Failed to load resource") || m.text().startsWith("WebSocket connection") || complaints.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => complaints.push(`uncaught: ${e.stack}`));
  page.on("dialog", (d) => { complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("response", async (r) => told.push(await r.text().catch(() => "")));
  page.on("websocket", (ws) => {
    page.follows = false;
    ws.on("framereceived", (f) => { page.follows ||= String(f.payload).includes("\"stream\""); });
  });
  page.base = base;
  page.check = () => {
    assert.deepEqual(complaints, [], "the browser complained");
    assert.ok(told.some((t) => t.includes("Freedonia")) || told.length > 0);
    for (const t of told) assert.ok(!t.includes(unseen) && !t.includes("unseen-7"), `something private reached the page: ${t.slice(0, 300)}`);
  };
  return page;
}

// begin starts an episode by the form, as a person does, and gives its id.
async function begin(page, type, task) {
  await page.goto(`${page.base}/#/training`);
  await page.getByRole("link", { name: "Play", exact: true }).click();
  await page.getByRole("combobox", { name: "Environment" }).selectOption(type);
  await page.getByRole("combobox", { name: "Split" }).selectOption("user");
  await page.getByLabel(/^Task/).fill(task);
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("textbox", { name: "Your action" }).waitFor();
  return decodeURIComponent(new URL(page.url()).hash.split("/").pop());
}

const toolOf = (page, name) => page.locator(".how summary", { has: page.getByText(name, { exact: true }) });
const action = (page) => page.locator("textarea#action");
const ask = async (page, path, method = "GET") => (await fetch(page.base + path, { method })).json().catch(() => null);

async function send(page, text) {
  const before = await page.locator(".step").count();
  await action(page).fill(text);
  await action(page).press("Control+Enter");
  await page.locator(".step").nth(before).waitFor();
  return page.locator(".step").nth(before);
}

// A form is clicked, its argument typed over, and Ctrl+Enter sends; the right
// answer earns 1, and the record of it is a click away.
async function rightAnswer(page) {
  const id = await begin(page, "react", "capital");
  await page.locator(".step .observation", { hasText: "What is the capital of Freedonia?" }).waitFor();
  for (const words of ["at most 20 steps", "60 minutes", "calculator[expression]", "Open the page with exactly this title"]) await page.getByText(words).first().waitFor();
  await page.getByText(/^20 steps left/).waitFor();
  await page.getByRole("button", { name: "search[title]" }).click();
  assert.equal(await action(page).inputValue(), "Thought: \nAction: search[title]");
  await page.keyboard.type("Freedonia");
  assert.equal(await action(page).inputValue(), "Thought: \nAction: search[Freedonia]");
  await page.keyboard.press("Control+Enter");
  await page.locator(".step .observation", { hasText: `Freedonia is small ${markup}` }).waitFor();
  assert.equal(await page.locator("main img, main script").count(), 0, "an observation is text");
  await page.getByText(/^19 steps left/).waitFor();
  assert.equal(await action(page).inputValue(), "");
  assert.ok(await action(page).evaluate((el) => el === document.activeElement), "typing goes on");

  await toolOf(page, "finish").click();
  await page.getByLabel(/^answer/).fill("Zed");
  await page.getByRole("button", { name: "Write into the text" }).filter({ visible: true }).click();
  assert.equal(await action(page).inputValue(), "Thought: \nAction: finish[Zed]");
  await page.getByRole("button", { name: "Send" }).click();
  const end = page.locator(".outcome");
  await end.getByText("Passed", { exact: true }).waitFor();
  assert.match(await end.locator("h2").textContent(), /Reward 1$/);
  assert.deepEqual(await end.locator("tbody td.right").allTextContents(), ["1", "1", "1"]);
  assert.equal(await action(page).isVisible(), false);

  const stored = await ask(page, `/episodes/${id}`);
  assert.equal(stored.policy_version, "human");
  assert.equal(stored.return, 1);
  await until("the env is given back", 15_000, async () => (await fetch(`${page.base}/envs/${stored.env_id}`)).status === 404);
  await end.getByRole("link", { name: "See the replay of this episode" }).click();
  await page.locator(".step .action", { hasText: "finish[Zed]" }).waitFor();
  await page.getByRole("button", { name: "Play its actions again" }).click();
  await page.getByText("identical in all 2 steps").waitFor();
}

async function wrongAnswer(page) {
  await begin(page, "react", "capital");
  await send(page, "Thought: a guess\nAction: finish[Zod]");
  const end = page.locator(".outcome");
  await end.getByText("Not passed").waitFor();
  assert.match(await end.locator("h2").textContent(), /Reward 0$/);
  await end.getByRole("link", { name: "Play this task again" }).click();
  await page.getByRole("button", { name: "Start" }).waitFor();
  await page.locator("#play-tasks option").first().waitFor({ state: "attached" });
  assert.equal(await page.getByLabel(/^Task/).inputValue(), "capital");
  assert.equal(await page.getByRole("combobox", { name: "Split" }).inputValue(), "user");
}

// What the environment does not understand is an observation, and play goes on;
// nothing at all is not sent. Then a person asks for the grading.
async function malformedAction(page) {
  await begin(page, "react", "capital");
  await action(page).press("Control+Enter");
  await page.getByText("Write an action first.").waitFor();
  const step = await send(page, "let me think");
  await step.getByText("not understood", { exact: true }).waitFor();
  await step.locator(".observation", { hasText: "Invalid action" }).waitFor();
  assert.equal(await page.locator(".error").count(), 0);
  assert.ok(await action(page).isEnabled());
  await page.getByRole("button", { name: "Grade it as it stands" }).click();
  await page.locator(".outcome", { hasText: "as you asked" }).waitFor();
}

// Code of several lines and several actions in one go, as tool calls; then text.
async function repairOfCode(page) {
  await begin(page, "codefix", "double");
  await toolOf(page, "edit_file").click();
  await page.getByLabel(/^path/).filter({ visible: true }).fill("solution.py");
  await page.getByLabel("content").filter({ visible: true }).fill("def double(n):\n    return n * 2  # \"twice\"\n");
  const add = page.getByRole("button", { name: "Add as a tool call" }).filter({ visible: true });
  await add.click();
  await toolOf(page, "edit_file").click();
  await toolOf(page, "run_tests").click();
  await add.click();
  await add.click();
  await page.getByRole("button", { name: "Take out call 3, run_tests" }).click();
  assert.equal(await page.locator(".queue li").count(), 2);
  await action(page).fill("n + 2 is not twice n");
  await action(page).press("Control+Enter");
  const observation = page.locator(".step").nth(1).locator(".observation");
  await observation.getByText("1 passed").waitFor();
  await observation.getByText("Saved solution.py").waitFor();
  await page.locator(".thought p", { hasText: "n + 2 is not twice n" }).waitFor();
  await page.getByRole("button", { name: "finish({})" }).click();
  await action(page).press("Control+Enter");
  await page.locator(".outcome h2", { hasText: /Reward 1$/ }).waitFor();
  await page.getByText("Hidden checks: 2 passed, 0 failed, 0 errors.").waitFor();
}

// A refusal is told in words, and nothing is left behind.
async function refusedTask(page) {
  await page.goto(`${page.base}/#/play?type=react&split=user&task=no-such`);
  await page.locator("#play-tasks option").first().waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("There is no such task in this split.").waitFor();
  await until("the env is given back", 15_000, async () => (await ask(page, "/envs")).envs.length === 0);
}

async function envOf(page, id) {
  return (await ask(page, `/episodes/${id}`)).env_id;
}

// The server ends an episode while a person thinks: the page says so at once.
async function closedMeanwhile(page) {
  const id = await begin(page, "react", "capital");
  await send(page, "Action: search[Freedonia]");
  await until("the page follows the episode", 15_000, () => page.follows);
  await ask(page, `/envs/${await envOf(page, id)}`, "DELETE");
  const end = page.locator(".outcome");
  await end.getByText("Closed without a reward").waitFor();
  await end.getByText("Nothing was graded").waitFor();
  assert.equal(await action(page).isVisible(), false);
  assert.equal(await page.locator(".step").count(), 2, "what was played stays to be read");
}

// The same where nothing told the page: the next action hears of it.
async function closedUnnoticed(browser, base) {
  const page = await open(browser, base);
  await page.routeWebSocket("**/ws", (ws) => ws.close());
  const id = await begin(page, "react", "capital");
  await page.route("**/episodes/**", (route) => route.abort());
  await ask(page, `/envs/${await envOf(page, id)}`, "DELETE");
  await action(page).fill("Action: search[Freedonia]");
  await action(page).press("Control+Enter");
  await page.getByText("The server has closed this environment").waitFor();
  await page.getByText("Closed without a reward").waitFor();
  await page.close();
  page.check();
}

// A reply that is lost on the way costs nothing: the same action is sent again.
async function lostReply(page) {
  const id = await begin(page, "react", "capital");
  await page.route("**/step", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await action(page).fill("Action: search[Freedonia]");
  await action(page).press("Control+Enter");
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/step");
  if ((await action(page).inputValue()) !== "") await action(page).press("Control+Enter"); // unless the page has seen it by itself
  await page.locator(".step .observation", { hasText: "Freedonia is small" }).waitFor();
  assert.equal((await ask(page, `/episodes/${id}`)).steps, 1, "one action is one step");
  await page.getByRole("button", { name: "Give up" }).click();
  await page.getByText("Closed without a reward").waitFor();
}

// Another tab plays, the page is loaded again: what counts is the server's state.
async function goesOnAfterReload(page) {
  const id = await begin(page, "react", "capital");
  await send(page, "Action: search[Freedonia]");
  const body = JSON.stringify({ action: "Action: lookup[capital]" });
  await fetch(`${page.base}/envs/${await envOf(page, id)}/step`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  await page.locator(".step").nth(2).waitFor();
  await page.reload();
  await page.locator(".step").nth(2).waitFor();
  await page.getByText(/^18 steps left/).waitFor();
  await page.goto(`${page.base}/#/play`);
  await page.getByRole("link", { name: "react, at step 2" }).click();
  await send(page, "Action: finish[Zed]");
  await page.locator(".outcome h2", { hasText: /Reward 1$/ }).waitFor();
}

async function narrowWindow(page) {
  await page.setViewportSize({ width: 360, height: 740 });
  await begin(page, "codefix", "double");
  await toolOf(page, "replace_lines").click();
  const wide = await page.evaluate(() => (document.documentElement.scrollWidth <= innerWidth ? []
    : [...document.querySelectorAll("body *")].filter((el) => el.getBoundingClientRect().right > innerWidth).map((el) => `${el.tagName} ${el.className} ${el.textContent.slice(0, 40)}`)));
  assert.deepEqual(wide, [], "no sideways scrolling");
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("main input, main select, main textarea, main button")]
    .filter((el) => !(el.labels?.length > 0 || el.getAttribute("aria-label") || el.textContent.trim())).map((el) => el.outerHTML));
  assert.deepEqual(unnamed, [], "every field has a name");
  await page.getByRole("button", { name: "Give up" }).click();
  await page.getByText("Closed without a reward").waitFor();
  if (process.env.SCREENSHOT_PLAY) await page.screenshot({ path: process.env.SCREENSHOT_PLAY, fullPage: true });
}

// A server that wants a token, and that gives its environments no time: what
// breaks on its side is null and not zero.
async function tokenAndNull(browser, processes, dir) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const server = start(join(repo, "bin/proctor"), ["serve", "--listen", `127.0.0.1:${port}`, "--tasks", join(dir, "tasks"), "--step-timeout", "1ms"],
    { PROCTOR_TOKEN: "let-me-in" });
  processes.push(server);
  await until("the second server is ready", 60_000, async () => (await fetch(`${base}/readyz`)).ok, processes);
  const page = await open(browser, base);
  await page.goto(`${base}/#/play`);
  await page.getByLabel("Token").fill("let-me-in");
  await page.getByRole("button", { name: "Continue" }).click();
  await begin(page, "codefix", "double");
  await action(page).fill("Action: finish({})");
  await action(page).press("Control+Enter");
  const end = page.locator(".outcome");
  await end.getByText("Reward null").waitFor();
  await end.getByText("This is no zero and not your doing").waitFor();
  // At last the server shuts down under a person who thinks.
  await begin(page, "react", "capital");
  await until("the page follows the episode", 15_000, () => page.follows);
  await server.stop();
  await page.locator(".outcome").getByText("Closed without a reward").waitFor();
  await page.close();
  page.check();
}
