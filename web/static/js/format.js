// Numbers, times and ids as people read them. Pure functions.

/** number writes v with about four significant digits. */
export function number(v) {
  if (v === null || v === undefined || Number.isNaN(v)) return "–";
  if (!Number.isFinite(v)) return v > 0 ? "∞" : "−∞";
  const a = Math.abs(v);
  if (a >= 1e6 || (a > 0 && a < 1e-4)) return sign(v.toExponential(2));
  if (Number.isInteger(v)) return sign(String(v));
  return sign(v.toFixed(a >= 100 ? 1 : a >= 1 ? 2 : 4).replace(/0+$/, "").replace(/\.$/, ""));
}

const sign = (text) => text.replace("-", "−");

/** percent writes a share in [0,1]. */
export function percent(v) {
  return v === null || v === undefined || Number.isNaN(v) ? "–" : sign((100 * v).toFixed(1)) + " %";
}

/** duration writes seconds as the two largest units. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "–";
  if (seconds < 1) return Math.round(seconds * 1000) + " ms";
  if (seconds < 60) return number(Math.round(seconds * 10) / 10) + " s";
  const m = Math.floor(seconds / 60);
  if (m < 60) return `${m} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(m / 60)} h ${m % 60} min`;
}

/** ago writes how long before now a time was. */
export function ago(time, now = Date.now()) {
  const t = typeof time === "number" ? time : Date.parse(time);
  if (Number.isNaN(t)) return "–";
  const sec = Math.max(0, (now - t) / 1000);
  if (sec < 5) return "now";
  if (sec < 60) return `${Math.floor(sec)} s ago`;
  if (sec < 3600) return `${Math.floor(sec / 60)} min ago`;
  if (sec < 86400) return `${Math.floor(sec / 3600)} h ago`;
  return new Date(t).toISOString().slice(0, 10);
}

/** short cuts the middle out of a long id. */
export function short(id, keep = 18) {
  const text = String(id ?? "");
  if (text.length <= keep) return text;
  const tail = Math.floor((keep - 1) / 3);
  return text.slice(0, keep - 1 - tail) + "…" + text.slice(-tail);
}

/** words turns a metric's name into a label: reward_mean becomes "reward mean". */
export function words(name) {
  return name.replace(/[_/]+/g, " ").trim();
}
