// A line chart in SVG: crosshair, tooltip, legend, redrawn when its width changes.

import { fill, h, s } from "./dom.js";
import { number, percent, duration } from "./format.js";
import { extent, nearest, smooth, thin, ticks } from "./series.js";

// Line styles tell the metrics of one run apart: 0 is a training metric.
const dashes = ["none", "7 4", "2 4", "10 3 2 3"];

const swatch = (c) => s("svg", { width: 20, height: 8, "aria-hidden": true },
  s("path", { class: "line", "stroke-dasharray": dashes[c.dash ?? 0], d: "M0,4H20" }));

const margin = { top: 10, right: 14, bottom: 24, left: 46 };

/**
 * Chart draws series of {name, colour, dash, xy, whiskers}: dash is a line style
 * from 0 to 3, whiskers are intervals [x, low, high]. A chart whose share option is set shows 0 to 100 %.
 */
export class Chart {
  constructor(title, { height = 240, share = false, legend = true } = {}) {
    this.height = height;
    this.share = share;
    this.series = [];
    this.options = { smoothing: 0, axis: "update" };
    this.svg = s("svg", { height, role: "img" });
    this.legend = h("div", { class: "legend" });
    this.tip = h("div", { class: "tip", hidden: true });
    this.el = h("figure", { class: "chart card" },
      h("figcaption", {}, title), h("div", { class: "plot" }, this.svg, this.tip), legend && this.legend);
    this.title = title;
    this.svg.addEventListener("pointermove", (e) => this.#hover(e));
    this.svg.addEventListener("pointerleave", () => this.#leave());
    this.sizes = new ResizeObserver(() => this.#draw());
    this.sizes.observe(this.svg);
  }

  /** show replaces the data. */
  show(series, options) {
    this.series = series.filter((c) => c.xy.length > 0);
    this.options = options;
    fill(this.legend, this.series.map((c) => h("span", { class: `c${c.colour}` }, swatch(c), c.name)));
    this.svg.setAttribute("aria-label", this.#summary());
    this.#draw();
  }

  destroy() {
    this.sizes.disconnect();
  }

  #summary() {
    if (this.series.length === 0) return `${this.title}: no data yet`;
    return `${this.title}. ` + this.series.map((c) => {
      const ys = c.xy.map((p) => p[1]);
      return `${c.name}: first ${this.#y(ys[0])}, last ${this.#y(ys.at(-1))}, highest ${this.#y(ys.reduce((a, b) => Math.max(a, b)))}, ${ys.length} points`;
    }).join("; ");
  }

  #y(v) {
    return this.share ? percent(v) : number(v);
  }

  #x(v) {
    return this.options.axis === "time" ? duration(v) : `update ${number(v)}`;
  }

  #draw() {
    const width = this.svg.clientWidth;
    if (width === 0) return;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    const w = width - margin.left - margin.right;
    const hgt = this.height - margin.top - margin.bottom;
    if (this.series.length === 0) {
      fill(this.svg, s("text", { x: width / 2, y: this.height / 2, "text-anchor": "middle" }, "no data yet"));
      this.scale = null;
      return;
    }
    const xs = this.series.flatMap((c) => [c.xy[0][0], c.xy.at(-1)[0]]);
    const ys = this.series.flatMap((c) => c.xy.map((p) => p[1]));
    const share = this.share && ys.every((v) => v >= 0 && v <= 1);
    const [x0, x1] = [Math.min(...xs), Math.max(...xs, Math.min(...xs) + 1)];
    const [y0, y1] = extent(ys, share);
    const px = (x) => margin.left + ((x - x0) / (x1 - x0)) * w;
    const py = (y) => margin.top + (1 - (y - y0) / (y1 - y0)) * hgt;
    this.scale = { x0, x1, px, py, width };

    const path = (xy) => "M" + xy.map(([x, y]) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join("L");
    const yTicks = ticks(y0, y1, hgt / 45);
    const xTicks = ticks(x0, x1, w / 90).filter((v) => this.options.axis === "time" || Number.isInteger(v));
    this.cross = s("g", {});
    fill(this.svg,
      yTicks.map((v) => [
        s("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: py(v), y2: py(v) }),
        s("text", { x: margin.left - 8, y: py(v) + 4, "text-anchor": "end" }, share ? `${Math.round(v * 100)} %` : number(v)),
      ]),
      xTicks.map((v) => s("text", { x: px(v), y: this.height - 6, "text-anchor": "middle" },
        this.options.axis === "time" ? duration(v) : number(v))),
      this.series.map((c) => this.#curve(c, path, w, px, py)),
      this.cross);
  }

  #curve(c, path, w, px, py) {
    const sparse = c.xy.length <= 40;
    // Smoothing hides nothing: the measured points stay as a thin line behind.
    const smoothed = sparse ? c.xy : smooth(c.xy, this.options.smoothing);
    return s("g", { class: `c${c.colour}` },
      smoothed !== c.xy && s("path", { class: "raw", d: path(thin(c.xy, w)) }),
      c.xy.length > 1 && s("path", { class: "line", "stroke-dasharray": dashes[c.dash ?? 0], d: path(thin(smoothed, w)) }),
      sparse && c.whiskers?.map(([x, low, high]) => s("line", { class: "whisker", x1: px(x), x2: px(x), y1: py(low), y2: py(high) })),
      (c.xy.length === 1 || (c.dash && sparse)) && c.xy.map(([x, y]) => s("circle", { class: "dot", cx: px(x), cy: py(y), r: 3 })));
  }

  #hover(e) {
    if (!this.scale) return;
    const { x0, x1, px, py, width } = this.scale;
    const box = this.svg.getBoundingClientRect();
    const at = e.clientX - box.left;
    const x = x0 + ((at - margin.left) / (width - margin.left - margin.right)) * (x1 - x0);
    const hits = this.series.map((c) => ({ c, p: c.xy[nearest(c.xy, x)] }));
    const closest = hits.reduce((a, b) => (Math.abs(b.p[0] - x) < Math.abs(a.p[0] - x) ? b : a)).p[0];
    fill(this.cross,
      s("line", { class: "cross", x1: px(closest), x2: px(closest), y1: margin.top, y2: this.height - margin.bottom }),
      hits.map(({ c, p }) => s("g", { class: `c${c.colour}` }, s("circle", { class: "dot", cx: px(p[0]), cy: py(p[1]), r: 3.5 }))));
    fill(this.tip, h("div", { class: "dim" }, this.#x(closest)),
      hits.map(({ c, p }) => h("div", { class: `c${c.colour} legend` }, swatch(c), c.name, h("b", {}, this.#y(p[1])))));
    this.tip.hidden = false;
    const left = px(closest) + 14;
    const flip = left + this.tip.offsetWidth > width;
    this.tip.style.left = `${Math.max(0, flip ? px(closest) - this.tip.offsetWidth - 14 : left)}px`;
    this.tip.style.top = `${margin.top}px`;
  }

  #leave() {
    this.tip.hidden = true;
    this.cross?.replaceChildren();
  }
}
