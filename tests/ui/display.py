"""A display of our own for the window's tests: Xvfb on a free number, gone when the test ends."""
import ctypes
import os
import subprocess


class ClientMessage(ctypes.Structure):
    """Xlib's XClientMessageEvent, as long as any XEvent."""

    KIND = 33
    _fields_ = [("kind", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p), ("window", ctypes.c_ulong),
                ("message", ctypes.c_ulong), ("format", ctypes.c_int), ("data", ctypes.c_long * 5), ("rest", ctypes.c_long * 12)]


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

    def ask_to_close(self, window):
        """As the cross in a window's frame does; no window manager draws one here."""
        x = ctypes.CDLL("libX11.so.6")
        x.XOpenDisplay.restype = ctypes.c_void_p
        x.XInternAtom.restype = ctypes.c_ulong
        connection = ctypes.c_void_p(x.XOpenDisplay(self.name.encode()))
        atom = lambda name: x.XInternAtom(connection, name, False)  # noqa: E731
        message = ClientMessage(kind=ClientMessage.KIND, window=int(window), message=atom(b"WM_PROTOCOLS"), format=32)
        message.data[0] = atom(b"WM_DELETE_WINDOW")
        x.XSendEvent(connection, ctypes.c_ulong(int(window)), False, ctypes.c_long(0), ctypes.byref(message))
        x.XCloseDisplay(connection)
