// The arithmetic of curves: joining new points, smoothing, ticks, thinning.
// Pure functions.

/**
 * merge adds points that arrived to those known, in order of update. A trainer
 * that resumes from a checkpoint repeats updates: the newer value stands.
 */
export function merge(known, fresh) {
  if (fresh.length === 0) return known;
  if (known.length === 0 || fresh[0].update > known[known.length - 1].update) {
    const sorted = fresh.every((p, i) => i === 0 || p.update > fresh[i - 1].update);
    if (sorted) return known.concat(fresh);
  }
  const byUpdate = new Map();
  for (const p of known) byUpdate.set(p.update, p);
  for (const p of fresh) {
    const old = byUpdate.get(p.update);
    byUpdate.set(p.update, old ? { ...old, ...p, values: { ...old.values, ...p.values } } : p);
  }
  return [...byUpdate.values()].sort((a, b) => a.update - b.update);
}

/** pick takes one metric out of points as [x, y] pairs, leaving out what was not measured. */
export function pick(points, metric, axis) {
  const out = [];
  for (const p of points) {
    const y = p.values?.[metric];
    if (typeof y !== "number" || !Number.isFinite(y)) continue;
    out.push([axis === "time" ? p.wall_seconds : p.update, y]);
  }
  return out;
}

/**
 * smooth is an exponential mean with its start-up bias removed, so that the
 * first value is the first point and not a fraction of it.
 */
export function smooth(xy, weight) {
  if (weight <= 0) return xy;
  let mean = 0;
  let debias = 1;
  return xy.map(([x, y]) => {
    mean = weight * mean + (1 - weight) * y;
    debias *= weight;
    return [x, mean / (1 - debias)];
  });
}

/** thin keeps the lowest and the highest point of each of n buckets, so that no spike is lost. */
export function thin(xy, n) {
  if (xy.length <= 2 * n) return xy;
  const out = [];
  const size = xy.length / n;
  for (let b = 0; b < n; b++) {
    const part = xy.slice(Math.floor(b * size), Math.floor((b + 1) * size));
    let lo = 0;
    let hi = 0;
    part.forEach((p, i) => {
      if (p[1] < part[lo][1]) lo = i;
      if (p[1] > part[hi][1]) hi = i;
    });
    for (const i of lo === hi ? [lo] : [Math.min(lo, hi), Math.max(lo, hi)]) out.push(part[i]);
  }
  out[0] = xy[0];
  out[out.length - 1] = xy[xy.length - 1];
  return out;
}

/** ticks gives round values that cover [min, max], about count of them. */
export function ticks(min, max, count) {
  if (!(max > min)) return [min];
  const rough = (max - min) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= rough * 0.999);
  const out = [];
  // Counting steps, not adding them up, keeps 0.3 from becoming 0.30000000000000004.
  for (let i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9; i++) {
    out.push(Number((i * step).toPrecision(12)));
  }
  return out;
}

/** extent is the y range of a chart: shares fill [0,1], others get a margin, flat lines some room. */
export function extent(values, share) {
  if (share) return [0, 1];
  let min = Infinity;
  let max = -Infinity;
  for (const v of values) {
    if (v < min) min = v;
    if (v > max) max = v;
  }
  if (min === Infinity) return [0, 1];
  if (min === max) {
    const room = Math.abs(min) * 0.1 || 1;
    return [min - room, max + room];
  }
  const room = (max - min) * 0.06;
  return [min >= 0 && min < 2 * room ? 0 : min - room, max + room];
}

/** whiskers are the intervals [x, low, high] of a metric where they were measured. */
export function whiskers(points, metric, axis) {
  return points.filter((p) => Number.isFinite(p.values?.[metric + "_low"]) && Number.isFinite(p.values?.[metric + "_high"]))
    .map((p) => [axis === "time" ? p.wall_seconds : p.update, p.values[metric + "_low"], p.values[metric + "_high"]]);
}

/** nearest is the index of the point whose x is closest, by bisection. */
export function nearest(xy, x) {
  let lo = 0;
  let hi = xy.length - 1;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (xy[mid][0] < x) lo = mid;
    else hi = mid;
  }
  return hi > 0 && Math.abs(xy[hi][0] - x) < Math.abs(xy[lo][0] - x) ? hi : lo;
}

/** panelOf says which chart a metric belongs to. */
export function panelOf(metric) {
  // A slash cuts a metric down to a kind of task; _low and _high bound an interval.
  if (/^(eval_)?success(_|$)/.test(metric) && !/\/|_(low|high)$/.test(metric)) return "success";
  if (metric === "reward_mean") return "reward";
  return "other";
}
