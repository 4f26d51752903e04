# Last part: the loop of the warm interpreter. It is single-threaded, holds no
# secret, never sees a job, and does three things: fork, wait, report.


def fork(cfg, confined, serve, self_fd, fds, ranges):
    """Fork one child as pid 1 of its own pid namespace."""
    if confined:
        unshare(NEWPID, "unshare pid namespace")
    try:
        pid = os.fork()
    except OSError:
        pid = -1
    if pid:
        if confined:
            check(LIBC.setns(self_fd, NEWPID), "setns")
        if pid < 0:
            raise OSError(11, "fork failed")
        return pid
    try:
        job, rest = fds[0], fds[1:]
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        out = rest.pop(0) if cfg["kind"] == "pytest" else null
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.dup2(job, 3)
        child(serve, confined, cfg, rest, ranges)
    finally:
        os._exit(1)


def die_if_orphan(parent):
    if os.getppid() != parent:
        os._exit(0)


def main():
    global ZYGOTE, BOUND
    cfg, _ = receive()
    try:
        BOUND = cfg["limits"]
        for name in cfg["warm"]:
            __import__(name)
        die_with_parent()
        die_if_orphan(cfg["server"])
        os.umask(0o022)
        os.environ.clear()
        os.environ.update(PATH="/usr/local/bin:/usr/bin:/bin", HOME="/home/w", TMPDIR="/home/tmp", LANG="C.UTF-8", PYTHONHASHSEED="0")
        sys.argv[:] = [""]
        sys.orig_argv[:] = [sys.executable]
        proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC)
        if cfg["confine"]:
            enter(cfg)
        serve = serve_calls
        if cfg["kind"] == "pytest":
            serve = make_serve_pytest(cfg)
            os.environ.pop("PYTEST_DISABLE_PLUGIN_AUTOLOAD", None)
        confined = Confined(cfg) if cfg["confine"] else None
        gc.collect()
        gc.freeze()
        if cfg["kind"] == "pytest":
            gc.set_threshold(*SELDOM)
        cfg["ranges"] = writable_ranges(proc) if cfg["prefault"] else []
        os.close(proc)
        ZYGOTE = os.getpid()
        self_fd = os.pidfd_open(ZYGOTE)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        send({"up": True, "landlock": confined.abi if confined else 0, "version": sys.version.split()[0]})
    except BaseException as e:
        send({"failed": "%s: %s" % (type(e).__name__, e), "errno": getattr(e, "errno", 0) or 0})
        os._exit(1)
    poll, running = select.poll(), {}
    poll.register(CTL, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd in running:
                pid, cid = running.pop(fd)
                poll.unregister(fd)
                os.close(fd)
                _, status, use = os.wait4(pid, 0)
                if not confined:  # no namespace took its descendants along
                    try:
                        os.killpg(pid, 9)
                    except OSError:
                        pass
                send({"exit": cid, "status": status, "cpu": use.ru_utime + use.ru_stime, "rss": use.ru_maxrss, "faults": use.ru_minflt})
                continue
            msg, fds = receive()
            try:
                if msg.get("inject"):
                    raise OSError(28, msg["inject"])
                pid = fork(cfg, confined, serve, self_fd, fds, cfg["ranges"] if msg.get("prefault") else ())
                pfd = os.pidfd_open(pid)
                running[pfd] = (pid, msg["fork"])
                poll.register(pfd, select.POLLIN)
                send({"forked": msg["fork"]}, [pfd])
            except OSError as e:
                send({"nofork": msg["fork"], "error": str(e)})
            finally:
                for f in fds:
                    os.close(f)


main()
