"""A small load balancer: connections go to the replicas that say they are ready, in turn."""

import http.client
import itertools
import socket
import threading
import time

from api import request


class Balancer(threading.Thread):
    """Forwards TCP connections. A replica that fails two readiness checks in a row gets none, and loses those it has."""

    def __init__(self, port, replicas):
        """replicas: pairs of an API port and a management address."""
        super().__init__(name="balancer", daemon=True)
        self._replicas = replicas
        self._ready = {port_: True for port_, _ in replicas}
        self._connections = {port_: set() for port_, _ in replicas}
        self._turn = itertools.count()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", port), backlog=128)
        for replica in replicas:
            threading.Thread(target=self._look, args=replica, daemon=True).start()

    def _look(self, port, management):
        failures = 0
        while True:
            try:
                failed = request(f"{management}/health/ready", timeout=3).status != 200
            except (OSError, http.client.HTTPException):
                failed = True
            failures = failures + 1 if failed else 0
            ready = failures < 2
            with self._lock:
                self._ready[port] = ready
                lost = [] if ready else list(self._connections[port])
            for connection in lost:
                close(connection)
            time.sleep(0.5)

    def run(self):
        while True:
            client, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with self._lock:
            ready = [port for port, _ in self._replicas if self._ready[port]]
        if not ready:
            close(client)
            return
        port = ready[next(self._turn) % len(ready)]
        try:
            server = socket.create_connection(("127.0.0.1", port), timeout=5)
        except OSError:
            close(client)
            return
        server.settimeout(None)
        with self._lock:
            self._connections[port].add(server)
        back = threading.Thread(target=pump, args=(server, client), daemon=True)
        back.start()
        pump(client, server)
        back.join()
        with self._lock:
            self._connections[port].discard(server)
        client.close()
        server.close()


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for each in (source, target):
        close(each)


def close(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
