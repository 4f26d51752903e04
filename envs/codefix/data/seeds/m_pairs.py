"""Two-file tasks written by hand: a helper module and a solution that uses it, with one bug in either. See ../build.py for the form."""
from seedlib import P, ints, pick, sentence, word

NUMS = lambda r: (ints(r, 0, 7, -5, 9),)


def duo(fn, statement, helper, module, solution, bug, gen, approx=False):
    P(fn, statement, {helper + ".py": module, "solution.py": solution}, bug, gen, approx)


duo("spread", "spread(nums) is the difference between the largest and the smallest number, 0 for an empty list. Helpers are in extremes.py.", "extremes", '''
def largest(nums):
    best = nums[0]
    for n in nums:
        if n > best:
            best = n
    return best


def smallest(nums):
    best = nums[0]
    for n in nums:
        if n < best:
            best = n
    return best
''', '''
from extremes import largest, smallest


def spread(nums):
    if not nums:
        return 0
    return largest(nums) - smallest(nums)
''', ("extremes.py", "        if n < best:", "        if n > best:"), NUMS)

duo("mean_above", "mean_above(nums, bound) is the whole part of the mean of the numbers above bound (rounded down), 0 if there are none. Helpers are in stats_tools.py.", "stats_tools", '''
def above(nums, bound):
    return [n for n in nums if n > bound]


def floor_mean(nums):
    if not nums:
        return 0
    return sum(nums) // len(nums)
''', '''
from stats_tools import above, floor_mean


def mean_above(nums, bound):
    return floor_mean(above(nums, bound))
''', ("stats_tools.py", "n > bound", "n >= bound"), lambda r: (ints(r, 0, 7, 0, 9), r.randint(0, 8)))

duo("invoice_total", "invoice_total(lines, discount) sums amount * price of [amount, price] lines and takes discount percent off, rounded down to an integer. Helpers are in pricing.py.", "pricing", '''
def line_total(amount, price):
    return amount * price


def after_discount(total, percent):
    return total * (100 - percent) // 100
''', '''
from pricing import after_discount, line_total


def invoice_total(lines, discount):
    total = 0
    for amount, price in lines:
        total += line_total(amount, price)
    return after_discount(total, discount)
''', ("solution.py", "        total += line_total(amount, price)", "        total = line_total(amount, price)"), lambda r: ([[r.randint(0, 5), r.randint(1, 20)] for _ in range(r.randint(0, 4))], r.choice([0, 5, 10, 50])))

duo("slugify", "slugify(title) keeps letters and digits in lower case and puts one '-' between the words they form. Helpers are in words.py.", "words", '''
def cut_words(text):
    out = []
    word = ""
    for ch in text:
        if ch.isalnum():
            word += ch
        elif word:
            out.append(word)
            word = ""
    if word:
        out.append(word)
    return out
''', '''
from words import cut_words


def slugify(title):
    return "-".join(w.lower() for w in cut_words(title))
''', ("words.py", "    if word:\n        out.append(word)\n    return out", "    return out"), lambda r: (pick(r, [", ", " ", "!", "--"]).join(word(r).title() for _ in range(r.randint(0, 4))) + pick(r, ["", "!", " "]),))

duo("grade_letters", "grade_letters(scores) maps names to letters: from 90 'A', from 75 'B', from 50 'C', else 'D'. Bounds are in bounds.py.", "bounds", '''
BOUNDS = [(90, "A"), (75, "B"), (50, "C")]


def letter_of(score):
    for least, letter in BOUNDS:
        if score >= least:
            return letter
    return "D"
''', '''
from bounds import letter_of


def grade_letters(scores):
    return {name: letter_of(score) for name, score in scores.items()}
''', ("bounds.py", "score >= least", "score > least"), lambda r: ({n: pick(r, [50, 75, 90, 49, 74, 89, r.randint(0, 100)]) for n in r.sample("abcd", r.randint(0, 4))},))

duo("route_cost", "route_cost(stops) is the sum of the distances |dx| + |dy| between consecutive [x, y] stops. Helpers are in distance.py.", "distance", '''
def steps(a, b):
    return abs(a[0] - b[0]) + abs(a[1] - b[1])
''', '''
from distance import steps


def route_cost(stops):
    total = 0
    for i in range(1, len(stops)):
        total += steps(stops[i - 1], stops[i])
    return total
''', ("distance.py", "abs(a[1] - b[1])", "abs(a[1] + b[1])"), lambda r: ([[r.randint(-5, 5), r.randint(-5, 5)] for _ in range(r.randint(0, 5))],))

duo("decode_runs", "decode_runs(text) expands '3a2b' to 'aaabb'; a letter without a number counts once. Helpers are in scan.py.", "scan", '''
def read_number(text, at):
    end = at
    while end < len(text) and text[end].isdigit():
        end += 1
    if end == at:
        return 1, at
    return int(text[at:end]), end
''', '''
from scan import read_number


def decode_runs(text):
    out = ""
    i = 0
    while i < len(text):
        n, i = read_number(text, i)
        out += text[i:i + 1] * n
        i += 1
    return out
''', ("scan.py", "        return 1, at", "        return 0, at"), lambda r: ("".join(pick(r, ["", str(r.randint(0, 12))]) + r.choice("abc") for _ in range(r.randint(0, 5))),))

duo("room_free", "room_free(bookings, start, end) says whether the half-open [start, end) overlaps none of the bookings. Helpers are in overlap.py.", "overlap", '''
def overlaps(a, b):
    return a[0] < b[1] and b[0] < a[1]
''', '''
from overlap import overlaps


def room_free(bookings, start, end):
    for booked in bookings:
        if overlaps(booked, [start, end]):
            return False
    return True
''', ("overlap.py", "a[0] < b[1] and b[0] < a[1]", "a[0] <= b[1] and b[0] <= a[1]"), lambda r: ([[a, a + r.randint(1, 4)] for a in ints(r, 0, 3, 0, 12)], r.randint(0, 8), r.randint(9, 14)) if r.random() < .3 else (lambda s: ([[a, a + r.randint(1, 4)] for a in ints(r, 0, 2, 0, 14)], s, s + r.randint(1, 3)))(r.randint(0, 14)))

duo("word_score", "word_score(word, bonus) adds up letter values (a, e, i, o, u count 1, others 3), doubled if bonus is true. Helpers are in letters.py.", "letters", '''
def value(letter):
    if letter in "aeiou":
        return 1
    return 3
''', '''
from letters import value


def word_score(word, bonus):
    score = sum(value(ch) for ch in word)
    if bonus:
        score *= 2
    return score
''', ("solution.py", "    if bonus:", "    if not bonus:"), lambda r: (word(r, 0, 6), r.random() < .5))

duo("top_sellers", "top_sellers(sales, n) lists the n items with the largest sums of [item, amount] sales, equal sums by name. Helpers are in totals.py.", "totals", '''
def sum_by_item(sales):
    out = {}
    for item, amount in sales:
        out[item] = out.get(item, 0) + amount
    return out
''', '''
from totals import sum_by_item


def top_sellers(sales, n):
    sums = sum_by_item(sales)
    ranked = sorted(sums, key=lambda item: (-sums[item], item))
    return ranked[:n]
''', ("solution.py", "(-sums[item], item)", "(sums[item], item)"), lambda r: ([[r.choice("abcd"), r.randint(1, 9)] for _ in range(r.randint(0, 7))], r.randint(0, 3)))

duo("normalize_path", "normalize_path(path) removes '.' and empty parts and lets '..' take away the part before it, where there is one. Helpers are in parts.py.", "parts", '''
def clean(parts):
    out = []
    for p in parts:
        if p == "" or p == ".":
            continue
        if p == "..":
            if out:
                out.pop()
        else:
            out.append(p)
    return out
''', '''
from parts import clean


def normalize_path(path):
    return "/".join(clean(path.split("/")))
''', ("parts.py", "            if out:\n                out.pop()", "            out.append(p)"), lambda r: ("/".join(pick(r, ["a", "b", "..", ".", "", "c"]) for _ in range(r.randint(1, 6))),))

duo("seat_plan", "seat_plan(rows, taken) counts the free seats of every row, where rows lists the seats per row and taken lists [row, seat] counted from 0; seats that do not exist are ignored. Helpers are in seats.py.", "seats", '''
def exists(rows, row, seat):
    return 0 <= row < len(rows) and 0 <= seat < rows[row]
''', '''
from seats import exists


def seat_plan(rows, taken):
    free = list(rows)
    for row, seat in taken:
        if exists(rows, row, seat):
            free[row] -= 1
    return free
''', ("seats.py", "0 <= seat < rows[row]", "0 <= seat <= rows[row]"), lambda r: (ints(r, 1, 3, 1, 4), (lambda s: [list(x) for x in sorted(s)])({(r.randint(-1, 3), r.randint(-1, 4)) for _ in range(r.randint(0, 6))})))

duo("bmi_classes", "bmi_classes(people) counts [kg, cm] people by class: kg * 10000 // cm**2 below 18 is 'low', below 25 'mid', else 'high'. Helpers are in body.py.", "body", '''
def index(kg, cm):
    return kg * 10000 // (cm * cm)


def class_of(value):
    if value < 18:
        return "low"
    if value < 25:
        return "mid"
    return "high"
''', '''
from body import class_of, index


def bmi_classes(people):
    counts = {"low": 0, "mid": 0, "high": 0}
    for kg, cm in people:
        counts[class_of(index(kg, cm))] += 1
    return counts
''', ("body.py", "    if value < 25:", "    if value < 18:"), lambda r: ([[r.randint(40, 110), r.randint(150, 195)] for _ in range(r.randint(0, 5))],))

duo("bank_fees", "bank_fees(moves) sums fees: a withdrawal (negative move) costs 2, and 1 more if it takes the balance, which starts at 0, below 0. Helpers are in fees.py.", "fees", '''
def fee(move, balance):
    if move >= 0:
        return 0
    if balance < 0:
        return 3
    return 2
''', '''
from fees import fee


def bank_fees(moves):
    balance = total = 0
    for m in moves:
        balance += m
        total += fee(m, balance)
    return total
''', ("solution.py", "        balance += m\n        total += fee(m, balance)", "        total += fee(m, balance)\n        balance += m"), lambda r: (ints(r, 0, 7, -6, 9),))

duo("crossword_fit", "crossword_fit(word, pattern) says whether word fits a pattern of the same length, where '?' stands for any letter. Helpers are in match_letters.py.", "match_letters", '''
def fits(letter, sign):
    return sign == "?" or letter == sign
''', '''
from match_letters import fits


def crossword_fit(word, pattern):
    if len(word) != len(pattern):
        return False
    for letter, sign in zip(word, pattern):
        if not fits(letter, sign):
            return False
    return True
''', ("solution.py", "    if len(word) != len(pattern):\n        return False\n", ""), lambda r: (lambda w: (w, "".join(pick(r, [c, c, c, "?", "?"]) for c in w) + pick(r, ["", "", "", "?", "x"])) if r.random() < .8 else (w, word(r)))(word(r)))

duo("digit_clock", "digit_clock(minutes) shows minutes since midnight as 'HH:MM'; it wraps after a day. Helpers are in digits.py.", "digits", '''
def two(n):
    if n < 10:
        return "0" + str(n)
    return str(n)
''', '''
from digits import two


def digit_clock(minutes):
    minutes = minutes % 1440
    return two(minutes // 60) + ":" + two(minutes % 60)
''', ("digits.py", "    if n < 10:", "    if n <= 10:"), lambda r: (pick(r, [r.randint(0, 3000), 60 * r.randint(0, 24) + 10, 600 + r.randint(0, 59), r.randint(-100, 100)]),))

duo("knapsack", "knapsack(items, room) is the largest sum of values of [weight, value] items whose weights fit in room, each item used once at most. Helpers are in options.py.", "options", '''
def better(a, b):
    return a if a > b else b
''', '''
from options import better


def knapsack(items, room):
    best = [0] * (room + 1)
    for weight, value in items:
        for space in range(room, weight - 1, -1):
            best[space] = better(best[space], best[space - weight] + value)
    return best[room]
''', ("solution.py", "range(room, weight - 1, -1)", "range(weight, room + 1)"), lambda r: ([[r.randint(1, 5), r.randint(1, 9)] for _ in range(r.randint(0, 4))], r.randint(0, 10)))

duo("poker_pairs", "poker_pairs(hand) counts the ranks that occur exactly twice in a hand of rank texts. Helpers are in tally.py.", "tally", '''
def tally(items):
    counts = {}
    for it in items:
        if it not in counts:
            counts[it] = 0
        counts[it] += 1
    return counts
''', '''
from tally import tally


def poker_pairs(hand):
    return sum(1 for n in tally(hand).values() if n == 2)
''', ("solution.py", "n == 2", "n >= 2"), lambda r: ([r.choice("7JQK") for _ in range(r.randint(0, 7))],))

duo("menu_path", "menu_path(menu, name) is the list of names from the top of a nested menu [[name, children], ...] down to name, [] if it is not there. Helpers are in search_tree.py.", "search_tree", '''
def find(nodes, name, path):
    for title, children in nodes:
        here = path + [title]
        if title == name:
            return here
        below = find(children, name, here)
        if below:
            return below
    return []
''', '''
from search_tree import find


def menu_path(menu, name):
    return find(menu, name, [])
''', ("search_tree.py", "        below = find(children, name, here)", "        below = find(children, name, path)"), lambda r: ([["file", [["open", []], ["save", [["as", []], ["all", [["now", []]]]]]]], ["edit", [["cut", []], [r.choice(["copy", "paste"]), [["x", []], ["y", []]]]]]], pick(r, ["file", "open", "as", "all", "cut", "copy", "paste", "nope", "edit", "save", "x", "now", "y"])))

duo("sensor_alarms", "sensor_alarms(readings, limit) lists the positions where a reading is above limit and the one before was not; the first counts if it is above. Helpers are in edges.py.", "edges", '''
def rising(before, now):
    return now and not before
''', '''
from edges import rising


def sensor_alarms(readings, limit):
    out = []
    high = False
    for i, r in enumerate(readings):
        now = r > limit
        if rising(high, now):
            out.append(i)
        high = now
    return out
''', ("edges.py", "now and not before", "now or not before"), lambda r: (ints(r, 0, 9, 0, 9), r.randint(2, 7)))

duo("playlist_time", "playlist_time(songs) sums 'M:SS' lengths and writes the sum the same way. Helpers are in lengths.py.", "lengths", '''
def seconds(text):
    minutes, secs = text.split(":")
    return int(minutes) * 60 + int(secs)


def show(total):
    return "%d:%02d" % (total // 60, total % 60)
''', '''
from lengths import seconds, show


def playlist_time(songs):
    return show(sum(seconds(s) for s in songs))
''', ("lengths.py", '"%d:%02d"', '"%d:%d"'), lambda r: (["%d:%02d" % (r.randint(0, 9), r.choice([0, 5, 30, r.randint(0, 59)])) for _ in range(r.randint(0, 4))],))

duo("vote_winner", "vote_winner(votes) is the candidate with the most votes, the alphabetically first of equals, None without votes. Helpers are in ballot.py.", "ballot", '''
def count(votes):
    out = {}
    for v in votes:
        out[v] = out.get(v, 0) + 1
    return out
''', '''
from ballot import count


def vote_winner(votes):
    best = None
    counts = count(votes)
    for name in sorted(counts):
        if best is None or counts[name] > counts[best]:
            best = name
    return best
''', ("solution.py", "counts[name] > counts[best]", "counts[name] >= counts[best]"), lambda r: ([r.choice("abc") for _ in range(r.randint(0, 7))],))

duo("tax_due", "tax_due(income): up to 100 nothing, the part from 100 to 300 at 10 percent, the part above 300 at 30 percent, rounded down at the end. Helpers are in bands.py.", "bands", '''
BANDS = [(100, 300, 10), (300, None, 30)]


def part_in(income, low, high):
    top = income if high is None else min(income, high)
    return max(0, top - low)
''', '''
from bands import BANDS, part_in


def tax_due(income):
    total = 0
    for low, high, percent in BANDS:
        total += part_in(income, low, high) * percent
    return total // 100
''', ("bands.py", "min(income, high)", "max(income, high)"), lambda r: (pick(r, [r.randint(0, 120), r.randint(90, 320), r.randint(250, 900), 100, 300, 301, 0]),))

duo("checkers_moves", "checkers_moves(size, row, col) lists the diagonal neighbours [row, col] inside a board of size x size, in reading order. Helpers are in board.py.", "board", '''
def inside(size, row, col):
    return 0 <= row < size and 0 <= col < size
''', '''
from board import inside


def checkers_moves(size, row, col):
    out = []
    for dr in (-1, 1):
        for dc in (-1, 1):
            if inside(size, row + dr, col + dc):
                out.append([row + dr, col + dc])
    return out
''', ("board.py", "0 <= row < size", "0 < row < size"), lambda r: (lambda n: (n, r.randrange(n), r.randrange(n)))(r.randint(1, 8)))

duo("ranked_list", "ranked_list(scores) lists [place, name] by falling score; equal scores share a place and the next place is skipped, names of equals in order. Helpers are in places.py.", "places", '''
def places(values):
    out = []
    for i, v in enumerate(values):
        if i > 0 and v == values[i - 1]:
            out.append(out[-1])
        else:
            out.append(i + 1)
    return out
''', '''
from places import places


def ranked_list(scores):
    names = sorted(scores, key=lambda n: (-scores[n], n))
    values = [scores[n] for n in names]
    return [[p, n] for p, n in zip(places(values), names)]
''', ("places.py", "            out.append(i + 1)", "            out.append(out[-1] + 1 if out else 1)"), lambda r: ({n: r.randint(1, 4) for n in r.sample("abcdef", r.randint(0, 6))},))

duo("shift_hours", "shift_hours(shifts, night) sums the hours of [start, end] shifts of whole hours, where a shift may pass midnight; with night only the hours from 22 to 6 count. Helpers are in hours.py.", "hours", '''
def hours_of(start, end):
    out = []
    h = start
    while h != end:
        out.append(h)
        h = (h + 1) % 24
    return out


def is_night(hour):
    return hour >= 22 or hour < 6
''', '''
from hours import hours_of, is_night


def shift_hours(shifts, night):
    total = 0
    for start, end in shifts:
        for h in hours_of(start, end):
            if not night or is_night(h):
                total += 1
    return total
''', ("hours.py", "hour >= 22 or hour < 6", "hour >= 22 and hour < 6"), lambda r: ([[r.randint(0, 23), r.randint(0, 23)] for _ in range(r.randint(0, 3))], r.random() < .7))

duo("mix_colors", "mix_colors(a, b) is the mean of two '#rrggbb' colours, each part rounded down. Helpers are in hexes.py.", "hexes", '''
def read(color):
    return [int(color[i:i + 2], 16) for i in (1, 3, 5)]


def write(parts):
    return "#" + "".join("%02x" % p for p in parts)
''', '''
from hexes import read, write


def mix_colors(a, b):
    return write([(x + y) // 2 for x, y in zip(read(a), read(b))])
''', ("hexes.py", "for i in (1, 3, 5)", "for i in (1, 3, 3)"), lambda r: tuple("#%02x%02x%02x" % tuple(r.choice([0, 255, 16, r.randint(0, 255)]) for _ in range(3)) for _ in range(2)))

duo("text_stats", "text_stats(text) returns [lines, words, characters]; an empty text has no line, and a last line feed begins no new one. Helpers are in counts.py.", "counts", '''
def count_lines(text):
    n = text.count("\\n")
    if text and not text.endswith("\\n"):
        n += 1
    return n
''', '''
from counts import count_lines


def text_stats(text):
    return [count_lines(text), len(text.split()), len(text)]
''', ("counts.py", "    if text and not text.endswith(\"\\n\"):", "    if text and text.endswith(\"\\n\"):"), lambda r: ("\n".join(sentence(r, 0, 3) for _ in range(r.randint(0, 3))) + pick(r, ["", "\n"]),))

duo("queue_wait", "queue_wait(arrivals, service) lists how long each customer waits: they come at ascending times, are served in order and each takes service minutes. Helpers are in desk.py.", "desk", '''
class Desk:
    def __init__(self, service):
        self.service = service
        self.free_at = 0

    def serve(self, arrival):
        start = max(arrival, self.free_at)
        self.free_at = start + self.service
        return start - arrival
''', '''
from desk import Desk


def queue_wait(arrivals, service):
    desk = Desk(service)
    return [desk.serve(a) for a in arrivals]
''', ("desk.py", "self.free_at = start + self.service", "self.free_at = arrival + self.service"), lambda r: (sorted(ints(r, 0, 6, 0, 12)), r.randint(1, 4)))

duo("sum_tree", "sum_tree(tree) adds up the numbers of nested lists, numbers below an odd depth counted negative; the outermost list has depth 0. Helpers are in signs.py.", "signs", '''
def sign(depth):
    if depth % 2 == 1:
        return -1
    return 1
''', '''
from signs import sign


def sum_tree(tree):
    return walk(tree, 0)


def walk(items, depth):
    total = 0
    for it in items:
        if isinstance(it, list):
            total += walk(it, depth + 1)
        else:
            total += sign(depth) * it
    return total
''', ("solution.py", "walk(it, depth + 1)", "walk(it, depth)"), lambda r: ([pick(r, [r.randint(1, 9), ints(r, 0, 3, 1, 9), [r.randint(1, 9), ints(r, 0, 2, 1, 5)]]) for _ in range(r.randint(0, 5))],))

duo("apply_patch", "apply_patch(lines, edits) applies ['set', i, text], ['del', i] and ['add', text] in order to a list of lines; edits of lines that do not exist are left out. Helpers are in lines.py.", "lines", '''
def has(lines, i):
    return 0 <= i < len(lines)
''', '''
from lines import has


def apply_patch(lines, edits):
    out = list(lines)
    for e in edits:
        if e[0] == "add":
            out.append(e[1])
        elif not has(out, e[1]):
            continue
        elif e[0] == "set":
            out[e[1]] = e[2]
        else:
            del out[e[1]]
    return out
''', ("lines.py", "0 <= i < len(lines)", "i < len(lines)"), lambda r: ([word(r, 1, 2) for _ in range(r.randint(0, 3))], [pick(r, [["set", r.randint(-1, 3), word(r, 1, 2)], ["del", r.randint(-1, 3)], ["add", word(r, 1, 2)]]) for _ in range(r.randint(0, 4))]))
