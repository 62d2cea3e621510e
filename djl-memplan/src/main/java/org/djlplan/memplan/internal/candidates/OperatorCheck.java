package org.djlplan.memplan.internal.candidates;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * Compares a delegate with the CPU kernels operator by operator, each given the same values. In
 * 8-bit models, rounding errors grow from layer to layer, so the outputs of two correct kernels may
 * differ widely. The outputs of a single operator do not.
 *
 * <p>Two models are derived from the candidate's model. In the first every tensor is an output,
 * which shows all values that the delegate computes. In the second the operators are independent,
 * and the CPU kernels compute each from the values that the delegate had for it. A candidate's
 * outputs are correct if they equal the first model's outputs, and each operator of the first model
 * is correct. If there is little memory, both are divided into parts of consecutive operators,
 * which run one after the other.
 *
 * <p>For a correct operator, 8-bit integers differ by at most one step, in no more than a quarter
 * of the elements, because CPU kernels that round twice (those for unsigned types) differ from
 * other kernels in some elements. For operators that convert from one step size to another, no more
 * than half of the elements may differ. The first four differing elements are not counted. Floats
 * differ by at most 1e-4 of the largest element. A kernel with 8-bit weights may quantize its float
 * inputs at run time. The limit for such a kernel depends on how much the CPU kernel's output
 * changes when each input changes by up to half a step: the outputs may differ by twice that
 * amount, and in the Euclidean norm by 1.5 times that amount. If the outputs differ by more,
 * several such input changes are tried, and the largest amount counts.
 */
public final class OperatorCheck implements AutoCloseable {

    /** Larger models are judged only by their outputs. */
    private static final long MOST_BYTES = 64L << 20;

    /** The limit for constants, which both derived models have in their files. */
    private static final long MOST_CONSTANT_BYTES = 256L << 20;

    private static final int INPUTS = 2;

    /** Inferences of one comparison: the delegate's, and usually two of the CPU kernels. */
    static final int RUNS = 3 * INPUTS;

    private static final double LARGEST_MOVES = 2;
    private static final double SPREAD_MOVES = 1.5;
    private static final double LEAST = 1e-4;
    private static final double MOST_OFF = .25;

    /** Up to this number of elements may all differ. */
    private static final int FEW = 4;

    /**
     * XNNPACK rounds the factors of these to 1/256 ({@code xnn_init_qs8_cvt_scalar_params}, {@code
     * xnn_init_qs8_lrelu_scalar_params}), so their results differ by up to half a step.
     */
    private static final ImmutableSet<String> CONVERSIONS =
            ImmutableSet.of("QUANTIZE", "LEAKY_RELU");

    private static final double MOST_OFF_CONVERTED = .5;

    /** For an operator with few outputs, the effect of one change may be far too small. */
    private static final int MOST_MOVES = 8;

    private static final ImmutableSet<ElementType> EIGHT_BITS =
            ImmutableSet.of(ElementType.INT8, ElementType.UINT8, ElementType.INT4);

    /**
     * Peak memory of a part, in multiples of its tensors: values of all runs and copies of them,
     * and the arena of the independent operators.
     */
    private static final int TENSOR_COPIES = 8;

    /** The delegate's packed weights, and pages of the file. */
    private static final int CONSTANT_COPIES = 2;

    private final Graph graph;
    private final DelegateFactory delegates;
    private final Random random = new Random(1);

    /** The inputs that kernels quantize. */
    private final ImmutableSet<Integer> quantizedInputs;

    /** The last operator that reads each tensor. */
    private final int[] lastReaders;

    private final List<Part> parts = new ArrayList<>();

    /**
     * Consecutive operators.
     *
     * @param begin index of the first operator
     * @param end index after the last operator
     * @param exposed the unchanged operators, with every tensor as an output
     * @param apart the same operators, made independent of each other
     */
    private record Part(int begin, int end, OpenModel exposed, OpenModel apart) {

        /** Returns the candidate's operators in this part, by their index in it. */
        Candidate of(Candidate candidate) {
            return new Candidate(
                    candidate.operators().subSet(begin, end).stream()
                            .map(operator -> operator - begin)
                            .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare)),
                    candidate.threads(),
                    candidate.transientBuffers() && touches(candidate));
        }

        boolean touches(Candidate candidate) {
            return !candidate.operators().subSet(begin, end).isEmpty();
        }

        void releasePages() {
            exposed.releasePages();
            apart.releasePages();
        }

        void close() {
            try {
                exposed.close();
            } finally {
                apart.close();
            }
        }
    }

    /** A comparison of one part. */
    public interface Step {

        /** Returns the part's operator that differs most. */
        ByOperator run() throws UnplannableException, InterruptedException;
    }

    /** Runs each step when there are time and memory for it. */
    @FunctionalInterface
    public interface Steps {

        /** Runs a step. */
        ByOperator run(Step step) throws UnplannableException, InterruptedException;
    }

    /**
     * Derives the models.
     *
     * @param file the model's file
     * @param graph of the file, for which {@link #bytes} is present
     * @param folder for the copies, which are deleted from it at once
     * @param mostBytes memory for a comparison
     * @throws IOException if there is no disk space for the copies
     * @throws UnplannableException if the engine does not accept the copies, or an operator takes
     *     more memory
     */
    public OperatorCheck(
            ByteBuffer file, Graph graph, DelegateFactory delegates, Path folder, long mostBytes)
            throws IOException, UnplannableException {
        this.graph = graph;
        this.delegates = delegates;
        quantizedInputs =
                graph.operators().stream()
                        .filter(operator -> quantizesInput(graph, operator))
                        .flatMap(operator -> operator.inputs().stream())
                        .filter(id -> graph.tensors().get(id).type() == ElementType.FLOAT32)
                        .collect(ImmutableSet.toImmutableSet());
        lastReaders = new int[graph.tensors().size()];
        graph.operators().forEach(o -> o.inputs().forEach(id -> lastReaders[id] = o.index()));
        List<Integer> ends = ends(graph, mostBytes);
        try {
            TfLiteFile model = TfLiteReader.read(file, graph.name());
            int begin = 0;
            for (int end : ends) {
                TfLiteFile part = model.withOperators(begin, end);
                OpenModel exposed = opened(part, folder);
                parts.add(
                        new Part(
                                begin,
                                end,
                                exposed,
                                openedAfter(exposed, part.withOperatorsApart(), folder)));
                begin = end;
            }
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Returns the ends of parts that take at most so many bytes. */
    private static List<Integer> ends(Graph graph, long mostBytes) throws UnplannableException {
        int count = graph.operators().size();
        List<Integer> ends = new ArrayList<>();
        int begin = 0;
        for (int end = 1; end <= count; end++) {
            if (mostBytes < Long.MAX_VALUE && neededBytes(graph, begin, end) > mostBytes) {
                if (end - 1 > begin) {
                    ends.add(end - 1);
                    begin = end - 1;
                }
                if (neededBytes(graph, begin, end) > mostBytes) {
                    throw new UnplannableException(
                            "no room to compare operator " + begin + " with its CPU kernel");
                }
            }
        }
        ends.add(count);
        return ends;
    }

    private static long neededBytes(Graph graph, int begin, int end) {
        return graph.operators().subList(begin, end).stream()
                .flatMap(o -> Stream.concat(o.inputs().stream(), o.outputs().stream()))
                .distinct()
                .map(graph.tensors()::get)
                .mapToLong(
                        tensor ->
                                tensor.bytes()
                                        * (tensor.storage() == Storage.CONSTANT
                                                ? CONSTANT_COPIES
                                                : TENSOR_COPIES))
                .sum();
    }

    private static OpenModel openedAfter(OpenModel other, TfLiteFile model, Path folder)
            throws IOException, UnplannableException {
        try {
            return opened(model, folder);
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            other.close();
            throw e;
        }
    }

    /** Opens a model from a file that is deleted from the folder at once. */
    private static OpenModel opened(TfLiteFile model, Path folder)
            throws IOException, UnplannableException {
        Path own = Files.createTempDirectory(folder, "djlplan-operators");
        Path file = own.resolve("model.tflite");
        try {
            TfLiteWriter.write(model, file);
            OpenModel opened = OpenModel.of(file);
            opened.releasePages();
            return opened;
        } finally {
            Files.deleteIfExists(file);
            Files.delete(own);
        }
    }

    /**
     * Returns the total size of all tensors.
     *
     * @return empty if the model has no 8-bit integers, or cannot be compared by operators: some
     *     sizes are unknown, it is stateful, or it is too large
     */
    public static OptionalLong bytes(Graph graph) {
        if (graph.operators().stream().noneMatch(operator -> hasEightBits(graph, operator))) {
            return OptionalLong.empty();
        }
        long constants =
                graph.tensors().stream()
                        .filter(tensor -> tensor.storage() == Storage.CONSTANT)
                        .mapToLong(Tensor::bytes)
                        .sum();
        boolean known =
                graph.operators().stream()
                        .flatMap(o -> Stream.concat(o.inputs().stream(), o.outputs().stream()))
                        .map(graph.tensors()::get)
                        .noneMatch(OperatorCheck::isOpen);
        long bytes =
                graph.operators().stream()
                        .flatMap(operator -> operator.outputs().stream())
                        .mapToLong(id -> graph.tensors().get(id).bytes())
                        .sum();
        return known && constants <= MOST_CONSTANT_BYTES && bytes <= MOST_BYTES
                ? OptionalLong.of(bytes)
                : OptionalLong.empty();
    }

    private static boolean hasEightBits(Graph graph, Operator operator) {
        return quantizesInput(graph, operator)
                || operator.outputs().stream()
                        .map(id -> graph.tensors().get(id).type())
                        .anyMatch(EIGHT_BITS::contains);
    }

    private static boolean isOpen(Tensor tensor) {
        return tensor.storage() != Storage.CONSTANT && tensor.storage() != Storage.INTERMEDIATE;
    }

    /** Returns whether float kernels compute with 8-bit weights. */
    private static boolean quantizesInput(Graph graph, Operator operator) {
        List<Tensor> inputs = operator.inputs().stream().map(graph.tensors()::get).toList();
        return inputs.stream().anyMatch(input -> isWeights(input))
                && inputs.stream().anyMatch(OperatorCheck::isFloats)
                && operator.outputs().stream()
                        .map(graph.tensors()::get)
                        .allMatch(OperatorCheck::isFloats);
    }

    private static boolean isWeights(Tensor tensor) {
        return tensor.storage() == Storage.CONSTANT && EIGHT_BITS.contains(tensor.type());
    }

    private static boolean isFloats(Tensor tensor) {
        return tensor.storage() != Storage.CONSTANT && tensor.type() == ElementType.FLOAT32;
    }

    /**
     * Returns the operator that differs most from its CPU kernel.
     *
     * @param candidate that delegates
     * @param inputs of the model, by run
     * @param served the candidate's outputs, by run, then output
     * @param steps runs the comparison of each part
     * @throws UnplannableException if the derived models cannot run
     */
    public ByOperator worst(
            Candidate candidate,
            List<List<ByteBuffer>> inputs,
            List<List<OutputTensor>> served,
            Steps steps)
            throws UnplannableException, InterruptedException {
        List<Map<Integer, ByteBuffer>> given = new ArrayList<>();
        List<Map<Integer, OutputTensor>> outputs = new ArrayList<>();
        for (int run = 0; run < Math.min(INPUTS, served.size()); run++) {
            Map<Integer, ByteBuffer> values = new HashMap<>();
            for (int i = 0; i < graph.inputs().size(); i++) {
                values.put(graph.inputs().get(i), inputs.get(run).get(i));
            }
            given.add(values);
            outputs.add(new HashMap<>());
        }
        ByOperator worst = new ByOperator(candidate.operators().first(), 0);
        for (Part part : parts) {
            ByOperator here = steps.run(() -> worst(part, candidate, given, outputs));
            worst = here.share() > worst.share() ? here : worst;
        }
        for (int run = 0; run < outputs.size(); run++) {
            if (!isServed(served.get(run), outputs.get(run))) {
                return new ByOperator(worst.operator(), Double.POSITIVE_INFINITY);
            }
        }
        return worst;
    }

    /**
     * Runs a part with the values of the parts before it.
     *
     * @param given values of tensors, by run; afterwards only the values that later parts read
     * @param outputs values of the model's outputs, by run
     */
    private ByOperator worst(
            Part part,
            Candidate candidate,
            List<Map<Integer, ByteBuffer>> given,
            List<Map<Integer, OutputTensor>> outputs)
            throws UnplannableException, InterruptedException {
        List<Map<Integer, OutputTensor>> computed = new ArrayList<>();
        try (ModelInterpreter delegate = build(part.exposed(), part.of(candidate))) {
            for (Map<Integer, ByteBuffer> values : given) {
                Map<Integer, OutputTensor> all = outputs(part, part.exposed(), delegate, values);
                all.forEach((id, value) -> values.put(id, value.data()));
                computed.add(all);
            }
        }
        ByOperator worst = new ByOperator(candidate.operators().first(), 0);
        if (part.touches(candidate)) {
            try (ModelInterpreter cpu = build(part.apart(), Candidate.cpu(candidate.threads()))) {
                for (int run = 0; run < given.size(); run++) {
                    ByOperator here =
                            worst(part, candidate, cpu, given.get(run), computed.get(run));
                    worst = here.share() > worst.share() ? here : worst;
                }
            }
        }
        for (int run = 0; run < given.size(); run++) {
            given.get(run).keySet().removeIf(id -> lastReaders[id] < part.end());
            computed.get(run).keySet().retainAll(graph.outputs());
            outputs.get(run).putAll(computed.get(run));
        }
        part.releasePages();
        return worst;
    }

    private ByOperator worst(
            Part part,
            Candidate candidate,
            ModelInterpreter cpu,
            Map<Integer, ByteBuffer> given,
            Map<Integer, OutputTensor> values) {
        Map<Integer, OutputTensor> right = outputs(part, part.apart(), cpu, given);
        Map<Integer, Deviation> moves = new HashMap<>();
        ByOperator worst;
        int times = 0;
        do {
            addMoves(moves, part, cpu, given, right);
            worst = new ByOperator(candidate.operators().first(), 0);
            for (int operator : candidate.operators().subSet(part.begin(), part.end())) {
                double share = share(graph.operators().get(operator), values, right, moves);
                worst = share > worst.share() ? new ByOperator(operator, share) : worst;
            }
            times++;
        } while (!worst.isRight() && !moves.isEmpty() && times < MOST_MOVES);
        return worst;
    }

    private ModelInterpreter build(OpenModel model, Candidate candidate)
            throws UnplannableException {
        return MeasuredInterpreter.of(model, delegates, candidate, Optional.empty(), false)
                .interpreter();
    }

    /** Adds the changes of kernels' outputs when their quantized inputs change at random. */
    private void addMoves(
            Map<Integer, Deviation> moves,
            Part part,
            ModelInterpreter cpu,
            Map<Integer, ByteBuffer> given,
            Map<Integer, OutputTensor> right) {
        if (quantizedInputs.isEmpty()) {
            return;
        }
        Map<Integer, OutputTensor> moved = outputs(part, part.apart(), cpu, moved(given));
        for (Operator operator : graph.operators().subList(part.begin(), part.end())) {
            if (quantizesInput(graph, operator)) {
                for (int id : operator.outputs()) {
                    moves.merge(
                            id, OutputDifferences.of(moved.get(id), right.get(id)), Deviation::and);
                }
            }
        }
    }

    /** Returns whether the model's outputs equal these values. */
    private boolean isServed(List<OutputTensor> served, Map<Integer, OutputTensor> values) {
        for (int i = 0; i < served.size(); i++) {
            OutputTensor value = values.get(graph.outputs().get(i));
            if (value != null
                    && !Tolerance.isRounding(
                            new OutputError(
                                    value.info().type(),
                                    OutputDifferences.of(served.get(i), value),
                                    Deviation.NONE,
                                    1))) {
                return false;
            }
        }
        return true;
    }

    /** Runs a model of a part, and returns what its operators compute, by tensor. */
    private static Map<Integer, OutputTensor> outputs(
            Part part,
            OpenModel model,
            ModelInterpreter interpreter,
            Map<Integer, ByteBuffer> given) {
        List<OutputTensor> outputs =
                interpreter.run(model.graph().inputs().stream().map(given::get).toList());
        Map<Integer, OutputTensor> values = new HashMap<>();
        for (int i = 0; i < outputs.size(); i++) {
            values.put(part.exposed().graph().outputs().get(i), outputs.get(i));
        }
        return values;
    }

    private double share(
            Operator operator,
            Map<Integer, OutputTensor> values,
            Map<Integer, OutputTensor> right,
            Map<Integer, Deviation> moves) {
        double mostOff = CONVERSIONS.contains(operator.type()) ? MOST_OFF_CONVERTED : MOST_OFF;
        double most = 0;
        for (int id : operator.outputs()) {
            Deviation deviation = OutputDifferences.of(values.get(id), right.get(id));
            Deviation move = moves.getOrDefault(id, Deviation.NONE);
            double off = OutputDifferences.shareOff(values.get(id), right.get(id), FEW) / mostOff;
            most = Math.max(most, share(graph.tensors().get(id).type(), deviation, off, move));
        }
        return most;
    }

    private static double share(ElementType type, Deviation deviation, double off, Deviation move) {
        return switch (type) {
            case FLOAT16, FLOAT32, FLOAT64 ->
                    Math.max(
                            deviation.largest() / Math.max(LEAST, LARGEST_MOVES * move.largest()),
                            deviation.spread() / Math.max(LEAST, SPREAD_MOVES * move.spread()));
            case INT8, UINT8, INT16, UINT16 -> Math.max(deviation.largest(), off);
            default -> deviation.largest() == 0 ? 0 : Double.POSITIVE_INFINITY;
        };
    }

    /** Changes quantized inputs of kernels by up to half a step. */
    private Map<Integer, ByteBuffer> moved(Map<Integer, ByteBuffer> given) {
        Map<Integer, ByteBuffer> moved = new HashMap<>(given);
        for (int id : quantizedInputs) {
            moved.computeIfPresent(
                    id, (same, values) -> RandomValues.movedByHalfAStep(values, random));
        }
        return moved;
    }

    @Override
    public void close() {
        parts.forEach(Part::close);
    }
}
