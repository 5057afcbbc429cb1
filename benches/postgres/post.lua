-- Posts of the partner feed, each with its own number and place.
local number = os.time() % 100000000 * 10000000
wrk.headers["X-Api-Key"] = "key"
function request()
    number = number + 1
    local place = string.format('{"lat":%.5f,"lng":%.5f}', -6.35 + math.random() * 0.2, 106.7 + math.random() * 0.3)
    local body = string.format('{"post_id":%d,"created_at":"2016-12-19T15:00:00Z","title":"Banjir",'
        .. '"text":"Air setinggi lutut","partner_city":"jabodetabek","disaster_type":"flood","location":%s}', number, place)
    return wrk.format("POST", "/v1/feeds/partner", nil, body)
end
