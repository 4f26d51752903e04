// Repeats a request while a view is open and visible.

/**
 * poll runs work(signal) now and then every ms milliseconds, never two at
 * once, and not while the tab is hidden. After a failure it waits longer, up to
 * 15 seconds. onState hears "up" or an Error after each try. The returned
 * function ends it and cancels what is under way; calling .now() on it runs
 * the work at once.
 */
export function poll(work, ms, onState) {
  const abort = new AbortController();
  let timer = 0;
  let failures = 0;
  let busy = false;
  let again = false;

  async function run() {
    clearTimeout(timer);
    if (abort.signal.aborted) return;
    if (busy) {
      again = true;
      return;
    }
    if (document.hidden) return; // the visibility listener starts it again
    busy = true;
    try {
      await work(abort.signal);
      failures = 0;
      if (!abort.signal.aborted) onState("up");
    } catch (err) {
      if (abort.signal.aborted) return;
      failures++;
      onState(err);
    } finally {
      busy = false;
    }
    if (abort.signal.aborted) return;
    const wait = again ? 0 : Math.min(15000, ms * 2 ** failures);
    again = false;
    timer = setTimeout(run, wait);
  }

  document.addEventListener("visibilitychange", () => document.hidden || run(), { signal: abort.signal });
  run();
  const stop = () => {
    clearTimeout(timer);
    abort.abort();
  };
  stop.now = run;
  return stop;
}
