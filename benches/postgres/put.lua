-- States of random areas.
wrk.headers["X-Api-Key"] = "key"
function request()
    return wrk.format("PUT", "/v1/floods/" .. math.random(1, 2700), nil, '{"state":2}')
end
