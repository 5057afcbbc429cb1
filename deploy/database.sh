#!/bin/sh
# Creates the service's role and database. PostgreSQL's image runs this once, on an empty volume.
#
# Creates PostGIS here because the service's role is not a superuser.
set -eu
psql --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --set=ON_ERROR_STOP=1 --set=password="$SIAGA_PASSWORD" <<'SQL'
CREATE ROLE siaga LOGIN PASSWORD :'password';
CREATE DATABASE siaga OWNER siaga;
\connect siaga
CREATE EXTENSION postgis;
SQL
