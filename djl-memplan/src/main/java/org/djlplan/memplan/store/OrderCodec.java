package org.djlplan.memplan.store;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.ImmutableLongArray;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import org.djlplan.memplan.order.OperatorOrder;
import org.djlplan.memplan.order.PlannedOrder;

/**
 * Orders of operators in files, on one line:
 *
 * <pre>{@code
 * {"operators":[0,2,1],"breadth":[192,128],"arena":[192,128],"minimal":true}
 * }</pre>
 *
 * <p>Pairs are before and after. Whether an order keeps the model's dependencies is for whoever
 * knows the model.
 */
public final class OrderCodec implements Codec<PlannedOrder> {

    /** Most operators of a model whose order is kept. */
    static final int MOST_OPERATORS = 1 << 20;

    @Override
    public String kind() {
        return "order";
    }

    @Override
    public int version() {
        return 1;
    }

    @Override
    public String ending() {
        return ".order.json";
    }

    @Override
    public void write(JsonWriter json, PlannedOrder value) throws IOException {
        OperatorOrder order = value.order();
        List<Integer> operators = order.operators();
        checkArgument(operators.size() <= MOST_OPERATORS, "%s operators", operators.size());
        json.beginObject().name("operators").beginArray();
        for (int operator : operators) {
            json.value(operator);
        }
        json.endArray();
        pair(json.name("breadth"), order.breadthBeforeBytes(), order.breadthAfterBytes());
        pair(json.name("arena"), value.arenaBeforeBytes(), value.arenaAfterBytes());
        json.name("minimal").value(Boolean.toString(order.minimal())).endObject();
    }

    private static void pair(JsonWriter json, long before, long after) throws IOException {
        json.beginArray().value(before).value(after).endArray();
    }

    @Override
    public PlannedOrder read(CheckedJson json) throws IOException {
        json.beginObject();
        List<Integer> operators =
                json.expect("operators")
                        .list(MOST_OPERATORS, () -> Math.toIntExact(json.nextLong()));
        ImmutableLongArray breadth = json.expect("breadth").numbers(2);
        ImmutableLongArray arena = json.expect("arena").numbers(2);
        String minimal = json.expect("minimal").nextString();
        json.endObject();
        return new PlannedOrder(
                new OperatorOrder(
                        operators, breadth.get(0), breadth.get(1), Boolean.parseBoolean(minimal)),
                arena.get(0),
                arena.get(1));
    }

    @Override
    public void check(PlannedOrder value) throws IOException {
        List<Integer> operators = value.order().operators();
        boolean[] seen = new boolean[operators.size()];
        for (int operator : operators) {
            if (operator < 0 || operator >= seen.length || seen[operator]) {
                throw new IOException("operator " + operator + " twice or unknown");
            }
            seen[operator] = true;
        }
    }
}
