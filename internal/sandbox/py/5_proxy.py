# Part 5: the proxy modules that trusted tests import in place of the agent's.
# Every use of one becomes a message to Go, which plays it in the agent's own
# process; only plain values and numbered handles come back.


class Gone(BaseException):
    """The other process has ended; no test may swallow it."""


def proxied(names, original):
    """The modules to stand in for: those of the task, and others only where the
    interpreter itself has none by the name of the first part."""
    import importlib.util

    def known(top):
        try:
            return top in sys.modules or importlib.util.find_spec(top) is not None
        except (ImportError, ValueError):
            return True

    tops = {n.partition(".")[0] for n in names}
    ours = {n.partition(".")[0] for n in original}
    good = {t for t in tops if t in ours or not known(t)}
    return [n for n in names if n.partition(".")[0] in good]


def install_proxies(pipe, names, functions):
    import builtins, types

    enc_plain, dec_plain = make_codec(None)
    taken = {}
    live = set()

    def encode(v):
        if isinstance(v, Remote):
            return ["o", "", v._handle]
        if isinstance(v, (list, tuple)) and any(isinstance(x, Remote) for x in v):
            return ["l" if isinstance(v, list) else "t", [encode(x) for x in v]]
        if isinstance(v, dict) and any(isinstance(x, Remote) for x in v.values()):
            return ["d", [[encode(k), encode(x)] for k, x in v.items()]]
        out = enc_plain(v)
        if out[0] == "o":
            raise TypeError("only plain values can be given to the code under test, not %s" % type(v).__name__)
        return out

    def decode(v):
        tag = v[0]
        if tag == "o":
            return Remote(v[2], v[1])
        if tag == "l":
            return [decode(x) for x in v[1]]
        if tag == "t":
            return tuple(decode(x) for x in v[1])
        if tag == "d":
            return {decode(k): decode(x) for k, x in v[1]}
        return dec_plain(v)

    def ask(op, args, kwargs=None, back=""):
        """Put a question; back names the function whose arguments it may change."""
        kwargs = kwargs or {}
        pipe.put({"call": {"op": op, "args": [encode(a) for a in args], "kwargs": [[encode(k), encode(v)] for k, v in kwargs.items()], "back": bool(back), "as": back}})
        r = pipe.get()
        if r.get("gone"):
            raise Gone(r["gone"])
        if back:
            for local, new in zip([*args, *kwargs.values()], [*r["args"], *r["kwargs"]]):
                if new is not None:
                    refresh(local, new)
        if r.get("raised"):
            raise exception(r["raised"], r.get("detail", ""), r.get("text"), r.get("own") or [])
        return decode(r["value"])

    def refresh(local, new):
        """Show in place what the code under test did to an argument."""
        if type(local) in (list, set, dict) and new[0] in ("l", "e", "d"):
            value = decode(new)
            if type(value) is type(local):
                local.clear()
                (local.extend if type(local) is list else local.update)(value)

    def exception_class(chain):
        name, builtin = chain[0]
        if builtin:
            return getattr(builtins, name)
        if name not in taken:
            rest = [c for c in chain[1:]]
            base = exception_class(rest) if rest else Exception
            taken[name] = type(name, (base,), {})
        return taken[name]

    def exception(chain, detail, said, own):
        """One like the code under test has raised, that says the same and has
        the same attributes as far as they are plain."""
        cls = exception_class(chain)
        if not issubclass(cls, BaseException):
            cls = Exception
        if not issubclass(cls, Exception):
            return RuntimeError("the code under test raised %s" % chain[0][0])
        text = detail.split(": ", 1)[1] if ": " in detail else ""
        e = made_of(cls, text)
        if said is not None and str(e) != said:
            e = made_of(type(cls.__name__, (cls,), {"__str__": lambda self: said, "__module__": cls.__module__}), text)
        for name, v in own:
            name = decode(name)
            if not name.startswith("_") and not hasattr(Exception, name):
                try:
                    setattr(e, name, decode(v))
                except Exception:
                    pass  # a built-in class has one of this name that is not to be set
        return e

    def made_of(cls, text):
        try:
            return cls(text)
        except Exception:
            e = cls.__new__(cls)
            e.args = (text,)
            return e

    class Stream:
        """What an object of the other process gives when it is gone through."""

        def __init__(self, source):
            self.source, self.items, self.over, self.asked = source, [], False, 0

        def item(self, i):
            """Item i, or StopIteration: asked for one by one at first, as code
            on the way may have a say in what comes next."""
            while i >= len(self.items):
                if self.over:
                    raise StopIteration
                self.asked += 1
                most = 1 if self.asked <= 32 else min(1 << self.asked - 32, 256)
                got, self.over = ask("special", ["take", self.source, most])
                self.items += got
            return self.items[i]

        def first(self):
            v = self.item(0)
            del self.items[0]
            return v

    streams = {}

    def stream(obj):
        """What an object gives, and whether only once, as an iterator does. What
        an inert one gives is remembered: it cannot be one thing to one line of
        a test and another to the next."""
        known = streams.get(obj._handle)
        if known is None or obj._live and not known[1]:
            source = ask("special", ["stream", obj])
            if not isinstance(source, Remote):
                raise TypeError("the code under test returned a %s that cannot be gone through" % obj._type)
            known = streams[obj._handle] = Stream(source), source._handle == obj._handle
        return known

    def walk(obj):
        s, once = stream(obj)
        i = 0
        while True:
            try:
                v = s.first() if once else s.item(i)
            except StopIteration:
                return
            yield v
            i += 1

    class Remote:
        """An object that lives in the other process.

        What a test has made itself, by calling a class, can be used. An
        object that came out of a function where a plain value was due is
        inert: if it could answer for itself, it would always be right. One that
        a call has handed back, as a method does that can be chained, can be
        used on but has no say in comparisons and calculations: its own
        operators would agree with whatever a test expects.
        """

        __slots__ = ("_handle", "_type", "_live", "_own")

        def __init__(self, handle, kind):
            object.__setattr__(self, "_handle", handle)
            object.__setattr__(self, "_type", kind)
            object.__setattr__(self, "_live", handle in live)
            object.__setattr__(self, "_own", False)

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            need_live(self, AttributeError)
            v = ask("getattr", [self, name])
            if isinstance(v, Remote) and not v._live and v._type in ("method", "builtin_function_or_method", "function"):
                return lambda *args, **kwargs: handed(ask("invoke", [v, *args], kwargs, "." + name))
            return v

        def __setattr__(self, name, value):
            need_live(self)
            ask("setattr", [self, name, value])

        def __repr__(self):
            return "<%s object>" % self._type

        def __call__(self, *args, **kwargs):
            need_live(self)
            return ask("invoke", [self, *args], kwargs, "()")

        def __eq__(self, other):
            # The other process has no say in whether it is right: an object
            # of its own equals another only if both are under test.
            if not isinstance(other, Remote):
                # Below list or int it has a value, which is compared here.
                v = ask("special", ["plain", self]) if self._own else self
                return not isinstance(v, Remote) and v == other
            if self._own and other._own:
                return ask("special", ["eq", self, other]) is True
            return self._handle == other._handle and self._live and other._live

        __hash__ = object.__hash__

    def need_live(obj, error=TypeError):
        if not obj._live:
            raise error("the code under test returned a %s, which is not a plain value" % obj._type)

    def operator(name, judging=False):
        def op(self, *rest):
            need_live(self)
            if judging and not all(x._own for x in (self, *rest) if isinstance(x, Remote)):
                raise TypeError("the code under test returned a %s where a plain value was due" % self._type)
            return ask("special", [name, self, *rest])

        return op

    for method in ("str", "len", "bool"):
        setattr(Remote, "__%s__" % method, operator(method))
    for method in ("getitem", "setitem", "delitem"):
        setattr(Remote, "__%s__" % method, operator(method))
    for method in ("contains", "add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "lt", "le", "gt", "ge"):
        setattr(Remote, "__%s__" % method, operator(method, True))

    asked_iter, asked_len, asked_contains = operator("iter"), Remote.__len__, Remote.__contains__

    def remote_iter(self):
        return iter(asked_iter(self)) if self._own else walk(self)

    def remote_next(self):
        s, once = stream(self)
        if not once:
            raise TypeError("%r object is not an iterator" % self._type)
        return s.first()

    def remote_len(self):
        if self._live:
            return asked_len(self)
        if stream(self)[1]:
            raise TypeError("object of type %r has no len()" % self._type)
        n = ask("special", ["len", self])
        if n != sum(1 for _ in walk(self)):
            raise TypeError("the code under test returned a %s of another length than it says" % self._type)
        return n

    def remote_contains(self, x):
        return asked_contains(self, x) if self._live else any(v is x or v == x for v in walk(self))

    Remote.__iter__, Remote.__next__, Remote.__len__, Remote.__contains__ = remote_iter, remote_next, remote_len, remote_contains
    def handed(v):
        """Mark what a method has returned, the object itself or another."""
        if isinstance(v, Remote):
            live.add(v._handle)
            object.__setattr__(v, "_live", True)
        return v

    def made(v):
        """Mark what a class of the code under test has returned."""
        if isinstance(handed(v), Remote):
            object.__setattr__(v, "_own", True)
        return v

    class Proxy(types.ModuleType):
        def __getattr__(self, name):
            if name == "__all__":
                return [n for n in ask("names", [self.__name__]) if not n.startswith("_")]
            if name.startswith("__"):
                raise AttributeError(name)
            if self.__name__ + "." + name in names:
                return sys.modules[self.__name__ + "." + name]
            what = ask("describe", [self.__name__, name])
            if what[0] == "missing":
                raise AttributeError("module %r has no attribute %r" % (self.__name__, name))
            if what[0] == "value":
                return what[1]
            if what[0] == "class":
                chain = [list(c) for c in what[1]]
                if self.__name__ + "." + name in functions:
                    # Its objects would play the tests' comparisons themselves.
                    return Function(self.__name__, name)
                if ["BaseException", True] in chain:
                    return exception_class(chain)
                return Class(self.__name__, name)
            return Function(self.__name__, name)

    class Function:
        def __init__(self, module, name):
            self.__name__ = self.__qualname__ = name
            self.__module__ = module

        def __call__(self, *args, **kwargs):
            return ask("call", [self.__module__, self.__name__, *args], kwargs, self.__module__ + "." + self.__name__)

    class Class(Function):
        def __call__(self, *args, **kwargs):
            return made(super().__call__(*args, **kwargs))

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            return Class(self.__module__, self.__name__ + "." + name)

    for name in names:
        m = Proxy(name)
        m.__path__ = []
        m.__file__ = None
        sys.modules[name] = m
        if "." in name:
            parent, _, leaf = name.rpartition(".")
            if parent in sys.modules:
                setattr(sys.modules[parent], leaf, m)
