# Part 2: one child. It is forked from the warm interpreter, locked down and
# pre-faulted while it waits, and serves one job.

SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_BITS = (0, 13, 14, 15, 15, 16)  # filesystem rights known to each ABI


class Fprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def landlock_abi():
    r = syscall(SYS_LANDLOCK_CREATE, ctypes.c_void_p(None), 0, 1)
    return max(0, r)


def landlock(abi):
    """Reading and running everywhere, writing below /home only."""
    every = (1 << LANDLOCK_BITS[min(abi, 5)]) - 1
    net = 3 if abi >= 4 else 0
    scoped = 3 if abi >= 6 else 0
    attr = struct.pack("QQQ", every, net, scoped)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    rules = check(syscall(SYS_LANDLOCK_CREATE, attr, len(attr), 0), "landlock_create_ruleset")
    read = 1 | 4 | 8  # execute, read file, read folder
    nodes = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11  # make char device, socket, fifo, block device
    want = [("/", read), ("/home", every & ~nodes)]
    want += [("/dev/" + d, (2 | 4 | (1 << 14) | (1 << 15)) & every) for d in ("null", "zero", "full")]
    for path, rights in want:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not os.path.isdir(path):
            rights &= 1 | 2 | 4 | (1 << 14) | (1 << 15)
        check(syscall(SYS_LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights & every, fd), 0), "landlock_add_rule " + path)
        os.close(fd)
    check(syscall(SYS_LANDLOCK_RESTRICT, rules, 0), "landlock_restrict_self")
    os.close(rules)


def set_limits(lim):
    """Set hard limits; they can be lowered again later, never raised."""
    for res, n in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, lim["file"]),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_AS, lim["memory"]),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_NPROC, lim["pids"]),
    ):
        try:
            resource.setrlimit(res, (n, n))
        except ValueError:
            hard = resource.getrlimit(res)[1]  # the server itself runs under a lower one
            resource.setrlimit(res, (hard, hard))
    # Programs that recurse deeply ask for a larger stack; the address space
    # bounds it in any case.
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    soft = 8 << 20 if hard == resource.RLIM_INFINITY else min(hard, 8 << 20)
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    # The soft limit ends the process with a signal that says why; the hard one
    # ends those that ignore it.
    resource.setrlimit(resource.RLIMIT_CPU, (lim["cpu"], lim["cpu"] + 1))


def drop_capabilities():
    cap = 0
    while cap < 64 and LIBC.prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0:
        cap += 1
    header, data = struct.pack("Ii", 0x20080522, 0), bytes(24)
    check(LIBC.capset(header, data), "capset")


class Confined:
    """What a warm interpreter prepares once for all its children."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.code = binascii.a2b_base64(cfg["filter"])
        self.buf = ctypes.create_string_buffer(self.code, len(self.code))
        self.prog = Fprog(len(self.code) // 8, ctypes.cast(self.buf, ctypes.c_void_p))
        self.abi = landlock_abi() if cfg["landlock"] else 0
        self.disk = "size=%d,nr_inodes=%d,mode=755" % (cfg["limits"]["disk"], cfg["limits"]["inodes"])

    def lock_down(self, cgroups):
        unshare(NEWNS | NEWIPC | NEWUTS | NEWNET | NEWCGROUP, "unshare in the child")
        mount("tmpfs", "/home", "tmpfs", MS_NOSUID | MS_NODEV, self.disk)
        os.mkdir("/home/w")
        os.mkdir("/home/tmp")
        os.chdir("/home/w")
        for fd in cgroups:
            os.write(fd, b"0")
        os.closerange(4, 1024)
        # A user namespace without any id mapped: nobody in it can become
        # anybody, and processes are counted per child. The limits come after
        # it: a namespace keeps the limit of its maker's as a bound on the sum
        # over all its siblings.
        unshare(NEWUSER, "unshare user namespace in the child")
        set_limits(self.cfg["limits"])
        drop_capabilities()
        check(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        if self.abi:
            landlock(self.abi)
        check(LIBC.prctl(PR_SET_SECCOMP, 2, ctypes.byref(self.prog), 0, 0), "seccomp")


def prefault(ranges):
    """Take the copy-on-write faults now instead of while a caller waits."""
    for addr, size in ranges:
        LIBC.madvise(ctypes.c_void_p(addr), ctypes.c_size_t(size), 23)  # MADV_POPULATE_WRITE; old kernels refuse


class Pipe:
    """Length-prefixed JSON over one descriptor."""

    def __init__(self, fd):
        self.fd = fd
        self._read, self._write, self._loads, self._dumps = os.read, os.write, json.loads, json.dumps

    def _exactly(self, n):
        out = b""
        while len(out) < n:
            part = self._read(self.fd, min(n - len(out), 1 << 20))
            if not part:
                os._exit(0)
            out += part
        return out

    def get(self):
        size = int.from_bytes(self._exactly(4), "big")
        return self._loads(self._exactly(size))

    def put(self, msg):
        data = self._dumps(msg).encode()
        data = len(data).to_bytes(4, "big") + data
        while data:
            data = data[self._write(self.fd, data) :]


def write_files(files):
    for path, text in files.items():
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(path, "wb") as f:
            f.write(binascii.a2b_base64(text))


def lower(lim):
    """Apply the limits of a job that asks for less than the pool allows."""
    set_limits({k: min(v, BOUND[k]) for k, v in lim.items()})


def child(serve, confined, cfg, cgroups, ranges):
    pipe = Pipe(3)
    try:
        if "random" in sys.modules:  # it takes a new seed after every fork
            sys.modules["random"].seed(0)
        if confined:
            confined.lock_down(cgroups)
        else:
            os.closerange(4, 1024)
            os.setsid()
            set_limits(cfg["limits"])
        prefault(ranges)
        pipe.put({"ready": True})
    except BaseException as e:
        pipe.put({"setup": "%s: %s" % (type(e).__name__, e)})
        os._exit(0)
    job = pipe.get()
    try:
        if not confined:
            os.chdir(job["dir"])
            os.environ["HOME"] = os.environ["TMPDIR"] = job["dir"]
        write_files(job["files"])
        lower(job["limits"])
        pipe.put({"prepared": True})
    except BaseException as e:
        pipe.put({"setup": "%s: %s" % (type(e).__name__, e)})
        os._exit(0)
    # From here on the agent's code may run, and nothing that is said can be a
    # fault of the server's any more.
    serve(pipe, job)
    os._exit(0)
