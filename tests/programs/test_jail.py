"""Jailed programs: what they may not do is refused by the kernel, and the run says how they ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from gpulab import course, programs
from gpulab.errors import GpulabError
from gpulab.programs import jail, report
from gpulab.programs.program import ProgramRun
from gpulab.toolchain import cache

pytestmark = pytest.mark.skipif(bool(jail.available()), reason=jail.available() or "there is a jail")

# One program with all misdeeds, chosen by its first argument, so that it is built once.
MISDEEDS = r"""
#include <hip/hip_runtime.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void twice(int* x) { x[threadIdx.x] *= 2; }

static int said(bool done) {
  std::printf("%s\n", done ? "done" : std::strerror(errno));
  return done ? 0 : 3;
}

int main(int argc, char** argv) {
  std::string what = argv[1], where = argc > 2 ? argv[2] : "";
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (what == "write") return said(std::fopen(where.c_str(), "w") != nullptr);
  if (what == "read") return said(std::fopen(where.c_str(), "r") != nullptr);
  if (what == "list") return said(opendir(where.c_str()) != nullptr);
  if (what == "remove") return said(unlink(where.c_str()) == 0);
  if (what == "chmod") return said(chmod(where.c_str(), 0777) == 0);
  if (what == "link") return said(symlink("/etc/passwd", "here") == 0);
  if (what == "thread") {  // what a thread inherits
    bool opened = false;
    int error = 0;
    std::thread([&] { opened = std::fopen(where.c_str(), "r") != nullptr, error = errno; }).join();
    errno = error;
    return said(opened);
  }
  if (what == "socket") return said(socket(AF_INET, SOCK_STREAM, 0) >= 0);
  if (what == "local socket") return said(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
  if (what == "fork") for (;;) fork();
  if (what == "clone") return said(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0);
  if (what == "system") return said(std::system("echo hello") == 0);
  if (what == "exec") return said(execl("/bin/sh", "sh", "-c", "echo hello", nullptr) == 0);
  if (what == "kill") return said(kill(getppid(), 0) == 0);
  if (what == "trace") return said(ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0);
  if (what == "limits") {
    rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    return said(setrlimit(RLIMIT_AS, &none) == 0);
  }
  if (what == "state") {
    for (int kind : {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_CPU}) {
      rlimit found = {};
      getrlimit(static_cast<__rlimit_resource>(kind), &found);
      std::printf("%lu %lu\n", static_cast<unsigned long>(found.rlim_cur), static_cast<unsigned long>(found.rlim_max));
    }
    std::printf("%d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    for (char** each = environ; *each; ++each) std::printf("%.*s\n", int(std::strcspn(*each, "=")), *each);
    return 0;
  }
  if (what == "memory file") return said(syscall(SYS_memfd_create, "x", 0) >= 0);
  if (what == "disk") {
    std::string block(1 << 20, 'x');
    for (int i = 0;; ++i) {
      std::FILE* file = std::fopen(("file" + std::to_string(i)).c_str(), "w");
      if (!file) return said(false);
      for (int j = 0; j < 16; ++j) std::fwrite(block.data(), 1, block.size(), file);
      std::fclose(file);
    }
  }
  if (what == "large file") {
    std::string block(1 << 20, 'x');
    for (;;) if (write(open("file", O_WRONLY | O_CREAT | O_APPEND, 0600), block.data(), block.size()) < 0) return 3;
  }
  if (what == "memory") {
    std::vector<char*> all;
    for (;;) {
      all.push_back(new char[64 << 20]);
      std::memset(all.back(), 1, 64 << 20);
    }
  }
  if (what == "device memory") {
    size_t free_bytes = 0, total = 0;
    void *small = nullptr, *large = nullptr;
    bool known = hipMemGetInfo(&free_bytes, &total) == hipSuccess && free_bytes < 4ull << 30;
    bool fits = hipMalloc(&small, free_bytes) == hipSuccess;
    bool refused = hipMalloc(&large, 5ull << 30) == hipErrorOutOfMemory;
    std::printf("%d%d%d\n", known, fits, refused);
    return 0;
  }
  if (what == "output") for (;;) std::puts("again and again and again and again and again and again and again");
  if (what == "loop") for (volatile int i = 0;;) i = i + 1;
  if (what == "threads") for (;;) std::thread([] { for (;;) sleep(1); }).detach();
  if (what == "abort") std::abort();
  int* x;
  int values[4] = {1, 2, 3, 4};
  if (hipMalloc(&x, sizeof values) != hipSuccess) return 1;
  if (hipMemcpy(x, values, sizeof values, hipMemcpyHostToDevice) != hipSuccess) return 1;
  twice<<<1, 4>>>(x);
  if (hipMemcpy(values, x, sizeof values, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::FILE* file = std::fopen("result", "w");  // its own folder
  std::fprintf(file, "%d", values[3]);
  std::fclose(file);
  char text[8] = {};
  file = std::fopen("result", "r");
  std::printf("%s %s\n", std::fgets(text, sizeof text, file), std::getenv("SECRET") ? "SECRET" : "clean");
  return 0;
}
"""

Run = Callable[..., ProgramRun]


@pytest.fixture(scope="module")
def run() -> Run:
    program = programs.build(MISDEEDS, name="misdeeds", archs=("gfx942",))

    def one(*args: str, seconds: float = 20, arch: str = "gfx942") -> ProgramRun:
        return program.run(*args, arch=arch, seconds=seconds, jailed=True)

    return one


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_ed25519").write_text("secret")
    monkeypatch.setenv("GPULAB_CACHE", str(cache.folder()))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_program_that_does_nothing_wrong(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It works, in a folder of its own, and sees nothing of the environment."""
    monkeypatch.setenv("SECRET", "1")
    found = run("good")
    assert (found.stdout, found.exit_code, found.stderr) == ("8 clean\n", 0, "")
    assert [launch.kernel for launch in found.launches] == ["twice"]
    assert found.complete


def test_limits_rights_and_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Core files, bytes of a file, open files, processor seconds: the same soft and hard; and no new privileges."""
    for name in ("SECRET", "GPULAB_COURSE", "GPULAB_PROGRESS", "LD_PRELOADED"):
        monkeypatch.setenv(name, "1")
    lines = run("state", seconds=7).stdout.splitlines()
    assert lines[:4] == [
        "0 0",
        f"{128 << 20} {128 << 20}",
        "256 256",
        " ".join([str(7 * (os.cpu_count() or 1) + 5)] * 2),
    ]
    assert lines[4] == "1"
    assert {"HOME", "TMPDIR", "PATH", "GPULAB_CACHE"} <= set(lines[5:])
    assert not {"SECRET", "GPULAB_COURSE", "GPULAB_PROGRESS", "GPULAB_PYTHON", "LD_PRELOADED"} & set(lines[5:])


def test_what_a_program_may_leave_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 MiB and 4,096 entries, folders among them; one more is too much."""
    assert (jail.FOLDER_BYTES, jail.FOLDER_ENTRIES, jail.FILE_BYTES, jail.MEMORY_BYTES) == (
        1 << 26,
        4096,
        1 << 27,
        1 << 31,
    )
    monkeypatch.setattr(jail, "FOLDER_ENTRIES", 5)
    monkeypatch.setattr(jail, "FOLDER_BYTES", 8 * 4096)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(bytes(3 * 4096))
    assert jail._too_much(tmp_path) == ""
    (tmp_path / "three").mkdir()
    assert jail._too_much(tmp_path) == ""
    (tmp_path / "two" / "empty").touch()
    assert jail._too_much(tmp_path) == "it made more than 5 files"
    (tmp_path / "two" / "empty").unlink()
    (tmp_path / "one" / "file").write_bytes(bytes(5 * 4096))
    assert jail._too_much(tmp_path) == ""
    (tmp_path / "one" / "file").write_bytes(bytes(6 * 4096))
    assert jail._too_much(tmp_path) == "it wrote more than 0 MiB into files"


@pytest.mark.parametrize("how", ["read", "write", "thread", "remove", "chmod"])
def test_files_at_home(run: Run, home: Path, how: str) -> None:
    secret = home / ".ssh" / "id_ed25519"
    found = run(how, str(secret))
    assert found.exit_code == 3
    assert found.stdout in ("Permission denied\n", "Operation not permitted\n")
    assert secret.read_text() == "secret"


def test_a_program_sees_no_answers_that_are_installed_beside_gpulab(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder inside gpulab that no run needs stands for them."""
    answers = course.PACKAGE / "editor"
    file = answers / "labextension" / "gpulab-editor" / "package.json"
    assert run("read", str(file)).stdout == "done\n"
    monkeypatch.setattr(jail, "hidden", lambda: [answers])
    assert run("read", str(file)).stdout == "Permission denied\n"
    assert run("nothing").stdout.startswith("8 "), "all else is there"


def test_what_is_hidden_is_left_out_by_whatever_way_one_comes(tmp_path: Path) -> None:
    for name in ("python/site/gpulab/_course/exercises", "python/site/gpulab/views", "python/site/other", "usr"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lib64").symlink_to(tmp_path / "python")
    site = tmp_path / "python" / "site"
    found, listed = jail.without(
        [str(tmp_path / "usr"), str(tmp_path / "lib64"), str(site / "gpulab" / "_course" / "exercises"), str(site)],
        [site / "gpulab" / "_course"],
    )
    assert {os.path.realpath(path) for path in found} == {
        str(tmp_path / "usr"), str(site / "gpulab" / "views"), str(site / "other"),
    }  # fmt: skip
    assert listed == [str(tmp_path / "python"), str(site), str(site / "gpulab")]
    assert jail.without(["/usr", "/lib"], []) == (["/usr", "/lib"], [])


def test_new_files_at_home(run: Run, home: Path) -> None:
    assert run("write", str(home / "new")).stdout == "Permission denied\n"
    assert run("list", "/tmp").stdout == "Permission denied\n"
    assert run("read", "/etc/passwd").stdout == "Permission denied\n"
    assert run("read", "/proc/1/environ").stdout == "Permission denied\n"
    assert run("link").stdout == "Permission denied\n"
    assert not (home / "new").exists()


@pytest.mark.parametrize("what", ["socket", "local socket", "fork", "clone", "system", "exec", "kill", "trace"])
def test_calls_that_end_the_program(run: Run, what: str) -> None:
    found = run(what)
    assert found.exit_code == -signal.SIGSYS
    assert "it may not do" in found.ending
    assert "hello" not in found.stdout


@pytest.mark.parametrize("what", ["limits", "memory file"])
def test_calls_that_are_refused(run: Run, what: str) -> None:
    assert run(what).stdout == "Operation not permitted\n"


def test_a_full_disk(run: Run) -> None:
    found = run("disk")
    assert found.stopped == "it wrote more than 64 MiB into files"
    found = run("large file")
    assert found.stopped or found.exit_code in (3, -signal.SIGXFSZ)


def test_memory_without_end(run: Run) -> None:
    found = run("memory", seconds=60)
    assert found.exit_code == -signal.SIGABRT
    assert "bad_alloc" in found.stderr


def test_device_memory_ends_at_4_gib(run: Run) -> None:
    """Whatever the computer has: the answers of a judged program do not depend on it."""
    assert run("device memory").stdout == "111\n"


def test_threads_without_end(run: Run) -> None:
    found = run("threads")
    assert found.exit_code != 0 or found.seconds_limit_hit


def test_a_loop_without_end(run: Run) -> None:
    found = run("loop", seconds=3)
    assert found.seconds_limit_hit
    assert found.ending == "the program was stopped: it took longer than 3 seconds."


def test_output_without_end(run: Run) -> None:
    found = run("output", seconds=3)
    assert found.seconds_limit_hit
    assert len(found.stdout) < 5 << 20
    assert found.stdout.endswith("(the rest of stdout was cut)\n")


def test_abort_leaves_a_report(run: Run) -> None:
    found = run("abort")
    assert found.exit_code == -signal.SIGABRT
    assert found.complete


def test_without_a_jail_nothing_runs(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setattr(jail, "available", lambda: "it takes Linux")
    with pytest.raises(GpulabError, match="cannot be jailed") as raised:
        run("good")
    assert "It takes Linux" in str(raised.value)


@pytest.mark.parametrize(
    "line",
    [
        "[]", "{", '{"fault": {"kind": 1}}', '{"fault": {"__class__": "os.system"}}', '{"launches": 3}',
        '{"launches": [{"kernel": "a"}], "activities": []}', '{"launches": [], "activities": [{"kind": []}]}',
        "[" * 100_000, '{"fault": null}', "\x00\xff",
    ],
)  # fmt: skip
def test_a_forged_report_is_no_danger(line: str) -> None:
    raw = line.encode("latin-1")
    for written in (raw, raw + b"\n", report._code(b"key", 0, raw) + b" " + raw + b"\n"):
        assert report.read(written, b"key") == report.Report()


def test_a_report_ends_at_the_first_line_that_was_not_written_with_the_key() -> None:
    def line(key: bytes, number: int) -> bytes:
        text = b'{"launches": [], "activities": [], "transfers": []}'
        return report._code(key, number, text) + b" " + text + b"\n"

    assert report.read(line(b"key", 0), b"key").complete
    assert not report.read(line(b"other", 0), b"key").complete
    assert not report.read(line(b"key", 1), b"key").complete  # the first line is missing
    assert not report.read(line(b"key", 0) + line(b"other", 1), b"key").complete
