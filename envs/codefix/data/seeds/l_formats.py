"""Seed functions that write text formats. See ../build.py for the form."""
from seedlib import F, ints, pick, word

F("formats", "thousands", "thousands(n) writes an integer with a comma before every group of three digits.", '''
def thousands(n):
    digits = str(abs(n))
    groups = []
    while len(digits) > 3:
        groups.append(digits[-3:])
        digits = digits[:-3]
    groups.append(digits)
    text = ",".join(reversed(groups))
    return "-" + text if n < 0 else text
''', lambda r: (pick(r, [r.randint(-2000, 2000), r.randint(-10**7, 10**9), 1000, 999, 0, -1000]),))

F("formats", "table_text", "table_text(rows) pads every column of a list of rows of texts to its widest cell, left-aligned, with one blank between; lines are stripped at the right and joined by line feeds.", '''
def table_text(rows):
    if not rows:
        return ""
    widths = [0] * len(rows[0])
    for row in rows:
        for i, cell in enumerate(row):
            widths[i] = max(widths[i], len(cell))
    lines = []
    for row in rows:
        cells = [cell.ljust(widths[i]) for i, cell in enumerate(row)]
        lines.append(" ".join(cells).rstrip())
    return "\\n".join(lines)
''', lambda r: (lambda m: ([[word(r, 0, 5) for _ in range(m)] for _ in range(r.randint(0, 3))],))(r.randint(1, 3)))

F("formats", "csv_line", "csv_line(fields) joins texts by commas; a field with a comma, a double quote or a line feed is put in double quotes, with its own doubled.", '''
def csv_line(fields):
    out = []
    for f in fields:
        if "," in f or '"' in f or "\\n" in f:
            f = '"' + f.replace('"', '""') + '"'
        out.append(f)
    return ",".join(out)
''', lambda r: ([pick(r, [word(r), "a,b", 'say "x"', "", "line\nfeed", '"'])for _ in range(r.randint(0, 4))],))

F("formats", "human_size", "human_size(n) writes a number of bytes in the largest of B, KB, MB, GB (steps of 1024) that gives at least 1, rounded down.", '''
def human_size(n):
    units = ["B", "KB", "MB", "GB"]
    i = 0
    while n >= 1024 and i < len(units) - 1:
        n //= 1024
        i += 1
    return str(n) + " " + units[i]
''', lambda r: (pick(r, [r.randint(0, 3000), r.randint(0, 10**7), r.randint(0, 10**13), 1024, 1023, 1024 ** 2, 1024 ** 3, 1024 ** 4]),))

F("formats", "bullet_list", "bullet_list(items, depth) writes nested lists of texts as lines '- text', two blanks deeper for each level.", '''
def bullet_list(items, depth):
    lines = []
    for it in items:
        if isinstance(it, list):
            lines.extend(bullet_list(it, depth + 1))
        else:
            lines.append("  " * depth + "- " + it)
    return lines
''', lambda r: ([pick(r, [word(r), [word(r), word(r)], [word(r), [word(r)]]]) for _ in range(r.randint(0, 4))], r.randint(0, 2)))

F("formats", "join_words", "join_words(words) gives '', 'a', 'a and b' or 'a, b and c'.", '''
def join_words(words):
    if not words:
        return ""
    if len(words) == 1:
        return words[0]
    return ", ".join(words[:-1]) + " and " + words[-1]
''', lambda r: ([word(r) for _ in range(r.randint(0, 5))],))

F("formats", "bar_chart", "bar_chart(values, width) draws a bar of '#' for each non-negative value, the largest width long and the others in proportion, rounded down; all empty if the largest is 0.", '''
def bar_chart(values, width):
    top = max(values, default=0)
    bars = []
    for v in values:
        if top == 0:
            bars.append("")
        else:
            bars.append("#" * (v * width // top))
    return bars
''', lambda r: (pick(r, [ints(r, 0, 5, 0, 9), [0, 0]]), r.randint(1, 10)))

F("formats", "ordinal", "ordinal(n) writes 1 as '1st', 2 as '2nd', 3 as '3rd', others with 'th'; 11, 12 and 13 of any hundred have 'th'.", '''
def ordinal(n):
    if n % 100 in (11, 12, 13):
        return str(n) + "th"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return str(n) + ending
''', lambda r: (pick(r, [r.randint(0, 30), r.randint(100, 125), r.randint(0, 1200), pick(r, [11, 12, 13, 111, 112, 113])]),))

F("formats", "mask_card", "mask_card(digits) shows the last four characters and '*' for the others, in groups of four from the left.", '''
def mask_card(digits):
    masked = "*" * (len(digits) - 4) + digits[-4:]
    groups = []
    for i in range(0, len(masked), 4):
        groups.append(masked[i:i + 4])
    return " ".join(groups)
''', lambda r: ("".join(r.choice("0123456789") for _ in range(r.randint(0, 16))),))

F("formats", "hex_dump", "hex_dump(nums, width) writes bytes as lines of width two-digit hexadecimal numbers after a four-digit offset and a colon.", '''
def hex_dump(nums, width):
    lines = []
    for i in range(0, len(nums), width):
        cells = " ".join("%02x" % n for n in nums[i:i + width])
        lines.append("%04x: %s" % (i, cells))
    return lines
''', lambda r: (ints(r, 0, 9, 0, 255), r.randint(1, 4)))

F("formats", "ini_text", "ini_text(sections) writes a dict of dicts as '[name]' and 'key = value' lines, sections and keys in ascending order, a blank line between sections.", '''
def ini_text(sections):
    blocks = []
    for name in sorted(sections):
        lines = ["[" + name + "]"]
        for key in sorted(sections[name]):
            lines.append(key + " = " + str(sections[name][key]))
        blocks.append("\\n".join(lines))
    return "\\n\\n".join(blocks)
''', lambda r: ({k: {x: r.randint(0, 9) for x in r.sample("pqr", r.randint(0, 3))} for k in r.sample(["main", "net", "disk"], r.randint(0, 3))},))

F("formats", "justify_line", "justify_line(words, width) spreads at least one word over exactly width characters; spare blanks go to the gaps from the left; a single word is padded at the right.", '''
def justify_line(words, width):
    letters = sum(len(w) for w in words)
    gaps = len(words) - 1
    if gaps == 0:
        return words[0].ljust(width)
    spare = width - letters
    line = ""
    for i, w in enumerate(words):
        line += w
        if i < gaps:
            line += " " * (spare // gaps + (1 if i < spare % gaps else 0))
    return line
''', lambda r: (lambda ws: (ws, sum(map(len, ws)) + len(ws) - 1 + r.randint(0, 6)))([word(r) for _ in range(r.randint(1, 4))]))

F("formats", "query_text", "query_text(pairs) writes [key, value] pairs as 'k=v&k=v' in order; blanks become '+', and '&', '=' and '+' become %26, %3D and %2B.", '''
def query_text(pairs):
    codes = {"&": "%26", "=": "%3D", "+": "%2B", " ": "+"}

    def quote(text):
        return "".join(codes.get(ch, ch) for ch in text)

    return "&".join(quote(k) + "=" + quote(v) for k, v in pairs)
''', lambda r: ([[word(r, 1, 3), pick(r, [word(r), "a b", "x&y", "p=q", "1+1", ""])] for _ in range(r.randint(0, 4))],))
