package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests models that run with two threads or one, depending on the load. */
class GovernedThreadsTest {

    private static final Path FILE = TestModels.built("mobilenet_v1");
    private static final long SECOND = 1_000_000_000;

    @AfterEach
    void everythingIsFreed() {
        Freed.assertEverything();
    }

    private static DelegationChoice choice(Candidate candidate, Candidate... lighter) {
        return new DelegationChoice(
                candidate, List.of(lighter), Origin.MEASURED, "a test", List.of());
    }

    private static ServedModel open(DelegationChoice choice) throws Exception {
        return Served.open(FILE, choice);
    }

    private static int threads(ServedModel runtime) {
        return runtime.report().delegation().orElseThrow().threads();
    }

    private static List<ByteBuffer> predict(ServedModel runtime, Inputs inputs) {
        return runtime.run(inputs.values(), inputs.shapes()).stream()
                .map(OutputTensor::data)
                .toList();
    }

    private record Inputs(List<ByteBuffer> values, List<List<Integer>> shapes) {}

    /** Returns the outputs of a model with only one of the candidates. */
    private static List<ByteBuffer> alone(Candidate candidate, Inputs inputs) throws Exception {
        try (ServedModel runtime = open(choice(candidate))) {
            return predict(runtime, inputs);
        }
    }

    /** The two candidates delegate different operators, so that outputs show which one ran. */
    @Test
    @Tag("long")
    void run_oneThreadThenFour_everyAnswerIsOneOfTheCandidates() throws Exception {
        SortedSet<Integer> operators = FixedChoice.operators(FILE, Delegates.XNNPACK);
        Candidate two = new Candidate(operators, 2);
        Candidate one = new Candidate(operators.headSet(operators.last()), 1);
        try (StockInterpreter stock = new StockInterpreter(FILE, 1);
                ServedModel runtime = open(choice(two, one))) {
            Inputs inputs = new Inputs(stock.randomInputs(1), stock.shapes());
            Set<List<ByteBuffer>> answers = new HashSet<>();
            answers.add(alone(two, inputs));
            answers.add(alone(one, inputs));
            for (List<ByteBuffer> answer : answers) {
                Tolerance.assertWithin(stock.run(inputs.values()), answer, "a candidate");
            }
            assertEquals(1, threads(runtime), "it begins with the fewest");
            // On a quiet machine with two cores, the model switches to two threads during this
            // time. The test does not depend on that: the outputs are right either way.
            long end = System.nanoTime() + 3 * SECOND / 2;
            do {
                assertTrue(answers.contains(predict(runtime, inputs)));
            } while (System.nanoTime() < end);
            Threads.all(
                    4,
                    thread -> {
                        for (int i = 0; i < 50; i++) {
                            assertTrue(answers.contains(predict(runtime, inputs)));
                        }
                        return true;
                    });
            assertTrue(runtime.report().interpreters().size() <= interpreters() + 1);
            assertEquals(0, runtime.report().predictions().unplanned());
        }
    }

    private static int interpreters() {
        return Served.options(Map.of()).workers().interpreters();
    }

    @Test
    void run_numberOfTheUser_neverChanges() throws Exception {
        Candidate two = new Candidate(FixedChoice.operators(FILE, Delegates.XNNPACK), 2);
        try (StockInterpreter stock = new StockInterpreter(FILE, 1);
                ServedModel runtime = open(choice(two))) {
            Inputs inputs = new Inputs(stock.randomInputs(1), stock.shapes());
            List<ByteBuffer> expected = alone(two, inputs);
            Threads.all(
                    2,
                    thread -> {
                        for (int i = 0; i < 8; i++) {
                            assertEquals(expected, predict(runtime, inputs));
                            assertEquals(2, threads(runtime));
                        }
                        return true;
                    });
        }
    }

    /** The first interpreter of the new choice also serves first. */
    @Test
    void switchTo_choiceOfTwoCandidates_beginsWithTheFewestThreads() throws Exception {
        SortedSet<Integer> operators = FixedChoice.operators(FILE, Delegates.XNNPACK);
        Candidate one = new Candidate(operators, 1);
        try (StockInterpreter stock = new StockInterpreter(FILE, 1);
                ServedModel runtime = open(choice(Candidate.cpu(2)))) {
            Inputs inputs = new Inputs(stock.randomInputs(1), stock.shapes());
            runtime.switchTo(choice(new Candidate(operators, 2), one));
            assertEquals(1, runtime.report().interpreters().size());
            assertEquals(1, threads(runtime));
            assertEquals(
                    operators.size(),
                    runtime.report().delegation().orElseThrow().delegatedOperators());
            assertEquals(alone(one, inputs), predict(runtime, inputs));
        }
    }
}
