"""Seed functions on graphs. See ../build.py for the form."""
from seedlib import F, ints, pick

def edges(r, n=6, most=8):
    return [[r.randrange(n), r.randrange(n)] for _ in range(r.randint(0, most))]

def weighted(r, n=5, most=8):
    return [[r.randrange(n), r.randrange(n), r.randint(1, 9)] for _ in range(r.randint(1, most))]

F("graphs", "neighbours_of", "neighbours_of(edges, node) lists the nodes joined to node by an undirected edge, ascending, without repeats and without itself.", '''
def neighbours_of(edges, node):
    found = set()
    for a, b in edges:
        if a == node:
            found.add(b)
        if b == node:
            found.add(a)
    found.discard(node)
    return sorted(found)
''', lambda r: (edges(r, 4), r.randrange(4)))

F("graphs", "reachable", "reachable(edges, start) lists the nodes that can be reached from start along directed edges, start included, ascending.", '''
def reachable(edges, start):
    seen = {start}
    todo = [start]
    while todo:
        here = todo.pop()
        for a, b in edges:
            if a == here and b not in seen:
                seen.add(b)
                todo.append(b)
    return sorted(seen)
''', lambda r: (edges(r), r.randrange(6)))

F("graphs", "hop_distance", "hop_distance(edges, start, goal) is the least number of undirected edges between two nodes, -1 if there is no way.", '''
def hop_distance(edges, start, goal):
    frontier = [start]
    seen = {start}
    hops = 0
    while frontier:
        if goal in frontier:
            return hops
        following = []
        for node in frontier:
            for a, b in edges:
                other = b if a == node else a if b == node else None
                if other is not None and other not in seen:
                    seen.add(other)
                    following.append(other)
        frontier = following
        hops += 1
    return -1
''', lambda r: (edges(r), r.randrange(6), r.randrange(6)))

F("graphs", "count_components", "count_components(n, edges) counts the connected parts of an undirected graph with nodes 0 to n-1.", '''
def count_components(n, edges):
    parent = list(range(n))

    def root(x):
        while parent[x] != x:
            x = parent[x]
        return x

    parts = n
    for a, b in edges:
        ra, rb = root(a), root(b)
        if ra != rb:
            parent[ra] = rb
            parts -= 1
    return parts
''', lambda r: (lambda n: (n, edges(r, n, 6)))(r.randint(1, 7)))

F("graphs", "has_cycle", "has_cycle(n, edges) says whether a directed graph with nodes 0 to n-1 has a cycle; an edge to itself is one.", '''
def has_cycle(n, edges):
    degree = [0] * n
    for a, b in edges:
        degree[b] += 1
    ready = [v for v in range(n) if degree[v] == 0]
    done = 0
    while ready:
        v = ready.pop()
        done += 1
        for a, b in edges:
            if a == v:
                degree[b] -= 1
                if degree[b] == 0:
                    ready.append(b)
    return done < n
''', lambda r: (lambda n: (n, pick(r, [edges(r, n, 5), [[a, b] for a, b in edges(r, n, 8) if a < b]])))(r.randint(1, 6)))

F("graphs", "topological", "topological(n, edges) orders nodes 0 to n-1 so that every edge goes forwards, the smallest free node first; None if there is a cycle.", '''
def topological(n, edges):
    waiting = [0] * n
    for a, b in edges:
        waiting[b] += 1
    order = []
    free = [v for v in range(n) if waiting[v] == 0]
    while free:
        v = min(free)
        free.remove(v)
        order.append(v)
        for a, b in edges:
            if a == v:
                waiting[b] -= 1
                if waiting[b] == 0:
                    free.append(b)
    if len(order) < n:
        return None
    return order
''', lambda r: (lambda n: (n, pick(r, [edges(r, n, 4), [[a, b] for a, b in edges(r, n, 8) if a < b], [[b, a] for a, b in edges(r, n, 8) if a < b]])))(r.randint(1, 6)))

F("graphs", "cheapest_path", "cheapest_path(edges, start, goal) is the least total weight of a way along directed edges [from, to, weight], None if there is no way.", '''
def cheapest_path(edges, start, goal):
    best = {start: 0}
    todo = [(0, start)]
    while todo:
        todo.sort()
        cost, node = todo.pop(0)
        if node == goal:
            return cost
        if cost > best[node]:
            continue
        for a, b, w in edges:
            if a == node and (b not in best or cost + w < best[b]):
                best[b] = cost + w
                todo.append((cost + w, b))
    return None
''', lambda r: (weighted(r), r.randrange(5), r.randrange(5)))

F("graphs", "spanning_weight", "spanning_weight(n, edges) is the least total weight of undirected edges [a, b, weight] that joins nodes 0 to n-1, None if that is impossible.", '''
def spanning_weight(n, edges):
    group = list(range(n))
    total = 0
    joined = 1
    for a, b, w in sorted(edges, key=lambda e: e[2]):
        ga, gb = group[a], group[b]
        if ga != gb:
            group = [ga if g == gb else g for g in group]
            total += w
            joined += 1
    if joined < n:
        return None
    return total
''', lambda r: (lambda n: (n, weighted(r, n, 9)))(r.randint(1, 5)))

F("graphs", "degrees", "degrees(n, edges) lists how many edge ends each of the nodes 0 to n-1 has; a loop counts twice.", '''
def degrees(n, edges):
    out = [0] * n
    for a, b in edges:
        out[a] += 1
        out[b] += 1
    return out
''', lambda r: (6, edges(r)))

F("graphs", "tree_depth", "tree_depth(parents) is the number of levels of a tree in which parents[i] is the parent of node i, -1 for the root; parents come before children; 0 for no nodes.", '''
def tree_depth(parents):
    depth = []
    for p in parents:
        if p < 0:
            depth.append(1)
        else:
            depth.append(depth[p] + 1)
    return max(depth, default=0)
''', lambda r: ([-1 if i == 0 else r.randrange(i) for i in range(r.randint(0, 8))],))

F("graphs", "is_bipartite", "is_bipartite(n, edges) says whether nodes 0 to n-1 can have two colours so that no edge joins equal ones.", '''
def is_bipartite(n, edges):
    colour = {}
    for start in range(n):
        if start in colour:
            continue
        colour[start] = 0
        todo = [start]
        while todo:
            node = todo.pop()
            for a, b in edges:
                if node not in (a, b):
                    continue
                other = a + b - node
                if other not in colour:
                    colour[other] = 1 - colour[node]
                    todo.append(other)
                elif colour[other] == colour[node]:
                    return False
    return True
''', lambda r: (lambda n: (n, [e for e in edges(r, n, 6) if e[0] != e[1] or r.random() < .3]))(r.randint(1, 6)))

F("graphs", "island_count", "island_count(grid) counts the groups of cells 1 that are joined sideways or up and down.", '''
def island_count(grid):
    seen = set()
    n = 0
    for i in range(len(grid)):
        for j in range(len(grid[0])):
            if grid[i][j] != 1 or (i, j) in seen:
                continue
            n += 1
            todo = [(i, j)]
            seen.add((i, j))
            while todo:
                r, c = todo.pop()
                for rr, cc in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                    inside = 0 <= rr < len(grid) and 0 <= cc < len(grid[0])
                    if inside and grid[rr][cc] == 1 and (rr, cc) not in seen:
                        seen.add((rr, cc))
                        todo.append((rr, cc))
    return n
''', lambda r: (lambda m: ([[int(r.random() < .5) for _ in range(m)] for _ in range(r.randint(1, 4))],))(r.randint(1, 4)))

F("graphs", "path_from_parents", "path_from_parents(parents, node) lists the nodes from the root to node, where parents maps a node's name to its parent's and the root is in no map.", '''
def path_from_parents(parents, node):
    path = [node]
    while node in parents:
        node = parents[node]
        path.append(node)
    path.reverse()
    return path
''', lambda r: ({"b": "a", "c": r.choice("ab"), "d": r.choice("abc"), "e": r.choice("abcd")}, r.choice("abcde")))
