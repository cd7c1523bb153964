"""A desktop's session bus for the window's tests: a tray that takes icons, messages that go nowhere, and presses in the icon's menu."""
import os
import re
import socket
import struct
import subprocess
import threading

CALL, ANSWER = 1, 2
PATH, INTERFACE, MEMBER, ANSWER_TO, DESTINATION, SENDER, SIGNATURE = 1, 2, 3, 5, 6, 7, 8
NO_ANSWER = 1
MENU = "com.canonical.dbusmenu"


def padded(data, to):
    return data + bytes(-len(data) % to)


def text(words):
    return struct.pack("<I", len(words)) + words.encode() + b"\0"


def message(kind, serial, fields, body=b""):
    """Of the D-Bus specification's "Message Format"; `fields` are (code, type, value)."""
    head = b""
    for code, of, value in fields:
        head = padded(head, 8) + bytes([code, 1]) + of.encode() + b"\0"
        if of == "g":
            head += bytes([len(value)]) + value.encode() + b"\0"
        else:
            head = padded(head, 4) + (struct.pack("<I", value) if of == "u" else text(value))
    return padded(struct.pack("<BBBBIII", ord("l"), kind, 0, 1, len(body), serial, len(head)) + head, 8) + body


def fields_of(head):
    """Code: value, of texts and numbers; a signature is left out."""
    fields, at = {}, 0
    while at < len(head):
        at += -at % 8
        code, of = head[at], head[at + 2:at + 3]
        at += 4
        if of == b"g":
            at += head[at] + 2
            continue
        (number,) = struct.unpack_from("<I", head, at)
        at += 4
        if of == b"u":
            fields[code] = number
        else:
            fields[code] = head[at:at + number].decode()
            at += number + 1
    return fields


class Desktop:
    """`address` is for DBUS_SESSION_BUS_ADDRESS; `calls` has the member of each call that came, "Notify" of a message."""

    def __enter__(self):
        self.calls = []
        self.bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.bus.stdout.readline().strip()
        where = dict(part.split("=", 1) for part in self.address.split(":", 1)[1].split(","))
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(where["path"] if "path" in where else "\0" + where["abstract"])
        self.connection.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        self.stream = self.connection.makefile("rb")
        welcome = self.stream.readline()
        if not welcome.startswith(b"OK"):
            raise RuntimeError(f"the bus says {welcome}")
        self.connection.sendall(b"BEGIN\r\n")
        self.serial = 0
        self._ask_bus("Hello")
        for name in ("org.kde.StatusNotifierWatcher", "org.freedesktop.Notifications"):
            self._ask_bus("RequestName", "su", text(name) + bytes(-len(text(name)) % 4) + struct.pack("<I", 0))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.bus.terminate()
        self.bus.wait(timeout=10)
        self.thread.join(timeout=10)
        self.stream.close()
        self.connection.close()

    def _send(self, kind, fields, body=b""):
        self.serial += 1
        self.connection.sendall(message(kind, self.serial, fields, body))

    def _ask_bus(self, member, signature="", body=b""):
        bus = "org.freedesktop.DBus"
        fields = [(PATH, "o", "/org/freedesktop/DBus"), (INTERFACE, "s", bus), (MEMBER, "s", member), (DESTINATION, "s", bus)]
        self._send(CALL, fields + ([(SIGNATURE, "g", signature)] if signature else []), body)

    def _serve(self):
        try:
            while len(head := self.stream.read(16)) == 16:
                kind, flags, body_size, serial, size = struct.unpack("<xBBxIII", head)
                fields = fields_of(self.stream.read(size + -size % 8)[:size])
                self.stream.read(body_size)
                if kind != CALL:
                    continue
                self.calls.append(fields[MEMBER])
                if flags & NO_ANSWER:
                    continue
                signature, body = {"Get": ("v", b"\1b\0\0" + struct.pack("<I", 1)),  # a tray is there
                                   "Notify": ("u", struct.pack("<I", 1))}.get(fields[MEMBER], ("", b""))
                to = [(ANSWER_TO, "u", serial), (DESTINATION, "s", fields[SENDER])]
                self._send(ANSWER, to + ([(SIGNATURE, "g", signature)] if signature else []), body)
        except OSError:
            pass  # the bus ended first

    def _ask_menu(self, pid, member, *arguments):
        done = subprocess.run(["dbus-send", f"--bus={self.address}", "--print-reply", f"--dest=org.kde.StatusNotifierItem-{pid}-1", "/MenuBar",
                               f"{MENU}.{member}", *arguments], capture_output=True, text=True, timeout=20)
        assert done.returncode == 0, (member, done.stderr)
        return done.stdout

    def menu(self, pid):
        """Words: number, of the menu that the icon of this process has now."""
        items, number = {}, None
        for at, label in re.findall(r'int32 (\d+)|"label"\s+variant\s+string "([^"]*)"', self._ask_menu(pid, "GetLayout", "int32:0", "int32:-1", "array:string:")):
            if label:
                items[label] = number
            else:
                number = at
        return items

    def press(self, pid, words):
        items = self.menu(pid)
        assert words in items, f"the menu has no {words}, but {list(items)}"
        self._ask_menu(pid, "Event", f"int32:{items[words]}", "string:clicked", "variant:int32:0", "uint32:0")
