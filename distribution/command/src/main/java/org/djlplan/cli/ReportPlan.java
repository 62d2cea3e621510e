package org.djlplan.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.cli.PlanInput.View;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.study.search.SearchLimits;

/** Makes the memory map of a model: reads or records the model, and plans. */
final class ReportPlan {

    /** Enough for allocations to be recorded, and used as planned. */
    private static final int RECORDED_PREDICTIONS = 5;

    private final RunOptions options;
    private final Optional<SearchLimits> limits;
    private final Consumer<String> news;

    /**
     * @param limits of the search for a smaller plan; empty for none
     * @param news receives descriptions of steps, and messages for the user
     */
    ReportPlan(RunOptions options, Optional<SearchLimits> limits, Consumer<String> news) {
        this.options = options;
        this.limits = limits;
        this.news = news;
    }

    /** A memory map, and the source of its records. */
    record Planned(View view, MemoryMap map) {}

    /** Plans the most detailed view of the model. */
    Planned plan() throws IOException {
        if (!(options.model() instanceof ModelRef.OfFile file)) {
            return planned(recorded());
        }
        if (PlanInput.isCsv(file.file())) {
            return planned(PlanInput.readCsv(file.file()));
        }
        if (options.engine() != EngineKind.TFLITE) {
            return planned(recorded());
        }
        Path model = file.readable();
        try {
            news.accept("opening in the engine");
            return live(
                    PlannedLoading.engineView(
                            model, InputSpec.OfTfLite.dimensions(options.inputs())));
        } catch (Failure e) {
            news.accept(
                    "kernels' temporaries are unknown, as the engine does not open the model: "
                            + Failure.describe(e));
            if (options.inputs().isEmpty()) {
                news.accept("the shapes may be placeholders: give --input-shape");
            }
            return planned(PlanInput.readModel(model, false));
        }
    }

    private Planned live(EngineView engine) {
        PlanInput input = PlanInput.of(View.LIVE, engine.graph());
        return planned(
                input, new PlanMap(input).withEngine(engine.arenaBytes(), engine.arenaOffsets()));
    }

    /**
     * Returns the allocations of a prediction, with their operators and shapes, if the engine
     * reports these: ONNX Runtime does not.
     */
    PlanInput recorded() {
        news.accept("recording predictions");
        try (WorkerProcess worker =
                WorkerProcess.start(WorkerProcess.Contestant.RECORDING, options, line -> {})) {
            worker.awaitLoaded();
            long[] unused = worker.time(RECORDED_PREDICTIONS);
            Optional<List<UsageRecord>> records = worker.allocations();
            if (records.isEmpty()) {
                throw new Failure(
                        "no allocations to plan were seen: "
                                + worker.figures()
                                        .unplannedReason()
                                        .orElse("predictions differ from one another"));
            }
            return PlanInput.recorded(
                    new PlanningProblem(records.get()),
                    options.engine() == EngineKind.PYTORCH
                            ? names(worker, records.get())
                            : Map.of());
        }
    }

    /** Read last, because it inspects the engine more deeply than the served model does. */
    private Map<Integer, OperatorNames.Named> names(
            WorkerProcess worker, List<UsageRecord> records) {
        try {
            Map<Integer, OperatorNames.Named> names = planned(records, worker.namedAllocations());
            worker.finish();
            return names;
        } catch (Failure e) {
            news.accept("operators are unknown: " + Failure.describe(e));
            return Map.of();
        }
    }

    /**
     * Returns the operator and shape of each planned allocation, by its number.
     *
     * @param allocations all allocations of another prediction
     * @throws Failure if they differ from the planned ones
     */
    static Map<Integer, OperatorNames.Named> planned(
            List<UsageRecord> records, List<OperatorNames.Named> allocations) {
        Map<Integer, OperatorNames.Named> known = new HashMap<>();
        for (UsageRecord record : records) {
            int number = record.tensor();
            if (number >= allocations.size()
                    || UsageRecords.alignedBytes(allocations.get(number).bytes())
                            != record.bytes()) {
                throw new Failure("the prediction allocated otherwise than recorded");
            }
            known.put(number, allocations.get(number));
        }
        return known;
    }

    private Planned planned(PlanInput input) {
        return planned(input, new PlanMap(input));
    }

    private Planned planned(PlanInput input, PlanMap map) {
        news.accept("planning");
        PlanRun.Choice all = PlanRun.Choice.named(PlanRun.Choice.ALL);
        return new Planned(input.view(), map.of(PlanRun.of(input, all, limits, Optional.empty())));
    }
}
