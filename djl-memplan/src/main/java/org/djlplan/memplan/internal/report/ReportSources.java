package org.djlplan.memplan.internal.report;

import ai.djl.Model;
import ai.djl.nn.Block;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import org.djlplan.memplan.report.PlanReport;

/** The sources of reports, each kept as long as the block of its model lives. */
public final class ReportSources {

    private static final Map<Block, Supplier<PlanReport>> SOURCES =
            Collections.synchronizedMap(new WeakHashMap<>());

    private ReportSources() {}

    /** Registers the source of reports on a block. */
    public static void register(Block block, Supplier<PlanReport> source) {
        SOURCES.put(block, source);
    }

    /** Returns what {@link #register} was given for the model's block. */
    public static Optional<Supplier<PlanReport>> of(Model model) {
        return Optional.ofNullable(SOURCES.get(model.getBlock()));
    }
}
