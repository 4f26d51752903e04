"""Seed functions on numbers. See ../build.py for the form."""
from seedlib import F, ints, pick

F("numbers", "digit_sum", "digit_sum(n) is the sum of the decimal digits of an integer, without its sign.", '''
def digit_sum(n):
    n = abs(n)
    total = 0
    while n > 0:
        total += n % 10
        n //= 10
    return total
''', lambda r: (pick(r, [r.randint(-99, 99), r.randint(0, 99999)]),))

F("numbers", "gcd_all", "gcd_all(nums) is the greatest common divisor of a list of integers, 0 for an empty one.", '''
def gcd_all(nums):
    g = 0
    for n in nums:
        a, b = g, abs(n)
        while b:
            a, b = b, a % b
        g = a
    return g
''', lambda r: (lambda k: ([k * x for x in ints(r, 0, 4, -9, 12)],))(r.randint(1, 6)))

F("numbers", "primes_below", "primes_below(limit) lists the primes smaller than limit in ascending order.", '''
def primes_below(limit):
    primes = []
    for n in range(2, limit):
        prime = True
        for p in primes:
            if p * p > n:
                break
            if n % p == 0:
                prime = False
                break
        if prime:
            primes.append(n)
    return primes
''', lambda r: (r.randint(0, 60),))

F("numbers", "factorize", "factorize(n) lists the prime factors of n >= 1 in ascending order, with repeats.", '''
def factorize(n):
    out = []
    p = 2
    while p * p <= n:
        while n % p == 0:
            out.append(p)
            n //= p
        p += 1
    if n > 1:
        out.append(n)
    return out
''', lambda r: (r.randint(1, 300),))

F("numbers", "to_base", "to_base(n, base) writes a non-negative integer in a base from 2 to 16 with digits 0-9a-f.", '''
def to_base(n, base):
    digits = "0123456789abcdef"
    if n == 0:
        return "0"
    out = ""
    while n > 0:
        out = digits[n % base] + out
        n //= base
    return out
''', lambda r: (pick(r, [0, 1, r.randint(0, 20), r.randint(0, 5000)]), r.choice([2, 3, 8, 10, 16])))

F("numbers", "round_to", "round_to(n, step) rounds an integer to the nearest multiple of step > 0, halves upwards.", '''
def round_to(n, step):
    low = n // step * step
    if (n - low) * 2 >= step:
        return low + step
    return low
''', lambda r: (r.randint(-40, 60), r.randint(1, 12)))

F("numbers", "collatz_steps", "collatz_steps(n) counts the steps from n >= 1 to 1: an even number is halved, an odd one becomes 3n+1.", '''
def collatz_steps(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
''', lambda r: (r.randint(1, 60),))

F("numbers", "int_sqrt", "int_sqrt(n) is the largest integer whose square is at most n; a negative n raises ValueError.", '''
def int_sqrt(n):
    if n < 0:
        raise ValueError("negative")
    lo, hi = 0, n + 1
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if mid * mid <= n:
            lo = mid
        else:
            hi = mid
    return lo
''', lambda r: (pick(r, [r.randint(-3, 30), r.randint(0, 2000), r.randint(1, 30) ** 2]),))

F("numbers", "change_coins", "change_coins(amount, coins) pays a non-negative amount greedily, largest coins first, and returns the coins paid, or None if something is left.", '''
def change_coins(amount, coins):
    paid = []
    for coin in sorted(coins, reverse=True):
        while amount >= coin:
            paid.append(coin)
            amount -= coin
    if amount != 0:
        return None
    return paid
''', lambda r: (r.randint(0, 60), r.sample([1, 2, 5, 10, 25, 3], r.randint(1, 4))))

F("numbers", "percent_change", "percent_change(old, new) is the change in whole percent of old, rounded towards zero; None if old is 0.", '''
def percent_change(old, new):
    if old == 0:
        return None
    change = (new - old) * 100
    sign = 1
    if change * old < 0:
        sign = -1
    return sign * (abs(change) // abs(old))
''', lambda r: (r.randint(-20, 40), r.randint(-20, 60)))

F("numbers", "roman", "roman(n) writes an integer from 1 to 3999 in Roman numerals; others raise ValueError.", '''
def roman(n):
    if n < 1 or n > 3999:
        raise ValueError("range")
    table = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
             (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
    out = ""
    for value, sign in table:
        while n >= value:
            out += sign
            n -= value
    return out
''', lambda r: (pick(r, [r.randint(-1, 30), r.randint(1, 3999), pick(r, [0, 4000, 3999, 1, 444, 999])]),))

F("numbers", "weighted_mean", "weighted_mean(values, weights) is the mean of values weighted by weights as a float; ValueError if the lengths differ or the weights sum to 0.", '''
def weighted_mean(values, weights):
    if len(values) != len(weights):
        raise ValueError("lengths")
    total = sum(weights)
    if total == 0:
        raise ValueError("weights")
    acc = 0.0
    for v, w in zip(values, weights):
        acc += v * w
    return acc / total
''', lambda r: (lambda n: (ints(r, n, n, -9, 9), ints(r, n, n + r.choice([0, 0, 0, 1]), 0, 4)))(r.randint(0, 5)), approx=True)

F("numbers", "perfect_kind", "perfect_kind(n) compares the sum of the proper divisors of n >= 1 with n: 'perfect' if equal, 'abundant' if larger, else 'deficient'.", '''
def perfect_kind(n):
    total = 0
    for d in range(1, n // 2 + 1):
        if n % d == 0:
            total += d
    if total == n:
        return "perfect"
    if total > n:
        return "abundant"
    return "deficient"
''', lambda r: (pick(r, [r.randint(1, 60), 6, 28, 1, 12, r.randint(1, 500)]),))

F("numbers", "nth_fibonacci", "nth_fibonacci(n) is number n of 0, 1, 1, 2, 3, 5, ...; a negative n raises ValueError.", '''
def nth_fibonacci(n):
    if n < 0:
        raise ValueError("n")
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
''', lambda r: (r.randint(-2, 40),))
