# Part 6: the rehearsal, in the warm interpreter.

# What the rehearsal plays: the ways in which tests of a workspace mostly end.
REHEARSAL = """
import pytest
from rehearsed import f

@pytest.fixture
def one():
    return 1

def test_equal(): assert f(2) == 3

def test_differs(): assert f(2) == 4

def test_sequence(): assert [f(1), 2] == [1, 2, 3]

def test_text(): assert "a b" == "a c"

def test_fixtures(capsys, caplog, monkeypatch, tmp_path, recwarn):
    print(1)
    assert capsys.readouterr().out == "1\\n"

def test_raises():
    with pytest.raises(ValueError):
        f(-1)

def test_error(): f(-1)

@pytest.mark.parametrize("x", [1, 2])
def test_many(x, one): assert f(x) > one
"""


def remember_fixtures(config):
    """Let pytest find the fixtures of its own plugins without looking at each of
    their 1,700 names, which every session does anew."""
    import builtins, _pytest.fixtures

    known = {}
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin) is type(sys):
            found = [n for n in dir(plugin) if is_fixture(vars(plugin).get(n))]
            known[id(plugin)] = found
    _pytest.fixtures.dir = lambda x: known[id(x)] if id(x) in known else builtins.dir(x)


def is_fixture(x):
    # The first since pytest 8.4, the second up to then.
    return type(x).__name__ == "FixtureFunctionDefinition" or hasattr(x, "_pytestfixturefunction")


def rehearse(cfg, prepare):
    """Run pytest once on a workspace of ours, so that a child finds loaded,
    compiled and cached what pytest would otherwise make in each of them. Nothing
    of that workspace stays."""
    import contextlib, importlib, io, linecache, shutil, tempfile

    if cfg["confine"]:
        mount("tmpfs", "/home", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
        here = "/home/w"
        os.mkdir(here)
        os.mkdir("/home/tmp")
    else:
        here = tempfile.mkdtemp(prefix="proctor-")
    before, modules, path = os.getcwd(), set(sys.modules), list(sys.path)
    os.chdir(here)
    with open("rehearsed.py", "w") as f:
        f.write("def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x + 1\n")
    with open("test_rehearsal.py", "w") as f:
        f.write(REHEARSAL)
    plugin = Report()
    fates = []
    plugin.put = lambda m: fates.append(m.get("outcome"))
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        config = prepare(plugin)
        remember_fixtures(config)
        code = play(config, cfg, here, ["test_rehearsal.py"])
    if code != 1 or fates.count("passed") != 5 or fates.count("failed") != 4:
        raise RuntimeError("pytest does not report as expected: exit %d, %s" % (code, fates))
    os.chdir(before)
    if cfg["confine"]:
        check(LIBC.umount2(b"/home", MNT_DETACH), "umount the rehearsal")
    else:
        shutil.rmtree(here)
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name in ("rehearsed", "test_rehearsal"):
            del sys.modules[name]
    for folder in list(sys.path_importer_cache):
        if folder.startswith(here):
            del sys.path_importer_cache[folder]
    importlib.invalidate_caches()
    linecache.clearcache()
    tempfile.tempdir = None  # where temporary files go is found out once, and for good
