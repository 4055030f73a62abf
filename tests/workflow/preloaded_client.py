"""Stand-in for Python: send a command to the server of preloaded.py and exit with its exit code."""

import json
import os
import socket
import sys

N_BYTES = 8  # length prefix of a message


def send(path: str, python: str, arguments: list[str]) -> int:
    """Send arguments, folder, environment and streams; return the exit code of the command."""
    message = json.dumps([os.getcwd(), dict(os.environ), python, arguments]).encode()  # noqa: PTH109, slow to import
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [len(message).to_bytes(N_BYTES, "big")], [0, 1, 2])
        connection.sendall(message)
        code = connection.recv(1)
    return code[0] if code else 1


if __name__ == "__main__":
    if sys.argv[3] == "-B":  # a worker of loky, which inherits open files
        os.execv(sys.executable, [sys.executable, *sys.argv[3:]])
    sys.exit(send(sys.argv[1], sys.argv[2], sys.argv[3:]))
