# The program of a warm interpreter, part 1: system calls, the confined root,
# and the way into the namespaces. The parts are joined and run as one text by
# "python3 -c"; Go talks to it over descriptor 3, one message a packet.
import sys

sys.path[:] = [p for p in sys.path if p]  # "-c" puts the current folder first
sys.dont_write_bytecode = True

import array, binascii, ctypes, gc, json, os, resource, select, signal, socket, struct, time

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
CTL = socket.socket(fileno=3)

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
MNT_DETACH, AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE = 2, -100, 0x1000, 0x8000
SYS_OPEN_TREE, SYS_MOVE_MOUNT, SYS_MOUNT_SETATTR = 428, 429, 442
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_DUMPABLE = 1, 38, 22, 24, 4


def check(r, what):
    """Raise OSError if a C call said no."""
    if r < 0:
        e = ctypes.get_errno()
        raise OSError(e, "%s: %s" % (what, os.strerror(e)))
    return r


def syscall(nr, *args):
    return LIBC.syscall(ctypes.c_long(nr), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])


def unshare(flags, what):
    check(LIBC.unshare(ctypes.c_int(flags)), what)


def mount(src, dst, kind, flags, data=None):
    b = lambda s: s if s is None else s.encode()
    check(LIBC.mount(b(src), b(dst), b(kind), ctypes.c_ulong(flags), b(data)), "mount %s on %s" % (kind, dst))


def set_attr(fd, path, bits, recursive=True):
    attr = struct.pack("QQQQ", bits, 0, 0, 0)
    flags = (AT_EMPTY_PATH if path == b"" else 0) | (AT_RECURSIVE if recursive else 0)
    check(syscall(SYS_MOUNT_SETATTR, fd, path, flags, attr, len(attr)), "mount_setattr")


def open_tree(path):
    """A detached copy of the mounts at path."""
    return check(syscall(SYS_OPEN_TREE, AT_FDCWD, path.encode(), 1 | 0x80000 | AT_RECURSIVE), "open_tree " + path)


def attach(fd, target):
    check(syscall(SYS_MOVE_MOUNT, fd, b"", AT_FDCWD, target.encode(), 4), "move_mount " + target)
    os.close(fd)


def send(msg, fds=()):
    anc = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    CTL.sendmsg([json.dumps(msg).encode()], anc)


def receive():
    data, anc, _, _ = CTL.recvmsg(1 << 20, socket.CMSG_SPACE(64))
    if not data:
        os._exit(0)  # the server is gone
    fds = array.array("i")
    for level, kind, raw in anc:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(raw[: len(raw) - len(raw) % fds.itemsize])
    return json.loads(data), list(fds)


def writable_ranges(proc):
    """The private, writable, anonymous memory that a fork would copy page by page."""
    out = []
    with open(os.open("self/maps", os.O_RDONLY, dir_fd=proc)) as f:
        for line in f:
            part = line.split()
            if part[1] == "rw-p" and (len(part) == 5 or part[5] == "[heap]" or part[5].startswith("/") or part[5].startswith("[anon")):
                lo, hi = part[0].split("-")
                out.append((int(lo, 16), int(hi, 16) - int(lo, 16)))
    return out


def place(root, path, folder):
    """Make an empty folder or file at root+path to mount on."""
    full = root + path
    os.makedirs(os.path.dirname(full), exist_ok=True)
    if folder:
        os.makedirs(full, exist_ok=True)
    elif not os.path.exists(full):
        os.close(os.open(full, os.O_CREAT | os.O_WRONLY, 0o644))
    return full


def build_root(cfg):
    """Move into a read-only root that holds the interpreter and little else."""
    trees = [(p, os.path.isdir(p), open_tree(p)) for p in cfg["binds"]]
    devs = [(p, open_tree(p)) for p in ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")]
    for path, _, fd in trees:
        set_attr(fd, b"", ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    for path, fd in devs:
        set_attr(fd, b"", ATTR_NOSUID | ATTR_NOEXEC)
    root = next(p for p in ("/mnt", "/tmp", "/run", "/var", "/dev") if os.path.isdir(p))
    mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for path, target in cfg["links"].items():
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        os.symlink(target, root + path)
    for path, folder, fd in trees:
        attach(fd, place(root, path, folder))
    for path, fd in devs:
        attach(fd, place(root, path, False))
    os.symlink("../home/tmp", root + "/dev/shm")  # for semaphores; each child has its own
    os.makedirs(root + "/etc", exist_ok=True)
    os.makedirs(root + "/home/w")  # seen by the warm interpreter only: each child mounts over it
    if not os.path.exists(root + "/tmp"):
        os.symlink("home/tmp", root + "/tmp")
    for name, text in (("passwd", "user:x:0:0::/home/w:/bin/sh\nnobody:x:65534:65534::/home/w:/bin/sh\n"), ("group", "user:x:0:\nnogroup:x:65534:\n"), ("empty", "")):
        with open(root + "/etc/" + name, "w") as f:
            f.write(text)
    for path in cfg["hide"]:
        if os.path.isdir(root + path) and not os.path.islink(root + path):
            mount("tmpfs", root + path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=555")
        elif os.path.lexists(root + path):
            attach(open_tree(root + "/etc/empty"), root + path)
    os.chdir(root)
    check(syscall(cfg["pivot_root"], b".", b"."), "pivot_root")
    check(LIBC.umount2(b".", MNT_DETACH), "umount the old root")
    os.chdir("/")
    set_attr(AT_FDCWD, b"/", ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV, recursive=False)


def die_with_parent():
    check(LIBC.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl")


def ask_for_maps():
    """Only the server may write the id maps of the new user namespace."""
    send({"map": True})
    reply, _ = receive()
    if reply.get("error"):
        raise OSError(1, "write id maps: " + reply["error"])


def enter(cfg):
    """Go into the namespaces; returns in the process that is pid 1 there."""
    rest = NEWPID | NEWNET | NEWIPC | NEWUTS | NEWCGROUP
    if cfg["root"]:
        # Real root mounts first: it can reach an interpreter in a folder that
        # is closed to the user that the children will be.
        unshare(NEWNS, "unshare mount namespace")
        mount(None, "/", None, MS_REC | MS_PRIVATE)
        build_root(cfg)
        os.setgroups([])
        os.setresgid(cfg["gid"], cfg["gid"], cfg["gid"])
        os.setresuid(cfg["uid"], cfg["uid"], cfg["uid"])
        die_with_parent()  # a change of user clears it
        unshare(NEWUSER, "unshare user namespace")
        ask_for_maps()
        unshare(NEWNS | rest, "unshare namespaces")
        mount(None, "/", None, MS_REC | MS_PRIVATE)
    else:
        unshare(NEWUSER, "unshare user namespace")
        ask_for_maps()
        unshare(NEWNS | rest, "unshare namespaces")
        mount(None, "/", None, MS_REC | MS_PRIVATE)
        build_root(cfg)
    name = b"localhost"
    check(LIBC.sethostname(name, len(name)), "sethostname")
    launcher = os.getpid()
    pid = os.fork()
    if pid == 0:
        die_with_parent()
        return
    # The launcher holds nothing but the wait; its death kills the namespace.
    os.closerange(3, 256)
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
