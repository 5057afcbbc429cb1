// Uses the client that openapi-generator generates: decodes a response of each kind in both formats of the map.
import { AreasApi, Configuration, FloodgaugesApi, FloodsApi, ReportsApi } from "./siaga";

declare const process: { argv: string[] };

function check(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

async function main(): Promise<void> {
  const configuration = new Configuration({ basePath: process.argv[2] });
  const floods = new FloodsApi(configuration);
  for (const [geoformat, kind] of [["topojson", "Topology"], ["geojson", "FeatureCollection"]] as const) {
    for (const { result } of [
      await floods.listFloods({ minimumState: 1, geoformat }),
      await new ReportsApi(configuration).listReports({ geoformat }),
      await new FloodgaugesApi(configuration).listGauges({ geoformat }),
      await new AreasApi(configuration).findArea({ lat: -6.175, lng: 106.827, geoformat }),
    ]) {
      check(result.type === kind, result);
      const features = "features" in result ? result.features : result.objects.output.geometries;
      check(features.length > 0, result);
    }
  }
  const { result } = await floods.listFloodStates({});
  check(result.length > 0 && result.every(({ state }) => state >= 1 && state <= 4), result);
}

void main();
