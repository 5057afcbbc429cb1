"""Reads a stream of changes by httpx-sse: the full state first, then a change."""

import sys

import httpx
from httpx_sse import connect_sse

base, key = sys.argv[1:]
with httpx.Client(timeout=30) as client, connect_sse(client, "GET", f"{base}/changes/stream") as source:
    events = source.iter_sse()
    first = next(events)
    state = first.json()
    assert (first.event, first.retry > 0, state["full"]) == ("areas", True, True)
    area = state["areas"][0]
    set_to = area["state"] % 4 + 1
    address = f"{base}/floods/{area['area_id']}"
    client.put(address, json={"state": set_to}, headers={"X-Api-Key": key}).raise_for_status()
    change = next(event for event in events if event.event == "areas").json()
    assert not change["full"]
    assert [one["state"] for one in change["areas"]] == [set_to], change
