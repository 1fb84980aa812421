#!/usr/bin/env python3
"""Calls a service of a gridrpc platform, as "gridrpc call" does, from Python.

    gridrpc up ./examples/dgemm                      # in another terminal
    python3 examples/python/call.py dgemm '{"n": 400}'

It needs grpcio and protobuf (Debian: python3-grpcio; or pip install grpcio protobuf). A server that
is lost is replaced by another one, which goes on from the latest checkpoint. A server is lost here
when its connection breaks; one that is silent is not noticed (the Go client observes servers by
heartbeats). The body runs at least once.
"""

import json
import os
import queue
import secrets
import sys
import tempfile
import time

import grpc

import gridrpc_pb2 as pb

PIECE = 256 << 10  # bytes of an argument in one frame
LOSSES = 3  # servers lost until the call is given up
PATIENCE = 5.0  # seconds for which a master, and a service that nobody offers, are waited for
PAUSE = 0.2  # seconds until servers that had no place are asked again


class CallError(Exception):
    """Why a call has not succeeded."""


class Lost(Exception):
    """The server of an attempt is lost. Its arguments are why, and the latest checkpoint or None."""


def platform_dir():
    """Returns the folder of this user's platform."""
    if os.environ.get("GRIDRPC_DIR"):
        return os.environ["GRIDRPC_DIR"]
    if os.environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(os.environ["XDG_RUNTIME_DIR"], "gridrpc")
    return os.path.join(tempfile.gettempdir(), f"gridrpc-{os.getuid()}")


class Platform:
    """The platform of a folder, with its certificate of clients."""

    def __init__(self, folder):
        def read(name):
            with open(os.path.join(folder, name), "rb") as f:
                return f.read()

        mine = read("client.pem")  # certificate and key
        self.credentials = grpc.ssl_channel_credentials(read("ca.pem"), mine, mine)
        self.masters = read("masters").decode().split()

    def channel(self, address):
        """Connects. Certificates name processes, not hosts: all have the name gridrpc besides."""
        return grpc.secure_channel(
            address, self.credentials,
            [("grpc.ssl_target_name_override", "gridrpc"), ("grpc.max_receive_message_length", -1)])

    def schedule(self, service, size, lost, fresh):
        """Returns servers for a call, the best first. With fresh every server is asked."""
        request = pb.ScheduleRequest(service=service, work=1, bytes=size, exclude=lost, fresh=fresh)
        why = "no master is known"
        for address in self.masters:
            with self.channel(address) as channel:
                ask = channel.unary_unary(
                    "/gridrpc.v2.Agent/Schedule",
                    request_serializer=pb.ScheduleRequest.SerializeToString,
                    response_deserializer=pb.ScheduleReply.FromString)
                try:
                    reply = ask(request, timeout=PATIENCE, wait_for_ready=True)
                except grpc.RpcError as e:
                    why = f"{address}: {e.details()}"
                    continue
            if reply.unknown and reply.quiet >= PATIENCE:
                raise CallError(f"no such service: {service}; known are {', '.join(reply.near)}")
            return [c.server for c in reply.candidates]
        raise CallError(f"no master could be asked: {why}")

    def call(self, service, argument):
        """Calls a service, and returns its result. Both are what json can write."""
        data = json.dumps(argument).encode()
        call, attempt, lost, manifest, fresh = secrets.token_bytes(16), 0, [], None, False
        while len(lost) < LOSSES:
            for server in self.schedule(service, len(data), lost, fresh):
                attempt += 1
                submit = pb.Submit(
                    call=call, attempt=attempt, incarnation=server.incarnation, service=service,
                    codec="json", size=len(data), manifest=manifest)
                try:
                    result = self.attempt(server, submit, data)
                except Lost as e:
                    tell(attempt, server, f"server lost: {e.args[0]}")
                    lost.append(server)
                    manifest = e.args[1] or manifest
                    break
                if isinstance(result, pb.Refusal):
                    tell(attempt, server, f"refused: {result.text}")
                    continue
                return json.loads(result)
            else:
                fresh = True
                time.sleep(PAUSE)
        raise CallError(f"{len(lost)} servers were lost under this call")

    def attempt(self, server, submit, data):
        """Runs one attempt, and returns its result, or a Refusal."""
        frames = queue.SimpleQueue()
        frames.put(pb.CallFrame(submit=submit))
        for at in range(0, len(data), PIECE):
            frames.put(pb.CallFrame(data=pb.Data(body=data[at:at + PIECE])))
        manifest = None
        size, result, whole = None, b"", False
        with self.channel(server.addr) as channel:
            calls = channel.stream_stream(
                "/gridrpc.v2.Server/Calls",
                request_serializer=pb.CallFrame.SerializeToString,
                response_deserializer=pb.CallFrame.FromString)
            try:
                for frame in calls(iter(frames.get, None)):
                    kind = frame.WhichOneof("kind")
                    if kind == "refusal":
                        return frame.refusal
                    if kind == "failed":
                        raise CallError(f"the service failed at {server.name}: {frame.failed.text}")
                    if kind == "accepted":
                        tell(submit.attempt, server, "began")
                    elif kind == "progress":
                        p = frame.progress
                        tell(submit.attempt, server, f"progress {p.done:g} of {p.total:g} {p.text}".rstrip())
                    elif kind == "checkpointed":
                        manifest = frame.checkpointed
                        tell(submit.attempt, server, f"checkpoint {manifest.key}")
                    elif kind == "result":
                        size = frame.result.size
                    elif kind == "data":
                        result += frame.data.body
                    if size is not None and len(result) >= size and not whole:
                        whole = True
                        frames.put(None)  # ends the stream, so that the server knows that all is here
            except grpc.RpcError as e:
                if not whole:
                    raise Lost(e.details(), manifest) from e
            finally:
                frames.put(None)
        if not whole:
            raise Lost("its stream ended without a result", manifest)
        return result


def tell(attempt, server, text):
    """Tells a person what happens."""
    print(f"attempt {attempt} at {server.name}: {text}", file=sys.stderr, flush=True)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(f"usage: {sys.argv[0]} SERVICE [JSON]")
    try:
        argument = json.loads(sys.argv[2] if len(sys.argv) == 3 else "{}")
        print(json.dumps(Platform(platform_dir()).call(sys.argv[1], argument)))
    except (CallError, OSError, ValueError) as e:
        sys.exit(f"{sys.argv[0]}: {e}")


if __name__ == "__main__":
    main()
