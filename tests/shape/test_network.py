# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket

import pytest


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80)], ids=["IPv4", "IPv6"])
def test_a_test_cannot_reach_another_machine(address):
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family) as caller, pytest.raises(PermissionError, match="no network"):
        caller.connect(address)


def test_a_test_cannot_ask_a_name_server():
    with pytest.raises(PermissionError, match="no network"):
        socket.create_connection(("example.org", 80))


def test_a_test_can_reach_its_own_machine():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
