"""Makes the parts of a request consistent with each other, which schemas of single parameters cannot express."""

import re
from datetime import datetime, timedelta

import schemathesis

DAY = timedelta(days=1)


def moment(text):
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return None


def within_years(value):
    """The same without moments at the ends of time, which an offset moves beyond them."""
    if isinstance(value, dict):
        return {name: within_years(item) for name, item in value.items()}
    if isinstance(value, list):
        return [within_years(item) for item in value]
    if isinstance(value, str) and value[:5] in ("0001-", "9999-"):
        return "2000" + value[4:]
    return value


def of_the_past(value):
    """The same without moments in the future, which no report and no reading has. A schema cannot know the time."""
    if isinstance(value, dict):
        return {name: of_the_past(item) for name, item in value.items()}
    if isinstance(value, list):
        return [of_the_past(item) for item in value]
    if isinstance(value, str) and re.match(r"\d{4}-", value) and int(value[:4]) >= datetime.now().year:
        return "2000" + value[4:]
    return value


def on_the_map(path):
    """Codes that select something in the demo, by the name of the parameter. A schema cannot know the areas."""
    if path.startswith(("/floods", "/alerts", "/areas", "/changes")) and not path.startswith("/floodgauges"):
        return {"city": "jbd", "admin": "ID-JK"}
    if path.startswith(("/reports", "/stats", "/infrastructure")):
        return {"city": "jbd"}
    return {"/cities/bounds": {"admin": "ID-JK"}, "/regions/bounds": {"admin": "ID-JK/jbd/JAKARTA BARAT"}}.get(path, {})


def pattern(operation, name):
    """What a parameter of an operation must match; nothing, if it has no pattern."""
    parameters = operation.definition.raw.get("parameters", [])
    return next((of["schema"]["pattern"] for of in parameters if of.get("name") == name), "(?!)")


def each_area_once(changes):
    """The changes without those for an area that has one."""
    areas = set()
    once = []
    for change in changes:
        area = str(change.get("area_id", change.get("geom_id"))) if isinstance(change, dict) else None
        if area is None or area not in areas:
            once.append(change)
        areas.add(area)
    return once


def in_order(body):
    """The same with thresholds that descend and a range that ascends, of numbers that differ."""
    thresholds, ends = body.get("thresholds"), body.get("range")
    if isinstance(thresholds, dict) and all(isinstance(level, (int, float)) for level in thresholds.values()):
        names = [name for name in ("critical", "alert", "watch") if name in thresholds]
        body = {**body, "thresholds": {**thresholds, **{name: 300 - 100 * place for place, name in enumerate(names)}}}
    if not isinstance(thresholds, dict):
        # Without thresholds each reading needs an alert level.
        for reading in body["observations"] if isinstance(body.get("observations"), list) else []:
            if isinstance(reading, dict) and reading.get("alert") is None:
                reading["alert"] = 4
    if isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, (int, float)) for end in ends):
        body = {**body, "range": [-50, 1200]}
    return body


def somewhere(value):
    """The same without the place 0, 0, which devices send that do not know where they are."""
    if isinstance(value, dict):
        if value.get("lat") == 0 and value.get("lng") == 0:
            return {**value, "lat": -6.18}
        return {name: somewhere(item) for name, item in value.items()}
    if isinstance(value, list):
        return [somewhere(item) for item in value]
    return value


@schemathesis.hook
def before_call(context, case, **kwargs):
    if isinstance(case.body, dict):
        case.body = somewhere(of_the_past(within_years(case.body)))
        case.body = in_order(case.body)
        if case.operation.path.endswith("/mute"):
            # A time of the next 30 days, which a schema cannot know.
            case.body.pop("until", None)
        if isinstance(case.body.get("changes"), list):
            case.body["changes"] = each_area_once(case.body["changes"])
    if case.query:
        case.query = within_years(case.query)
    query = case.query or {}
    for name, code in on_the_map(case.operation.path).items():
        if isinstance(query.get(name), str) and query[name]:
            query[name] = code
    if query.get("format") and query.get("geoformat"):
        del query["format"]
    # Together, and without a format, they are the address of an alert. Otherwise they are ignored.
    if query.get("area_id") and query.get("time") and not (query.get("format") or query.get("geoformat")):
        del query["time"]
    if case.operation.path.startswith("/ogc"):
        # A schema cannot know the time, how many days a month has, and which end of an interval is earlier.
        if re.fullmatch(pattern(case.operation, "datetime"), str(query.get("datetime")), re.ASCII):
            ends = zip(query["datetime"].split("/"), ("2017-01-01T00:00:00Z", "2017-01-02T00:00:00Z"))
            query["datetime"] = "/".join(end if end in ("", "..") else then for end, then in ends)
        # A cursor is from a page that was read. Unlike the pattern of the schema, Python counts some control characters as spaces.
        if re.fullmatch(r"\d{1,15}\.[\S\x1c-\x1f\x85]{1,200}", str(query.get("cursor"))):
            del query["cursor"]
    start, end = moment(query.get("start")), moment(query.get("end"))
    if start and end:
        try:
            if not timedelta() <= end - start <= 366 * DAY:
                query["end"] = query["start"]
        except TypeError:
            pass
