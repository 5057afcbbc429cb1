"""Uses the client that openapi-generator generates: decodes a response of each kind in both formats of the map."""

import sys

import siaga
from siaga import api

client = siaga.ApiClient(siaga.Configuration(host=sys.argv[1]))
floods, areas = api.FloodsApi(client), api.AreasApi(client)
reports, gauges = api.ReportsApi(client), api.FloodgaugesApi(client)
for geoformat, kind in (("topojson", "Topology"), ("geojson", "FeatureCollection")):
    for answer in (
        floods.list_floods(minimum_state=1, geoformat=geoformat),
        reports.list_reports(geoformat=geoformat),
        gauges.list_gauges(geoformat=geoformat),
        areas.find_area(lat=-6.175, lng=106.827, geoformat=geoformat),
    ):
        decoded = answer.result.actual_instance
        assert decoded.type == kind, decoded
        features = decoded.features if kind == "FeatureCollection" else decoded.objects.output.geometries
        assert features, decoded
states = floods.list_flood_states().result
assert {state.area_id for state in states} and all(1 <= state.state <= 4 for state in states)
try:
    reports.find_report(999999999)
    raise AssertionError("there is no such report")
except siaga.exceptions.NotFoundException as error:
    assert error.status == 404, error
