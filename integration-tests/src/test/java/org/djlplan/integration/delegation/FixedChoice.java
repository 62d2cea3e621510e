package org.djlplan.integration.delegation;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * Runs models in which every operator that the delegate reports is delegated, even if it is slower
 * there.
 */
final class FixedChoice {

    private FixedChoice() {}

    /**
     * The outputs of the CPU kernels and of the delegate, and the number of delegated operators.
     */
    record Outcome(List<ByteBuffer> expected, List<ByteBuffer> outputs, DelegationReport report) {}

    /** Runs a model once on one thread. */
    static Outcome run(Path file, String delegate) throws Exception {
        DelegationChoice all =
                new DelegationChoice(
                        new Candidate(operators(file, delegate), 1), Origin.MEASURED, "a test");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ServedModel runtime = Served.open(file, delegate, all)) {
            List<ByteBuffer> values = stock.randomInputs(3);
            List<ByteBuffer> outputs =
                    runtime.run(values, stock.shapes()).stream().map(OutputTensor::data).toList();
            return new Outcome(
                    stock.run(values), outputs, runtime.report().delegation().orElseThrow());
        }
    }

    /** Returns all operators that a delegate would take. */
    static SortedSet<Integer> operators(Path file, String delegate) throws Exception {
        return ImmutableSortedSet.copyOf(
                partitions(file, delegate).stream().flatMap(Set::stream).toList());
    }

    /** Returns the partitions that a delegate reports. */
    static List<Set<Integer>> partitions(Path file, String delegate) throws Exception {
        StockInterpreter.loadEngine();
        try (CandidateInterpreters runner = Served.candidates(file, delegate)) {
            return runner.partitions();
        }
    }

    /** Returns how many operators of a type a model has. */
    static int count(Path file, String type) throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.toString());
        return (int) graph.operators().stream().filter(o -> o.type().equals(type)).count();
    }
}
