#!/usr/bin/env python3
"""Makes ../quixbugs.json.gz from the programs: hidden cases from the right versions, three visible cases for each defect.

Run it where it lies: python3 make.py. Inputs come from tasks.py; a case is kept only where the right version agrees
with the independent answer there. The output is a function of these files alone.
"""
import gzip
import json
import marshal
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "seeds")]
import build as ours
import seedlib
from mutate import mutants
from tasks import PROGRAMS

POOL = 160
NODES = {"breadth_first_search", "depth_first_search", "detect_cycle", "reverse_linked_list", "shortest_path_length", "topological_ordering"}


def tagged(v):
    """A value as JSON that keeps apart what plain JSON does not."""
    if v is None or type(v) in (bool, int, str):
        return v
    if type(v) is float:
        return {"float": repr(v)} if math.isinf(v) or math.isnan(v) else v
    if type(v) is list:
        return [tagged(x) for x in v]
    if type(v) is tuple:
        return {"tuple": [tagged(x) for x in v]}
    if type(v) is set:
        return {"set": [tagged(x) for x in sorted(v)]}
    if isinstance(v, dict):
        return {"dict": [[tagged(k), tagged(x)] for k, x in sorted(v.items())]}
    raise TypeError("no plain value: %r" % (v,))


def right(p, args, got, want):
    """Whether an outcome is right; both are texts as outcome makes them."""
    if got == want:
        return True
    if not got.startswith('{"w"') or not want.startswith('{"w"'):
        return False
    g, w = json.loads(got)["w"], json.loads(want)["w"]
    if p["compare"] == "approx":
        return isinstance(g, float) and abs(g - w) <= p["tolerance"](args)
    if p["compare"] == "unordered":
        return isinstance(g, list) and sorted(map(json.dumps, g)) == sorted(map(json.dumps, w))
    if p["compare"] == "index-of":
        arr, x = args
        return type(g) is int and (g == w == -1 or w >= 0 and 0 <= g < len(arr) and arr[g] == x)
    if p["compare"] == "common-subsequence":
        return isinstance(g, str) and len(g) == len(w) and all(subsequence(g, s) for s in args)
    if p["compare"] == "topological-order":
        names, edges = args
        return isinstance(g, list) and sorted(map(str, g)) == sorted(names) and all(g.index(a) < g.index(b) for a, b in edges)
    return False


def subsequence(s, t):
    rest = iter(t)
    return all(c in rest for c in s)


def files(p, version):
    program = (HERE / version / (p["name"] + ".py")).read_text()
    adapter = HERE / "adapters" / (p["name"] + ".py")
    if not adapter.exists():
        return {"solution.py": program}
    out = {"solution.py": adapter.read_text(), p["name"] + ".py": program}
    if p["name"] in NODES:
        out["node.py"] = (HERE / "node.py").read_text()
    return out


def load(p, fs):
    helpers = {f[:-3]: t for f, t in fs.items() if f != "solution.py"}
    return ours.load(fs["solution.py"], p["fn"], helpers)


def tried(p, fn, cases):
    """As compare of ../build.py, with the comparison of the program."""
    fails, passes = set(), set()
    packed = [marshal.dumps(args) for args, _ in cases]

    def work():
        for i, (args, want) in enumerate(cases):
            (passes if right(p, args, ours.outcome(fn, packed[i]), want) else fails).add(i)

    late = ours.timed(0.1, work)
    if late:
        fails.add(len(fails) + len(passes))
    return fails, passes, late


def apart(p, fn, cases):
    """As tried, with a time for each case, for a program that hangs on some."""
    fails, passes = set(), set()
    for i, (args, want) in enumerate(cases[:50]):
        packed, got = marshal.dumps(args), []
        late = ours.timed(0.02, lambda: got.append(ours.outcome(fn, packed)))
        (fails if late or not right(p, args, got[0], want) else passes).add(i)
    return fails, passes


def pool(p, gold):
    """Different inputs with their answers, and how many the right version gets wrong."""
    r = seedlib.rng("quixbugs " + p["name"])
    out, seen, differ = [], set(), 0
    for _ in range(POOL * 3):
        args = p["gen"](r)
        packed = marshal.dumps(args)
        key = json.dumps(tagged(list(args)))
        if key in seen:
            continue
        seen.add(key)
        want = ours.encode({"w": ours.exact(p["oracle"](*args))})
        got = ours.outcome(gold, packed)
        if not right(p, args, got, want):
            differ += 1
            continue
        out.append((args, want))
        if len(out) == POOL:
            break
    return out, differ


def case(p, c):
    args, want = c
    want = json.loads(want)
    if p["compare"] == "approx":
        want["t"] = p["tolerance"](args)
    return [tagged(list(args)) if p["tagged"] else list(args), want]


def shows(p, c):
    """Whether a visible test may say what this case comes to: one answer, and one that can be written as it is."""
    args, want = c
    return (p["clear"] is None or p["clear"](args, json.loads(want)["w"])) and '"float"' not in want


def task(p):
    ours.exact = tagged if p["tagged"] else plain
    good, bad = files(p, "correct"), files(p, "programs")
    name = "solution.py" if p["name"] + ".py" not in good else p["name"] + ".py"
    cases, differ = pool(p, load(p, good))
    fails, passes, hangs = tried(p, load(p, bad), cases)
    if hangs:
        fails, passes = apart(p, load(p, bad), cases)
    killers = [fails]
    for _, text in mutants(good[name])[1]:
        try:
            fn = load(p, dict(good, **{name: text}))
        except Exception:
            continue
        killers.append(tried(p, fn, cases)[0])
    r = seedlib.rng("quixbugs choice " + p["name"])
    fixed, bank, rest = ours.choose_hidden(cases, killers, r)
    v = ours.visible(fails, passes, [(tagged(list(a)), w) for a, w in cases], [i for i in rest if shows(p, cases[i])], r)
    assert v and len(v) == 3 and fails & set(fixed), (p["name"], v, len(fails), len(passes), hangs)
    assert not set(v) & set(fixed + bank), (p["name"], v)
    alive = sum(not k for k in killers)
    print(p["name"], "cases", len(cases), "where the right version errs", differ, "fails", len(fails), "hangs", hangs, "fixed", len(fixed), "bank", len(bank), "mutants", len(killers) - 1, "never killed", alive)
    out = dict(
        family=p["name"], fn=p["fn"], split="test", statement=p["statement"], files=good, approx=False, tagged=p["tagged"], compare=p["compare"],
        fixed=[case(p, cases[i]) for i in fixed], bank=[case(p, cases[i]) for i in bank], shown=[case(p, cases[i]) for i in v],
        bugs=[dict(kind="hang" if hangs else "one-line", file=name, patch=ours.patch(good[name].rstrip("\n"), bad[name].rstrip("\n")), shown=[0, 1, 2])],
    )
    return out


plain = ours.exact


def main():
    assert sorted(p["name"] for p in PROGRAMS) == sorted(f.stem for f in (HERE / "programs").glob("*.py"))
    out = [task(p) for p in sorted(PROGRAMS, key=lambda p: p["name"])]
    text = json.dumps({"version": 1, "functions": out}, separators=(",", ":"))
    with open(HERE.parent / "quixbugs.json.gz", "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=9, mtime=0, filename="") as f:
        f.write(text.encode())
    print(len(out), "programs,", len(text), "bytes")


if __name__ == "__main__":
    main()
