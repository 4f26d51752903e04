from node import Node
from topological_ordering import topological_ordering


def ordered_names(names, edges):
    nodes = {name: Node(name, None, [], [], [], []) for name in names}
    for tail, head in edges:
        nodes[tail].outgoing_nodes.append(nodes[head])
        nodes[head].incoming_nodes.append(nodes[tail])
    return [node.value for node in topological_ordering([nodes[name] for name in names])]
