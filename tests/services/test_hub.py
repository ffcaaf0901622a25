"""docs/hub.md's configuration in a real JupyterHub, with two users: a shared course, private answers, limits.

As root, and where other accounts can read this clone and its Python, the users are two accounts that Linux systems
have, so that what keeps them apart is the system's own. Elsewhere both are the account that runs the tests: then the
hub keeps servers apart, and nothing keeps files apart.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(sysconfig.get_path("purelib"))
CONFIG = ROOT / "deploy" / "hub" / "jupyterhub_config.py"
PASSWORD, ADMIN = "a class of two", "0" * 32

OVERRIDES = """
import os, pwd

real = pwd.getpwnam

def getpwnam(name):  # homes in the test's folder
    own = real(name) if {separate} else pwd.getpwuid(os.getuid())
    return pwd.struct_passwd((name, "x", own.pw_uid, own.pw_gid, "", {homes!r} + "/" + name, "/bin/sh"))

pwd.getpwnam = getpwnam
load_subconfig({config!r})
assert c.JupyterHub.authenticator_class == "pam"
c.JupyterHub.authenticator_class = "dummy"  # no test knows passwords of the system
c.DummyAuthenticator.password = {password!r}
c.Authenticator.allowed_users = set({users!r})
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
# The environment's files, where another Python runs its packages:
c.JupyterHub.data_files_path = {prefix!r} + "/share/jupyterhub"
c.Spawner.environment.update(
    JUPYTERLAB_DIR={prefix!r} + "/share/jupyter/lab",
    JUPYTER_PATH={prefix!r} + "/share/jupyter",
    JUPYTER_CONFIG_PATH={prefix!r} + "/etc/jupyter",
)
c.JupyterHub.services = [dict(name="test", api_token={admin!r})]
c.JupyterHub.load_roles = [
    dict(name="test", scopes=["admin:users", "admin:servers", "tokens", "access:servers"], services=["test"])
]
if os.geteuid() == 0 and not {separate}:
    c.Spawner.args = [*c.Spawner.args, "--allow-root"]
"""


def interpreter() -> str | None:
    """A Python of this version that other accounts can run: this one, or the system's. None: no server of another
    account can be started here."""
    system = shutil.which(f"python{sys.version_info[0]}.{sys.version_info[1]}", path=os.defpath)
    for python in filter(None, (sys.executable, system)):
        needed = [ROOT, PACKAGES, Path(python), Path(python).resolve()]
        if os.geteuid() == 0 and all(each.stat().st_mode & 0o001 for path in needed for each in (path, *path.parents)):
            return python
    return None


@dataclass
class Hub:
    """A running hub: its address, its two users, and where their homes are."""

    url: str
    users: tuple[str, str]
    homes: Path
    separate: bool
    log: Path

    def ask(self, method: str, path: str, token: str = ADMIN, **more: Any) -> requests.Response:
        headers = {"Authorization": f"token {token}"}
        return requests.request(method, self.url + path, headers=headers, timeout=60, allow_redirects=False, **more)

    def start(self, user: str) -> str:
        """Starts the user's server; returns a token of that user."""
        assert self.ask("POST", f"/hub/api/users/{user}").status_code in (201, 409)
        began = self.ask("POST", f"/hub/api/users/{user}/server")
        assert began.status_code in (201, 202), began.text
        deadline = time.monotonic() + 300
        while not self.ask("GET", f"/hub/api/users/{user}").json()["servers"].get("", {}).get("ready"):
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(1)
        made = self.ask("POST", f"/hub/api/users/{user}/tokens", json={"note": "test"})
        assert made.status_code == 201, made.text
        token = made.json()["token"]
        assert isinstance(token, str)
        return token

    def run(self, user: str, token: str, code: str) -> Any:
        """What a notebook of the user prints, as JSON."""
        import websocket

        made = self.ask("POST", f"/user/{user}/api/kernels", token, json={"path": "exercises/saxpy-guard"})
        assert made.status_code == 201, made.text
        address = self.url.replace("http", "ws", 1) + f"/user/{user}/api/kernels/{made.json()['id']}/channels"
        line = websocket.create_connection(address, header=[f"Authorization: token {token}"], timeout=300)
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": "execute_request",
            "session": "1",
            "username": "",
            "version": "5",
        }
        content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False}
        line.send(
            json.dumps({"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"})
        )
        said = ""
        while True:
            message = json.loads(line.recv())
            if message["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            kind, content = message["msg_type"], message["content"]
            assert kind != "error", "\n".join(content["traceback"])
            said += content["text"] if kind == "stream" and content["name"] == "stdout" else ""
            if kind == "status" and content["execution_state"] == "idle":
                line.close()
                return json.loads(said.splitlines()[-1])


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    other = interpreter()
    apart, python = other is not None, other or sys.executable
    users = ("games", "news") if apart else ("ada", "bob")
    base = Path(tempfile.mkdtemp(prefix="gpulab-hub-"))
    base.chmod(0o755)
    homes, seed, work = base / "homes", base / "seed", base / "work"
    work.mkdir(mode=0o700)
    for user in users:
        (homes / user).mkdir(parents=True)
        (homes / user).chmod(0o700)
        if apart:
            shutil.chown(homes / user, user)
    environment = os.environ | {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{PACKAGES}",
        "GPULAB_SEED": str(seed),
        "PATH": os.defpath,
    }
    for name in ("GPULAB_CACHE", "GPULAB_CACHE_OWN", "GPULAB_PROGRESS", "JUPYTER_PATH"):
        environment.pop(name, None)
    making = [python, "-m", "gpulab", "setup", "--make-seed", str(seed)]
    subprocess.run(making, env=environment, check=True, timeout=600)
    for path in (seed, *seed.rglob("*")):  # as `chmod -R a+rX` does
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    ports = [free_port() for _ in range(3)]
    own = work / "test_config.py"
    own.write_text(
        OVERRIDES.format(
            separate=apart,
            homes=str(homes),
            config=str(CONFIG),
            password=PASSWORD,
            users=users,
            ports=ports,
            admin=ADMIN,
            prefix=sys.prefix,
        )
    )
    log = base / "hub.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [python, "-m", "jupyterhub", "--config", str(own)], cwd=work, env=environment, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    made = Hub(f"http://127.0.0.1:{ports[0]}", users, homes, apart, log)
    try:
        deadline = time.monotonic() + 120
        while True:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            try:
                if made.ask("GET", "/hub/api/").status_code == 200:
                    break
            except requests.ConnectionError:
                pass
            time.sleep(0.5)
        yield made
        for user in users:
            made.ask("DELETE", f"/hub/api/users/{user}/server")
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(scope="module")
def tokens(hub: Hub) -> dict[str, str]:
    """Both servers run; a token of each user."""
    return {user: hub.start(user) for user in hub.users}


def login(hub: Hub, user: str, password: str) -> int:
    """The status that the login form gets."""
    with requests.Session() as session:
        session.get(hub.url + "/hub/login", timeout=60)
        form = {"username": user, "password": password, "_xsrf": session.cookies.get("_xsrf", path="/hub/")}
        return session.post(hub.url + "/hub/login", data=form, timeout=60, allow_redirects=False).status_code


def test_who_may_log_in(hub: Hub) -> None:
    assert login(hub, hub.users[0], PASSWORD) == 302
    assert login(hub, hub.users[0], "another password") == 403
    assert login(hub, "stranger", PASSWORD) == 403


def test_each_learner_has_the_course(hub: Hub, tokens: dict[str, str]) -> None:
    for user, token in tokens.items():
        listed = hub.ask("GET", f"/user/{user}/api/contents/exercises/saxpy-guard", token)
        assert listed.status_code == 200, listed.text
        assert "saxpy-guard.ipynb" in {each["name"] for each in listed.json()["content"]}
        lesson = hub.ask("GET", f"/user/{user}/api/contents/notebooks/02_simt.ipynb", token).json()["content"]
        assert all(not cell.get("outputs") for cell in lesson["cells"]), "predictions are not given away"
        assert hub.ask("GET", f"/user/{user}/api/contents/solutions", token).status_code == 404


def test_servers_are_private(hub: Hub, tokens: dict[str, str]) -> None:
    one, other = hub.users
    for path in ("api/contents/exercises", "api/kernels", "lab"):
        assert hub.ask("GET", f"/user/{one}/{path}", tokens[one]).status_code == 200
        assert hub.ask("GET", f"/user/{one}/{path}", tokens[other]).status_code in (302, 403)
        assert requests.get(f"{hub.url}/user/{one}/{path}", timeout=60, allow_redirects=False).status_code in (302, 403)
    assert hub.ask("GET", f"/hub/api/users/{one}", tokens[other]).status_code in (403, 404)


def test_answers_are_kept_and_private(hub: Hub, tokens: dict[str, str]) -> None:
    one, other = hub.users
    answer = hub.homes / one / "gpulab" / "exercises" / "saxpy-guard" / "answer.hip"
    code = (
        f"from pathlib import Path; import json; p = Path({str(answer)!r}); p.write_text('mine'); print(json.dumps(1))"
    )
    assert hub.run(one, tokens[one], code) == 1
    look = (
        "import json, os\n"
        "def tried(do):\n"
        "    try:\n        do(); return 'done'\n    except OSError as error:\n        return type(error).__name__\n"
        f"path = {str(answer)!r}\n"
        "print(json.dumps([os.getuid(), tried(lambda: open(path).read()), tried(lambda: open(path, 'a')),"
        " tried(lambda: os.listdir(os.path.dirname(path)))]))"
    )
    uid, *found = hub.run(other, tokens[other], look)
    assert hub.ask("DELETE", f"/hub/api/users/{one}/server").status_code in (202, 204)
    again = hub.start(one)
    tokens[one] = again
    assert answer.read_text() == "mine", "a new server keeps what is there"
    if hub.separate:
        assert uid != os.getuid()
        assert found == ["PermissionError"] * 3
        assert answer.stat().st_mode & 0o077 == 0


def test_kernels_run_within_limits(hub: Hub, tokens: dict[str, str]) -> None:
    """A kernel of gpulab has room; more memory, larger files and a core dump have not."""
    code = '''
import json, os, resource, tempfile
import numpy as np
import gpulab
kernel = gpulab.compile("""
__global__ void twice(int n, float* x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
""")["twice"]
x = gpulab.to_device(np.arange(1000, dtype=np.float32))
kernel[4, 256](1000, x)
right = bool((x.to_host() == 2 * np.arange(1000)).all())
try:
    bytearray(20 << 30)
    memory = "20 GiB"
except MemoryError:
    memory = "refused"
with tempfile.NamedTemporaryFile(dir=os.path.expanduser("~")) as file:
    try:
        os.truncate(file.name, 2 << 30)
        size = "2 GiB"
    except OSError:
        size = "refused"
names = ("RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_CORE")
print(json.dumps([right, memory, size, [resource.getrlimit(getattr(resource, name)) for name in names]]))
'''
    user = hub.users[1]
    right, memory, size, limits = hub.run(user, tokens[user], code)
    assert right
    assert (memory, size) == ("refused", "refused")
    assert limits == [[16 << 30] * 2, [1 << 30] * 2, [512] * 2, [0] * 2]
    cache = hub.homes / user / ".cache" / "gpulab"
    assert cache.is_dir(), "the seed was copied"
    assert cache.stat().st_uid == (hub.homes / user).stat().st_uid
