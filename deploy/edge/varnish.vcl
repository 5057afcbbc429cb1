# A cache before Siaga for many readers, in /etc/varnish/default.vcl of Varnish 7.1 or later (docs/edge.md). Varnish speaks no TLS:
# a proxy before it does, which removes X-Forwarded-For of clients and adds its own. To change: the name data.example.org and the
# address of the service, which needs SIAGA_CACHE__SHARED=5s and the address of Varnish in SIAGA_QUOTA__TRUSTED_PROXIES.
vcl 4.1;

import std;

backend siaga {
    .host = "127.0.0.1";
    .port = "8000";
    .connect_timeout = 2s;
    .first_byte_timeout = 30s;
    .between_bytes_timeout = 60s;
    .probe = {
        .url = "/health/live";
        .interval = 1s;
        .timeout = 2s;
        .window = 3;
        .threshold = 2;
    }
}

sub vcl_recv {
    if (req.http.host !~ "^data\.example\.org(:[0-9]+)?$") {
        return (synth(421));
    }
    set req.http.host = "data.example.org";
    # Streams, and requests that wait, go through as they are.
    if (req.url ~ "^/v1/changes/stream" || req.url ~ "[?&]wait=") {
        return (pipe);
    }
    # A response to a credential or a cookie is neither looked up nor stored.
    if ((req.method != "GET" && req.method != "HEAD") || req.http.Authorization || req.http.X-Api-Key || req.http.Cookie) {
        return (pass);
    }
    if (req.url !~ "^/(v1/(floods|reports|alerts|areas|basemap|changes|floodgauges|infrastructure|stats|images)([/.?]|$)|(map|docs|logo|sw\.js|openapi\.json)([/?]|$)|$|\?)") {
        return (pass);
    }
    # The service decides about encoded names of parameters and about repeated parameters.
    if (req.url ~ "[?&][^=&]*[%+]" || req.url ~ "[?&]([a-z_]+)(=[^&]*)?&(.*&)?\1(=|&|$)") {
        return (pass);
    }
    # Only the parameters that public reads know, in one order. A test compares them with the description of the interface.
    if (req.url ~ "\?") {
        set req.url = regsuball(req.url, "(?<=[?&])(?!(admin|area|area_id|bbox|before|city|content|disaster|end|format|geoformat|ids|lang|lat|level|list|lng|long|minimum_state|revision|since|start|time|timeperiod|training|type|zoom)=[^&])[^&]*(&|$)", "");
        set req.url = regsub(req.url, "[?&]+$", "");
        set req.url = std.querysort(req.url);
    }
    # Only these values of Accept are told apart.
    if (!req.http.Accept || req.http.Accept == "*/*") {
        set req.http.Accept = "*/*";
    } elsif (req.http.Accept ~ "(?i)geo\+json") {
        set req.http.Accept = "application/geo+json";
    } elsif (req.http.Accept ~ "(?i)(atom|rss|cap)\+xml") {
        set req.http.Accept = std.tolower(regsub(req.http.Accept, "(?i)^.*?(atom|rss|cap)\+xml.*$", "application/\1+xml"));
    } elsif (req.http.Accept ~ "(?i)text/html") {
        set req.http.Accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    } elsif (req.http.Accept ~ "(?i)xml") {
        set req.http.Accept = "application/xml";
    } elsif (req.http.Accept ~ "(?i)^application/json") {
        set req.http.Accept = "application/json";
    } elsif (req.http.Accept ~ "(?i)^image/") {
        set req.http.Accept = "image/*,*/*;q=0.8";
    } elsif (req.http.Accept ~ "(?i)^text/css") {
        set req.http.Accept = "text/css,*/*;q=0.1";
    } else {
        return (pass);
    }
    set req.http.Accept-Language = std.tolower(regsub(req.http.Accept-Language, "(?i)^([a-z]{2})?.*$", "\1"));
    # While the service is there, a stale response is served for 5 s at most, as stale-while-revalidate says.
    unset req.http.Siaga-Away;
    if (req.restarts > 0) {
        set req.http.Siaga-Away = "yes";
    } elsif (std.healthy(req.backend_hint)) {
        set req.grace = 5s;
    }
    return (hash);
}

sub vcl_pipe {
    # The next request of this connection must not go through unseen.
    set bereq.http.Connection = "close";
}

sub vcl_backend_response {
    if (bereq.uncacheable) {
        return (deliver);
    }
    if (beresp.http.Cache-Control ~ "^public.*s-maxage=") {
        # By the header alone: Age would shorten it for responses that the service itself marks as stale.
        set beresp.ttl = std.duration(regsub(beresp.http.Cache-Control, "^.*s-maxage=([0-9]+).*$", "\1s"), 0s);
        set beresp.grace = std.duration(regsub(beresp.http.Cache-Control, "^.*stale-if-error=([0-9]+).*$", "\1s"), 0s);
        unset beresp.http.RateLimit-Limit;
        unset beresp.http.RateLimit-Remaining;
        unset beresp.http.RateLimit-Reset;
        unset beresp.http.X-Request-Id;
        return (deliver);
    }
    if (beresp.http.Cache-Control ~ "^public, max-age=86400") {
        set beresp.grace = 1h;
        return (deliver);
    }
    if (beresp.status >= 500 && bereq.is_bgfetch) {
        return (abandon);
    }
    # Not stored: for a second, requests for it do not wait for each other.
    set beresp.ttl = 1s;
    set beresp.grace = 0s;
    set beresp.uncacheable = true;
    return (deliver);
}

sub vcl_backend_error {
    set beresp.http.Siaga-Unreachable = "yes";
    set beresp.http.Cache-Control = "no-store";
    set beresp.http.Retry-After = "1";
}

sub vcl_deliver {
    # The service has just gone: the stored response may be used for as long as stale-if-error says.
    if (resp.http.Siaga-Unreachable && req.restarts == 0 && !req.http.Siaga-Away && (req.method == "GET" || req.method == "HEAD")
        && !req.http.Authorization && !req.http.X-Api-Key && !req.http.Cookie) {
        return (restart);
    }
    unset resp.http.Siaga-Unreachable;
    unset resp.http.Via;
    unset resp.http.X-Varnish;
    set resp.http.X-Cache = "MISS";
    if (obj.hits > 0) {
        set resp.http.X-Cache = "HIT";
    }
}
