"""What each program is for, in our own words, inputs for it, and an independent way to its answers.

Q(name, statement, gen, oracle): gen(rng) draws one tuple of arguments, oracle(*args) is the right answer. fn is the
function that is called where it is not the program's own; tagged keeps tuples, sets and infinities apart; compare is
how answers are compared: exact, unordered, approx, or a named check; clear(args, answer) says that there is one right
answer only, so that a visible test may show it.
"""
import bisect
import functools
import itertools
import math

PROGRAMS = []


def Q(name, statement, gen, oracle, fn=None, tagged=False, compare="exact", tolerance=None, clear=None):
    PROGRAMS.append(dict(name=name, statement=statement, gen=gen, oracle=oracle, fn=fn or name, tagged=tagged, compare=compare, tolerance=tolerance, clear=clear))


def ints(r, least, most, lo, hi):
    return [r.randint(lo, hi) for _ in range(r.randint(least, most))]


def distinct(r, least, most, lo, hi):
    return r.sample(range(lo, hi + 1), r.randint(least, most))


def text(r, least, most, letters="abc"):
    return "".join(r.choice(letters) for _ in range(r.randint(least, most)))


Q("bitcount", "bitcount(n) counts the 1 bits of a number n >= 0.", lambda r: (r.choice([r.randint(0, 40), r.randint(0, 1 << 20)]),), lambda n: bin(n).count("1"))

Q("bucketsort", "bucketsort(arr, k) returns the numbers of arr, all from 0 to k-1, in ascending order.",
  lambda r: (lambda k: ([r.randrange(k) for _ in range(r.randint(0, 9))], k))(r.randint(1, 12)), lambda arr, k: sorted(arr))

Q("find_first_in_sorted", "find_first_in_sorted(arr, x) is the lowest index at which the ascending list arr holds x, or -1 if it does not.",
  lambda r: (sorted(ints(r, 0, 9, 0, 12)), r.randint(0, 13)), lambda arr, x: arr.index(x) if x in arr else -1)

Q("find_in_sorted", "find_in_sorted(arr, x) is an index at which the ascending list arr holds x, or -1 if it does not.",
  lambda r: (sorted(ints(r, 0, 9, 0, 12)), r.randint(0, 13)), lambda arr, x: arr.index(x) if x in arr else -1,
  compare="index-of", clear=lambda args, want: args[0].count(args[1]) < 2)


def nested(r, depth=3):
    return [nested(r, depth - 1) if depth and r.random() < .4 else r.choice([r.randint(0, 9), r.choice(["a", "bc", ""])]) for _ in range(r.randint(0, 4))]


def flat(arr):
    return [y for x in arr for y in (flat(x) if isinstance(x, list) else [x])]


Q("flatten", "flatten(arr) yields, from left to right, all that is not a list in a list of lists of any depth. flattened(arr) in solution.py gathers it in one list.",
  lambda r: (nested(r),), flat, fn="flattened")

Q("gcd", "gcd(a, b) is the greatest common divisor of two numbers >= 0.", lambda r: (r.randint(0, 60) * r.randint(1, 6), r.randint(0, 60) * r.randint(1, 6)), math.gcd)


def factors(n):
    out, p = [], 2
    while n > 1:
        while n % p == 0:
            out.append(p)
            n //= p
        p += 1
    return out


Q("get_factors", "get_factors(n) lists the prime factors of n >= 1, ascending, each as often as it divides n.", lambda r: (r.choice([r.randint(1, 40), r.randint(1, 1500)]),), factors)


def moves(height, start, end):
    if height == 0:
        return []
    other = 6 - start - end
    return moves(height - 1, start, other) + [(start, end)] + moves(height - 1, other, end)


Q("hanoi", "hanoi(height, start, end) lists the fewest moves that bring a tower of that height from peg start to peg end, two different ones of the pegs 1, 2 and 3, "
  "as pairs (from, to): one disk at a time, and never a larger one on a smaller.",
  lambda r: (r.randint(0, 6), *r.sample([1, 2, 3], 2)), moves, tagged=True)


def balanced(s):
    while "()" in s:
        s = s.replace("()", "")
    return s == ""


def parens(r):
    if r.random() < .4:
        return text(r, 0, 9, "()")
    s = ""
    for _ in range(r.randint(0, 4)):
        s = r.choice([s + "()", "(" + s + ")", "()" + s])
    return s + r.choice(["", "", "(", "))"])


Q("is_valid_parenthesization", "is_valid_parenthesization(parens) says whether every ( in a text of parentheses is closed by a ) of its own after it, and every ) closes one.",
  lambda r: (parens(r),), balanced)


def almost(r):
    k = r.randint(0, 4)
    arr = sorted(distinct(r, 1, 9, 0, 40))
    for i in range(0, len(arr), k + 1):
        part = arr[i:i + k + 1]
        r.shuffle(part)
        arr[i:i + k + 1] = part
    return arr, k


Q("kheapsort", "kheapsort(arr, k) yields the numbers of arr in ascending order; all differ, and none is more than k places from where it belongs. "
  "kheapsorted(arr, k) in solution.py gathers them in a list.", almost, lambda arr, k: sorted(arr), fn="kheapsorted")


def most_value(capacity, items):
    return max(sum(v for _, v in some) for n in range(len(items) + 1) for some in itertools.combinations(items, n) if sum(w for w, _ in some) <= capacity)


Q("knapsack", "knapsack(capacity, items) is the most value that fits: items is a list of [weight, value], each taken at most once, and the weights taken may add up to capacity.",
  lambda r: (r.randint(1, 20), [[r.randint(1, 9), r.randint(1, 20)] for _ in range(r.randint(0, 6))]), most_value)

Q("kth", "kth(arr, k) is the number at index k of arr in ascending order, 0 <= k < len(arr).",
  lambda r: (lambda a: (a, r.randrange(len(a))))(ints(r, 1, 9, 0, 15)), lambda arr, k: sorted(arr)[k])


def common_part(s, t):
    return max((j - i for i in range(len(s)) for j in range(i, len(s) + 1) if s[i:j] in t), default=0)


Q("lcs_length", "lcs_length(s, t) is the length of the longest run of letters that stands in both s and t without a gap.", lambda r: (text(r, 0, 8), text(r, 0, 8)), common_part)


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (x != y)))
    return row[-1]


Q("levenshtein", "levenshtein(source, target) is the least number of edits that make target of source; an edit puts in, takes out or changes one letter.",
  lambda r: (text(r, 0, 6), text(r, 0, 6)), distance)


def rising(arr):
    tails = []
    for x in arr:
        i = bisect.bisect_left(tails, x)
        tails[i:i + 1] = [x]
    return len(tails)


Q("lis", "lis(arr) is the length of the longest strictly rising subsequence of arr, whose numbers all differ.", lambda r: (distinct(r, 0, 9, -10, 30),), rising)


@functools.lru_cache(None)
def common(a, b):
    """All longest common subsequences."""
    if not a or not b:
        return frozenset([""])
    if a[0] == b[0]:
        return frozenset(a[0] + s for s in common(a[1:], b[1:]))
    all_ = common(a, b[1:]) | common(a[1:], b)
    most = max(map(len, all_))
    return frozenset(s for s in all_ if len(s) == most)


Q("longest_common_subsequence", "longest_common_subsequence(a, b) is a longest text whose letters stand in both a and b in the same order, gaps allowed; where there are several, any of them.",
  lambda r: (text(r, 0, 7, "abcd"), text(r, 0, 7, "abcd")), lambda a, b: min(common(a, b)), compare="common-subsequence", clear=lambda args, want: len(common(*args)) == 1)

Q("max_sublist_sum", "max_sublist_sum(arr) is the greatest sum of neighbouring numbers of arr, 0 for none of them.",
  lambda r: (ints(r, 0, 8, -9, 9),), lambda arr: max(sum(arr[i:j]) for i in range(len(arr) + 1) for j in range(i, len(arr) + 1)))

Q("mergesort", "mergesort(arr) returns the numbers of arr in ascending order.", lambda r: (ints(r, 0, 9, 0, 20),), sorted)


def cheapest(weights):
    nodes = {n for e in weights for n in e}
    best = None
    for edges in itertools.combinations(sorted(weights), len(nodes) - 1):
        group = {n: n for n in nodes}
        for a, b in edges:
            ga, gb = group[a], group[b]
            group = {n: ga if g == gb else g for n, g in group.items()}
        if len(set(group.values())) == 1:
            cost = sum(weights[e] for e in edges)
            if best is None or cost < best[0]:
                best = cost, set(edges)
    return best[1]


def connected(r):
    n = r.randint(2, 5)
    edges = {(r.randrange(i), i) for i in range(1, n)}
    for _ in range(r.randint(0, 5)):
        a, b = sorted(r.sample(range(n), 2))
        edges.add((a, b))
    edges = sorted(edges)
    r.shuffle(edges)
    names = r.sample(range(1, 10), n)
    weights = r.sample(range(1, 30), len(edges))
    return ({(names[a], names[b]): w for (a, b), w in zip(edges, weights)},)


Q("minimum_spanning_tree", "minimum_spanning_tree(weight_by_edge) is the set of those edges that join all nodes at the least total weight. Edges are pairs of nodes without a direction, "
  "given as a dict from pair to weight; the graph hangs together and all weights differ.", connected, cheapest, tagged=True)


def palindrome(r):
    half = [r.choice([9, 9, r.randint(0, 9)]) for _ in range(r.randint(0, 3))]
    middle = [r.choice([9, r.randint(0, 9)])] if r.random() < .5 or not half else []
    digits = half + middle + half[::-1]
    if digits[0] == 0:
        digits[0] = digits[-1] = r.randint(1, 9)
    return (digits,)


def after(digits):
    n = int("".join(map(str, digits))) + 1
    while str(n) != str(n)[::-1]:
        n += 1
    return [int(c) for c in str(n)]


Q("next_palindrome", "next_palindrome(digit_list) is the least palindromic number above a palindromic one, both as lists of decimal digits.", palindrome, after)


def unfinished(r):
    perm = distinct(r, 2, 6, 1, 20)
    if perm == sorted(perm, reverse=True):
        perm.reverse()
    return (perm,)


def following(perm):
    every = sorted(itertools.permutations(perm))
    return list(every[every.index(tuple(perm)) + 1])


Q("next_permutation", "next_permutation(perm) is the next order of the numbers of perm, all different, as in a dictionary; perm is not the last one.", unfinished, following)

Q("pascal", "pascal(n) lists the first n >= 1 rows of the triangle in which every number is the sum of the two above it, with 1 at the edges.",
  lambda r: (r.randint(1, 40),), lambda n: [[math.comb(i, j) for j in range(i + 1)] for i in range(n)])


def ways(coins, total):
    table = [1] + [0] * max(total, 0)
    for c in coins:
        for t in range(c, total + 1):
            table[t] += table[t - c]
    return table[total] if total >= 0 else 0


Q("possible_change", "possible_change(coins, total) counts the ways to make up total from coins of the values in coins, all different, each as often as one likes; the order does not matter.",
  lambda r: (distinct(r, 0, 4, 1, 9), r.randint(-3, 24)), ways)

Q("powerset", "powerset(arr) lists all subsets of arr, whose items all differ, the items of each in the order of arr, the subsets in any order.",
  lambda r: (r.choice([r.sample("abcdef", r.randint(0, 5)), distinct(r, 0, 5, 0, 9)]),),
  lambda arr: [list(c) for n in range(len(arr) + 1) for c in itertools.combinations(arr, n)], compare="unordered")

Q("quicksort", "quicksort(arr) returns the numbers of arr in ascending order.", lambda r: (ints(r, 0, 9, 0, 9),), sorted)


def tokens(r, depth=3):
    if depth == 0 or r.random() < .25:
        return [float(r.randint(1, 9))]
    return tokens(r, depth - 1) + tokens(r, depth - 1) + [r.choice("+-*/")]


def dividable(r):
    while True:
        toks = tokens(r)
        try:
            evaluated(toks)
            return (toks,)
        except ZeroDivisionError:
            pass


def evaluated(toks):
    stack = []
    for t in toks:
        if isinstance(t, float):
            stack.append(t)
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a / b if t == "/" else {"+": a + b, "-": a - b, "*": a * b}[t])
    return stack[0]


Q("rpn_eval", "rpn_eval(tokens) is the value of a calculation in reverse Polish notation: numbers are floats, and each of +, -, * and / works on the two values before it, in their order. Nothing is divided by zero.",
  dividable, evaluated, compare="approx", tolerance=lambda args: 1e-9)


def weighted(r):
    n = r.randint(2, 6)
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    chosen = r.sample(pairs, r.randint(1, min(8, len(pairs))))
    lengths = r.sample(range(1, 60), len(chosen))
    names = r.sample("abcdefgh", n)
    return [[names[a], names[b], w] for (a, b), w in zip(chosen, lengths)], names[0], names[r.randrange(n)]


def least(edges, start, goal):
    best = {start: 0}
    for _ in range(len(edges)):
        for a, b, w in edges:
            if a in best:
                best[b] = min(best.get(b, math.inf), best[a] + w)
    return best.get(goal, math.inf)


Q("shortest_path_length", "shortest_path_length(length_by_edge, startnode, goalnode) is the least total length of a way along directed edges, all longer than 0, and float('inf') if there is no way. "
  "least_distance(edges, start, goal) in solution.py makes the nodes of a list of [from, to, length].", weighted, least, fn="least_distance", tagged=True)


def directed(r, negative):
    """A dict of directed edges; only edges from lower to higher nodes are negative."""
    n = r.randint(2, 5)
    edges = {}
    for _ in range(r.randint(1, 8)):
        a, b = r.sample(range(n), 2)
        edges[a, b] = r.randint(-4, 9) if negative and a < b else r.randint(12, 20) if a > b else r.randint(1, 9)
    return n, edges


def all_pairs(n, edges):
    return {(i, j): single(i, edges, n).get(j, math.inf) for i in range(n) for j in range(n)}


def single(source, edges, n):
    best = {source: 0}
    for _ in range(n):
        for (a, b), w in edges.items():
            if a in best:
                best[b] = min(best.get(b, math.inf), best[a] + w)
    return best


Q("shortest_path_lengths", "shortest_path_lengths(n, length_by_edge) is a dict from every pair (a, b) of the nodes 0 to n-1 to the least total length of a way from a to b: 0 from a node to itself, "
  "float('inf') where there is no way. Lengths of directed edges are a dict from pair to number; no cycle is shorter than 0.", lambda r: directed(r, True), all_pairs, tagged=True)


def named(r):
    n, edges = directed(r, True)
    return "ABCDE"[r.randrange(n)], {("ABCDE"[a], "ABCDE"[b]): w for (a, b), w in edges.items()}


def to_all(source, edges):
    best = single(source, edges, len(edges) + 2)
    return {v: best.get(v, math.inf) for v in {b for _, b in edges} | {source}}


Q("shortest_paths", "shortest_paths(source, weight_by_edge) is a dict from every node that an edge leads to, and from source itself, to the least total weight of a way from source, float('inf') where there is none. "
  "Weights of directed edges are a dict from pair to number and may be negative; no cycle weighs less than 0. Every node that an edge starts from is source or has an edge that leads to it.", named, to_all, tagged=True)


def infix(r):
    out = [r.randint(1, 40)]
    for _ in range(r.randint(0, 5)):
        out += [r.choice("+-*/"), r.randint(1, 40)]
    return (out if r.random() < .95 else [],)


def postfix(toks):
    def build(parts, ops):
        for level in ("+-", "*/"):
            for i in range(len(ops) - 1, -1, -1):
                if ops[i] in level:
                    return build(parts[:i + 1], ops[:i]) + build(parts[i + 1:], ops[i + 1:]) + [ops[i]]
        return list(parts)
    return build(toks[::2], toks[1::2])


Q("shunting_yard", "shunting_yard(tokens) writes a sum of whole numbers with +, -, * and /, given as a list in the usual notation, in reverse Polish notation. * and / bind more than + and -, and operators of one rank work from left to right.",
  infix, postfix)

Q("sieve", "sieve(max) lists the primes up to and including max, ascending.", lambda r: (r.randint(1, 90),), lambda most: [n for n in range(2, most + 1) if all(n % p for p in range(2, n))])

Q("sqrt", "sqrt(x, epsilon) is the square root of x >= 1, at most epsilon off, where epsilon is above 0.",
  lambda r: (r.choice([r.randint(2, 200), round(r.uniform(1.5, 90), 2)]), r.choice([0.5, 0.1, 0.05, 0.01, 0.001])), lambda x, e: math.sqrt(x), compare="approx", tolerance=lambda args: args[1])

Q("subsequences", "subsequences(a, b, k) lists all ascending lists of k whole numbers from a to b-1, in the order of a dictionary; k is at least 1.",
  lambda r: (lambda a: (a, a + r.randint(-2, 7), r.randint(1, 4)))(r.randint(-5, 20)), lambda a, b, k: [list(c) for c in itertools.combinations(range(a, b), k)])


def digits(num, b):
    out = ""
    while num:
        out = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[num % b] + out
        num //= b
    return out


Q("to_base", "to_base(num, b) writes a number above 0 in base b, 2 to 36, with the digits 0 to 9 and then A to Z.", lambda r: (r.choice([r.randint(1, 60), r.randint(1, 90000)]), r.randint(2, 36)), digits)


def reach(edges, start, goal):
    seen, todo = {start}, [start]
    while todo:
        here = todo.pop()
        for a, b in edges:
            if a == here and b not in seen:
                seen.add(b)
                todo.append(b)
    return goal in seen


def graph(r):
    n = r.randint(2, 6)
    return [r.sample(range(n), 2) if r.random() < .9 else [r.randrange(n)] * 2 for _ in range(r.randint(0, 8))], r.randrange(n), r.randrange(n)


for order, fn in (("breadth", "reachable_in_breadth"), ("depth", "reachable_in_depth")):
    Q(order + "_first_search", order + "_first_search(startnode, goalnode) says whether goalnode can be reached from startnode along the successors of nodes; a node can be reached from itself. "
      + fn + "(edges, start, goal) in solution.py makes the nodes of a list of directed edges.", graph, reach, fn=fn)

Q("detect_cycle", "detect_cycle(node) says whether a linked list that begins at node runs in a circle. list_is_cyclic(length, back) in solution.py makes a list of that many nodes, the last of which leads back to the one at index back, or nowhere.",
  lambda r: (lambda n: (n, r.choice([None, r.randrange(n)])))(r.randint(1, 12)), lambda n, back: back is not None, fn="list_is_cyclic")

Q("reverse_linked_list", "reverse_linked_list(node) turns a linked list round and returns its new first node, None for no list. reversed_values(values) in solution.py makes the list and reads the result.",
  lambda r: (r.choice([ints(r, 0, 7, 0, 9), list(text(r, 0, 6))]),), lambda values: values[::-1], fn="reversed_values")


def acyclic(r):
    n = r.randint(1, 6)
    names = r.sample("abcdefgh", n)
    edges = []
    for _ in range(r.randint(0, 8)):
        if n > 1:
            a, b = sorted(r.sample(range(n), 2))
            if [names[a], names[b]] not in edges:
                edges.append([names[a], names[b]])
    shown = names[:]
    r.shuffle(shown)
    return shown, edges


def orders(names, edges):
    return [list(p) for p in itertools.permutations(names) if all(p.index(a) < p.index(b) for a, b in edges)]


Q("topological_ordering", "topological_ordering(nodes) lists the nodes of a directed graph without a cycle so that each comes before those that its edges lead to. ordered_names(names, edges) in solution.py makes the nodes of a list of names and a list of edges and returns the names in that order.",
  acyclic, lambda names, edges: orders(names, edges)[0], fn="ordered_names", compare="topological-order", clear=lambda args, want: len(orders(*args)) == 1)


def words(r):
    cols = r.randint(6, 14)
    first = text(r, 0, r.choice([5, 30]))
    return first + "".join(" " * r.choice([1, 1, 1, 2]) + text(r, 1, cols - 1) for _ in range(r.randint(0, 6))), cols


def wrapped(t, cols):
    out = []
    while len(t) > cols:
        cut = cols
        while cut >= 0 and t[cut] != " ":
            cut -= 1
        if cut < 0:
            cut = cols
        out.append(t[:cut])
        t = t[cut:]
    return out + [t]


Q("wrap", "wrap(text, cols) breaks text into lines of at most cols letters that together are the text again. A line ends before the last space that leaves it no longer than cols, and after cols letters where there is no space; the rest of the text is the last line. "
  "No word but the first is longer than cols - 1.", words, wrapped)
