"""A display of our own for the window's tests: Xvfb on a free number, gone when the test ends."""
import os
import subprocess


class Display:
    def __init__(self, size="1400x1000"):
        self.size = size

    def __enter__(self):
        read, write = os.pipe()
        # -noreset: else the display goes away for a moment whenever its only client ends, and the next one may meet that.
        self.process = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", f"{self.size}x24", "-nolisten", "tcp", "-dpi", "96", "-noreset"],
                                        pass_fds=[write], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        # Xvfb writes the number and then a newline once it listens, and ends if nobody reads both.
        with os.fdopen(read) as lines:
            number = lines.readline().strip()
        if not number:
            raise RuntimeError("Xvfb did not start")
        self.name = f":{number}"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)
