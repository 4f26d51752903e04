from node import Node
from reverse_linked_list import reverse_linked_list


def reversed_values(values):
    head = None
    for value in reversed(values):
        head = Node(value, head)
    node = reverse_linked_list(head)
    out = []
    while node is not None and len(out) <= len(values):
        out.append(node.value)
        node = node.successor
    return out
