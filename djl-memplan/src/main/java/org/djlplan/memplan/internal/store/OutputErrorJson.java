package org.djlplan.memplan.internal.store;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;

/**
 * Reads and writes errors of outputs as JSON. Differences are strings, because JSON has no infinite
 * numbers.
 */
public final class OutputErrorJson {

    private static final int DEVIATION_PARTS = 3;

    private OutputErrorJson() {}

    /** Writes the error of an output. */
    public static void write(JsonWriter json, OutputError error) throws IOException {
        json.beginObject().name("type").value(error.type().name());
        write(json.name("deviation"), error.deviation());
        write(json.name("noise"), error.noise());
        json.name("headroom").value(Double.toString(error.headroom()));
        if (error.byOperator().isPresent()) {
            ByOperator worst = error.byOperator().get();
            json.name("operator").value(worst.operator());
            json.name("share").value(Double.toString(worst.share()));
        }
        json.endObject();
    }

    private static void write(JsonWriter json, Deviation deviation) throws IOException {
        json.beginArray().value(Double.toString(deviation.largest()));
        json.value(Double.toString(deviation.spread()));
        json.value(Integer.toString(deviation.otherTops())).endArray();
    }

    /** Reads the error of an output. */
    public static OutputError read(CheckedJson json) throws IOException {
        json.beginObject();
        ElementType type = ElementType.valueOf(json.expect("type").nextString());
        Deviation deviation = deviation(json.expect("deviation"));
        Deviation noise = deviation(json.expect("noise"));
        double headroom = Double.parseDouble(json.expect("headroom").nextString());
        Optional<ByOperator> byOperator = Optional.empty();
        if (json.hasNext()) {
            int operator = json.expect("operator").nextInt();
            double share = Double.parseDouble(json.expect("share").nextString());
            byOperator = Optional.of(new ByOperator(operator, share));
        }
        json.endObject();
        return new OutputError(type, deviation, noise, headroom, byOperator);
    }

    private static Deviation deviation(CheckedJson json) throws IOException {
        List<String> parts = json.list(DEVIATION_PARTS, json::nextString);
        if (parts.size() != DEVIATION_PARTS) {
            throw new IOException("a deviation of " + parts.size() + " parts");
        }
        return new Deviation(
                Double.parseDouble(parts.get(0)),
                Double.parseDouble(parts.get(1)),
                Integer.parseInt(parts.get(2)));
    }
}
