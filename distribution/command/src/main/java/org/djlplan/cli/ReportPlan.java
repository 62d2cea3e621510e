package org.djlplan.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.cli.PlanInput.View;
import org.djlplan.cli.report.MemoryMap;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.plan.search.SearchLimits;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.thirdparty.guava.base.Preconditions;

/** Makes the memory map of a model: reads or records the model, and plans. */
final class ReportPlan {

    /** Enough for allocations to be recorded, and used as planned. */
    private static final int RECORDED_PREDICTIONS = 5;

    private final RunOptions options;
    private final Optional<SearchLimits> limits;
    private final Consumer<String> news;
    private final PrintWriter messages;

    /**
     * @param limits of the search for a smaller plan; empty for none
     * @param news receives a description of each step
     * @param messages receives messages for the user
     */
    ReportPlan(
            RunOptions options,
            Optional<SearchLimits> limits,
            Consumer<String> news,
            PrintWriter messages) {
        this.options = options;
        this.limits = limits;
        this.news = news;
        this.messages = messages;
    }

    /** A memory map, and the source of its records. */
    record Planned(View view, MemoryMap map) {}

    /**
     * Plans.
     *
     * @param view empty for the most detailed view of the model
     */
    Planned plan(Optional<View> view) throws IOException {
        ModelRef ref = options.model();
        if (!(ref instanceof ModelRef.OfFile file)) {
            return view.equals(Optional.of(View.BLOCK)) ? block(ref) : recorded();
        }
        Path path = file.file();
        if (PlanInput.isCsv(path)) {
            return planned(PlanInput.readCsv(path));
        }
        if (options.engine() != EngineKind.TFLITE) {
            return recorded();
        }
        Path existing = PlanInput.existing(path);
        if (view.isPresent()) {
            return view.get() == View.LIVE ? live(existing) : file(existing);
        }
        try {
            return live(existing);
        } catch (Failure e) {
            messages.println(
                    "kernels' temporaries are unknown, as the engine does not open the model: "
                            + Failure.describe(e));
            if (mayNeedShapes(existing)) {
                messages.println("the shapes may be placeholders: give --input-shape");
            }
            messages.flush();
            return file(existing);
        }
    }

    /** Returns whether a model leaves dimensions open and the user gave none. */
    private boolean mayNeedShapes(Path model) throws IOException {
        boolean given =
                !options.inputs().isEmpty()
                        && !InputSpec.OfTfLite.areAsInFile(model, options.inputs());
        TfLiteSubgraph main = TfLiteReader.read(model).main();
        return !given
                && main.inputs().stream()
                        .map(id -> main.tensors().get(id))
                        .anyMatch(
                                t ->
                                        t.shape().stream().anyMatch(length -> length < 1)
                                                || t.shapeSignature().contains(-1));
    }

    private Planned file(Path model) throws IOException {
        news.accept("reading");
        return planned(PlanInput.readModel(model, PlannedLoading.graphs(), false));
    }

    private Planned live(Path model) throws IOException {
        news.accept("opening in the engine");
        EngineView engine =
                PlannedLoading.engineView(model, InputSpec.OfTfLite.dimensions(options.inputs()));
        PlanInput input = PlanInput.of(View.LIVE, engine.graph());
        return planned(
                input, new PlanMap(input).withEngine(engine.arenaBytes(), engine.arenaOffsets()));
    }

    private Planned block(ModelRef ref) {
        news.accept("running the block once");
        return planned(PlanInput.runBlock(ref, PlannedLoading.graphs(), options.inputs()));
    }

    private Planned recorded() {
        return planned(recordedInput());
    }

    /**
     * A plan with the operators and shapes of its allocations. Predictions do not use the plan;
     * ONNX Runtime reports no operators.
     */
    private record Recorded(EvaluatedPlan used, Map<Integer, OperatorNames.Named> allocations) {}

    private static PlanInput input(Recorded recorded) {
        return PlanInput.recorded(recorded.used().plan().problem(), recorded.allocations());
    }

    /** Returns the allocations of predictions. */
    PlanInput recordedInput() {
        return input(record());
    }

    private Recorded record() {
        news.accept("recording predictions");
        try (WorkerProcess worker =
                WorkerProcess.start(
                        WorkerProcess.Contestant.RECORDING, options, StepNews.ofWorker())) {
            worker.awaitLoaded();
            worker.time(RECORDED_PREDICTIONS);
            Optional<EvaluatedPlan> used = worker.allocations();
            if (used.isEmpty()) {
                throw new Failure(
                        "no allocations to plan were seen: "
                                + worker.figures()
                                        .unplannedReason()
                                        .orElse("predictions differ from one another"));
            }
            return new Recorded(
                    used.get(),
                    options.engine() == EngineKind.PYTORCH
                            ? allocations(worker, used.get())
                            : Map.of());
        }
    }

    /** Read last, because it inspects the engine more deeply than the served model does. */
    private Map<Integer, OperatorNames.Named> allocations(
            WorkerProcess worker, EvaluatedPlan used) {
        try {
            Map<Integer, OperatorNames.Named> allocations =
                    AllocationFacts.planned(used.plan().problem(), worker.namedAllocations());
            worker.finish();
            return allocations;
        } catch (Failure e) {
            messages.println("operators are unknown: " + Failure.describe(e));
            messages.flush();
            return Map.of();
        }
    }

    private Planned planned(PlanInput input) {
        return planned(input, new PlanMap(input));
    }

    private Planned planned(PlanInput input, PlanMap map) {
        news.accept("planning");
        PlanRun run = PlanRun.of(input, PlanRun.Choice.named(PlanRun.Choice.ALL), limits);
        Preconditions.checkState(run.bestPlan().isPresent(), "no valid plan");
        return new Planned(input.view(), map.of(run));
    }
}
