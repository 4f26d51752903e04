"""Seed functions with small classes, played by a list of operations. See ../build.py for the form."""
from seedlib import F, ints, pick, word

F("classes", "play_stack", "MinStack keeps a stack with its minimum. play_stack(ops) plays ['push', n], ['pop'] and ['min'] and lists the answers of pop and min, None where the stack is empty.", '''
class MinStack:
    def __init__(self):
        self.items = []
        self.least = []

    def push(self, n):
        self.items.append(n)
        if not self.least or n <= self.least[-1]:
            self.least.append(n)

    def pop(self):
        if not self.items:
            return None
        n = self.items.pop()
        if n == self.least[-1]:
            self.least.pop()
        return n

    def min(self):
        return self.least[-1] if self.least else None


def play_stack(ops):
    s = MinStack()
    out = []
    for op in ops:
        if op[0] == "push":
            s.push(op[1])
        elif op[0] == "pop":
            out.append(s.pop())
        else:
            out.append(s.min())
    return out
''', lambda r: ([pick(r, [["push", r.randint(0, 4)], ["push", r.randint(0, 4)], ["pop"], ["min"]]) for _ in range(r.randint(0, 9))],))

F("classes", "play_account", "Account refuses amounts below 1 and overdrafts with ValueError. play_account(start, ops) plays ['in', n] and ['out', n] and returns [balance, refused].", '''
class Account:
    def __init__(self, balance):
        self.balance = balance

    def deposit(self, amount):
        if amount < 1:
            raise ValueError("amount")
        self.balance += amount

    def withdraw(self, amount):
        if amount < 1 or amount > self.balance:
            raise ValueError("amount")
        self.balance -= amount


def play_account(start, ops):
    account = Account(start)
    refused = 0
    for kind, amount in ops:
        try:
            if kind == "in":
                account.deposit(amount)
            else:
                account.withdraw(amount)
        except ValueError:
            refused += 1
    return [account.balance, refused]
''', lambda r: (r.randint(0, 9), [[r.choice(["in", "out"]), r.randint(-1, 9)] for _ in range(r.randint(0, 6))]))

F("classes", "play_counter", "Counter counts words. play_counter(words, n) lists the n most frequent as [word, count], equal counts in order of the words.", '''
class Counter:
    def __init__(self):
        self.counts = {}

    def add(self, word):
        self.counts[word] = self.counts.get(word, 0) + 1

    def top(self, n):
        ranked = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        return [[w, c] for w, c in ranked[:n]]


def play_counter(words, n):
    c = Counter()
    for w in words:
        c.add(w)
    return c.top(n)
''', lambda r: ([r.choice("abcd") for _ in range(r.randint(0, 9))], r.randint(0, 4)))

F("classes", "play_cache", "Cache keeps the last used `size` entries (get and put both use). play_cache(size, ops) plays ['put', k, v] and ['get', k] and lists what get finds, None if nothing.", '''
class Cache:
    def __init__(self, size):
        self.size = size
        self.entries = {}

    def get(self, key):
        if key not in self.entries:
            return None
        value = self.entries.pop(key)
        self.entries[key] = value
        return value

    def put(self, key, value):
        if key in self.entries:
            self.entries.pop(key)
        elif len(self.entries) >= self.size:
            oldest = next(iter(self.entries))
            del self.entries[oldest]
        self.entries[key] = value


def play_cache(size, ops):
    cache = Cache(size)
    out = []
    for op in ops:
        if op[0] == "put":
            cache.put(op[1], op[2])
        else:
            out.append(cache.get(op[1]))
    return out
''', lambda r: (r.randint(1, 3), [pick(r, [["put", r.choice("abcd"), r.randint(0, 9)], ["get", r.choice("abcd")]]) for _ in range(r.randint(0, 10))]))

F("classes", "play_fraction", "Fraction is kept in lowest terms with a positive denominator. play_fraction(a, b, op) takes [n, d] pairs and '+', '-' or '*', and returns [n, d].", '''
class Fraction:
    def __init__(self, n, d):
        if d < 0:
            n, d = -n, -d
        a, b = abs(n), d
        while b:
            a, b = b, a % b
        self.n = n // a
        self.d = d // a

    def plus(self, other):
        return Fraction(self.n * other.d + other.n * self.d, self.d * other.d)

    def minus(self, other):
        return self.plus(Fraction(-other.n, other.d))

    def times(self, other):
        return Fraction(self.n * other.n, self.d * other.d)


def play_fraction(a, b, op):
    x, y = Fraction(a[0], a[1]), Fraction(b[0], b[1])
    if op == "+":
        z = x.plus(y)
    elif op == "-":
        z = x.minus(y)
    else:
        z = x.times(y)
    return [z.n, z.d]
''', lambda r: ([r.randint(-6, 9), pick(r, [-3, 1, 2, 4, 6])], [r.randint(-6, 9), pick(r, [-2, 1, 3, 4, 5])], r.choice("+-*")))

F("classes", "play_queue", "Ring is a queue of fixed size that drops its oldest item when full. play_queue(size, ops) plays ['put', n] and ['take'] and returns [taken, left], oldest first.", '''
class Ring:
    def __init__(self, size):
        self.size = size
        self.items = []

    def put(self, item):
        if len(self.items) == self.size:
            self.items.pop(0)
        self.items.append(item)

    def take(self):
        if not self.items:
            return None
        return self.items.pop(0)


def play_queue(size, ops):
    ring = Ring(size)
    taken = []
    for op in ops:
        if op[0] == "put":
            ring.put(op[1])
        else:
            taken.append(ring.take())
    return [taken, ring.items]
''', lambda r: (r.randint(1, 3), [pick(r, [["put", r.randint(0, 9)], ["put", r.randint(0, 9)], ["take"]]) for _ in range(r.randint(0, 8))]))

F("classes", "play_stock", "Stock holds amounts by item. play_stock(ops) plays ['add', item, n], ['sell', item, n] (refused if there is not enough) and returns {'left': ..., 'refused': n}; items at 0 are gone.", '''
class Stock:
    def __init__(self):
        self.amounts = {}

    def add(self, item, n):
        self.amounts[item] = self.amounts.get(item, 0) + n

    def sell(self, item, n):
        have = self.amounts.get(item, 0)
        if n > have:
            return False
        if n == have:
            self.amounts.pop(item, None)
        else:
            self.amounts[item] = have - n
        return True


def play_stock(ops):
    stock = Stock()
    refused = 0
    for kind, item, n in ops:
        if kind == "add":
            stock.add(item, n)
        elif not stock.sell(item, n):
            refused += 1
    return {"left": stock.amounts, "refused": refused}
''', lambda r: ([[r.choice(["add", "add", "sell"]), r.choice("xy"), r.randint(1, 4)] for _ in range(r.randint(0, 7))],))

F("classes", "play_timer", "Timer adds up the time between start and stop; a start while it runs and a stop while it does not are ignored. play_timer(events) takes [kind, time] and returns [total, running].", '''
class Timer:
    def __init__(self):
        self.total = 0
        self.since = None

    def start(self, now):
        if self.since is None:
            self.since = now

    def stop(self, now):
        if self.since is not None:
            self.total += now - self.since
            self.since = None


def play_timer(events):
    t = Timer()
    for kind, now in events:
        if kind == "start":
            t.start(now)
        else:
            t.stop(now)
    return [t.total, t.since is not None]
''', lambda r: ((lambda ts: [[r.choice(["start", "stop"]), t] for t in ts])(sorted(ints(r, 0, 6, 0, 30))),))

F("classes", "play_matrix", "Vector has plus, scaled and dot. play_matrix(a, b, k) returns [a + k*b, a . b]; vectors of different length raise ValueError.", '''
class Vector:
    def __init__(self, items):
        self.items = list(items)

    def plus(self, other):
        self.check(other)
        return Vector([x + y for x, y in zip(self.items, other.items)])

    def scaled(self, k):
        return Vector([k * x for x in self.items])

    def dot(self, other):
        self.check(other)
        total = 0
        for x, y in zip(self.items, other.items):
            total += x * y
        return total

    def check(self, other):
        if len(self.items) != len(other.items):
            raise ValueError("length")


def play_matrix(a, b, k):
    va, vb = Vector(a), Vector(b)
    return [va.plus(vb.scaled(k)).items, va.dot(vb)]
''', lambda r: (lambda n: (ints(r, n, n, -5, 9), ints(r, n, n + r.choice([0, 0, 0, 1]), -5, 9), r.randint(-3, 4)))(r.randint(0, 4)))

F("classes", "play_library", "Library lends each book to one reader at a time. play_library(books, ops) plays ['lend', book, reader] and ['return', book] and lists 'ok' or 'no' for each; unknown books are 'no'.", '''
class Library:
    def __init__(self, books):
        self.lent = {book: None for book in books}

    def lend(self, book, reader):
        if book not in self.lent or self.lent[book] is not None:
            return "no"
        self.lent[book] = reader
        return "ok"

    def take_back(self, book):
        if self.lent.get(book) is None:
            return "no"
        self.lent[book] = None
        return "ok"


def play_library(books, ops):
    lib = Library(books)
    out = []
    for op in ops:
        if op[0] == "lend":
            out.append(lib.lend(op[1], op[2]))
        else:
            out.append(lib.take_back(op[1]))
    return out
''', lambda r: (["a", "b"], [pick(r, [["lend", r.choice("abc"), r.choice("xy")], ["return", r.choice("abc")]]) for _ in range(r.randint(0, 7))]))

F("classes", "play_score", "Game counts points with a bonus: every third hit in a row scores 3 instead of 1, a miss breaks the row. play_score(throws) takes booleans and returns [points, best row].", '''
class Game:
    def __init__(self):
        self.points = 0
        self.row = 0
        self.best = 0

    def throw(self, hit):
        if not hit:
            self.row = 0
            return
        self.row += 1
        if self.row % 3 == 0:
            self.points += 3
        else:
            self.points += 1
        self.best = max(self.best, self.row)


def play_score(throws):
    g = Game()
    for t in throws:
        g.throw(t)
    return [g.points, g.best]
''', lambda r: ([r.random() < .75 for _ in range(r.randint(0, 12))],))

F("classes", "play_undo", "Editor appends texts and undoes them. play_undo(ops) plays ['type', text], ['undo'] and ['redo']; typing forgets what was undone. Returns the text.", '''
class Editor:
    def __init__(self):
        self.done = []
        self.undone = []

    def type(self, text):
        self.done.append(text)
        self.undone = []

    def undo(self):
        if self.done:
            self.undone.append(self.done.pop())

    def redo(self):
        if self.undone:
            self.done.append(self.undone.pop())

    def text(self):
        return "".join(self.done)


def play_undo(ops):
    e = Editor()
    for op in ops:
        if op[0] == "type":
            e.type(op[1])
        elif op[0] == "undo":
            e.undo()
        else:
            e.redo()
    return e.text()
''', lambda r: ([pick(r, [["type", word(r, 1, 2)], ["type", word(r, 1, 2)], ["undo"], ["redo"]]) for _ in range(r.randint(0, 9))],))

F("classes", "play_shapes", "Shapes know their area. play_shapes(shapes) takes ['rect', w, h], ['square', a] and ['tri', base, height] and returns the sum of the areas, doubled so that it is an integer; a negative measure raises ValueError.", '''
class Rect:
    def __init__(self, w, h):
        if w < 0 or h < 0:
            raise ValueError("measure")
        self.w = w
        self.h = h

    def doubled(self):
        return 2 * self.w * self.h


class Square(Rect):
    def __init__(self, a):
        super().__init__(a, a)


class Triangle(Rect):
    def doubled(self):
        return self.w * self.h


def play_shapes(shapes):
    total = 0
    for s in shapes:
        if s[0] == "rect":
            total += Rect(s[1], s[2]).doubled()
        elif s[0] == "square":
            total += Square(s[1]).doubled()
        else:
            total += Triangle(s[1], s[2]).doubled()
    return total
''', lambda r: ([pick(r, [["rect", r.randint(0, 6), r.randint(1, 6)], ["square", r.randint(1, 6)], ["tri", r.randint(1, 6), r.randint(0, 6)]] + ([["rect", -1, 2], ["tri", 3, -2]] if r.random() < .15 else [])) for _ in range(r.randint(0, 4))],))
