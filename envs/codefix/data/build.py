#!/usr/bin/env python3
"""Makes bugs.json.gz from the seeds: hidden cases, mutants of every seed function, and for each mutant three visible cases.

Run it where it lies: python3 build.py. Its output is a function of the seeds alone and is committed; nothing here runs when a server does.
"""
import ast
import gzip
import hashlib
import importlib
import json
import marshal
import multiprocessing
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "seeds")]
import seedlib
from mutate import mutants

POOL, FIXED, BANK, MOST_FIXED = 240, 20, 60, 40
PER_KIND, PER_FUNCTION, TWO_BUGS = 3, 15, 2
TEST_FAMILIES = {"graphs", "formats"}
KINDS = ["op", "cmp", "off1", "const", "var", "neg", "del"]


class Late(BaseException):
    pass


def late(*_):
    raise Late()


signal.signal(signal.SIGVTALRM, late)


def exact(v):
    """A value as JSON keeps it apart from all others, or an exception if it is none that a task may use."""
    if v is None or type(v) in (bool, int, str):
        return v
    if type(v) is float and v == v and abs(v) != float("inf"):
        return v
    if type(v) is list:
        return [exact(x) for x in v]
    if type(v) is dict and all(type(k) is str for k in v):
        return {k: exact(x) for k, x in v.items()}
    raise TypeError("no plain value: %r" % (v,))


encode = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode


def outcome(fn, args):
    """What a call comes to, as a comparable text: a value or an exception. A hang runs into the caller's timer."""
    try:
        return encode({"w": exact(fn(*marshal.loads(args)))})
    except RecursionError:
        return '{"e":"RecursionError"}'
    except Exception as e:
        return encode({"e": type(e).__name__})


def timed(seconds, work):
    """Runs work within some seconds of CPU time; True if they were not enough."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        work()
        return False
    except Late:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def load(source, fn, helpers=None):
    space = {"__name__": "solution"}
    saved = {}
    for name, text in (helpers or {}).items():
        mod = type(sys)(name)
        exec(compile(text, name, "exec"), mod.__dict__)
        saved[name] = sys.modules.get(name)
        sys.modules[name] = mod
    try:
        exec(compile(source, "solution", "exec"), space)
    finally:
        for name, old in saved.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old
    return space[fn]


def pool(seed, gold):
    """Different inputs with gold's outcomes, short ones and long ones as the generator gives them."""
    r = seedlib.rng(seed["fn"])
    out, seen = [], set()
    for _ in range(POOL * 4):
        args = seed["gen"](r)
        key = json.dumps(args)
        if key in seen:
            continue
        seen.add(key)
        want = outcome(gold, marshal.dumps(args))
        assert (want.startswith('{"w"') or want == '{"e":"ValueError"}'), (seed["fn"], args, want)
        assert json.loads(key) == json.loads(json.dumps(exact(list(args)))), args
        out.append((args, want))
        if len(out) == POOL:
            break
    return out


def compare(fn, cases):
    """Which cases fn fails, which it passes, and whether it hangs; nothing is tried after a hang."""
    fails, passes = set(), set()
    packed = [marshal.dumps(args) for args, _ in cases]

    def work():
        for i, (_, want) in enumerate(cases):
            (passes if outcome(fn, packed[i]) == want else fails).add(i)

    late = timed(0.25, work)
    if late:
        fails.add(len(fails) + len(passes))
    return fails, passes, late


def patch(a, b):
    """b as replacements of lines of a: [[first, last, text], ...], counted from 1."""
    import difflib
    out = []
    la, lb = a.split("\n"), b.split("\n")
    for tag, i, j, k, l in difflib.SequenceMatcher(None, la, lb, autojunk=False).get_opcodes():
        if tag != "equal":
            out.append([i + 1, j, "\n".join(lb[k:l]) if l > k else None])
    return out


def both(base, a, b):
    """Two mutants of base in one, None where they change neighbouring lines."""
    pa, pb = patch(base, a), patch(base, b)
    changes = sorted(pa + pb, key=lambda p: p[0])
    if len(pa) != 1 or len(pb) != 1 or changes[1][0] <= changes[0][1] + 1:
        return None
    lines = base.split("\n")
    for first, last, text in reversed(changes):
        lines[first - 1:last] = text.split("\n") if text is not None else []
    return "\n".join(lines)


def case(c):
    args, want = c
    return [list(args), json.loads(want)]


def choose_hidden(pool_, killers, r):
    """Indexes of the fixed hidden cases: enough to fail every mutant that any input of the pool fails."""
    n = len(pool_)
    left = [set(k) for k in killers if k]
    chosen = []
    while left:
        count = [0] * n
        for k in left:
            for i in k:
                count[i] += 1
        best = max(range(n), key=lambda i: (count[i], -i))
        chosen.append(best)
        left = [k for k in left if best not in k]
    assert len(chosen) <= MOST_FIXED, len(chosen)
    rest = [i for i in range(n) if i not in set(chosen)]
    r.shuffle(rest)
    take = max(0, min(FIXED - len(chosen), len(rest) // 3))
    chosen += rest[:take]
    rest = rest[take:]
    bank = rest[:min(BANK, len(rest) // 2)]
    return chosen, bank, rest[len(bank):]


def split_of(seed):
    if seed["family"] in TEST_FAMILIES:
        return "test"
    h = int(hashlib.sha256(("split/2 " + seed["fn"]).encode()).hexdigest(), 16) % 10
    return {0: "test", 1: "validation"}.get(h, "train")


def visible(fails, passes, pool_, rest, r):
    """Three visible cases, at least one of which the bug fails, and one that it passes where there is one."""
    short = lambda i: len(json.dumps(pool_[i][0]))
    f = [i for i in rest if i in fails]
    p = [i for i in rest if i in passes]
    r.shuffle(f)
    r.shuffle(p)
    f = sorted(f[:6], key=short)
    p = sorted(p[:6], key=short)
    if not f:
        return None
    v = [f[0]] + p[:2]
    v += f[1:1 + 3 - len(v)]
    return v if len(v) == 3 else None


def function(seed):
    base, ms = mutants(seed["gold"])
    gold = load(base, seed["fn"])
    cases = pool(seed, gold)
    r = seedlib.rng("choice " + seed["fn"])
    results = []
    for kind, text in ms:
        try:
            fn = load(text, seed["fn"])
        except Exception:
            continue
        results.append((kind, text, *compare(fn, cases)))
    alive = [x for x in results if x[2]]
    fixed, bank, rest = choose_hidden(cases, [x[2] for x in alive], r)
    split = split_of(seed)
    bugs, used = [], {}
    r.shuffle(alive)
    alive.sort(key=lambda x: KINDS.index(x[0]))
    queue = []
    for rank in range(40):
        for kind in KINDS:
            same = [x for x in alive if x[0] == kind]
            if rank < len(same):
                queue.append(same[rank])
    singles = []
    for kind, text, fails, passes, hangs in queue:
        # Deleted statements are kept for test alone, to see a shift of kind.
        if kind == "del" and split != "test" or hangs and sum(b[3] > 0 for b in bugs) >= 1:
            continue
        v = visible(fails, passes, cases, rest, r)
        if v is None or not fails & set(fixed) and not hangs:
            continue
        bugs.append((kind, text, v, hangs))
        singles.append(text)
        if len(bugs) == PER_FUNCTION:
            break
    for _ in range(30):
        if sum(b[0] == "two" for b in bugs) == TWO_BUGS or not singles:
            break
        text = both(base, r.choice(singles), r.choice(singles))
        if text is None:
            continue
        try:
            fn = load(text, seed["fn"])
        except Exception:
            continue
        fails, passes, hangs = compare(fn, cases)
        v = visible(fails, passes, cases, rest, r)
        if hangs or v is None or not fails & set(fixed):
            continue
        bugs.append(("two", text, v, 0))
    shown = sorted({i for b in bugs for i in b[2]})
    return dict(
        family=seed["family"], fn=seed["fn"], split=split, statement=seed["statement"], files={"solution.py": base + "\n"}, approx=seed["approx"],
        fixed=[case(cases[i]) for i in fixed], bank=[case(cases[i]) for i in bank], shown=[case(cases[i]) for i in shown],
        bugs=[dict(kind=k, file="solution.py", patch=patch(base, t), shown=[shown.index(i) for i in v]) for k, t, v, _ in bugs],
    ), dict(mutants=len(results), alive=len(alive), bugs=len(bugs))


def numbered(i):
    print(seedlib.FUNCTIONS[i]["fn"], file=sys.stderr, flush=True)
    return function(seedlib.FUNCTIONS[i])


def pair(seed):
    files = {f: t.lstrip("\n") for f, t in seed["files"].items()}
    helpers = lambda fs: {f[:-3]: t for f, t in fs.items() if f != "solution.py"}
    gold = load(files["solution.py"], seed["fn"], helpers(files))
    cases = pool(seed, gold)
    name, right, wrong = seed["bug"]
    assert files[name].count(right) == 1, (seed["fn"], files[name].count(right))
    broken = dict(files, **{name: files[name].replace(right, wrong)})
    fn = load(broken["solution.py"], seed["fn"], helpers(broken))
    fails, passes, _ = compare(fn, cases)
    # The cases must also fail the mutants of both files, as for a function.
    killers = [fails]
    for f, text in files.items():
        base, ms = mutants(text)
        for _, m in ms:
            changed = dict(files, **{f: m})
            try:
                mf = load(changed["solution.py"], seed["fn"], helpers(changed))
            except Exception:
                continue
            killers.append(compare(mf, cases)[0])
    r = seedlib.rng("choice " + seed["fn"])
    fixed, bank, rest = choose_hidden(cases, killers, r)
    v = visible(fails, passes, cases, rest, r)
    assert v and fails & set(fixed), (seed["fn"], len(fails))
    return dict(
        family="pairs", fn=seed["fn"], split=split_of(seed), statement=seed["statement"], files=files, approx=seed["approx"],
        fixed=[case(cases[i]) for i in fixed], bank=[case(cases[i]) for i in bank], shown=[case(cases[i]) for i in v],
        bugs=[dict(kind="hand", file=name, patch=patch(files[name].rstrip("\n"), broken[name].rstrip("\n")), shown=[0, 1, 2])],
    )


def normal(source):
    """A source without its names, to find near-duplicates across splits."""
    tree = ast.parse(source)
    for n in ast.walk(tree):
        for field in ("id", "arg", "name", "attr"):
            if hasattr(n, field):
                setattr(n, field, "_")
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def main():
    for p in sorted((HERE / "seeds").glob("?_*.py")):
        importlib.import_module(p.stem)
    names = [s["fn"] for s in seedlib.FUNCTIONS + seedlib.PAIRS]
    assert len(set(names)) == len(names), sorted(n for n in names if names.count(n) > 1)
    forms = [normal(s["gold"]) for s in seedlib.FUNCTIONS]
    assert len(set(forms)) == len(forms), "near-duplicate seeds"
    out, stats = [], {}
    # Each function draws from its own generator, so the order of work is free.
    with multiprocessing.get_context("fork").Pool(2) as workers:
        built = list(workers.imap(numbered, range(len(seedlib.FUNCTIONS))))
    for s, (f, st) in zip(seedlib.FUNCTIONS, built):
        out.append(f)
        stats[s["fn"]] = st
        if "-v" in sys.argv:
            print(s["family"], s["fn"], f["split"], st, len(f["fixed"]), len(f["bank"]), flush=True)
    for s in seedlib.PAIRS:
        out.append(pair(s))
    text = json.dumps({"version": 1, "functions": out}, separators=(",", ":"))
    with open(HERE / "bugs.json.gz", "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=9, mtime=0, filename="") as f:
        f.write(text.encode())
    per = {}
    for f in out:
        per.setdefault(f["split"], [0, 0])
        per[f["split"]][0] += 1
        per[f["split"]][1] += len(f["bugs"])
    print(len(out), "functions,", sum(len(f["bugs"]) for f in out), "bugs,", per, len(text), "bytes")


if __name__ == "__main__":
    main()
