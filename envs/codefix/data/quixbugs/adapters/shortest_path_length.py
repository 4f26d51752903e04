from node import Node
from shortest_path_length import shortest_path_length


def least_distance(edges, start, goal):
    nodes = {}
    for name in [start, goal] + [name for tail, head, _ in edges for name in (tail, head)]:
        nodes.setdefault(name, Node(name, None, [], [], [], []))
    lengths = {}
    for tail, head, length in edges:
        nodes[tail].successors.append(nodes[head])
        lengths[nodes[tail], nodes[head]] = length
    return shortest_path_length(lengths, nodes[start], nodes[goal])
