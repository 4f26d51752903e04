from breadth_first_search import breadth_first_search
from node import Node


def reachable_in_breadth(edges, start, goal):
    nodes = {}
    for name in [start, goal] + [name for edge in edges for name in edge]:
        nodes.setdefault(name, Node(name, None, [], [], [], []))
    for tail, head in edges:
        nodes[tail].successors.append(nodes[head])
    return breadth_first_search(nodes[start], nodes[goal])
