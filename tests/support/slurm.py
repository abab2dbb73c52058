"""A real Slurm of one node in a folder of its own: munged, slurmctld and slurmd, started and stopped by the tests."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={first}
SlurmdPort={second}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
JobRequeue=1
KillWait=10
MinJobAge=3600
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0,requeue_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """What a real Slurm needs and is not here."""
    wanted = ("slurmctld", "slurmd", "sbatch", "munged")
    absent = [name for name in wanted if shutil.which(name, path=_path()) is None]
    if absent:
        return f"{absent[0]} is not installed (apt-get install slurm-wlm munge)"
    return None if os.geteuid() == 0 else "a Slurm of one's own is started by root alone"


def _path() -> str:
    return os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"


class SlurmNode:
    """Starts the daemons on entry and stops them on exit; `env` is what its commands need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: dict[str, float] = {}
        self.env = {**os.environ, "PATH": _path(), "SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "SlurmNode":
        munge = self.folder / "munge"
        for path in (self.folder / "state", self.folder / "spool", munge):
            path.mkdir(parents=True)
        first, second = _free_ports(2)
        conf = CONF.format(host=socket.gethostname(), first=first, second=second, folder=self.folder, cpus=os.cpu_count() or 1)
        (self.folder / "slurm.conf").write_text(conf, encoding="utf-8")
        try:
            self._start_munge(munge)
            self._start("slurmctld", "-D")
            self._start("slurmd", "-D")
            wait_for(lambda: "idle" in self("sinfo", "-h", "-o", "%t"), 60, self.logs)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in reversed(self._daemons):
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait(10)

    def __call__(self, *command: str) -> str:
        """Run a command of Slurm; returns what it printed, also where it failed."""
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.env, timeout=60)
        return done.stdout

    def states(self, job: str) -> list[str]:
        """The states of a job's tasks, such as RUNNING."""
        return self("squeue", "-h", "-r", "-j", job, "-t", "all", "-o", "%T").split()

    def hurry(self, job: str) -> None:
        """Start after ten seconds what was requeued: Slurm would wait for two minutes, and fails it where it comes too soon."""
        for line in self("squeue", "-h", "-r", "-j", job, "-t", "PENDING", "-o", "%i %r").splitlines():
            task, _, reason = line.partition(" ")
            if reason == "BeginTime" and time.monotonic() - self._seen.setdefault(task, time.monotonic()) > 10:
                self("scontrol", "update", f"jobid={task}", "starttime=now")

    def logs(self) -> str:
        """The ends of the daemons' logs."""
        return "\n".join(path.read_text(encoding="utf-8", errors="replace")[-1500:] for path in self.folder.glob("*.log"))

    def _start_munge(self, munge: Path) -> None:
        key = munge / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        options = [f"--socket={munge}/socket", f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed"]
        self._start("munged", "--foreground", "--force", f"--key-file={key}", *options)
        wait_for((munge / "socket").exists, 30, self.logs)

    def _start(self, name: str, *options: str) -> None:
        with (self.folder / f"{name}.out.log").open("ab") as out:
            self._daemons.append(
                subprocess.Popen([str(shutil.which(name, path=_path())), *options], stdout=out, stderr=out, env=self.env)
            )


def wait_for(condition: Callable[[], object], seconds: float, told: Callable[[], str] = str) -> None:
    """Wait until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, told()
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()
