"""Uses the client that openapi-python-client generates, against a service."""

import importlib
import pkgutil
import sys

import siaga
from siaga import AuthenticatedClient, Client
from siaga.api.cards import create_card, find_image
from siaga.api.floods import list_flood_states, list_floods, set_flood_state
from siaga.api.reports import list_reports
from siaga.models import (
    CardHolder,
    FloodsTopojson,
    FloodStateOrder,
    FloodStateOrderState,
    ListFloodsMinimumState,
    ListReportsGeoformat,
    Problem,
    ReportsGeojson,
)

base_url, key = sys.argv[1:]
anyone = Client(base_url=base_url)
writer = AuthenticatedClient(base_url=base_url, token=key, prefix="", auth_header_name="X-Api-Key")

floods = list_floods.sync(client=anyone, minimum_state=ListFloodsMinimumState.VALUE_1).result
assert isinstance(floods, FloodsTopojson), type(floods)
depths = {area.properties.area_id: area.properties.state for area in floods.objects.output.geometries}
assert len(depths) > 100, depths
assert {area.type_ for area in floods.objects.output.geometries} <= {"Polygon", "MultiPolygon"}

states = list_flood_states.sync(client=anyone).result
assert {area.area_id: area.state for area in states} == depths

reports = list_reports.sync(client=anyone, geoformat=ListReportsGeoformat.GEOJSON).result
assert isinstance(reports, ReportsGeojson), type(reports)
longitude, latitude = reports.features[0].geometry.coordinates
assert longitude > 100 and latitude < 0, (longitude, latitude)

order = FloodStateOrder(state=FloodStateOrderState.VALUE_3)
assert set_flood_state.sync(client=writer, local_area_id=5, body=order).state == 3
holder = CardHolder(username="resident-17", network="telegram", language="id")
assert create_card.sync(client=writer, body=holder).created is True

refused = set_flood_state.sync(client=anyone, local_area_id=5, body=order)
assert isinstance(refused, Problem) and refused.status_code == 403, refused
assert find_image.sync(client=anyone, name="none.jpg").status_code == 404

# Every other operation has a module that runs. Of uploads, which have several types of body, the generated module does not: their
# addresses are whole and signed, so no client is needed for them.
for module in pkgutil.walk_packages(siaga.__path__, "siaga."):
    if not module.name.endswith(".receive_image"):
        importlib.import_module(module.name)
