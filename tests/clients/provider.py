"""A running `bankrail provider` without limits, for foreign clients."""

import json
import pathlib
import signal
import subprocess
import time
import tomllib


class Provider:
    """`customer_file` says what a demo customer needs, as JSON. Files in it are relative to its folder."""

    def __init__(self, programs, folder):
        self.folder = pathlib.Path(folder)
        self.log = open(self.folder / "log", "w+")
        command = [pathlib.Path(programs) / "bankrail", "provider", "--data", self.folder / "data"]
        command += ["--listen", "127.0.0.1:0", "--limits", "off", "--page", "off"]
        command += ["--control", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def __enter__(self):
        end = time.monotonic() + 60
        while "Ctrl-C stops" not in self.told():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise AssertionError(self.told())
            time.sleep(0.1)
        home = self.folder / "data" / "demo" / "democustomer"
        connection = tomllib.loads((home / "connection.toml").read_text())
        # What it prints for people, a name and a value on each line.
        printed = {line[:14].rstrip(): line[15:] for line in self.told().splitlines()}
        assert printed["token URL"] == connection["token_url"], (printed, connection)
        self.customer = {
            "customer_code": connection["customer"],
            "api_key": connection["api_key"],
            "assertion_key": connection["signing_key"],
            "audience": connection["audience"],
            "ca": connection["roots"],
            "base_url": connection["base_url"],
            "issuer": printed["issuer"],
            "token_url": connection["token_url"],
            "statement_url": printed["statement URL"],
            "scope": next(scope for scope in connection["scopes"] if scope.endswith("ACCOUNTS.STATEMENT.READ")),
            "accounts": connection["accounts"],
        }
        self.customer_file = home / "customer.json"
        self.customer_file.write_text(json.dumps(self.customer))
        self.base_url = self.customer["base_url"]
        self.ca = str(home / self.customer["ca"])
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGINT)
        try:
            status = self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.log.close()
        assert kind or status == 0, f"the provider ended with {status}"

    def told(self):
        return (self.folder / "log").read_text()
