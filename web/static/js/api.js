// The page's only door to the server: the same paths that every client uses.

const tokenKey = "proctor-token";

/** Problem is an answer of the server that says why there is no result. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail || body?.title || `the server answered ${status}`);
    this.status = status;
    this.code = body?.code ?? "";
    this.effect = body?.effect ?? "none";
    this.requestID = body?.request_id ?? "";
  }
}

/** setToken keeps a bearer token for as long as this tab lives. */
export function setToken(token) {
  if (token) sessionStorage.setItem(tokenKey, token);
  else sessionStorage.removeItem(tokenKey);
}

/** token is the one that this tab keeps, or null. */
export function token() {
  return sessionStorage.getItem(tokenKey);
}

async function get(path, query = {}, signal = undefined) {
  const params = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) {
    if (v !== undefined && v !== null && v !== "") params.set(k, v);
  }
  return call("GET", params.size > 0 ? `${path}?${params}` : path, undefined, signal);
}

async function call(method, path, body, signal) {
  const secret = token();
  const answer = await fetch(path, {
    method,
    headers: {
      Accept: "application/json",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(secret ? { Authorization: `Bearer ${secret}` } : {}),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  });
  const said = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(answer.status, said);
  return said;
}

const post = (path, body, signal) => call("POST", path, body, signal);

const id = encodeURIComponent;

export const api = {
  envTypes: async (signal) => (await get("/env-types", {}, signal)).env_types,
  envType: (type, signal) => get(`/env-types/${id(type)}`, {}, signal),
  tasks: (type, split, limit, signal) => get(`/env-types/${id(type)}/tasks`, { split, limit }, signal),
  runs: async (signal) => (await get("/runs", {}, signal)).runs,
  points: async (run, after, signal) => {
    const all = [];
    for (let cursor; ;) {
      const page = await get(`/runs/${id(run)}/points`, { after, cursor }, signal);
      all.push(...page.points);
      cursor = page.next_cursor;
      if (!cursor) return all;
    }
  },
  episodes: (filter, cursor, limit, signal) => get("/episodes", { ...filter, cursor, limit }, signal),
  episode: (episode, signal) => get(`/episodes/${id(episode)}`, {}, signal),
  steps: (episode, signal) => get(`/episodes/${id(episode)}/steps`, {}, signal),
  replay: (episode, signal) => post(`/episodes/${id(episode)}/replay`, undefined, signal),
  envs: async (signal) => (await get("/envs", {}, signal)).envs,
  create: (wanted, signal) => post("/envs", wanted, signal),
  reset: (env, wanted, signal) => post(`/envs/${id(env)}/reset`, wanted, signal),
  step: (env, request, signal) => post(`/envs/${id(env)}/step`, request, signal),
  score: (env, signal) => post(`/envs/${id(env)}/score`, undefined, signal),
  end: (env, signal) => call("DELETE", `/envs/${id(env)}`, undefined, signal),
};
