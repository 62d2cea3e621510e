package org.djlplan.integration.delegation;

import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.djlplan.integration.delegation.FaultyDelegate.Fault;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Sets;

/**
 * Prints which outputs of an 8-bit model the acceptance rule for delegates accepts. Either correct
 * XNNPACK kernels run all operators; or one operator has a fault and XNNPACK runs the others.
 */
final class AcceptanceTable {

    /** Inputs of the correct outputs, to show how far a fault moves these. */
    private static final int INPUTS = 4;

    /** Float outputs do not count if a fault moves them by less. */
    private static final double FLOATS = 1e-2;

    /** No fault, other roundings, and faults that integers cannot have. */
    private static final Set<Fault> NO_FAULTS =
            EnumSet.of(
                    Fault.NONE,
                    Fault.HALF_EVEN,
                    Fault.HALF_UP,
                    Fault.COARSE,
                    Fault.DENORMALS,
                    Fault.NOT_A_NUMBER,
                    Fault.F16,
                    Fault.BF16);

    private static final ImmutableSet<String> NO_SITES = ImmutableSet.of("RESHAPE");

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private AcceptanceTable() {}

    private static String summary(List<OutputError> errors) {
        OutputError worst = errors.get(0);
        for (OutputError each : errors) {
            worst = each.difference() > worst.difference() ? each : worst;
        }
        return String.format(
                Locale.ROOT,
                "%s: %.2g of %.2g, its operators %.2f of what is accepted of one",
                Closeness.accepted(errors) ? "accepted" : "REFUSED",
                worst.difference(),
                Tolerance.AUTO.limit(worst),
                worst.byOperator().map(OutputError.ByOperator::share).orElse(Double.NaN));
    }

    static void printRight(Path file, String name) throws Exception {
        try (CandidateInterpreters runner = Served.candidates(file, Delegates.XNNPACK)) {
            Candidate all = new Candidate(FixedChoice.operators(file, Delegates.XNNPACK), 1);
            print("%n%s, everything in XNNPACK %s%n", name, summary(runner.prepare(all).errors()));
        }
    }

    /**
     * @param siteCount number of operators that get a fault, one at a time
     */
    static void printFaulty(FaultyDelegate delegate, Path file, int siteCount) throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.getFileName().toString());
        List<Integer> sites = FaultyDelegate.allOver(candidates(graph), siteCount);
        delegate.claim(sites, true);
        delegate.select(FaultyDelegate.EVERY, Fault.NONE);
        Candidate all = new Candidate(FixedChoice.operators(file, delegate.name()), 1);
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                CandidateInterpreters judge = Served.candidates(file, delegate.name());
                ServedModel model = Closeness.open(file, delegate.name())) {
            List<List<OutputTensor>> right = outputs(model, stock);
            print("  faults: accepted / effective%n");
            int accepted = 0;
            int effective = 0;
            for (Fault fault : Sets.difference(EnumSet.allOf(Fault.class), NO_FAULTS)) {
                int acceptedHere = 0;
                int effectiveHere = 0;
                double most = 0;
                for (int site : sites) {
                    delegate.select(site, fault);
                    double moves = furthest(right, outputs(model, stock));
                    if (moves > 1) {
                        effectiveHere++;
                        if (Closeness.accepted(judge.prepare(all).errors())) {
                            acceptedHere++;
                            most = Math.max(most, moves);
                        }
                        judge.release(all);
                    }
                }
                print(
                        "    %-14s %3d / %3d%s%n",
                        fault,
                        acceptedHere,
                        effectiveHere,
                        acceptedHere == 0 ? "" : String.format(Locale.ROOT, "  up to %.1f", most));
                accepted += acceptedHere;
                effective += effectiveHere;
            }
            print("    %-14s %3d / %3d%n", "together", accepted, effective);
        }
    }

    private static List<List<OutputTensor>> outputs(ServedModel model, StockInterpreter stock) {
        List<List<OutputTensor>> outputs = new ArrayList<>();
        for (int i = 0; i < INPUTS; i++) {
            outputs.add(model.run(stock.randomInputs(i), stock.shapes()));
        }
        return outputs;
    }

    /**
     * Returns the largest distance of outputs: in steps, or for floats in hundredths of the largest
     * element.
     */
    private static double furthest(List<List<OutputTensor>> some, List<List<OutputTensor>> others) {
        double furthest = 0;
        for (int run = 0; run < some.size(); run++) {
            for (int i = 0; i < some.get(run).size(); i++) {
                OutputTensor a = some.get(run).get(i);
                OutputTensor b = others.get(run).get(i);
                furthest =
                        Math.max(
                                furthest,
                                a.info().type() == ElementType.FLOAT32
                                        ? Closeness.deviation(b.data(), a.data()).largest() / FLOATS
                                        : steps(a.data(), b.data(), a.info().type()));
            }
        }
        return furthest;
    }

    private static int steps(ByteBuffer a, ByteBuffer b, ElementType type) {
        int mask = type == ElementType.UINT8 ? 0xff : -1;
        int most = 0;
        for (int i = 0; i < a.limit(); i++) {
            most = Math.max(most, Math.abs((a.get(i) & mask) - (b.get(i) & mask)));
        }
        return most;
    }

    private static List<Integer> candidates(Graph graph) {
        return graph.operators().stream()
                .filter(operator -> !NO_SITES.contains(operator.type()))
                .map(Operator::index)
                .toList();
    }

    private static void print(String format, Object... arguments) {
        OUT.print(String.format(Locale.ROOT, format, arguments));
    }
}
