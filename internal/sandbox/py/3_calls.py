# Part 3: values as tagged JSON, and the runner that answers calls. Every
# built-in used on the agent's objects is reached through the base class, so
# that a subclass or an overridden method cannot say what it likes; and what
# the agent's code does to this module it does only to its own answers.


def make_codec(keep):
    T, INT, FLOAT, STR, BYTES, LIST, TUPLE, SET, FROZEN, DICT = type, int, float, str, bytes, list, tuple, set, frozenset, dict
    is_sub = type.__subclasscheck__
    name_of = type.__dict__["__name__"].__get__
    fmt, fhex, scopy, bhex = int.__format__, float.hex, str.__str__, bytes.hex
    ascii_only, encode = str.isascii, str.encode
    liter, titer, siter, fiter, ditems = list.__iter__, tuple.__iter__, set.__iter__, frozenset.__iter__, dict.items
    fromhex, unhex = float.fromhex, bytes.fromhex
    left, number, ident = [0], {}, id

    class TooBig(Exception):
        pass

    def text(v):
        v = scopy(v)
        if ascii_only(v):
            return ["s", v]
        try:
            encode(v, "utf-8")
            return ["s", v]
        except UnicodeEncodeError:
            return ["u", bhex(encode(v, "utf-8", "surrogatepass"))]

    plain = (INT, FLOAT, STR, BYTES, LIST, TUPLE, SET, FROZEN, DICT, bool, T(None))

    def opaque(v):
        h = 0
        if keep is not None:
            h = number.get(ident(v), 0)
            if not h:  # kept, so that its id stays its own
                keep.append(v)
                h = number[ident(v)] = len(keep)
        return ["o", scopy(name_of(T(v)))[:100], h]

    def instance(v):
        """What a class has made: an object even if its class is below list."""
        return encode_value(v) if T(v) in plain else opaque(v)

    def enc(v, depth):
        left[0] -= 1
        if left[0] < 0 or depth > 60:
            raise TooBig
        if v is None:
            return ["n"]
        if v is True:
            return ["T"]
        if v is False:
            return ["F"]
        if number and ident(v) in number:
            return opaque(v)
        t = T(v)
        if t is INT or is_sub(INT, t):
            return ["i", fmt(v, "x")]
        if t is STR or is_sub(STR, t):
            return text(v)
        if t is FLOAT or is_sub(FLOAT, t):
            return ["f", fhex(v)]
        if t is LIST or is_sub(LIST, t):
            return ["l", [enc(x, depth + 1) for x in liter(v)]]
        if t is TUPLE or is_sub(TUPLE, t):
            return ["t", [enc(x, depth + 1) for x in titer(v)]]
        if t is DICT or is_sub(DICT, t):
            return ["d", [[enc(k, depth + 1), enc(x, depth + 1)] for k, x in ditems(v)]]
        if t is SET or is_sub(SET, t):
            return ["e", [enc(x, depth + 1) for x in siter(v)]]
        if t is FROZEN or is_sub(FROZEN, t):
            return ["z", [enc(x, depth + 1) for x in fiter(v)]]
        if t is BYTES or is_sub(BYTES, t):
            return ["b", bhex(v)]
        return opaque(v)

    def encode_value(v):
        left[0] = 200000
        try:
            return enc(v, 0)
        except (TooBig, RecursionError, RuntimeError):
            return ["o", "too large", 0]

    def dec(v):
        tag = v[0]
        if tag == "i":
            return INT(v[1], 16)
        if tag == "s":
            return v[1]
        if tag == "l":
            return [dec(x) for x in v[1]]
        if tag == "n":
            return None
        if tag == "T":
            return True
        if tag == "F":
            return False
        if tag == "f":
            return fromhex(v[1])
        if tag == "t":
            return TUPLE([dec(x) for x in v[1]])
        if tag == "d":
            return {dec(k): dec(x) for k, x in v[1]}
        if tag == "e":
            return {dec(x) for x in v[1]}
        if tag == "z":
            return FROZEN([dec(x) for x in v[1]])
        if tag == "b":
            return unhex(v[1])
        if tag == "u":
            return unhex(v[1]).decode("utf-8", "surrogatepass")
        if tag == "o" and keep is not None and 0 < v[2] <= len(keep):
            return keep[v[2] - 1]
        raise ValueError("no such value: %r" % (tag,))

    encode_value.instance = instance
    return encode_value, dec


def make_class_names():
    name_of = type.__dict__["__name__"].__get__
    mro_of = type.__dict__["__mro__"].__get__
    import builtins

    # By identity, under the name of now: some built-in classes can be renamed.
    known = {id(v): v.__name__ for v in vars(builtins).values() if isinstance(v, type)}
    T, ident, scopy = type, id, str.__str__

    def names(cls):
        return [[known[ident(c)], True] if ident(c) in known else [scopy(name_of(c))[:100], False] for c in mro_of(cls)[:20]]

    return names


CLASS_NAMES = make_class_names()


def say(e):
    """What an exception says, as far as it can be had safely."""
    try:
        return "%s: %s" % (type(e).__name__, str.__str__(BaseException.__str__(e))[:400])
    except BaseException:
        return type.__dict__["__name__"].__get__(type(e))[:100]


def words(e):
    """What a test reads of an exception: its text and its own plain attributes."""
    try:
        text = str(e)[:4000]
    except BaseException:
        text = None
    try:
        own = [(k, v) for k, v in list(BaseException.__dict__["__dict__"].__get__(e).items())[:20] if type(k) is str]
    except BaseException:
        own = []
    return text, own


def where(e):
    """The innermost line of the workspace in the traceback of e."""
    spot = ""
    tb = e.__traceback__
    while tb is not None:
        name = tb.tb_frame.f_code.co_filename
        if type(name) is str and name.startswith(os.getcwd() + "/"):
            spot = " (%s line %d)" % (name[len(os.getcwd()) + 1 :], tb.tb_lineno)
        tb = tb.tb_next
    return spot


def resolve(module, path):
    obj = module
    for part in path.split("."):
        obj = getattr(obj, part)
    return obj


def serve_calls(pipe, job):
    keep = [] if job.get("keep") else None
    enc, dec = make_codec(keep)
    bare = make_codec(None)[0]
    names, put, get, error, find, spot, told = CLASS_NAMES, pipe.put, pipe.get, say, resolve, where, words
    mro_type = type
    sys.path.insert(0, os.getcwd())
    import importlib

    modules = {}

    def load(name):
        if name not in modules:
            modules[name] = importlib.import_module(name)
        return modules[name]

    try:
        main = load(job["module"])
        put({"loaded": True})
    except BaseException as e:
        put({"loaded": False, "raised": names(mro_type(e)), "detail": error(e) + spot(e)})
        if keep is None:
            return
        main = None
    while True:
        for rid, fn, args, kwargs, back in get()["calls"]:
            ans = {"id": rid}
            # What cannot be read is None afterwards: no argument that was changed.
            args, asked, kwargs, named = [None] * len(args), args, dict.fromkeys(range(len(kwargs))), kwargs
            try:
                args = [dec(a) for a in asked]
                kwargs = {dec(k): dec(v) for k, v in named}
                if keep is None:
                    ans["value"] = enc(find(main, fn)(*args, **kwargs))
                else:
                    ans["value"] = special(load, fn, args, kwargs, enc, names, bare)
            except BaseException as e:
                ans.pop("value", None)
                ans["raised"] = names(mro_type(e))
                ans["detail"] = error(e)
                if keep is not None:
                    ans["text"], own = told(e)
                    ans["own"] = [[enc(k), enc(v)] for k, v in own]
                e = own = None
            if back:
                ans["args"] = [enc(a) for a in args]
                ans["kwargs"] = [enc(v) for v in kwargs.values()]
            put(ans)


LATER = {}  # what an iterator has raised behind items that are still on their way


def take(it, most, enc):
    """What comes next of an iterator, and whether that is all."""
    if id(it) in LATER:
        raise LATER.pop(id(it))[1]
    out = []
    for _ in range(most):
        try:
            out.append(enc(next(it)))
        except StopIteration:
            return ["t", [["l", out], ["T"]]]
        except BaseException as e:
            if not out:
                raise
            LATER[id(it)] = it, e
            break
    return ["t", [["l", out], ["F"]]]


def special(load, op, args, kwargs, enc, names, bare):
    """The operations that a proxied module needs besides plain calls."""
    if op == "describe":  # module, name
        module = load(args[0])
        try:
            v = getattr(module, args[1])
        except AttributeError:
            return ["t", [["s", "missing"]]]
        if isinstance(v, type):
            return ["t", [["s", "class"], ["l", [["t", [["s", n], ["T" if b else "F"]]] for n, b in names(v)]]]]
        if callable(v):
            return ["t", [["s", "function"]]]
        return ["t", [["s", "value"], enc(v)]]
    if op == "names":
        return enc([n for n in vars(load(args[0])) if not n.startswith("__")])
    if op == "call":  # module, dotted name, *args
        target = resolve(load(args[0]), args[1])
        v = target(*args[2:], **kwargs)
        return enc.instance(v) if isinstance(target, type) else enc(v)
    if op == "getattr":
        return enc(getattr(args[0], args[1]))
    if op == "setattr":
        setattr(args[0], args[1], args[2])
        return ["n"]
    if op == "invoke":  # object, *args
        return enc(args[0](*args[1:], **kwargs))
    if op == "special":  # name of an operator's function, *args
        import operator

        if args[0] == "plain":  # the value that an object is by its base
            return bare(args[1])
        if args[0] == "stream":  # an iterator
            return enc(iter(args[1]))
        if args[0] == "take":  # iterator, at most how many
            return take(args[1], args[2], enc)
        table = {"repr": repr, "str": str, "len": len, "iter": list, "bool": bool, "hash": hash}
        f = table.get(args[0]) or getattr(operator, args[0])
        return enc(f(*args[1:]))
    raise ValueError("no such operation")
