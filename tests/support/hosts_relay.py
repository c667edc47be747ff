"""The switch of hosts.py where the kernel has no netem: hosts_relay.py DELAY_MS REORDER_PERCENT DEVICE...

Problem: a network with a delay, in which packets overtake each other.
Method:  one TAP device per host. What a host sends is read at once, kept for the delay and written to the device of the host it is
         for, as a switch does it: who sends from a device is known to be there. As with netem, REORDER_PERCENT of all frames are
         not delayed, so they overtake all that are. The devices go when this process goes.
Cost:    80,000 frames of 1500 bytes a second on one core; at 100 Mbit/s 15 to 25 % of a core. A frame comes 0.1 ms late.
"""

import collections
import fcntl
import os
import random
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
FRAME = 1 << 16
AT_ONCE = 64      # frames from one device before the others have their turn
KEPT = 10000      # frames; beyond, a switch drops


def tap(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return device


def relay(devices, delay, reorder):
    ports = {}                   # a host's Ethernet address: its device
    waiting = collections.deque()  # (when, from which device, frame), in the order of when

    def forward(source, frame):
        target = ports.get(frame[:6])
        for device in devices if target is None else [target]:
            if device != source:
                try:
                    os.write(device, frame)
                except OSError:  # its host has it down
                    pass

    while True:
        patience = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for device in select.select(devices, [], [], patience)[0]:
            for _ in range(AT_ONCE):
                try:
                    frame = os.read(device, FRAME)
                except OSError:  # nothing more, or its host has it down
                    break
                ports[frame[6:12]] = device
                if random.random() < reorder:
                    forward(device, frame)
                elif len(waiting) < KEPT:
                    waiting.append((time.monotonic() + delay, device, frame))
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, source, frame = waiting.popleft()
            forward(source, frame)


def main():
    delay_ms, reorder, *names = sys.argv[1:]
    try:
        devices = [tap(name) for name in names]
    except OSError as error:
        sys.exit(f"a TAP device (CONFIG_TUN): {error}")
    print("ready", flush=True)
    relay(devices, float(delay_ms) / 1e3, float(reorder) / 100)


main()
