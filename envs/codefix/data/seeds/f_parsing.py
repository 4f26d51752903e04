"""Seed functions that parse. See ../build.py for the form."""
from seedlib import F, ints, pick, word

F("parsing", "parse_pairs", "parse_pairs(text) reads 'k=v;k=v' into a dict of texts; blanks round keys and values go, pieces without '=' are left out, a later key wins.", '''
def parse_pairs(text):
    out = {}
    for piece in text.split(";"):
        if "=" not in piece:
            continue
        key, value = piece.split("=", 1)
        out[key.strip()] = value.strip()
    return out
''', lambda r: (";".join(pick(r, [word(r, 1, 2) + "=" + word(r), " a = b", "x=1=2", "junk", "", "a=c "]) for _ in range(r.randint(0, 5))),))

F("parsing", "balanced", "balanced(text) says whether the brackets ()[]{} of text are balanced and nested; other characters are ignored.", '''
def balanced(text):
    closes = {")": "(", "]": "[", "}": "{"}
    stack = []
    for ch in text:
        if ch in "([{":
            stack.append(ch)
        elif ch in closes:
            if not stack or stack.pop() != closes[ch]:
                return False
    return not stack
''', lambda r: (pick(r, ["".join(r.choice("()[]{}x") for _ in range(r.randint(0, 5))), "(" * r.randint(0, 3) + "[a]" + ")" * r.randint(0, 3), "{[()]}x()", "[(])", "()" * r.randint(0, 3), "(" + word(r) + ")["]),))

F("parsing", "parse_duration", "parse_duration(text) reads a duration such as '1h30m', '45s' or '2h5s' into seconds; units come as h, m, s in that order, each at most once; anything else raises ValueError.", '''
def parse_duration(text):
    sizes = {"h": 3600, "m": 60, "s": 1}
    left = "hms"
    total = 0
    digits = ""
    for ch in text:
        if ch.isdigit():
            digits += ch
        elif ch in left and digits:
            total += int(digits) * sizes[ch]
            left = left[left.index(ch) + 1:]
            digits = ""
        else:
            raise ValueError(text)
    if digits or total == 0 and not text:
        raise ValueError(text)
    return total
''', lambda r: (pick(r, ["%dh%dm" % (r.randint(0, 9), r.randint(0, 70)), "%ds" % r.randint(0, 99), "%dm%ds" % (r.randint(1, 5), r.randint(1, 50)), "%dh%ds" % (r.randint(1, 5), r.randint(1, 50)), "5m2h", "", "h", "12", "3m4m", "1h2m3s", "2x"]),))

F("parsing", "tokens", "tokens(text) cuts an expression into numbers (runs of digits), names (runs of letters) and single other characters; blanks separate and are dropped.", '''
def tokens(text):
    out = []
    i = 0
    while i < len(text):
        ch = text[i]
        j = i + 1
        if ch.isdigit():
            while j < len(text) and text[j].isdigit():
                j += 1
        elif ch.isalpha():
            while j < len(text) and text[j].isalpha():
                j += 1
        if ch != " ":
            out.append(text[i:j])
        i = j
    return out
''', lambda r: ("".join(pick(r, [word(r), str(r.randint(0, 999)), " ", "+", "(", ")", "*"]) for _ in range(r.randint(0, 7))),))

F("parsing", "eval_rpn", "eval_rpn(text) evaluates a blank-separated postfix expression of integers and + - *; a malformed one raises ValueError.", '''
def eval_rpn(text):
    stack = []
    for tok in text.split():
        if tok in ("+", "-", "*"):
            if len(stack) < 2:
                raise ValueError("operands")
            b = stack.pop()
            a = stack.pop()
            if tok == "+":
                stack.append(a + b)
            elif tok == "-":
                stack.append(a - b)
            else:
                stack.append(a * b)
        else:
            stack.append(int(tok))
    if len(stack) != 1:
        raise ValueError("rest")
    return stack[0]
''', lambda r: (pick(r, ["%d %d %s" % (r.randint(0, 9), r.randint(0, 9), r.choice("+-*")), "%d %d %s %d %s" % (r.randint(0, 9), r.randint(0, 9), r.choice("+-*"), r.randint(0, 9), r.choice("+-*")), "%d %d %d %s %s" % (r.randint(0, 9), r.randint(0, 9), r.randint(0, 9), r.choice("+-*"), r.choice("+-*")), "+", "1 2", "7", "", "3 +", "1 2 3 +"]),))

F("parsing", "split_csv", "split_csv(line) cuts a line at commas; a field in double quotes may hold commas, and two double quotes in it stand for one.", '''
def split_csv(line):
    fields = []
    field = ""
    quoted = False
    i = 0
    while i < len(line):
        ch = line[i]
        if quoted:
            if ch == '"' and line[i + 1:i + 2] == '"':
                field += '"'
                i += 1
            elif ch == '"':
                quoted = False
            else:
                field += ch
        elif ch == '"':
            quoted = True
        elif ch == ",":
            fields.append(field)
            field = ""
        else:
            field += ch
        i += 1
    fields.append(field)
    return fields
''', lambda r: (",".join(pick(r, [word(r), "", '"a,b"', '"say ""hi"""', str(r.randint(0, 99)), '"x"', '""""']) for _ in range(r.randint(1, 4))),))

F("parsing", "parse_version", "parse_version(text) reads '1.2.3' or 'v1.2' into a list of three integers, missing ones 0; anything else raises ValueError.", '''
def parse_version(text):
    if text.startswith("v"):
        text = text[1:]
    parts = text.split(".")
    if len(parts) > 3:
        raise ValueError(text)
    out = []
    for p in parts:
        if not p.isdigit():
            raise ValueError(text)
        out.append(int(p))
    while len(out) < 3:
        out.append(0)
    return out
''', lambda r: (pick(r, ["%d.%d.%d" % (r.randint(0, 9), r.randint(0, 20), r.randint(0, 9)), "v%d.%d" % (r.randint(0, 9), r.randint(0, 20)), "%d" % r.randint(0, 9), "v2.", "", "1.2.3.4", "1.x", "vv1", "1..2"]),))

F("parsing", "parse_range_list", "parse_range_list(text) reads '1-3,7' into the ascending list [1, 2, 3, 7] without repeats; a range with its end before its start raises ValueError.", '''
def parse_range_list(text):
    found = set()
    for piece in text.split(","):
        if not piece:
            continue
        if "-" in piece:
            a, b = piece.split("-")
            if int(b) < int(a):
                raise ValueError(piece)
            found.update(range(int(a), int(b) + 1))
        else:
            found.add(int(piece))
    return sorted(found)
''', lambda r: (",".join(pick(r, [str(r.randint(0, 12)), (lambda a: "%d-%d" % (a, a + r.randint(0, 4)))(r.randint(0, 9)), ""] + (["5-2"] if r.random() < .15 else [])) for _ in range(r.randint(0, 4))),))

F("parsing", "expand_template", "expand_template(text, values) replaces every {name} by values[name] as text; unknown names stay as they are, '{{' stands for '{'.", '''
def expand_template(text, values):
    out = ""
    i = 0
    while i < len(text):
        if text.startswith("{{", i):
            out += "{"
            i += 2
            continue
        end = text.find("}", i)
        if text[i] == "{" and end > i and text[i + 1:end] in values:
            out += str(values[text[i + 1:end]])
            i = end + 1
            continue
        out += text[i]
        i += 1
    return out
''', lambda r: ("".join(pick(r, ["{a}", "{b}", "{zz}", "{{", "{", "}", word(r), " "]) for _ in range(r.randint(0, 6))), {"a": r.randint(0, 9), "b": word(r)}))

F("parsing", "parse_query", "parse_query(text) reads 'a=1&b=&a=2' into a dict from key to the list of its values in order; pieces without '=' have the value ''. Empty pieces are left out.", '''
def parse_query(text):
    out = {}
    for piece in text.split("&"):
        if piece == "":
            continue
        key, sep, value = piece.partition("=")
        out.setdefault(key, []).append(value)
    return out
''', lambda r: ("&".join(pick(r, ["%s=%d" % (r.choice("abc"), r.randint(0, 9)), r.choice("abc"), "", r.choice("ab") + "=", "a=b=c"]) for _ in range(r.randint(0, 5))),))

F("parsing", "strip_comments", "strip_comments(text) drops everything from '#' to the end of each line, except where the '#' stands inside double quotes; blanks before the comment go, lines stay.", '''
def strip_comments(text):
    out = []
    for line in text.split("\\n"):
        quoted = False
        cut = len(line)
        for i, ch in enumerate(line):
            if ch == '"':
                quoted = not quoted
            elif ch == "#" and not quoted:
                cut = i
                break
        out.append(line[:cut].rstrip())
    return "\\n".join(out)
''', lambda r: ("\n".join(pick(r, [word(r) + " # " + word(r), '"a#b" c', "", "# all", 'x "#" # y', word(r) + "  "]) for _ in range(r.randint(1, 3))),))

F("parsing", "parse_bool", "parse_bool(text) reads yes/true/on/1 as True and no/false/off/0 as False, in any case and with blanks round; anything else raises ValueError.", '''
def parse_bool(text):
    word = text.strip().lower()
    if word in ("yes", "true", "on", "1"):
        return True
    if word in ("no", "false", "off", "0"):
        return False
    raise ValueError(text)
''', lambda r: (pick(r, ["", " "]) + pick(r, ["yes", "No", "TRUE", "false", "On", "off", "1", "0", "maybe", "", "2", "y"]) + pick(r, ["", " "]),))

F("parsing", "unescape", "unescape(text) replaces the escapes \\\\n, \\\\t and \\\\\\\\ by a line feed, a tab and a backslash; any other escape, or a lone backslash at the end, raises ValueError.", '''
def unescape(text):
    table = {"n": "\\n", "t": "\\t", "\\\\": "\\\\"}
    out = ""
    i = 0
    while i < len(text):
        if text[i] != "\\\\":
            out += text[i]
            i += 1
            continue
        if i + 1 >= len(text) or text[i + 1] not in table:
            raise ValueError(text)
        out += table[text[i + 1]]
        i += 2
    return out
''', lambda r: ("".join(pick(r, [word(r, 1, 2), "\\n", "\\t", "\\\\", "n"] + (["\\x", "\\"] if r.random() < .2 else [])) for _ in range(r.randint(0, 5))),))
