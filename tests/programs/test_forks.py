"""The server that forks for jailed runs: what it has loaded, whom it serves, and that it ends with its process."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from gpulab import programs, walls
from gpulab.errors import GpulabError
from gpulab.programs import forks, jail

pytestmark = pytest.mark.skipif(bool(jail.available()), reason="a system without jails has no such server")

PARENT = r"""
#include <cstdio>
#include <cstring>
#include <unistd.h>
int main(int count, char** words)
{
    printf("%d\n", getppid());
    fflush(stdout);
    if (count > 1 && !strcmp(words[1], "wait")) for (;;) pause();
    if (count > 1 && !strcmp(words[1], "environment")) for (char** each = environ; *each; each++) puts(*each);
}
"""


@pytest.fixture(scope="module")
def parent():
    return programs.build(PARENT, name="parent")


def server_of(program):
    return int(program.run(jailed=True).stdout)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(("said", "code"), [(b"7", 7), (b"-15", -15), (b"", -9)])
def test_what_the_server_says_of_a_runs_end(said, code):
    """A server that ends without a word has been killed, and its runs too (SIGKILL: 9)."""
    for ask in (forks.ForkedRun.wait, lambda run: run.wait(20), forks.ForkedRun.poll):
        (ending, server), (stdout, out), (stderr, error) = (os.pipe() for _ in range(3))
        os.write(server, said)
        for end in (server, out, error):
            os.close(end)
        with forks.ForkedRun(1, ending, stdout, stderr) as run:
            assert ask(run) == code
            assert (run.poll(), run.wait(0), run.returncode) == (code, code, code)


def test_what_is_known_of_a_run_that_goes_on():
    pipes = [os.pipe() for _ in range(3)]
    run = forks.ForkedRun(1, *(read for read, _ in pipes))
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run.wait(0.05)
    assert 0.04 < time.monotonic() - began < 10
    assert run.poll() is run.returncode is None
    for _, write in pipes:
        os.close(write)
    with run:
        assert run.wait() == -signal.SIGKILL


def test_what_is_loaded_has_no_devices_and_no_threads():
    """A runtime has the devices of one run; and a forked process has none of its parent's threads."""
    code = """if True:
        import json, os, sys
        from gpulab.programs import forks
        forks.load()
        from gpulab.virtual_gpu import runtime
        print(json.dumps([runtime._instance is None, len(os.listdir("/proc/self/task"))]))"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(found.stdout) == [True, 1]


@pytest.mark.full
def test_one_server_serves_runs_of_all_devices(parent):
    server = server_of(parent)
    assert server_of(parent) == server
    assert {int(parent.run(jailed=True, arch=arch).stdout) for arch in parent.archs} == {server}


@pytest.mark.full
def test_the_server_that_is_made_ready_is_the_one_that_runs_use(parent, monkeypatch):
    """Else what runs need would be loaded twice."""
    monkeypatch.setenv("GPULAB_LANES", "16")  # one that is not there yet
    jail.ready()
    (ready,) = forks._servers
    assert server_of(parent) == ready._process.pid


def test_another_environment_has_another_server(parent, monkeypatch):
    """What is read when modules are loaded, such as the number of lanes, was read in another one."""
    server = server_of(parent)
    monkeypatch.setenv("GPULAB_LANES", "8")
    assert server_of(parent) != server
    until(lambda: not alive(server))


@pytest.mark.full
def test_a_run_has_its_own_environment_alone(parent):
    """Not what the server has beside it: that its libraries take one thread."""
    listed = parent.run("environment", jailed=True).stdout.splitlines()[1:]
    names = {line.partition("=")[0] for line in listed}
    assert "GPULAB_DEVICES" in names
    assert "OPENBLAS_NUM_THREADS" not in names


@pytest.mark.full
def test_a_server_that_was_killed_is_replaced(parent):
    server = server_of(parent)
    os.kill(server, signal.SIGKILL)
    assert server_of(parent) != server


def test_runs_end_with_their_server(parent):
    def told(name, text):
        os.kill(int(text), signal.SIGKILL)

    run = parent.run("wait", jailed=True, output=told)
    assert run.exit_code == -signal.SIGKILL
    assert run.seconds < 20


def test_all_ends_with_the_process_that_wanted_it(parent):
    """Also if that is killed."""
    code = """if True:
        import sys
        from pathlib import Path
        from gpulab.programs.program import HostProgram
        program = HostProgram(Path(sys.argv[1]), "", archs=(sys.argv[2],))
        program.run("wait", jailed=True, arch=sys.argv[2], output=lambda name, text: print(text, flush=True))"""
    process = subprocess.Popen([sys.executable, "-c", code, str(parent.path), parent.archs[0]], stdout=subprocess.PIPE)
    server = int(process.stdout.readline())
    with open(f"/proc/{server}/task/{server}/children", encoding="ascii") as file:
        run = int(file.read())
    process.kill()
    process.wait()
    process.stdout.close()
    until(lambda: not alive(server) and not alive(run))


def test_what_is_too_long_is_refused(parent):
    with pytest.raises(GpulabError, match=r"they take 10\d,\d\d\d bytes"):
        parent.run("x" * 100_000, jailed=True)


@pytest.mark.full
def test_how_a_run_is_waited_for(parent):
    environment = {"PATH": os.environ["PATH"]}
    with open(os.devnull, "rb") as nothing:
        read, write = os.pipe()
        run = forks.start(["/nowhere"], environment, "/", nothing.fileno(), (read, write))
        for end in (read, write):
            os.close(end)
    with run:
        assert b"Error" in run.stderr.read()
        assert run.wait(20) == run.poll() == run.returncode
        assert run.returncode > 0


def test_a_number_is_its_runs_own_until_the_run_is_left(parent, monkeypatch):
    """A program that has ended at once is still there to be tied to this process, and for the signal to its group."""
    seen = []
    fasten = walls.Tie.fasten

    def late(tie, process):
        until(lambda: not alive(process))
        seen.append(process)
        os.kill(process, 0)  # nobody else has this number yet
        fasten(tie, process)

    server_of(parent)  # there is one from now on
    monkeypatch.setattr(walls.Tie, "fasten", late)
    found = parent.run(jailed=True)
    assert (found.exit_code, found.stopped) == (0, "")
    until(lambda: not os.path.exists(f"/proc/{seen[-1]}"))


@pytest.mark.full
@pytest.mark.parametrize(("code", "expected"), [("return 7;", 7), ("raise(SIGTERM);", -15), ("abort();", -6)])
def test_how_a_run_has_ended(code, expected):
    text = f"#include <csignal>\n#include <cstdlib>\nint main() {{ {code} }}\n"
    assert programs.build(text, name="ends").run(jailed=True).exit_code == expected
