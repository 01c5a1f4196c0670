"""Three instances of the program `provider` behind nginx, and below them servers that another one takes over from."""

import binascii
import os
import pathlib
import shutil
import subprocess
import tempfile

from world import World, free_port, health

INSTANCES = 3
INSTALLED = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
# The server refuses to run as root.
SERVER_USER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []


class Fleet(World):
    """The world's address is that of nginx; `urls` are those of the instances."""

    def serve(self, ways, *options):
        """An instance for each way to the database, all with these options."""
        ports, self.operations = ([free_port() for _ in ways] for _ in range(2))
        self.urls = [f"https://localhost:{port}" for port in ports]
        instances = [
            self.start(
                "provider", self.folder, *way, "serve", self.url, "--listen", f"127.0.0.1:{port}",
                "--operations", f"127.0.0.1:{operations}", *options,
                "--roots", self.folder / "ca.pem", "--trusted-proxy", "127.0.0.0/8",
            )
            for way, port, operations in zip(ways, ports, self.operations, strict=True)
        ]
        self.wait_until(lambda: all(self.ready()), "instances")
        upstream = "".join(f"server 127.0.0.1:{port};" for port in ports)
        folder = self.folder
        self.written(
            "nginx.conf",
            f"""daemon off; pid {folder}/nginx.pid; error_log {folder}/log; events {{}}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    upstream provider {{ {upstream} }}
    server {{
        listen 127.0.0.1:{self.url.rsplit(":")[-1]} ssl;
        ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server-key.pem;
        location / {{ proxy_pass https://provider; proxy_set_header Host $host; }}
    }}
}}
""",
        )
        self.command("nginx", "-c", folder / "nginx.conf", "-e", folder / "log")
        self.wait_until(lambda: self.call(f"{self.url}/.well-known/openid-configuration")[0] == 200, "nginx")
        return instances

    def ready(self):
        return [health(port, "readyz") == 200 for port in self.operations]

    def command(self, *command):
        with open(self.folder / "log", "a") as log:
            self.running.append(subprocess.Popen(command, stdout=log, stderr=log))
        return self.running[-1]


class ValkeyCluster:
    """Three masters with a replica each, which takes over when it is told to. One of the masters is to be killed or to
    hang."""

    def __init__(self, world, program):
        self.ports = [free_port() for _ in range(6)]
        servers = [
            world.command(
                program, "--port", str(port), "--cluster-port", str(free_port()), "--bind", "127.0.0.1", "--save", "",
                "--dir", world.folder, "--cluster-config-file", f"nodes-{port}", "--cluster-enabled", "yes",
                "--cluster-require-full-coverage", "no", "--cluster-replica-no-failover", "yes",
            )
            for port in self.ports
        ]
        world.wait_until(lambda: all(self.ask(port, "PING") == "PONG" for port in self.ports), "Valkey")
        nodes = [f"127.0.0.1:{port}" for port in self.ports]
        self.ask(self.ports[0], "--cluster", "create", *nodes, "--cluster-replicas", "1", "--cluster-yes")
        linked = lambda port: "master_link_status:up" in self.ask(port, "INFO", "replication")  # noqa: E731
        world.wait_until(lambda: all(linked(port) for port in self.ports[3:]), "the replicas")
        replication = dict(line.split(":", 1) for line in self.ask(self.ports[3], "INFO", "replication").split()[2:])
        self.node = self.ports.index(int(replication["master_port"]))
        self.master = servers[self.node]

    def take_over(self):
        self.ask(self.ports[3], "CLUSTER", "FAILOVER", "TAKEOVER")

    def master_follows(self):
        return "role:slave" in self.ask(self.ports[self.node], "INFO", "replication")

    def is_on_master(self, key):
        """Whether a key is on the master that is to be killed."""
        slot = binascii.crc_hqx(key.encode(), 0) % 16384
        return (slot > 5460) + (slot > 10922) == self.node

    def ask(self, port, *command):
        asked = subprocess.run(["redis-cli", "-p", str(port), *command], capture_output=True, text=True, timeout=60)
        return asked.stdout.strip()


class PostgresPair:
    """Server 0 is the primary at first, server 1 its synchronous standby."""

    def __init__(self):
        assert INSTALLED, "no PostgreSQL in /usr/lib/postgresql"
        self.folder = pathlib.Path(tempfile.mkdtemp())
        if SERVER_USER:
            shutil.chown(self.folder, "postgres")
        self.ports = [free_port(), free_port()]
        self.command("initdb", "-D", self.folder / "0", "-A", "trust", "-U", "bankrail")
        self.control(0, "start", "-o", f"{self.options(0)} -c synchronous_standby_names=standby")
        source = f"host=127.0.0.1 port={self.ports[0]} user=bankrail application_name=standby"
        self.command("pg_basebackup", "-R", "-c", "fast", "-d", source, "-D", self.folder / "1")
        self.control(1, "start", "-o", self.options(1))

    def options(self, server):
        return f"-c listen_addresses=127.0.0.1 -p {self.ports[server]} -k {self.folder}"

    def command(self, program, *arguments):
        command = [*SERVER_USER, INSTALLED[-1] / program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def control(self, server, *arguments):
        # The server keeps the output open.
        command = [*SERVER_USER, INSTALLED[-1] / "pg_ctl", "-w", "-D", self.folder / str(server), "-l",
                   self.folder / f"log{server}", *arguments]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", timeout=60)
        assert done.returncode == 0, (self.folder / f"log{server}").read_text()

    def ask(self, query, server=1):
        return self.command("psql", "-h", self.folder, "-p", str(self.ports[server]), "-U", "bankrail", "-Atqc", query,
                            "postgres").strip()

    def end(self):
        for server in range(2):
            stop = [INSTALLED[-1] / "pg_ctl", "-m", "immediate", "-D", self.folder / str(server), "stop"]
            subprocess.run([*SERVER_USER, *stop], capture_output=True, cwd="/")
        shutil.rmtree(self.folder, ignore_errors=True)
