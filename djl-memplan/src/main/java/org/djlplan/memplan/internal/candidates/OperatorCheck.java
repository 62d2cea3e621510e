package org.djlplan.memplan.internal.candidates;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Tolerance;

/**
 * Compares a delegate with the CPU kernels operator by operator, each given the same values. In
 * 8-bit models roundings grow from layer to layer, so the outputs of two correct kernels may differ
 * widely, but those of a single operator do not.
 *
 * <p>Two models are derived from the candidate's model. In the first every tensor is an output,
 * which shows all values that the delegate computes. In the second the operators are independent,
 * and the CPU kernels compute each from the values that the delegate had for it. A candidate's
 * outputs are correct if they equal those of the first model, and each operator of the first model
 * is correct.
 *
 * <p>For a correct operator, 8-bit integers differ by at most one step, in no more than a quarter
 * of the elements, because CPU kernels that round twice (those for unsigned types) differ in some
 * elements; for operators that convert steps, in no more than half. Four elements are ignored.
 * Floats differ by at most 1e-4 of the largest element. If a kernel quantizes its floats at run
 * time because its weights have 8 bits, these may differ by twice the change of the CPU kernel's
 * own output when each input changes by up to half a step, and by 1.5 times the change in the
 * Euclidean norm; if one such change is not sufficient, the largest of several counts.
 */
public final class OperatorCheck implements AutoCloseable {

    /** Larger models are judged only by their outputs. */
    private static final long MOST_BYTES = 64L << 20;

    /** The two copies lie in files. */
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

    private final Graph graph;
    private final Builder builder;
    private final Random random = new Random(1);

    /** Tensors: outputs of operators, their inputs, and the inputs that kernels quantize. */
    private final ImmutableList<Integer> computed;

    private final ImmutableList<Integer> read;
    private final ImmutableSet<Integer> quantizedInputs;
    private final OpenModel exposed;
    private final OpenModel apart;

    /** Builds interpreters of the derived models. */
    interface Builder {
        ModelInterpreter build(OpenModel model, Candidate candidate)
                throws UnplannableException, InterruptedException;
    }

    /**
     * Derives the models.
     *
     * @param graph for which {@link #bytes} is present
     * @throws IOException if there is no disk space for the copies
     * @throws UnplannableException if the engine does not accept the copies
     */
    OperatorCheck(Path file, Graph graph, Builder builder)
            throws IOException, UnplannableException {
        this.graph = graph;
        this.builder = builder;
        computed =
                graph.operators().stream()
                        .flatMap(operator -> operator.outputs().stream())
                        .collect(ImmutableList.toImmutableList());
        quantizedInputs =
                graph.operators().stream()
                        .filter(operator -> quantizesInput(graph, operator))
                        .flatMap(operator -> operator.inputs().stream())
                        .filter(id -> graph.tensors().get(id).type() == ElementType.FLOAT32)
                        .collect(ImmutableSet.toImmutableSet());
        try (MappedFile mapping = MappedFile.open(file)) {
            TfLiteFile model = TfLiteReader.read(mapping.bytes(), file.toString());
            TfLiteFile operators = model.withOperatorsApart();
            read = ImmutableList.copyOf(operators.main().inputs());
            exposed = opened(model.withOutputs(computed));
            apart = openedAfter(exposed, operators);
        } catch (UnsupportedPlatformException e) {
            throw new UnplannableException(e.getMessage());
        }
    }

    private static OpenModel openedAfter(OpenModel other, TfLiteFile model)
            throws IOException, UnplannableException {
        try {
            return opened(model);
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            other.close();
            throw e;
        }
    }

    /** Opens a model from a file that is deleted from the folder at once. */
    private static OpenModel opened(TfLiteFile model) throws IOException, UnplannableException {
        Path folder = Files.createTempDirectory("djlplan-operators");
        Path file = folder.resolve("model.tflite");
        try {
            TfLiteWriter.write(model, file);
            return OpenModel.of(file);
        } finally {
            Files.deleteIfExists(file);
            Files.delete(folder);
        }
    }

    /**
     * Returns the total size of all tensors.
     *
     * @return empty if the model has no 8-bit integers, or cannot be compared by operators: some
     *     sizes are unknown, it is stateful, or it is too large
     */
    public static OptionalLong bytes(Graph graph) {
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
        boolean concerned = graph.operators().stream().anyMatch(o -> hasEightBits(graph, o));
        return concerned && known && constants <= MOST_CONSTANT_BYTES && bytes <= MOST_BYTES
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
     * @throws UnplannableException if the derived models cannot run
     */
    ByOperator worst(
            Candidate candidate, List<List<ByteBuffer>> inputs, List<List<OutputTensor>> served)
            throws UnplannableException, InterruptedException {
        ByOperator worst = new ByOperator(candidate.operators().first(), 0);
        try (ModelInterpreter delegate = builder.build(exposed, candidate);
                ModelInterpreter cpu = builder.build(apart, Candidate.cpu(candidate.threads()))) {
            for (int run = 0; run < Math.min(INPUTS, served.size()); run++) {
                Map<Integer, OutputTensor> values = byId(delegate.run(inputs.get(run)));
                if (!isServed(served.get(run), values)) {
                    return new ByOperator(worst.operator(), Double.POSITIVE_INFINITY);
                }
                Map<Integer, ByteBuffer> given = new HashMap<>();
                for (int i = 0; i < graph.inputs().size(); i++) {
                    given.put(graph.inputs().get(i), inputs.get(run).get(i));
                }
                values.forEach((id, value) -> given.put(id, value.data()));
                Map<Integer, OutputTensor> right = outputs(cpu, given);
                Map<Integer, Deviation> moves = new HashMap<>();
                ByOperator worstHere;
                int times = 0;
                do {
                    addMoves(moves, cpu, given, right);
                    worstHere = worst(candidate, values, right, moves);
                    times++;
                } while (!worstHere.isRight() && !moves.isEmpty() && times < MOST_MOVES);
                worst = worstHere.share() > worst.share() ? worstHere : worst;
            }
        }
        return worst;
    }

    private ByOperator worst(
            Candidate candidate,
            Map<Integer, OutputTensor> values,
            Map<Integer, OutputTensor> right,
            Map<Integer, Deviation> moves) {
        ByOperator worst = new ByOperator(candidate.operators().first(), 0);
        for (int operator : candidate.operators()) {
            double share = share(graph.operators().get(operator), values, right, moves);
            worst = share > worst.share() ? new ByOperator(operator, share) : worst;
        }
        return worst;
    }

    /** Adds the changes of kernels' outputs when their quantized inputs change at random. */
    private void addMoves(
            Map<Integer, Deviation> moves,
            ModelInterpreter cpu,
            Map<Integer, ByteBuffer> given,
            Map<Integer, OutputTensor> right) {
        if (quantizedInputs.isEmpty()) {
            return;
        }
        Map<Integer, OutputTensor> moved = outputs(cpu, moved(given));
        for (Operator operator : graph.operators()) {
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

    private Map<Integer, OutputTensor> outputs(
            ModelInterpreter cpu, Map<Integer, ByteBuffer> given) {
        return byId(cpu.run(read.stream().map(given::get).toList()));
    }

    private Map<Integer, OutputTensor> byId(List<OutputTensor> outputs) {
        Map<Integer, OutputTensor> values = new HashMap<>();
        for (int i = 0; i < outputs.size(); i++) {
            values.put(computed.get(i), outputs.get(i));
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
        try {
            exposed.close();
        } finally {
            apart.close();
        }
    }
}
