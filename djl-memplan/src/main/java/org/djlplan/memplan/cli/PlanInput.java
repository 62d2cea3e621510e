package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.study.csv.CsvFiles;
import org.djlplan.memplan.study.csv.CsvRecords;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * What the plan command plans.
 *
 * @param view where the records come from
 * @param variants the planning problem, and the same with alias classes if there are any
 * @param graph what the records are from; empty for a file of records
 * @param ids names of the tensors
 * @param alignmentBytes what offsets are multiples of
 */
record PlanInput(
        View view,
        List<PlanningProblem> variants,
        Optional<Graph> graph,
        Map<Integer, String> ids,
        long alignmentBytes) {

    /** Where records come from. */
    enum View {
        /** The model file alone: kernels' temporaries are unknown. */
        FILE,
        /** The model as opened by the engine, kernels' temporaries included. */
        LIVE,
        /** An imperative block as it ran once: temporaries of native kernels are unknown. */
        BLOCK,
        /** A file of records. */
        CSV;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    PlanInput {
        variants = ImmutableList.copyOf(variants);
        ids = ImmutableMap.copyOf(ids);
    }

    /** Whether {@code file} is a file of records by its name. */
    static boolean isCsv(Path file) {
        return hasEnding(file, ".csv");
    }

    /** Whether {@code file} is a model by its name. */
    static boolean isModel(Path file) {
        return hasEnding(file, ".tflite");
    }

    private static boolean hasEnding(Path file, String ending) {
        return file.toString().toLowerCase(Locale.ROOT).endsWith(ending);
    }

    static PlanInput readCsv(Path file) throws IOException {
        CsvRecords records = CsvFiles.readRecords(existing(file));
        PlanningProblem problem = new PlanningProblem(records.records());
        return new PlanInput(View.CSV, List.of(problem), Optional.empty(), records.ids(), 1);
    }

    static PlanInput readModel(Path file, GraphSource source, boolean live) throws IOException {
        GraphSource.Reader reader = live ? source.live() : source.file();
        return of(live ? View.LIVE : View.FILE, reader.read(existing(file)));
    }

    static PlanInput runBlock(ModelRef block, GraphSource source, List<InputSpec> inputs) {
        return of(View.BLOCK, source.block().read(block, inputs));
    }

    private static PlanInput of(View view, Graph graph) {
        List<PlanningProblem> variants = MemoryPlanner.variants(graph, true);
        return new PlanInput(
                view,
                variants,
                Optional.of(graph),
                CsvRecords.numbered(variants.get(0)).ids(),
                UsageRecords.ALIGNMENT_BYTES);
    }

    static Path existing(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new Failure("a folder, not a file: " + file);
        }
        if (!Files.isRegularFile(file)) {
            throw new NoSuchFileException(file.toString(), null, "there is no such file");
        }
        return file;
    }
}
