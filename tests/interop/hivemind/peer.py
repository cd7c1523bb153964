#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A hivemind peer that is driven by JSON lines on its standard input, as peer.cpp drives a Waggle one.

    peer.py [--client] [ADDRESS...]

First line out: {"peer": ..., "addresses": [...]}. Then one answer a command, with the command's "id".
"""
import json
import os
import sys
import threading
import time
import traceback

import numpy
import torch

import hivemind
from hivemind.compression import Float16Compression, NoCompression, SizeAdaptiveCompression, Uniform8BitQuantization
from hivemind.dht.crypto import RSASignatureValidator
from hivemind.dht.schema import SchemaValidator
from hivemind.optim.progress_tracker import TrainingProgressSchema
from hivemind.optim.state_averager import TrainingStateAverager
from hivemind.utils import get_dht_time
from hivemind.utils.crypto import RSAPrivateKey
from hivemind.utils.timed_storage import ValueWithExpiration

CODECS = {
    "none": NoCompression,
    "float16": Float16Compression,
    "uniform8bit": Uniform8BitQuantization,
    "size_adaptive": lambda: SizeAdaptiveCompression(4096, Float16Compression(), Uniform8BitQuantization()),
}

answering = threading.Lock()


def say(line):
    with answering:
        print(json.dumps(line), flush=True)


def from_json(value):
    """{"hex": ...} is bytes."""
    if isinstance(value, dict):
        if set(value) == {"hex"}:
            return bytes.fromhex(value["hex"])
        return {key: from_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_json(item) for item in value]
    return value


def to_json(value):
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, dict):
        return {key if isinstance(key, str) else json.dumps(to_json(key)): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value


def read_tensors(path, shapes):
    flat = torch.from_numpy(numpy.fromfile(path, dtype="<f4"))
    tensors, at = [], 0
    for shape in shapes:
        size = int(numpy.prod(shape))
        tensors.append(flat[at:at + size].reshape(shape).clone())
        at += size
    return tensors


def write_tensors(path, tensors):
    torch.cat([t.detach().float().flatten() for t in tensors]).numpy().astype("<f4").tofile(path)


class Peer:
    def __init__(self, initial, client):
        self.rsa = RSASignatureValidator(RSAPrivateKey())
        # A client serves nobody: the daemon does not even listen.
        more = {"client_mode": True, "no_listen": True} if client else {}
        self.dht = hivemind.DHT(initial_peers=initial, start=True, record_validators=[self.rsa], **more)
        self.averagers = {}
        self.states = {}

    def addresses(self):
        try:
            return [str(address) for address in self.dht.get_visible_maddrs()]
        except ValueError:
            return []  # a client's daemon listens nowhere

    def subkey(self, said):
        if isinstance(said, dict) and "owner" in said:
            return self.rsa.local_public_key
        return from_json(said)

    def do_store(self, c):
        expiration = c.get("expiration", get_dht_time() + c.get("ttl", 60))
        more = {"subkey": self.subkey(c["subkey"])} if "subkey" in c else {}
        return {"stored": bool(self.dht.store(c["key"], from_json(c["value"]), expiration, **more)), "expiration": expiration}

    def do_get(self, c):
        found = self.dht.get(c["key"], latest=True)
        if found is None:
            return {}
        if isinstance(found.value, dict) and found.value and all(isinstance(v, ValueWithExpiration) for v in found.value.values()):
            return {"entries": [[to_json(k), to_json(v.value), v.expiration_time] for k, v in found.value.items()]}
        return {"value": to_json(found.value), "expiration": found.expiration_time}

    def do_validate(self, c):
        if "progress" in c:
            self.dht.add_validators([SchemaValidator(TrainingProgressSchema, prefix=c["progress"])])
        return {"owner": to_json(self.rsa.local_public_key)}

    def prepare_average(self, c):
        if c["prefix"] in self.averagers:
            return
        matchmaking = c.get("matchmaking", 3.0)
        more = {"part_size_bytes": c["part_bytes"]} if "part_bytes" in c else {}
        self.averagers[c["prefix"]] = hivemind.averaging.DecentralizedAverager(
            read_tensors(c["in"], c["shapes"]), self.dht, prefix=c["prefix"], start=True, compression=CODECS[c["codec"]](),
            min_matchmaking_time=matchmaking, request_timeout=matchmaking / 2, target_group_size=c.get("target"),
            sender_timeout=5, reducer_timeout=10, **more)

    def do_average(self, c):
        tensors = read_tensors(c["in"], c["shapes"])
        averager = self.averagers[c["prefix"]]
        with averager.get_tensors() as held:
            for there, ours in zip(held, tensors):
                there[...] = ours
        began = time.monotonic()
        group = averager.step(gather=from_json(c["user"]), weight=c.get("weight", 1.0), timeout=c.get("timeout", 20.0))
        with averager.get_tensors() as held:
            write_tensors(c["out"], held)
        return {"seconds": time.monotonic() - began, "group": [str(peer) for peer in group], "gathered": [to_json(user) for user in group.values()]}

    def prepare_share(self, c):
        """The first half of the shapes are parameters, the second their momenta."""
        if c["prefix"] in self.states:
            return
        parameters = [torch.nn.Parameter(torch.zeros(shape)) for shape in c["shapes"][:len(c["shapes"]) // 2]]
        optimizer = torch.optim.SGD(parameters, lr=c.get("rate", 0.1), momentum=0.9)
        self.states[c["prefix"]] = TrainingStateAverager(
            dht=self.dht, optimizer=optimizer, params=parameters, prefix=c["prefix"], start=True,
            average_opt_statistics=("momentum_buffer",), state_compression=CODECS[c.get("codec", "none")](), next_chunk_timeout=10)

    prepare_download = prepare_share

    def own_state(self, averager):
        """Parameters, then momenta: the order of a download."""
        parameters = [p for group in averager.optimizer.param_groups for p in group["params"]]
        return parameters + [averager.optimizer.state[p]["momentum_buffer"] for p in parameters]

    def do_share(self, c):
        tensors = read_tensors(c["in"], c["shapes"])
        averager = self.states[c["prefix"]]
        with torch.no_grad():
            for there, ours in zip(self.own_state(averager), tensors):
                there.copy_(ours)
        averager.local_epoch = c["epoch"]
        averager.state_sharing_priority = c["epoch"]
        return {}

    def do_download(self, c):
        averager = self.states[c["prefix"]]
        averager.load_state_from_peers(timeout=c.get("timeout", 20.0))
        write_tensors(c["out"], self.own_state(averager))
        group = averager.optimizer.param_groups[0]
        return {"epoch": averager.local_epoch, "rate": group["lr"], "momentum": group["momentum"]}

    def answer(self, command):
        try:
            said = getattr(self, "do_" + command["do"])(command)
        except Exception as error:
            traceback.print_exc()
            said = {"error": f"{type(error).__name__}: {error}"}
        said["id"] = command["id"]
        say(said)


def main():
    torch.set_num_threads(1)
    words = sys.argv[1:]
    peer = Peer([word for word in words if word != "--client"], "--client" in words)
    say({"peer": str(peer.dht.peer_id), "addresses": peer.addresses()})
    for line in sys.stdin:
        command = json.loads(line)
        # Averagers are made in the main thread, as hivemind wants it; what takes time waits in a thread of its own.
        getattr(peer, "prepare_" + command["do"], lambda c: None)(command)
        threading.Thread(target=peer.answer, args=[command], daemon=True).start()
    for averager in [*peer.averagers.values(), *peer.states.values()]:
        averager.shutdown()
    peer.dht.shutdown()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
