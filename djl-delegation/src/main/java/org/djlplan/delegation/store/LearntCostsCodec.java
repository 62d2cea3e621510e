package org.djlplan.delegation.store;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.djlplan.delegation.choice.Cost;
import org.djlplan.delegation.choice.CostKey;
import org.djlplan.delegation.choice.LearntCosts;
import org.djlplan.memplan.store.CheckedJson;
import org.djlplan.memplan.store.Codec;

/**
 * Learnt costs in files. Shown here on several lines, written on one:
 *
 * <pre>{@code
 * {"costs":[
 *   ["CPU","CONV_2D","1","5.2E7","2.1E8"],
 *   ["KERNEL","","1","30000.0","3.0"]]}
 * }</pre>
 *
 * <p>Of each cost kind, operator, threads, nanoseconds and amount; all are texts, so that numbers
 * are read exactly as they were.
 */
final class LearntCostsCodec implements Codec<LearntCosts> {

    private static final int PARTS = 5;

    @Override
    public String kind() {
        return "cost-table";
    }

    @Override
    public int version() {
        return 1;
    }

    @Override
    public String ending() {
        return ".costs.json";
    }

    @Override
    public void write(JsonWriter json, LearntCosts costs) throws IOException {
        json.beginObject().name("costs").beginArray();
        for (Map.Entry<CostKey, Cost> entry : costs.costs().entrySet()) {
            CostKey key = entry.getKey();
            json.beginArray().value(key.kind().name()).value(key.operator());
            json.value(Integer.toString(key.threads()));
            json.value(Double.toString(entry.getValue().nanos()));
            json.value(Double.toString(entry.getValue().amount())).endArray();
        }
        json.endArray().endObject();
    }

    @Override
    public LearntCosts read(CheckedJson json) throws IOException {
        Map<CostKey, Cost> costs = new TreeMap<>();
        json.beginObject();
        List<List<String>> entries =
                json.expect("costs")
                        .list(LearntCosts.MOST_COSTS, () -> json.list(PARTS, json::nextString));
        json.endObject();
        for (List<String> parts : entries) {
            if (parts.size() != PARTS) {
                throw new IOException("a cost of " + parts.size() + " parts");
            }
            CostKey key =
                    new CostKey(
                            CostKey.Kind.valueOf(parts.get(0)),
                            parts.get(1),
                            Integer.parseInt(parts.get(2)));
            Cost cost = new Cost(number(parts.get(3)), number(parts.get(4)));
            if (costs.put(key, cost) != null) {
                throw new IOException(key + " twice");
            }
        }
        return LearntCosts.of(costs);
    }

    /** Takes only what is written, not everything that the parser does. */
    private static double number(String text) throws IOException {
        double number = Double.parseDouble(text);
        if (!Double.toString(number).equals(text)) {
            throw new IOException(text + " is not how " + number + " is written");
        }
        return number;
    }

    /**
     * Costs that no machine has would decide every prediction. The worst that comes of others is a
     * bad prediction.
     */
    @Override
    public void check(LearntCosts costs) throws IOException {
        Optional<CostKey> first = costs.implausible();
        if (first.isPresent()) {
            throw new IOException(first.get() + " is not what any machine takes");
        }
    }
}
