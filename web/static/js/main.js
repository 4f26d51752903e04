// Shows the view that the address names, and keeps the header true.

import { setToken } from "./api.js";
import { fill, h } from "./dom.js";
import * as catalogue from "./catalogue.js";
import * as episodes from "./episodes.js";
import * as play from "./play.js";
import * as training from "./training.js";
import * as transcript from "./transcript.js";

const view = document.getElementById("view");
const linkState = document.getElementById("link");
const themeButton = document.getElementById("theme");
let unmount = () => {};

const page = {
  go: (hash) => {
    if (location.hash === hash) route();
    else location.hash = hash;
  },
  // link hears "up" or an Error from every poll.
  link: (state) => {
    if (state === "up") {
      linkState.dataset.state = "up";
      linkState.textContent = "connected";
    } else if (state.status === 401) {
      askToken();
    } else if (state.name !== "AbortError") {
      linkState.dataset.state = "down";
      linkState.textContent = state.status ? state.message : "server unreachable";
    }
  },
};

function route() {
  unmount();
  const [path, query] = (location.hash.slice(1) || "/training").split("?");
  const params = new URLSearchParams(query ?? "");
  const [, name, id] = path.split("/");
  let module = { episodes, environments: catalogue, play }[name] ?? training;
  if (name === "episodes" && id) module = transcript;
  if (id) params.set("id", decodeURIComponent(id));
  document.querySelectorAll(".top nav a").forEach((a) => {
    if (a.hash === `#/${name}`) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  });
  document.title = `${{ episodes: "Episodes", environments: "Environments", play: "Play" }[name] ?? "Training"} · Proctor`;
  unmount = module.mount(view, params, page);
}

// A server that is reachable from elsewhere wants a token; it stays in this tab.
function askToken() {
  unmount();
  unmount = () => {};
  linkState.dataset.state = "down";
  linkState.textContent = "token needed";
  const input = h("input", { type: "password", autocomplete: "off", required: true });
  fill(view, h("form", {
    class: "card",
    onsubmit: (e) => {
      e.preventDefault();
      setToken(input.value.trim());
      route();
    },
  }, h("h1", {}, "This server wants a token"), h("div", { class: "bar" },
    h("label", { class: "field" }, "Token", input), h("button", {}, "Continue"))));
  input.focus();
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const themes = ["auto", "light", "dark"];

function applyTheme() {
  const choice = localStorage.getItem("proctor-theme") ?? "auto";
  const actual = choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
  document.documentElement.dataset.theme = actual;
  themeButton.textContent = `Theme: ${choice}`;
}

themeButton.addEventListener("click", () => {
  const now = localStorage.getItem("proctor-theme") ?? "auto";
  localStorage.setItem("proctor-theme", themes[(themes.indexOf(now) + 1) % themes.length]);
  applyTheme();
});
dark.addEventListener("change", applyTheme);
addEventListener("hashchange", route);
applyTheme();
route();
