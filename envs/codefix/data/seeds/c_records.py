"""Seed functions on dicts and records. See ../build.py for the form."""
from seedlib import F, ints, pick, word

def rows(r, n=5):
    return [{"name": r.choice("abcd") * r.randint(1, 2), "team": r.choice(["red", "blue", "green"]), "score": r.randint(0, 9)} for _ in range(r.randint(0, n))]

def table(r, lo=0, hi=9, keys="abcdef"):
    return {k: r.randint(lo, hi) for k in r.sample(keys, r.randint(0, 4))}

F("records", "group_scores", "group_scores(rows) sums the 'score' of rows by their 'team' into a dict.", '''
def group_scores(rows):
    totals = {}
    for row in rows:
        team = row["team"]
        totals[team] = totals.get(team, 0) + row["score"]
    return totals
''', lambda r: (rows(r),))

F("records", "invert", "invert(mapping) maps every value to the ascending list of the keys that had it.", '''
def invert(mapping):
    out = {}
    for key in sorted(mapping):
        out.setdefault(str(mapping[key]), []).append(key)
    return out
''', lambda r: (table(r, 0, 2),))

F("records", "merge_counts", "merge_counts(a, b) adds two dicts of counts key by key and leaves out keys whose sum is 0.", '''
def merge_counts(a, b):
    out = dict(a)
    for key, n in b.items():
        out[key] = out.get(key, 0) + n
    return {key: n for key, n in out.items() if n != 0}
''', lambda r: (table(r, -2, 3), table(r, -3, 2)))

F("records", "top_names", "top_names(rows, limit) lists the names of the limit rows of highest score, highest first, equal scores in order of name.", '''
def top_names(rows, limit):
    ranked = sorted(rows, key=lambda row: (-row["score"], row["name"]))
    return [row["name"] for row in ranked[:limit]]
''', lambda r: (rows(r, 6), r.randint(0, 4)))

F("records", "diff_dicts", "diff_dicts(old, new) returns {'added': [...], 'removed': [...], 'changed': [...]} with ascending keys.", '''
def diff_dicts(old, new):
    added = [k for k in new if k not in old]
    removed = [k for k in old if k not in new]
    changed = [k for k in old if k in new and old[k] != new[k]]
    return {"added": sorted(added), "removed": sorted(removed), "changed": sorted(changed)}
''', lambda r: (table(r, 0, 1), table(r, 0, 1)))

F("records", "get_path", "get_path(tree, path, default) follows the dot-separated keys of path through nested dicts; where a key is missing or a value is no dict it returns default.", '''
def get_path(tree, path, default):
    here = tree
    for key in path.split("."):
        if not isinstance(here, dict) or key not in here:
            return default
        here = here[key]
    return here
''', lambda r: ({"a": {"b": r.randint(0, 9), "c": {"d": r.randint(0, 9)}}, "e": r.randint(0, 9)}, pick(r, ["a.b", "a.c.d", "e", "e.x", "a.x", "a.c", "q", "a.b.c"]), -1))

F("records", "count_by", "count_by(rows, field) counts how often each value of a field occurs; rows without the field count under '?'.", '''
def count_by(rows, field):
    counts = {}
    for row in rows:
        value = str(row.get(field, "?"))
        counts[value] = counts.get(value, 0) + 1
    return counts
''', lambda r: (rows(r) + [{}] * r.randint(0, 2), r.choice(["name", "team", "score"])))

F("records", "filter_rows", "filter_rows(rows, team, least) keeps the rows of a team with a score of at least least.", '''
def filter_rows(rows, team, least):
    kept = []
    for row in rows:
        if row["team"] == team and row["score"] >= least:
            kept.append(row)
    return kept
''', lambda r: (rows(r, 7), r.choice(["red", "blue"]), r.randint(1, 7)))

F("records", "rename_keys", "rename_keys(row, names) renames the keys of row that are keys of names; the others stay.", '''
def rename_keys(row, names):
    out = {}
    for key, value in row.items():
        out[names.get(key, key)] = value
    return out
''', lambda r: (table(r), {"a": "x", "b": "y", "e": "z"}))

F("records", "best_per_team", "best_per_team(rows) maps each team to the name with its highest score, the first such row where several are equal.", '''
def best_per_team(rows):
    best = {}
    for row in rows:
        team = row["team"]
        if team not in best or row["score"] > best[team]["score"]:
            best[team] = row
    return {team: row["name"] for team, row in best.items()}
''', lambda r: (rows(r, 7),))

F("records", "pivot", "pivot(rows) maps each team to a dict from name to the sum of its scores.", '''
def pivot(rows):
    out = {}
    for row in rows:
        cell = out.setdefault(row["team"], {})
        cell[row["name"]] = cell.get(row["name"], 0) + row["score"]
    return out
''', lambda r: (rows(r, 7),))

F("records", "join_rows", "join_rows(left, right) joins [key, a] and [key, b] pairs into [key, a, b] for every pair of rows with equal keys, in the order of left, then right.", '''
def join_rows(left, right):
    index = {}
    for key, b in right:
        index.setdefault(key, []).append(b)
    out = []
    for key, a in left:
        for b in index.get(key, []):
            out.append([key, a, b])
    return out
''', lambda r: ([[r.randint(0, 3), word(r, 1, 2)] for _ in range(r.randint(0, 4))], [[r.randint(0, 3), r.randint(0, 9)] for _ in range(r.randint(0, 4))]))

F("records", "missing_fields", "missing_fields(row, required) lists the required fields that row lacks or holds as None or '', in the order of required.", '''
def missing_fields(row, required):
    missing = []
    for field in required:
        value = row.get(field)
        if value is None or value == "":
            missing.append(field)
    return missing
''', lambda r: ({k: pick(r, [None, "", 0, "v", 1]) for k in r.sample("abcd", r.randint(0, 4))}, r.sample("abcde", r.randint(0, 4))))
