package org.djlplan.integration.examples;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/**
 * Reads health and metrics of a Spring Boot application.
 *
 * @param address the application's address
 */
record Actuator(HttpClient client, String address) {

    private String get(String what) throws Exception {
        URI uri = URI.create(address + "/actuator/" + what);
        return client.send(
                        HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    JsonObject health(String component) throws Exception {
        return JsonParser.parseString(get("health"))
                .getAsJsonObject()
                .getAsJsonObject("components")
                .getAsJsonObject(component);
    }

    /** Returns the first value of a meter. */
    double metric(String name) throws Exception {
        return JsonParser.parseString(get("metrics/" + name))
                .getAsJsonObject()
                .getAsJsonArray("measurements")
                .get(0)
                .getAsJsonObject()
                .get("value")
                .getAsDouble();
    }

    /** Returns the lines that Prometheus reads. */
    String prometheus() throws Exception {
        return get("prometheus");
    }
}
