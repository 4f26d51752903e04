"""How a seed function is declared, and the small generators that seeds share."""
import random

FUNCTIONS = []
PAIRS = []


def F(family, fn, statement, gold, gen, approx=False):
    """Declares a seed function: gold is its source, gen(rng) draws one tuple of arguments."""
    FUNCTIONS.append(dict(family=family, fn=fn, statement=statement, gold=gold, gen=gen, approx=approx))


def P(fn, statement, files, bug, gen, approx=False):
    """Declares a two-file task: bug is (file, right text, wrong text), one of a kind and written by hand."""
    PAIRS.append(dict(family="pairs", fn=fn, statement=statement, files=files, bug=bug, gen=gen, approx=approx))


def pick(r, options):
    return options[r.randrange(len(options))]


def ints(r, least, most, lo, hi):
    return [r.randint(lo, hi) for _ in range(r.randint(least, most))]


def word(r, least=1, most=6):
    return "".join(r.choice("abcdeinorst") for _ in range(r.randint(least, most)))


def sentence(r, least=1, most=6):
    return " ".join(word(r) for _ in range(r.randint(least, most)))


def rng(name):
    return random.Random("codefix/1 " + name)
