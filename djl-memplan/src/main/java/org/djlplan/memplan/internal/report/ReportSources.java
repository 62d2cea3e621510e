package org.djlplan.memplan.internal.report;

import ai.djl.Model;
import ai.djl.nn.Block;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.MapMaker;

/** The sources of reports, each kept as long as the block of its model lives. */
public final class ReportSources {

    /**
     * Weak keys are compared by identity: an application's block may be equal to another one, and
     * may change.
     */
    private static final Map<Block, Supplier<PlanReport>> SOURCES =
            new MapMaker().weakKeys().makeMap();

    private ReportSources() {}

    /** Registers the source of reports on a block. */
    public static void register(Block block, Supplier<PlanReport> source) {
        SOURCES.put(block, source);
    }

    /** Returns the source that was registered for the model's block. */
    public static Optional<Supplier<PlanReport>> of(Model model) {
        return Optional.ofNullable(SOURCES.get(model.getBlock()));
    }
}
