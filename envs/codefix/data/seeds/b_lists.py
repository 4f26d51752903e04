"""Seed functions on lists. See ../build.py for the form."""
from seedlib import F, ints, pick, word

F("lists", "dedupe_keep_last", "dedupe_keep_last(items) drops every item that occurs again later, so that last occurrences stay in order.", '''
def dedupe_keep_last(items):
    out = []
    for i, it in enumerate(items):
        if it not in items[i + 1:]:
            out.append(it)
    return out
''', lambda r: (ints(r, 0, 8, 0, 4),))

F("lists", "chunk", "chunk(items, size) cuts the list into lists of size items, the last perhaps shorter; a size below 1 raises ValueError.", '''
def chunk(items, size):
    if size < 1:
        raise ValueError("size")
    out = []
    for i in range(0, len(items), size):
        out.append(items[i:i + size])
    return out
''', lambda r: (ints(r, 0, 9, 0, 9), r.randint(0, 4)))

F("lists", "running_max", "running_max(nums) replaces every number by the largest up to and including it.", '''
def running_max(nums):
    out = []
    best = None
    for n in nums:
        if best is None or n > best:
            best = n
        out.append(best)
    return out
''', lambda r: (ints(r, 0, 8, -9, 9),))

F("lists", "merge_sorted", "merge_sorted(a, b) merges two ascending lists into one ascending list, repeats included.", '''
def merge_sorted(a, b):
    out = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    return out + a[i:] + b[j:]
''', lambda r: (sorted(ints(r, 0, 6, -9, 9)), sorted(ints(r, 0, 6, -9, 9))))

F("lists", "rotate_left", "rotate_left(items, k) is the list with its first k items moved to the end; k counts modulo the length.", '''
def rotate_left(items, k):
    if len(items) == 0:
        return []
    k = k % len(items)
    return items[k:] + items[:k]
''', lambda r: (ints(r, 0, 6, 0, 9), r.randint(-7, 12)))

F("lists", "second_largest", "second_largest(nums) is the second largest of the different numbers, None if there are fewer than two.", '''
def second_largest(nums):
    first = second = None
    for n in nums:
        if first is None or n > first:
            second = first
            first = n
        elif n != first and (second is None or n > second):
            second = n
    return second
''', lambda r: (ints(r, 0, 6, -5, 5),))

F("lists", "max_subarray", "max_subarray(nums) is the largest sum of a non-empty run of neighbours; an empty list gives 0.", '''
def max_subarray(nums):
    if not nums:
        return 0
    best = here = nums[0]
    for n in nums[1:]:
        here = max(n, here + n)
        best = max(best, here)
    return best
''', lambda r: (ints(r, 0, 8, -9, 9),))

F("lists", "partition_around", "partition_around(nums, pivot) returns [smaller, equal, larger]: three lists in the order of the input.", '''
def partition_around(nums, pivot):
    low, same, high = [], [], []
    for n in nums:
        if n < pivot:
            low.append(n)
        elif n == pivot:
            same.append(n)
        else:
            high.append(n)
    return [low, same, high]
''', lambda r: (ints(r, 0, 8, 0, 6), r.randint(0, 6)))

F("lists", "flatten_once", "flatten_once(items) replaces every list in items by its members, one level deep; other items stay.", '''
def flatten_once(items):
    out = []
    for it in items:
        if isinstance(it, list):
            out.extend(it)
        else:
            out.append(it)
    return out
''', lambda r: ([pick(r, [r.randint(0, 9), ints(r, 0, 3, 0, 9), [[r.randint(0, 3)], 1]]) for _ in range(r.randint(0, 5))],))

F("lists", "binary_search", "binary_search(nums, target) is the index of target in an ascending list without repeats, -1 if it is not there.", '''
def binary_search(nums, target):
    lo, hi = 0, len(nums) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if nums[mid] == target:
            return mid
        if nums[mid] < target:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1
''', lambda r: (sorted(set(ints(r, 0, 9, 0, 14))), r.randint(-1, 15)))

F("lists", "moving_sum", "moving_sum(nums, width) lists the sums of every width neighbours, in order; there are none if the list is shorter or width is below 1.", '''
def moving_sum(nums, width):
    if width < 1 or width > len(nums):
        return []
    total = sum(nums[:width])
    out = [total]
    for i in range(width, len(nums)):
        total += nums[i] - nums[i - width]
        out.append(total)
    return out
''', lambda r: (ints(r, 0, 8, -5, 9), r.randint(0, 5)))

F("lists", "pair_up", "pair_up(items, filler) groups the items in pairs [a, b]; an odd last one is paired with filler.", '''
def pair_up(items, filler):
    out = []
    for i in range(0, len(items), 2):
        if i + 1 < len(items):
            out.append([items[i], items[i + 1]])
        else:
            out.append([items[i], filler])
    return out
''', lambda r: (ints(r, 0, 7, 0, 9), -1))

F("lists", "longest_rise", "longest_rise(nums) is the length of the longest run of neighbours in which each is larger than the one before; 0 for an empty list.", '''
def longest_rise(nums):
    best = run = 0
    for i, n in enumerate(nums):
        if i > 0 and n > nums[i - 1]:
            run += 1
        else:
            run = 1
        best = max(best, run)
    return best
''', lambda r: (ints(r, 0, 9, 0, 7),))

F("lists", "interleave", "interleave(a, b) takes items in turn from a and b, beginning with a; when one is used up the rest of the other follows.", '''
def interleave(a, b):
    out = []
    for i in range(max(len(a), len(b))):
        if i < len(a):
            out.append(a[i])
        if i < len(b):
            out.append(b[i])
    return out
''', lambda r: (ints(r, 0, 5, 0, 9), ints(r, 0, 5, 10, 19)))
