from detect_cycle import detect_cycle
from node import Node


def list_is_cyclic(length, back):
    nodes = [Node(i) for i in range(length)]
    for i in range(length - 1):
        nodes[i].successor = nodes[i + 1]
    if back is not None:
        nodes[-1].successor = nodes[back]
    return detect_cycle(nodes[0])
