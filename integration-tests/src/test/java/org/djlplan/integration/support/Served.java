package org.djlplan.integration.support;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.delegation.DelegationKey;
import org.djlplan.memplan.candidates.CandidateInterpreters;
import org.djlplan.memplan.config.GivenOptions;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.runtime.tflite.Delegates;
import org.djlplan.memplan.runtime.tflite.PlanFinder;
import org.djlplan.memplan.serving.ServedModel;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.Tolerance;

/** Opens TFLite models without DJL, planned by the strategies only. */
public final class Served {

    private Served() {}

    /** Returns the options that an application gives in code, and defaults for the others. */
    public static PlanOptions options(Map<String, ?> given) {
        return PlanOptions.parse(
                GivenOptions.of(given, Map.of(), Map.of(), List.of(DelegationKey.values())));
    }

    /** Returns the options of a model with one interpreter. */
    public static PlanOptions alone(String strategy, InPlace inPlace, int threads) {
        return options(
                Map.of(
                        "memplan.strategy",
                        strategy,
                        "memplan.inPlace",
                        inPlace,
                        "memplan.threads",
                        threads,
                        "memplan.workers",
                        1));
    }

    /** Returns what plans a model by the strategies, at once. */
    public static PlanFinder planner(PlanOptions options) {
        return request ->
                MemoryPlanner.plan(
                        request.live(),
                        options.planning().strategy(),
                        options.planning().inPlace());
    }

    /** Opens a model of which nothing is delegated. */
    public static ServedModel open(Path file) throws Exception {
        return open(file, options(Map.of()));
    }

    /** Opens a model of which nothing is delegated. */
    public static ServedModel open(Path file, PlanOptions options) throws Exception {
        return ServedModel.open(file, options, planner(options), Optional.empty());
    }

    /** Opens a model of which XNNPACK gets what a choice says. */
    public static ServedModel open(Path file, DelegationChoice choice) throws Exception {
        return open(file, Delegates.XNNPACK, choice);
    }

    /** Opens a model of which a delegate gets what a choice says. */
    public static ServedModel open(Path file, String delegate, DelegationChoice choice)
            throws Exception {
        return open(file, Delegates.named(delegate), choice);
    }

    /** Opens a model of which a delegate gets what a choice says. */
    public static ServedModel open(Path file, DelegateFactory delegates, DelegationChoice choice)
            throws Exception {
        PlanOptions options = options(Map.of());
        return ServedModel.open(
                file,
                options,
                planner(options),
                Optional.of(
                        new ServedModel.Delegation(
                                "a delegate", "TFLite", delegates, graph -> choice, true)));
    }

    /** Opens a model whose candidates run in this process. */
    public static CandidateInterpreters candidates(Path file, String delegate) throws Exception {
        PlanOptions options = options(Map.of());
        return CandidateInterpreters.open(
                file,
                delegate,
                options.planning().strategy(),
                options.planning().inPlace(),
                Tolerance.AUTO);
    }
}
