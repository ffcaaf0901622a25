"""JupyterHub for a class on one Linux machine. docs/hub.md says how it is used; tests/services/test_hub.py runs it.

Accounts are those of the system. Each learner's server runs as that learner, in the learner's home, with the limits
below.
"""

import os
import resource
import sys
from pathlib import Path

from jupyterhub.spawner import LocalProcessSpawner

HERE = Path(__file__).resolve().parent
GIB = 1 << 30
LIMITS = {
    resource.RLIMIT_AS: 16 * GIB,  # addresses of one process; a kernel of gpulab needs 6 GiB of them
    resource.RLIMIT_FSIZE: GIB,  # bytes in one file
    resource.RLIMIT_NPROC: 512,  # processes and threads of one learner
    resource.RLIMIT_CORE: 0,
}


class LimitedSpawner(LocalProcessSpawner):
    """A learner's server with limits that Linux enforces; its files can be read by that learner alone."""

    def make_preexec_fn(self, name):
        become = super().make_preexec_fn(name)

        def limited():
            become()
            os.umask(0o077)
            for which, most in LIMITS.items():
                resource.setrlimit(which, (most, most))

        return limited


c = get_config()  # noqa: F821 (JupyterHub defines it)

c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # a web server with TLS stands before it
c.JupyterHub.authenticator_class = "pam"
c.LocalAuthenticator.allowed_groups = {"gpulab"}
c.JupyterHub.spawner_class = LimitedSpawner
c.JupyterHub.active_server_limit = 40  # 122 MB each, and 200 to 380 MB for each notebook that is open
c.JupyterHub.concurrent_spawn_limit = 4
c.JupyterHub.cleanup_servers = False  # a restart of the hub leaves learners' servers alone
c.ConfigurableHTTPProxy.command = [sys.executable, "-c", "from configurable_http_proxy.cli import main; main()"]

c.Spawner.cmd = [sys.executable, str(HERE / "server.py")]
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=1200",  # seconds: an idle notebook's kernel ends
    "--LanguageServerManager.autodetect=False",  # looking for them starts npm and others in the learner's home
    "--ServerApp.shutdown_no_activity_timeout=3600",  # then the server
]
c.Spawner.notebook_dir = "~/gpulab"
c.Spawner.default_url = "/lab/tree/notebooks/00_welcome.ipynb"
c.Spawner.start_timeout = 180
c.Spawner.environment = {"GPULAB_SEED": os.environ.get("GPULAB_SEED", str(HERE / "seed"))}
