#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A PyTorch script with hivemind.Optimizer, as a researcher would write one, beside Waggle in one training run.

    trainer.py PREFIX DATA_FOLDER OUT_FOLDER TARGET sgd|adamw CODEC STATE_CODEC ADDRESS...

Prints one JSON line a local epoch: its number, the loss, the group that averaged the gradients, the swarm as its tracker sees it;
writes parameters and statistics of that moment to OUT_FOLDER/EPOCH.bin.
"""
import json
import logging
import os
import pathlib
import re
import sys
import time

import torch
from torch.nn import functional

import hivemind
from hivemind.compression import NoCompression, RoleAdaptiveCompression

from peer import CODECS, write_tensors
from stripes import Net, load

BATCH = 16
LONGEST_S = 240


class Rounds(logging.Handler):
    """hivemind tells the sizes of its groups in its log only."""

    def __init__(self):
        super().__init__()
        self.sizes = []

    def emit(self, record):
        if match := re.search(r"Averaged gradients with (\d+) peers", record.getMessage()):
            self.sizes.append(int(match[1]))


# The task's optimizer; what of its state is averaged beside the parameters; and in which codec: AdamW's moments always plain.
KINDS = {
    "sgd": (lambda params: torch.optim.SGD(params, lr=0.05, momentum=0.9), ["momentum_buffer"], lambda codec: codec),
    "adamw": (lambda params: torch.optim.AdamW(params, lr=0.003, weight_decay=0), ["exp_avg", "exp_avg_sq"],
              lambda codec: RoleAdaptiveCompression(parameter=codec, optimizer=NoCompression(), default=codec)),
}


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def settings(optimizer):
    group = optimizer.state_averager.optimizer.param_groups[0]
    return {name: value for name, value in group.items() if name != "params"}


def main():
    prefix, data, out, target, kind, codec, state_codec, *addresses = sys.argv[1:]
    torch.set_num_threads(1)
    torch.manual_seed(os.getpid())
    out = pathlib.Path(out)
    out.mkdir(exist_ok=True)
    pictures, labels = load(pathlib.Path(data))
    rounds = Rounds()
    hivemind_log = logging.getLogger("hivemind.optim.optimizer")
    hivemind_log.addHandler(rounds)
    hivemind_log.setLevel(logging.DEBUG)
    dht = hivemind.DHT(initial_peers=addresses, start=True)
    say("started", peer=str(dht.peer_id), addresses=[str(a) for a in dht.get_visible_maddrs()])

    net = Net()
    make_optimizer, statistics, state_compression = KINDS[kind]
    optimizer = hivemind.Optimizer(
        dht=dht, run_id=prefix, target_batch_size=int(target), batch_size_per_step=BATCH, params=net.parameters(),
        optimizer=make_optimizer, matchmaking_time=5, averaging_timeout=30, delay_state_averaging=False,
        grad_compression=CODECS[codec](), state_averaging_compression=state_compression(CODECS[state_codec]()),
        average_opt_statistics=statistics, extra_tensors=net.statistics(), verbose=True,
        tracker_opts={"max_refresh_period": 3})
    if addresses:
        # A donor's settings fill ours by position: one leaf too many, and the rate is taken for a truth value.
        before = settings(optimizer)
        optimizer.load_state_from_peers()
        after = settings(optimizer)
        say("loaded", epoch=optimizer.local_epoch, changed={k: [before[k], after[k]] for k in before if before[k] != after[k]})

    began = time.monotonic()
    epoch = optimizer.local_epoch
    while time.monotonic() - began < LONGEST_S:
        chosen = torch.randint(len(labels), (BATCH,))
        loss = functional.cross_entropy(net(pictures[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        rounds.sizes.clear()
        optimizer.step()
        time.sleep(0.1)  # a tiny net on a shared machine; the others must be able to keep up
        if optimizer.local_epoch != epoch:
            epoch = optimizer.local_epoch
            seen = optimizer.tracker.global_progress
            write_tensors(out / f"{epoch}.bin", [*net.parameters(), *net.statistics()])
            say("epoch", epoch=epoch, loss=float(loss), group_size=max(rounds.sizes, default=1), peers=seen.num_peers, global_epoch=seen.epoch)
    say("finished", epoch=optimizer.local_epoch)
    optimizer.shutdown()
    dht.shutdown()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
