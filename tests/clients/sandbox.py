"""A running `sandbox serve` without limits, for foreign clients."""

import json
import pathlib
import signal
import subprocess
import time


class Sandbox:
    def __init__(self, programs, folder):
        self.folder = pathlib.Path(folder)
        self.log = open(self.folder / "log", "w+")
        command = [programs / "sandbox", "serve", "--data", self.folder / "data", "--port", "0", "--limits", "off"]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def __enter__(self):
        self.customer_file = self.folder / "data" / "customer.json"
        end = time.monotonic() + 20
        while "Ctrl-C" not in (self.folder / "log").read_text():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise AssertionError((self.folder / "log").read_text())
            time.sleep(0.1)
        self.customer = json.loads(self.customer_file.read_text())
        self.base_url = self.customer["base_url"]
        self.ca = str(self.customer_file.parent / self.customer["ca"])
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=15)
        self.log.close()
