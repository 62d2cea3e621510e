package org.djlplan.memplan.internal.config;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.report.WeightIo;
import org.djlplan.thirdparty.guava.base.Splitter;

/**
 * The budget options of a model.
 *
 * @param budget the memory that the model may take
 * @param sharedBytes limit of all models of this process together; empty for no limit
 * @param bestEffort whether a model that does not fit runs in as little memory as possible instead
 *     of failing to load
 * @param io how weights are read
 */
public record BudgetOptions(
        Budget budget, OptionalLong sharedBytes, boolean bestEffort, WeightIo io) {

    /** The valid forms, for messages. */
    public static final String ALLOWED =
            Budget.ALLOWED + "; and after it :best-effort, :cached, :mmap or :direct";

    /** Separates the budget from its modifiers. */
    static final char SEPARATOR = ':';

    private static final String BEST_EFFORT = "best-effort";

    /** No budget. */
    public static final BudgetOptions UNLIMITED =
            new BudgetOptions(new Budget.Unlimited(), OptionalLong.empty(), false, WeightIo.AUTO);

    /**
     * Parses a budget with modifiers, such as {@code 64MB:best-effort}; empty if the text is
     * malformed.
     */
    public static Optional<BudgetOptions> of(String text) {
        List<String> parts = Splitter.on(SEPARATOR).trimResults().splitToList(text);
        Optional<Budget> budget = Budget.of(parts.get(0));
        boolean bestEffort = false;
        WeightIo io = WeightIo.AUTO;
        for (String modifier : parts.subList(1, parts.size())) {
            Optional<WeightIo> way = WeightIo.of(modifier);
            if (way.isPresent()) {
                io = way.get();
            } else if (modifier.toLowerCase(Locale.ROOT).equals(BEST_EFFORT)) {
                bestEffort = true;
            } else {
                return Optional.empty();
            }
        }
        boolean effort = bestEffort;
        WeightIo reading = io;
        return budget.map(b -> new BudgetOptions(b, OptionalLong.empty(), effort, reading));
    }

    /** Returns these options with a limit for all models of this process together. */
    BudgetOptions withShared(OptionalLong bytes) {
        return new BudgetOptions(budget, bytes, bestEffort, io);
    }

    /** Returns whether there is a budget. */
    public boolean limited() {
        return !(budget instanceof Budget.Unlimited);
    }
}
