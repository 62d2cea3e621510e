package org.djlplan.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.study.Strategies;
import org.djlplan.study.csv.CsvFiles;
import org.djlplan.study.csv.CsvRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.Maps;

/**
 * The planning problem of the plan command, from a file or a model.
 *
 * @param view source of the records
 * @param variants the planning problem and, if there are alias classes, the same problem with these
 * @param graph the graph whose tensors the records describe; empty for a file of records
 * @param ids names of the tensors
 * @param allocations operator and shape of each allocation of a recording
 * @param alignmentBytes alignment of offsets
 * @param inRounds the strategy for sizes that become known while the model runs; empty if all are
 *     known in advance
 */
record PlanInput(
        View view,
        List<PlanningProblem> variants,
        Optional<Graph> graph,
        Map<Integer, String> ids,
        Map<Integer, OperatorNames.Named> allocations,
        long alignmentBytes,
        Optional<OffsetStrategy> inRounds) {

    /** The source of the usage records. */
    enum View {
        /** Only the model file, without kernels' temporaries. */
        FILE,
        /** The model as opened by the engine, including kernels' temporaries. */
        LIVE,
        /** Allocations of an engine during a prediction. */
        RECORDING,
        /** A file of records. */
        CSV;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    PlanInput {
        variants = ImmutableList.copyOf(variants);
        ids = ImmutableMap.copyOf(ids);
        allocations = ImmutableMap.copyOf(allocations);
    }

    /** Returns whether the name of {@code file} is that of a file of records. */
    static boolean isCsv(Path file) {
        return file.toString().toLowerCase(Locale.ROOT).endsWith(".csv");
    }

    static PlanInput readCsv(Path file) throws IOException {
        CsvRecords records = CsvFiles.readRecords(ModelRef.OfFile.readable(file));
        PlanningProblem problem = new PlanningProblem(records.records());
        return new PlanInput(
                View.CSV,
                List.of(problem),
                Optional.empty(),
                records.ids(),
                Map.of(),
                1,
                records.knownAt().isEmpty()
                        ? Optional.empty()
                        : Optional.of(Strategies.inRounds(records.knownAt())));
    }

    /**
     * Reads a {@code .tflite} file.
     *
     * @param live whether to open it in the engine, which adds the kernels' temporaries
     */
    static PlanInput readModel(Path file, boolean live) throws IOException {
        return live
                ? of(
                        View.LIVE,
                        PlannedLoading.engineView(ModelRef.OfFile.readable(file), List.of())
                                .graph())
                : of(View.FILE, PlannedLoading.readFile(ModelRef.OfFile.readable(file)));
    }

    /** Returns the problem of a graph, with and without shared places. */
    static PlanInput of(View view, Graph graph) {
        List<PlanningProblem> variants = MemoryPlanner.variants(graph, true);
        return new PlanInput(
                view,
                variants,
                Optional.of(graph),
                numbers(variants.get(0)),
                Map.of(),
                UsageRecords.ALIGNMENT_BYTES,
                Optional.empty());
    }

    /**
     * Returns the problem of the allocations of a prediction.
     *
     * @param allocations operator and shape of each allocation
     */
    static PlanInput recorded(
            PlanningProblem problem, Map<Integer, OperatorNames.Named> allocations) {
        Map<Integer, String> names =
                Maps.transformValues(numbers(problem), id -> "allocation " + id);
        return new PlanInput(
                View.RECORDING,
                List.of(problem),
                Optional.empty(),
                names,
                allocations,
                UsageRecords.ALIGNMENT_BYTES,
                Optional.empty());
    }

    private static Map<Integer, String> numbers(PlanningProblem problem) {
        return problem.records().stream()
                .map(UsageRecord::tensor)
                .collect(ImmutableMap.toImmutableMap(tensor -> tensor, Object::toString));
    }
}
