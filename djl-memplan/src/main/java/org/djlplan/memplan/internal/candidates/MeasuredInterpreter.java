package org.djlplan.memplan.internal.candidates;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveNode;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.ShapeMix;

/**
 * An interpreter that is measured in its own arena, either at the shapes in the file, or at each of
 * the shapes of a mix in turn. An inference's time includes a share of the reallocation for the
 * next shapes, in proportion to how often shapes change in the mix.
 */
record MeasuredInterpreter(
        InterpreterFactory factory, ModelInterpreter interpreter, Optional<ShapeMix> mix)
        implements CpuOutputs.Interpreter {

    /**
     * Builds an interpreter.
     *
     * @param timed whether the time of each node is taken
     */
    static MeasuredInterpreter of(
            OpenModel model,
            DelegateFactory delegates,
            Candidate candidate,
            Optional<ShapeMix> mix,
            boolean timed)
            throws UnplannableException {
        InterpreterFactory factory =
                new InterpreterFactory(
                        model.sessions(),
                        model.graph(),
                        MemoryPlanner::plan,
                        delegates,
                        // A separate pool, because memory of a shared one would not count as the
                        // candidate's.
                        new ArenaPool(),
                        false);
        ModelInterpreter built =
                factory.build(
                        mix.map(m -> m.shapes().get(0)).orElse(factory.shapesInFile()),
                        candidate,
                        timed);
        try {
            built.keepArena();
            return new MeasuredInterpreter(factory, built, mix);
        } catch (RuntimeException | Error e) {
            built.close();
            throw e;
        }
    }

    Candidate candidate() {
        return interpreter.candidate();
    }

    ModelInterpreter.Description description() {
        return interpreter.description();
    }

    List<LiveNode> nodes() {
        return interpreter.nodes();
    }

    /**
     * Predicts.
     *
     * @param number of the inference, which selects the shapes of the mix
     */
    @Override
    public List<OutputTensor> of(List<ByteBuffer> values, int number) {
        try {
            become(number);
        } catch (UnplannableException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
        return interpreter.run(values);
    }

    private void become(int number) throws UnplannableException {
        if (mix.isEmpty()) {
            return;
        }
        List<List<List<Integer>>> all = mix.get().shapes();
        List<List<Integer>> shapes = all.get(number % all.size());
        if (!interpreter.hasShapes(shapes)) {
            factory.noteUse(shapes);
            factory.reshape(interpreter, shapes);
            interpreter.keepArena();
        }
    }

    /**
     * Reallocates it for shapes of the mix, and returns the share of the time for each inference.
     */
    private long change(CpuOutputs inputs, int number) throws UnplannableException {
        if (mix.isEmpty()) {
            return 0;
        }
        long start = System.nanoTime();
        become(number);
        long nanos = System.nanoTime() - start;
        interpreter.fill(inputs.input(number));
        return Math.round(nanos * mix.get().changes());
    }

    private int shapes() {
        return mix.map(m -> m.shapes().size()).orElse(1);
    }

    /** Predicts once more at each of the shapes, and returns the average time in nanoseconds. */
    long time(CpuOutputs inputs) throws UnplannableException {
        long sum = 0;
        for (int i = 0; i < shapes(); i++) {
            sum += change(inputs, i);
            long start = System.nanoTime();
            interpreter.runAgain();
            sum += System.nanoTime() - start;
        }
        return sum / shapes();
    }

    /**
     * Predicts once more at each of the shapes, and returns the average time of each node. The time
     * of a change of shapes is spread over the delegate's nodes, if there are any, by their numbers
     * of operators.
     */
    long[] nodeTimes(CpuOutputs inputs) throws UnplannableException {
        List<LiveNode> nodes = nodes();
        boolean delegates = nodes.stream().anyMatch(LiveNode::delegated);
        int[] shares =
                nodes.stream()
                        .mapToInt(n -> n.delegated() == delegates ? n.operators().size() : 0)
                        .toArray();
        int all = Math.max(1, Arrays.stream(shares).sum());
        long[] sums = new long[shares.length];
        for (int i = 0; i < shapes(); i++) {
            long change = change(inputs, i);
            interpreter.runAgain();
            long[] times = interpreter.times();
            for (int node = 0; node < sums.length; node++) {
                sums[node] += times[node] + change * shares[node] / all;
            }
        }
        return Arrays.stream(sums).map(sum -> sum / shapes()).toArray();
    }

    @Override
    public void close() {
        interpreter.close();
    }
}
