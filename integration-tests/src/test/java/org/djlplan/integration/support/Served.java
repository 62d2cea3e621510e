package org.djlplan.integration.support;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.Portfolio;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.PlanFinder;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.Tolerance;

/** Opens TFLite models without DJL, planned by the strategies only. */
public final class Served {

    private Served() {}

    /** Returns options that an application sets in code, and defaults for the others. */
    public static PlanOptions options(Map<String, ?> given) {
        return PlanOptions.parse(
                GivenOptions.of(given, Map.of(), Map.of(), List.of(DelegationKey.values())));
    }

    /** Opens a model with one interpreter, planned as in applications; nothing is delegated. */
    public static ServedModel alone(Path file, InPlace inPlace, int threads) throws Exception {
        return alone(file, Portfolio.STRATEGIES, inPlace, threads);
    }

    /** Opens a model with one interpreter, planned by strategies; nothing is delegated. */
    public static ServedModel alone(
            Path file, List<OffsetStrategy> strategies, InPlace inPlace, int threads)
            throws Exception {
        return ServedModel.open(
                file,
                options(Map.of("memplan.threads", threads, "memplan.workers", 1)),
                live -> MemoryPlanner.plan(live, strategies, inPlace),
                Optional.empty());
    }

    /** Returns the planner that the one line uses. */
    public static PlanFinder planner() {
        return MemoryPlanner::plan;
    }

    /** Opens a model without delegation. */
    public static ServedModel open(Path file) throws Exception {
        return open(file, options(Map.of()));
    }

    /** Opens a model without delegation. */
    public static ServedModel open(Path file, PlanOptions options) throws Exception {
        return ServedModel.open(file, options, planner(), Optional.empty());
    }

    /** Opens a model whose choice delegates to XNNPACK. */
    public static ServedModel open(Path file, DelegationChoice choice) throws Exception {
        return open(file, Delegates.XNNPACK, choice);
    }

    /** Opens a model whose choice delegates to a delegate. */
    public static ServedModel open(Path file, String delegate, DelegationChoice choice)
            throws Exception {
        return open(file, Delegates.named(delegate), choice);
    }

    /** Opens a model whose choice delegates to a delegate. */
    public static ServedModel open(Path file, DelegateFactory delegates, DelegationChoice choice)
            throws Exception {
        return open(file, delegates, choice, false);
    }

    /** Opens a model as if predictions had other shapes than in its file. */
    public static ServedModel openForOtherShapes(
            Path file, DelegateFactory delegates, DelegationChoice choice) throws Exception {
        return open(file, delegates, choice, true);
    }

    private static ServedModel open(
            Path file, DelegateFactory delegates, DelegationChoice choice, boolean otherShapes)
            throws Exception {
        PlanOptions options = options(Map.of());
        return ServedModel.open(
                file,
                options,
                planner(),
                Optional.of(
                        new FixedDelegation("a delegate", delegates, choice, true, otherShapes)));
    }

    /** Opens a model whose candidates run in this process. */
    public static CandidateInterpreters candidates(Path file, String delegate) throws Exception {
        return CandidateInterpreters.open(
                file, FileIdentity.text(file), delegate, Tolerance.AUTO, Optional.empty());
    }
}
