"""Seed functions on strings. See ../build.py for the form."""
from seedlib import F, ints, pick, sentence, word

F("strings", "caesar", "caesar(text, shift) moves every lower-case ASCII letter by shift places round the alphabet; other characters stay.", '''
def caesar(text, shift):
    out = []
    for ch in text:
        if "a" <= ch <= "z":
            out.append(chr((ord(ch) - 97 + shift) % 26 + 97))
        else:
            out.append(ch)
    return "".join(out)
''', lambda r: (sentence(r), r.randint(-30, 30)))

F("strings", "title_words", "title_words(text) puts the first letter of every blank-separated word in upper case and the rest in lower case; runs of blanks become one.", '''
def title_words(text):
    parts = []
    for w in text.split():
        parts.append(w[:1].upper() + w[1:].lower())
    return " ".join(parts)
''', lambda r: ("  ".join(pick(r, [word(r), word(r).upper(), word(r).title()]) for _ in range(r.randint(0, 5))),))

F("strings", "is_palindrome", "is_palindrome(text) says whether the letters and digits of text, without regard to case, read the same backwards; an empty text does.", '''
def is_palindrome(text):
    chars = [c.lower() for c in text if c.isalnum()]
    i, j = 0, len(chars) - 1
    while i < j:
        if chars[i] != chars[j]:
            return False
        i += 1
        j -= 1
    return True
''', lambda r: (lambda w: (pick(r, [w + w[::-1], w + "x" + w[::-1].upper(), w + ", " + w[::-1], w + "q" + w, w + w[::-1][1:] + "!", w[::-1] + "ab" + w]),))(word(r)))

F("strings", "run_lengths", "run_lengths(text) writes each run of one character as the character followed by its length, e.g. 'aab' gives 'a2b1'.", '''
def run_lengths(text):
    out = ""
    i = 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        out += text[i] + str(j - i)
        i = j
    return out
''', lambda r: ("".join(r.choice("abc") * r.randint(1, 4) for _ in range(r.randint(0, 5))),))

F("strings", "count_vowels", "count_vowels(text) counts the letters a, e, i, o and u in either case.", '''
def count_vowels(text):
    n = 0
    for ch in text.lower():
        if ch in "aeiou":
            n += 1
    return n
''', lambda r: (pick(r, [sentence(r), sentence(r).upper(), ""]),))

F("strings", "longest_word", "longest_word(text) is the longest blank-separated word, the first of them if several are equally long, or '' if there is none.", '''
def longest_word(text):
    best = ""
    for w in text.split():
        if len(w) > len(best):
            best = w
    return best
''', lambda r: (sentence(r, 0, 6),))

F("strings", "squeeze", "squeeze(text, ch) makes every run of the character ch a single one; other characters stay.", '''
def squeeze(text, ch):
    out = []
    for c in text:
        if c == ch and out and out[-1] == ch:
            continue
        out.append(c)
    return "".join(out)
''', lambda r: ("".join(r.choice("ab-") * r.randint(1, 3) for _ in range(r.randint(0, 6))), r.choice("ab-")))

F("strings", "wrap_text", "wrap_text(text, width) puts words on lines of at most width characters, greedily, and returns the list of lines; a longer word has a line of its own.", '''
def wrap_text(text, width):
    lines = []
    line = ""
    for w in text.split():
        if not line:
            line = w
        elif len(line) + 1 + len(w) <= width:
            line += " " + w
        else:
            lines.append(line)
            line = w
    if line:
        lines.append(line)
    return lines
''', lambda r: (sentence(r, 0, 9), r.randint(4, 16)))

F("strings", "common_prefix", "common_prefix(words) is the longest text that every word of the list begins with, '' for an empty list.", '''
def common_prefix(words):
    if not words:
        return ""
    prefix = words[0]
    for w in words[1:]:
        k = 0
        while k < len(prefix) and k < len(w) and prefix[k] == w[k]:
            k += 1
        prefix = prefix[:k]
    return prefix
''', lambda r: (lambda p: ([p + "".join(r.choice("xy") for _ in range(r.randint(0, 3))) for _ in range(r.randint(0, 4))],))(word(r)))

F("strings", "snake_case", "snake_case(name) turns camelCase into snake_case: an underscore before every upper-case letter that is not the first character, all in lower case.", '''
def snake_case(name):
    out = ""
    for i, ch in enumerate(name):
        if ch.isupper() and i > 0:
            out += "_"
        out += ch.lower()
    return out
''', lambda r: ("".join(pick(r, [word(r, 1, 4), word(r, 1, 4).title(), "X"]) for _ in range(r.randint(0, 4))),))

F("strings", "count_overlaps", "count_overlaps(text, part) counts the places where part begins in text, overlapping ones too; an empty part is nowhere.", '''
def count_overlaps(text, part):
    if not part:
        return 0
    n = 0
    for i in range(len(text) - len(part) + 1):
        if text[i:i + len(part)] == part:
            n += 1
    return n
''', lambda r: ("".join(r.choice("ab") for _ in range(r.randint(0, 12))), "".join(r.choice("ab") for _ in range(r.randint(0, 3)))))

F("strings", "rotate_text", "rotate_text(text, n) moves the first n characters to the end; n may be larger than the text or negative.", '''
def rotate_text(text, n):
    if not text:
        return text
    k = n % len(text)
    return text[k:] + text[:k]
''', lambda r: (word(r, 0, 7), r.randint(-9, 15)))

F("strings", "first_unique", "first_unique(text) is the index of the first character that occurs once only, -1 if there is none.", '''
def first_unique(text):
    counts = {}
    for ch in text:
        counts[ch] = counts.get(ch, 0) + 1
    for i, ch in enumerate(text):
        if counts[ch] == 1:
            return i
    return -1
''', lambda r: ("".join(r.choice("abcd") for _ in range(r.randint(0, 8))),))

F("strings", "center_pad", "center_pad(text, width, fill) centres text in width characters with fill on both sides, the odd one on the right; a text that is long enough stays.", '''
def center_pad(text, width, fill):
    missing = width - len(text)
    if missing <= 0:
        return text
    left = missing // 2
    return fill * left + text + fill * (missing - left)
''', lambda r: (word(r, 0, 6), r.randint(0, 12), r.choice("*-.")))
