"""Seed functions on matrices, as lists of rows. See ../build.py for the form."""
from seedlib import F, ints, pick

def grid(r, n=None, m=None, lo=-4, hi=9):
    n = r.randint(1, 4) if n is None else n
    m = r.randint(1, 4) if m is None else m
    return [[r.randint(lo, hi) for _ in range(m)] for _ in range(n)]

def square(r, lo=-4, hi=9):
    n = r.randint(1, 4)
    return grid(r, n, n, lo, hi)

F("matrices", "transpose", "transpose(m) swaps rows and columns; an empty matrix stays empty.", '''
def transpose(m):
    if not m:
        return []
    out = []
    for c in range(len(m[0])):
        out.append([m[r][c] for r in range(len(m))])
    return out
''', lambda r: (pick(r, [grid(r), grid(r), []]),))

F("matrices", "rotate_quarter", "rotate_quarter(m) turns a matrix clockwise by a quarter.", '''
def rotate_quarter(m):
    rows, cols = len(m), len(m[0])
    out = []
    for c in range(cols):
        row = []
        for r in range(rows - 1, -1, -1):
            row.append(m[r][c])
        out.append(row)
    return out
''', lambda r: (grid(r),))

F("matrices", "multiply", "multiply(a, b) is the matrix product; ValueError if the shapes do not fit.", '''
def multiply(a, b):
    if len(a[0]) != len(b):
        raise ValueError("shape")
    out = []
    for i in range(len(a)):
        row = []
        for j in range(len(b[0])):
            total = 0
            for k in range(len(b)):
                total += a[i][k] * b[k][j]
            row.append(total)
        out.append(row)
    return out
''', lambda r: (lambda k: (grid(r, None, k), grid(r, pick(r, [k, k, k, k, k + 1]))))(r.randint(1, 3)))

F("matrices", "diagonal_sums", "diagonal_sums(m) returns [main, anti]: the sums of both diagonals of a square matrix.", '''
def diagonal_sums(m):
    n = len(m)
    main = anti = 0
    for i in range(n):
        main += m[i][i]
        anti += m[i][n - 1 - i]
    return [main, anti]
''', lambda r: (square(r),))

F("matrices", "spiral", "spiral(m) lists the cells of a matrix clockwise from the upper left corner inwards.", '''
def spiral(m):
    out = []
    top, bottom = 0, len(m) - 1
    left, right = 0, len(m[0]) - 1
    while top <= bottom and left <= right:
        for c in range(left, right + 1):
            out.append(m[top][c])
        for r in range(top + 1, bottom + 1):
            out.append(m[r][right])
        if top < bottom and left < right:
            for c in range(right - 1, left - 1, -1):
                out.append(m[bottom][c])
            for r in range(bottom - 1, top, -1):
                out.append(m[r][left])
        top += 1
        bottom -= 1
        left += 1
        right -= 1
    return out
''', lambda r: (grid(r),))

F("matrices", "saddle_points", "saddle_points(m) lists the cells [row, column] that are the smallest of their row and the largest of their column, in reading order.", '''
def saddle_points(m):
    out = []
    for i, row in enumerate(m):
        for j, v in enumerate(row):
            column = [other[j] for other in m]
            if v == min(row) and v == max(column):
                out.append([i, j])
    return out
''', lambda r: (grid(r, None, None, 0, 4),))

F("matrices", "count_neighbours", "count_neighbours(m, row, col) counts the non-zero cells among the up to eight neighbours of a cell.", '''
def count_neighbours(m, row, col):
    n = 0
    for r in range(max(0, row - 1), min(len(m), row + 2)):
        for c in range(max(0, col - 1), min(len(m[0]), col + 2)):
            if (r, c) != (row, col) and m[r][c] != 0:
                n += 1
    return n
''', lambda r: (lambda g: (g, r.randrange(len(g)), r.randrange(len(g[0]))))(grid(r, None, None, 0, 1)))

F("matrices", "life_step", "life_step(m) is the next generation of Conway's game on a bounded grid: a live cell with 2 or 3 live neighbours lives on, a dead one with 3 comes to life.", '''
def life_step(m):
    rows, cols = len(m), len(m[0])
    out = []
    for i in range(rows):
        line = []
        for j in range(cols):
            n = -m[i][j]
            for r in range(max(0, i - 1), min(rows, i + 2)):
                for c in range(max(0, j - 1), min(cols, j + 2)):
                    n += m[r][c]
            line.append(1 if n == 3 or (n == 2 and m[i][j] == 1) else 0)
        out.append(line)
    return out
''', lambda r: (grid(r, r.randint(2, 4), r.randint(2, 4), 0, 1),))

F("matrices", "row_maxima", "row_maxima(m) lists for each row the column of its largest value, the first of equals.", '''
def row_maxima(m):
    out = []
    for row in m:
        best = 0
        for j in range(1, len(row)):
            if row[j] > row[best]:
                best = j
        out.append(best)
    return out
''', lambda r: (grid(r, None, None, 0, 5),))

F("matrices", "determinant", "determinant(m) of a square matrix of integers.", '''
def determinant(m):
    if len(m) == 1:
        return m[0][0]
    total = 0
    for c in range(len(m)):
        minor = [row[:c] + row[c + 1:] for row in m[1:]]
        sign = -1 if c % 2 else 1
        total += sign * m[0][c] * determinant(minor)
    return total
''', lambda r: (square(r),))

F("matrices", "is_symmetric", "is_symmetric(m) says whether a square matrix equals its transpose; False if it is not square.", '''
def is_symmetric(m):
    for row in m:
        if len(row) != len(m):
            return False
    for i in range(len(m)):
        for j in range(i):
            if m[i][j] != m[j][i]:
                return False
    return True
''', lambda r: (pick(r, [grid(r), square(r, 0, 1), (lambda s: [[s[min(i, j)][max(i, j)] for j in range(len(s))] for i in range(len(s))])(square(r)), [[1, 2], [2, 1]]]),))

F("matrices", "crop", "crop(m, top, left, height, width) is the part of m from row top and column left; what lies outside m is left out, as are empty rows.", '''
def crop(m, top, left, height, width):
    out = []
    for row in m[top:top + height]:
        part = row[left:left + width]
        if part:
            out.append(part)
    return out
''', lambda r: (grid(r), r.randint(0, 3), r.randint(0, 3), r.randint(0, 3), r.randint(0, 3)))

F("matrices", "prefix_sums", "prefix_sums(m) replaces each cell by the sum of the rectangle from the upper left corner to it.", '''
def prefix_sums(m):
    out = []
    for i, row in enumerate(m):
        line = []
        run = 0
        for j, v in enumerate(row):
            run += v
            above = out[i - 1][j] if i > 0 else 0
            line.append(run + above)
        out.append(line)
    return out
''', lambda r: (grid(r),))
