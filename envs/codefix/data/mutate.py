"""First-order mutants of a Python source: (kind, source) pairs, in a fixed order."""
import ast
import pickle

SWAPS = {
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Add], ast.FloorDiv: [ast.Mult], ast.Mod: [ast.FloorDiv], ast.Div: [ast.Mult],
    ast.And: [ast.Or], ast.Or: [ast.And],
}
COMPARE = {
    ast.Lt: [("cmp", ast.LtE), ("op", ast.Gt)], ast.LtE: [("cmp", ast.Lt), ("op", ast.GtE)],
    ast.Gt: [("cmp", ast.GtE), ("op", ast.Lt)], ast.GtE: [("cmp", ast.Gt), ("op", ast.LtE)],
    ast.Eq: [("op", ast.NotEq)], ast.NotEq: [("op", ast.Eq)], ast.In: [("neg", ast.NotIn)], ast.NotIn: [("neg", ast.In)],
    ast.Is: [("neg", ast.IsNot)], ast.IsNot: [("neg", ast.Is)],
}
CALLS = {"max": "min", "min": "max"}


def places(node):
    """Changes of one node in place: (kind, function that changes it)."""
    out = []

    def put(kind, field, value):
        out.append((kind, lambda n: setattr(n, field, value() if callable(value) else value)))

    if isinstance(node, (ast.BinOp, ast.AugAssign)) and not isinstance(getattr(node, "left", None), ast.Constant) or isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(getattr(node.left if isinstance(node, ast.BinOp) else None, "value", 0), int):
        for other in SWAPS.get(type(node.op), []):
            put("op", "op", other)
    if isinstance(node, ast.BoolOp):
        for other in SWAPS[type(node.op)]:
            put("op", "op", other)
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            for kind, other in COMPARE.get(type(op), []):
                out.append((kind, lambda n, i=i, other=other: n.ops.__setitem__(i, other())))
    if isinstance(node, ast.Constant) and not getattr(node, "doc", False):
        v = node.value
        if isinstance(v, bool):
            put("const", "value", not v)
        elif isinstance(v, int):
            put("off1" if abs(v) <= 2 else "const", "value", v + 1)
            if v > 0:
                put("off1" if abs(v) <= 2 else "const", "value", v - 1)
        elif isinstance(v, str) and 0 < len(v) <= 3:
            put("const", "value", "")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        out.append(("neg", None))  # dropped by the caller, which can replace the node
    if isinstance(node, (ast.If, ast.While)) and not isinstance(node.test, ast.Compare):
        put("neg", "test", lambda: ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
        out.append(("op", lambda n: setattr(n.func, "id", CALLS[n.func.id])))
    return out


class Drop(ast.NodeTransformer):
    """Replaces one numbered node by what replace(node) gives."""

    def __init__(self, target, replace):
        self.target, self.replace, self.n = target, replace, -1

    def visit(self, node):
        self.n += 1
        if self.n == self.target:
            return self.replace(node)
        return self.generic_visit(node)


def number(tree):
    """Nodes in the order in which Drop counts them."""
    nodes = []

    class All(ast.NodeTransformer):
        def visit(self, node):
            nodes.append(node)
            return self.generic_visit(node)

    All().visit(tree)
    return nodes


def local_names(fn):
    names = [a.arg for a in fn.args.args if a.arg != "self"]
    for n in ast.walk(fn):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id not in names and n.id != "_":
            names.append(n.id)
    return names


def mutants(source):
    tree = ast.parse(source)
    base = ast.unparse(tree)
    seen = {base}
    out = []

    def add(kind, changed):
        try:
            text = ast.unparse(ast.fix_missing_locations(changed))
            compile(text, "m", "exec")
        except (SyntaxError, ValueError, AttributeError):
            return
        if text not in seen:
            seen.add(text)
            out.append((kind, text))

    nodes = number(tree)
    frozen = pickle.dumps(tree)
    owner = {}
    for fn in ast.walk(tree):
        if isinstance(fn, ast.FunctionDef):
            for n in ast.walk(fn):
                owner[id(n)] = fn
    for i, node in enumerate(nodes):
        for k, (kind, change) in enumerate(places(node)):
            t = pickle.loads(frozen)
            if change is None:
                add(kind, Drop(i, lambda n: n.operand).visit(t))
                continue
            target = number(t)[i]
            change = places(target)[k][1]
            change(target)
            add(kind, t)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) in owner:
            names = local_names(owner[id(node)])
            if node.id in names:
                for other in names:
                    if other != node.id:
                        t = pickle.loads(frozen)
                        number(t)[i].id = other
                        add("var", t)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.Break, ast.Continue)) or isinstance(node, ast.If) and not node.orelse or isinstance(node, ast.Raise):
            if id(node) in owner and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                add("del", Drop(i, lambda n: ast.Pass()).visit(pickle.loads(frozen)))
        if isinstance(node, ast.Slice):
            for field in ("lower", "upper"):
                side = getattr(node, field)
                if side is not None and not isinstance(side, ast.Constant):
                    t = pickle.loads(frozen)
                    s = number(t)[i]
                    setattr(s, field, ast.BinOp(getattr(s, field), ast.Add(), ast.Constant(1)))
                    add("off1", t)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and node.args:
            at = 0 if len(node.args) == 1 else 1
            for op in (ast.Add, ast.Sub):
                t = pickle.loads(frozen)
                c = number(t)[i]
                c.args[at] = ast.BinOp(c.args[at], op(), ast.Constant(1))
                add("off1", t)
    return base, out
