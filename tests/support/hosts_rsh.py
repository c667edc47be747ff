"""The remote shell of hosts.py: hosts_rsh.py DIRECTORY [ssh's options] HOST COMMAND...

As ssh does it: the arguments are joined with spaces for a shell at the other end, which starts in the home directory, in a
session of its own, with none of the caller's environment. The three streams go through; the exit code is the command's, or 255.
When this program is killed, the command is not: it sees the end of its input, and that nobody reads. A host is known by name and
address.
Unlike ssh: options are ignored but for -n, and it reaches a host whose network is cut.
"""

import getopt
import json
import os
import pathlib
import pwd
import subprocess
import sys
import threading

SSH_OPTIONS = "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:"


def fail(sentence):
    print(f"rsh: {sentence}", file=sys.stderr)
    sys.exit(255)


def keeper_of(directory, host):
    known = json.loads((pathlib.Path(directory) / "hosts.json").read_text())
    for name, facts in known.items():
        if host.rsplit("@", 1)[-1] in (name, facts["address"]):
            return facts["keeper"]
    fail(f"no host {host}; there are {', '.join(known)}")


def login_environment():
    user = pwd.getpwuid(os.getuid())
    return {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name, "SHELL": "/bin/sh",
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


def pump(source, target):
    """Until there is no more, or nobody reads."""
    try:
        while data := os.read(source, 1 << 16):
            while data:
                data = data[os.write(target, data):]
    except OSError:
        pass
    os.close(source)
    os.close(target)


def main():
    directory, *arguments = sys.argv[1:]
    try:
        options, rest = getopt.getopt(arguments, SSH_OPTIONS)
        more, command = getopt.getopt(rest[1:], SSH_OPTIONS)  # ssh takes them after the host, too
    except getopt.GetoptError as error:
        fail(str(error))
    if not command:
        fail("no host and command: rsh HOST COMMAND...")
    keeper = keeper_of(directory, rest[0])
    if ("-n", "") in options + more:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    child = subprocess.Popen(["nsenter", f"--target={keeper}", "--net", "--uts", "--ipc", "--mount", "--", "/bin/sh", "-c",
                              'cd "$HOME"; exec /bin/sh -c "$1"', "sh", " ".join(command)],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                             start_new_session=True, env=login_environment())
    threading.Thread(target=pump, args=(0, child.stdin.fileno()), daemon=True).start()
    outputs = [threading.Thread(target=pump, args=(child.stdout.fileno(), 1)),
               threading.Thread(target=pump, args=(child.stderr.fileno(), 2))]
    for output in outputs:
        output.start()
    for output in outputs:
        output.join()
    code = child.wait()
    os._exit(code if code >= 0 else 255)  # the first thread may still wait for input


main()
