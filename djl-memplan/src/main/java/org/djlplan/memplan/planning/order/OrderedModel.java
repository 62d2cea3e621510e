package org.djlplan.memplan.planning.order;

import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.order.PlannedOrder;
import org.djlplan.memplan.report.OrderReport;

/**
 * A model and the order in which its operators run: the file to open is the model's own, or a copy
 * with its operators in another order.
 *
 * @param original the model's file, by which the model is known
 * @param file the file to open
 * @param order what the search for an order found; empty if there was none
 */
public record OrderedModel(Path original, Path file, Optional<PlannedOrder> order) {

    /** Returns a model that runs in the order of its file. */
    public static OrderedModel asInFile(Path file) {
        return new OrderedModel(file, file, Optional.empty());
    }

    /** Returns whether the file to open has another order than the model's. */
    public boolean reordered() {
        return !file.equals(original);
    }

    /**
     * Returns the number that an operator has in the model's own file.
     *
     * @param operator its number in the file to open
     */
    public int numberInFile(int operator) {
        return reordered() ? order.orElseThrow().order().operators().get(operator) : operator;
    }

    /** Returns what tells the order from others; empty if it is that of the model's file. */
    public Optional<String> fingerprint() {
        return order.filter(found -> reordered())
                .map(found -> found.order().operators().toString())
                .map(text -> Hashing.sha256().hashString(text, StandardCharsets.UTF_8).toString());
    }

    /** Returns what the search for an order found. */
    public Optional<OrderReport> report() {
        return order.map(
                found ->
                        new OrderReport(
                                found.order().breadthBeforeBytes(),
                                found.order().breadthAfterBytes(),
                                found.arenaBeforeBytes(),
                                found.arenaAfterBytes(),
                                found.order().minimal(),
                                reordered()));
    }
}
