// Reimplements GET /floods of the ancestor from its behaviour, with its published dependencies: one statement,
// dbgeo converts the rows to a topology, Express sends it as JSON, compressed by Accept-Encoding; and the same behind its
// in-memory cache, apicache, without compression.
//
// It reads our tables areas and flood_states, which have the same data as its tables of areas and newest states.
// Reads DATABASE_URL. Prints the port it listens on.
import apicache from "apicache";
import compression from "compression";
import dbgeo from "dbgeo";
import express from "express";
import pgPromise from "pg-promise";

const database = pgPromise()(process.env.DATABASE_URL);

const AREAS_WITH_STATES = `
  SELECT areas.area_id, areas.geom_id, areas.area_name, areas.parent_name, areas.city_name,
         states.state, states.changed_at AS last_updated, ST_AsGeoJSON(areas.outline) AS outline
  FROM areas LEFT JOIN flood_states AS states ON states.area_id = areas.area_id AND states.state IS NOT NULL`;

const topology = (rows) =>
  new Promise((resolve, reject) => {
    const options = { outputFormat: "topojson", geometryColumn: "outline", geometryType: "geojson" };
    dbgeo.parse(rows, options, (error, made) => (error ? reject(error) : resolve(made)));
  });

const floods = async (request, response, next) => {
  try {
    const rows = await database.any(AREAS_WITH_STATES);
    response.json({ statusCode: 200, result: await topology(rows) });
  } catch (error) {
    next(error);
  }
};

const app = express();
app.get("/floods", compression(), floods);
app.get("/cached/floods", apicache.middleware("1 hour"), floods);
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
