from depth_first_search import depth_first_search
from node import Node


def reachable_in_depth(edges, start, goal):
    nodes = {}
    for name in [start, goal] + [name for edge in edges for name in edge]:
        nodes.setdefault(name, Node(name, None, [], [], [], []))
    for tail, head in edges:
        nodes[tail].successors.append(nodes[head])
    return depth_first_search(nodes[start], nodes[goal])
