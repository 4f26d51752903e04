# Part 4: pytest in a child. The configuration is parsed once in the warm
# interpreter, before any workspace exists, so that nothing in a workspace can
# configure the run; a plugin reports tests by the node ids of the collector.

PYTEST_ARGS = ["-c", os.devnull, "--rootdir=/home/w", "--confcutdir=/home/w", "--capture=sys", "--color=no", "--no-header", "--tb=short", "-v"]
PYTEST_ARGS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
for name in ("cacheprovider", "stepwise", "faulthandler", "pastebin", "junitxml", "doctest", "nose", "setuponly", "setupplan", "legacypath"):
    PYTEST_ARGS += ["-p", "no:" + name]


# pytest makes much and leaves little, so that looking for garbage as often as by
# default mostly takes time. The code under test may leave much.
SELDOM, USUAL = (20000, 20, 20), gc.get_threshold()


class Report:
    """Sends the fate of every test as soon as it is known."""

    def __init__(self):
        self.fate, self.text, self.put = {}, {}, None

    def pytest_runtest_logreport(self, report):
        old, new = self.fate.get(report.nodeid), None
        if report.failed:
            new = "failed" if report.when == "call" else "error"
        elif report.skipped:
            new = "skipped"
        elif report.when == "call":
            new = "skipped" if hasattr(report, "wasxfail") else "passed"
        if new and old not in ("failed", "error"):
            self.fate[report.nodeid] = new
            if new in ("failed", "error"):
                self.text[report.nodeid] = str(report.longrepr)[-2000:]
        if report.when == "teardown":
            self.put({"test": report.nodeid, "outcome": self.fate.pop(report.nodeid, "error"), "message": self.text.pop(report.nodeid, "")})

    def pytest_runtest_call(self, item):
        yield from as_usual()

    def pytest_fixture_setup(self, fixturedef):
        yield from as_usual()

    def pytest_collectreport(self, report):
        if report.failed:
            self.put({"test": report.nodeid, "outcome": "error", "message": str(report.longrepr)[-2000:]})


def as_usual():
    """Around the code of a test, a hook that looks for garbage as by default."""
    if gc.get_threshold() == SELDOM:
        gc.set_threshold(*USUAL)
    yield
    if gc.get_threshold() == USUAL:
        gc.set_threshold(*SELDOM)


def play(config, cfg, here, targets):
    """Run the tests in some files of a workspace; returns pytest's exit code."""
    import pathlib

    config.invocation_params = type(config).InvocationParams(args=(), plugins=None, dir=pathlib.Path(here))
    if not cfg["confine"]:
        config._rootpath = pathlib.Path(here)
    config.args = [os.path.join(here, t) for t in targets]
    return int(config.hook.pytest_cmdline_main(config=config))


def make_serve_pytest(cfg):
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    import pytest
    from _pytest.config import _prepareconfig

    for hook in (Report.pytest_runtest_call, Report.pytest_fixture_setup):
        pytest.hookimpl(hookwrapper=True)(hook)
    args = list(PYTEST_ARGS)
    if not cfg["confine"]:
        args[2:4] = ["--rootdir=/", "--confcutdir=/"]
    prepare = lambda plugin: _prepareconfig(list(args), plugins=[plugin])
    rehearse(cfg, prepare)
    plugin = Report()
    config = prepare(plugin)

    def serve(pipe, job):
        plugin.put = pipe.put
        if job.get("proxy") is not None:
            install_proxies(pipe, proxied(job["proxy"], job["original"]), set(job["functions"]))
        try:
            code = play(config, cfg, os.getcwd(), job["targets"])
        except BaseException as e:
            code = 3
            sys.stderr.write("%s: %s\n" % (type(e).__name__, e))
        for f in (sys.stdout, sys.stderr):
            try:
                f.flush()
            except Exception:
                pass
        pipe.put({"end": code})
        pipe.get()  # wait to be killed, so that the output is complete

    return serve
