# SPDX-License-Identifier: MIT
"""The task of the integration tests in PyTorch: the residual network of depth 8 whose parameters and names a Waggle task
{family = "resnet", depth = 8, stem = "cifar-s2"} has, and its pictures."""
import gzip

import numpy
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, channels, planes, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or channels != planes:
            self.downsample = nn.Sequential(nn.Conv2d(channels, planes, 1, stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return functional.relu(y + (x if self.downsample is None else self.downsample(x)))


class Net(nn.Module):
    def __init__(self, width=8, classes=2):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.layer1 = nn.Sequential(Block(width, width, 1))
        self.layer2 = nn.Sequential(Block(width, 2 * width, 2))
        self.layer3 = nn.Sequential(Block(2 * width, 4 * width, 2))
        self.fc = nn.Linear(4 * width, classes)

    def forward(self, x):
        x = functional.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean((2, 3)))

    def statistics(self):
        """Each BatchNorm's running mean and variance, in module order: what is averaged beside parameters and momenta."""
        norms = [m for m in self.modules() if isinstance(m, nn.BatchNorm2d)]
        return [t for norm in norms for t in (norm.running_mean, norm.running_var)]


def read_idx(path):
    with gzip.open(path, "rb") as file:
        head = file.read(4)
        shape = numpy.frombuffer(file.read(4 * head[3]), dtype=">u4").astype(int)
        return torch.from_numpy(numpy.frombuffer(file.read(), dtype=numpy.uint8).reshape(shape).copy())


def load(folder):
    """Pictures [n, 1, 28, 28], scaled as the task says (mean 0.5, deviation 0.25), and labels."""
    pictures = read_idx(folder / "train-images.gz").float().div(255).sub(0.5).div(0.25).unsqueeze(1)
    return pictures, read_idx(folder / "train-labels.gz").long()
