"""Seed functions on intervals [start, end]. See ../build.py for the form."""
from seedlib import F, ints, pick

def spans(r, n0=0, n1=5, hi=16, width=5):
    out = []
    for _ in range(r.randint(n0, n1)):
        a = r.randint(0, hi)
        out.append([a, a + r.randint(0, width)])
    return out

F("intervals", "merge_spans", "merge_spans(spans) merges closed spans [a, b] that overlap or touch in a point, and returns them in ascending order.", '''
def merge_spans(spans):
    out = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return out
''', lambda r: (spans(r),))

F("intervals", "total_covered", "total_covered(spans) is the length covered by at least one of the spans [a, b].", '''
def total_covered(spans):
    covered = 0
    reach = None
    for a, b in sorted(spans):
        if reach is None or a > reach:
            covered += b - a
            reach = b
        elif b > reach:
            covered += b - reach
            reach = b
    return covered
''', lambda r: (spans(r),))

F("intervals", "intersect", "intersect(a, b) is the common part of two closed spans as [start, end], None if there is none; one point counts.", '''
def intersect(a, b):
    start = max(a[0], b[0])
    end = min(a[1], b[1])
    if start > end:
        return None
    return [start, end]
''', lambda r: (spans(r, 1, 1, 8)[0], spans(r, 1, 1, 8)[0]))

F("intervals", "gaps", "gaps(spans, lo, hi) lists the stretches [a, b] with a < b between lo and hi that no span covers, ascending.", '''
def gaps(spans, lo, hi):
    out = []
    at = lo
    for a, b in sorted(spans):
        if a >= hi:
            break
        if a > at:
            out.append([at, a])
        at = max(at, b)
    if at < hi:
        out.append([at, hi])
    return out
''', lambda r: (spans(r, 0, 4), r.randint(0, 4), r.randint(8, 18)))

F("intervals", "max_overlap", "max_overlap(spans) is the largest number of half-open spans [a, b) that share a point; empty spans count for nothing.", '''
def max_overlap(spans):
    events = []
    for a, b in spans:
        if a < b:
            events.append((a, 1))
            events.append((b, -1))
    events.sort()
    best = now = 0
    for _, step in events:
        now += step
        best = max(best, now)
    return best
''', lambda r: (spans(r, 0, 6, 8),))

F("intervals", "contains_point", "contains_point(spans, x) counts the closed spans that hold x.", '''
def contains_point(spans, x):
    n = 0
    for a, b in spans:
        if a <= x and x <= b:
            n += 1
    return n
''', lambda r: (spans(r, 0, 6, 10), r.randint(0, 14)))

F("intervals", "subtract_span", "subtract_span(span, cut) lists what is left of the half-open span [a, b) without cut, as non-empty spans in order.", '''
def subtract_span(span, cut):
    a, b = span
    c, d = cut
    if d <= a or c >= b or c >= d:
        return [[a, b]]
    out = []
    if c > a:
        out.append([a, c])
    if d < b:
        out.append([d, b])
    return out
''', lambda r: ((lambda a: [a, a + r.randint(1, 8)])(r.randint(0, 6)), spans(r, 1, 1, 10)[0]))

F("intervals", "can_book", "can_book(booked, start, end) says whether the half-open stretch [start, end) with start < end overlaps no booked one; an empty stretch cannot be booked.", '''
def can_book(booked, start, end):
    if start >= end:
        return False
    for a, b in booked:
        if start < b and a < end:
            return False
    return True
''', lambda r: (spans(r, 0, 3, 16, 4), r.randint(0, 14), r.randint(2, 20)))

F("intervals", "pick_most", "pick_most(spans) is the largest number of spans [a, b) of which no two overlap.", '''
def pick_most(spans):
    n = 0
    free = None
    for a, b in sorted(spans, key=lambda s: (s[1], s[0])):
        if free is None or a >= free:
            n += 1
            free = b
    return n
''', lambda r: ([s for s in spans(r, 0, 6, 12, 6) if s[0] < s[1]],))

F("intervals", "clamp_spans", "clamp_spans(spans, lo, hi) cuts every span to [lo, hi] and drops those that lie outside altogether.", '''
def clamp_spans(spans, lo, hi):
    out = []
    for a, b in spans:
        if b < lo or a > hi:
            continue
        out.append([max(a, lo), min(b, hi)])
    return out
''', lambda r: (spans(r, 0, 5), r.randint(0, 8), r.randint(9, 16)))

F("intervals", "rooms_needed", "rooms_needed(meetings) is the least number of rooms for meetings [start, end); a room is free again at the end.", '''
def rooms_needed(meetings):
    starts = sorted(m[0] for m in meetings)
    ends = sorted(m[1] for m in meetings)
    rooms = used = 0
    j = 0
    for s in starts:
        while ends[j] <= s:
            used -= 1
            j += 1
        used += 1
        rooms = max(rooms, used)
    return rooms
''', lambda r: ([[a, b] for a, b in spans(r, 0, 6, 10) if a < b],))

F("intervals", "split_span", "split_span(a, b, size) cuts [a, b) into consecutive spans of the given size, the last perhaps shorter; ValueError if size < 1.", '''
def split_span(a, b, size):
    if size < 1:
        raise ValueError("size")
    out = []
    while a < b:
        out.append([a, min(a + size, b)])
        a += size
    return out
''', lambda r: (r.randint(0, 9), r.randint(5, 22), r.randint(0, 6)))

F("intervals", "compress_runs", "compress_runs(nums) turns ascending different integers into [first, last] runs of neighbours.", '''
def compress_runs(nums):
    out = []
    for n in nums:
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return out
''', lambda r: (sorted(set(ints(r, 0, 9, 0, 12))),))
