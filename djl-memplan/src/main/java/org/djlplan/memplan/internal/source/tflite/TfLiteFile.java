package org.djlplan.memplan.internal.source.tflite;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntUnaryOperator;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The content of a {@code .tflite} file. A value of this type is a consistent model: indices are
 * valid, operators are in an executable order, constants have the size of their shape.
 *
 * @param description possibly empty
 * @param operatorCodes functions, to which operators refer by index
 * @param subgraphs the first is the model; its operators call the others
 * @param buffers contents of constants and metadata; index 0 stands for no content
 * @param metadataBuffers indices of buffers, an older form of {@code metadata}
 * @param metadata named buffers
 * @param signatures names of inputs and outputs
 * @param notCarried paths of data that the known schema does not contain; a model with such data
 *     can be planned but not written
 */
public record TfLiteFile(
        String description,
        List<TfLiteOperatorCode> operatorCodes,
        List<TfLiteSubgraph> subgraphs,
        List<TfLiteBytes> buffers,
        List<Integer> metadataBuffers,
        List<Metadata> metadata,
        List<Signature> signatures,
        List<String> notCarried) {

    /** The version of the schema; TensorFlow Lite accepts no other. */
    public static final int SCHEMA_VERSION = 3;

    /** Takes the place of a tensor, so that others keep their indices. */
    private static final TfLiteTensor UNUSED =
            TfLiteTensor.plain(List.of(), TfLiteTensor.INT32, 0, "");

    /**
     * @throws InvalidModelException if the parts contradict each other
     */
    public TfLiteFile {
        operatorCodes = ImmutableList.copyOf(operatorCodes);
        subgraphs = ImmutableList.copyOf(subgraphs);
        buffers = ImmutableList.copyOf(buffers);
        metadataBuffers = ImmutableList.copyOf(metadataBuffers);
        metadata = ImmutableList.copyOf(metadata);
        signatures = ImmutableList.copyOf(signatures);
        notCarried = ImmutableList.copyOf(notCarried);
        new ModelCheck(operatorCodes, subgraphs, buffers)
                .check(metadataBuffers, metadata, signatures);
    }

    public TfLiteSubgraph main() {
        return subgraphs.get(0);
    }

    /**
     * Returns this model with other shapes of tensors in the main subgraph.
     *
     * @param shapes by the tensor's index; other tensors keep their shapes
     * @throws InvalidModelException if a constant's size does not match its new shape
     */
    public TfLiteFile withShapes(Map<Integer, List<Integer>> shapes) {
        TfLiteSubgraph main = main();
        List<TfLiteTensor> tensors = new ArrayList<>(main.tensors());
        shapes.forEach((id, shape) -> tensors.set(id, tensors.get(id).withShape(shape)));
        return withMain(
                new TfLiteSubgraph(
                        main.name(), tensors, main.inputs(), main.outputs(), main.operators()),
                signatures);
    }

    /**
     * Returns this model with another subgraph as the first. The two subgraphs are swapped, also in
     * references of operators and signatures.
     *
     * @param index of the subgraph
     */
    public TfLiteFile withFirst(int index) {
        IntUnaryOperator moved = old -> old == 0 ? index : old == index ? 0 : old;
        List<TfLiteSubgraph> swapped = new ArrayList<>();
        for (int i = 0; i < subgraphs.size(); i++) {
            swapped.add(subgraphs.get(moved.applyAsInt(i)).calling(moved));
        }
        return with(
                swapped,
                buffers,
                metadata,
                signatures.stream().map(signature -> signature.of(moved)).toList());
    }

    /**
     * Returns this model with other outputs, and without signatures.
     *
     * @param outputs tensors of the main subgraph
     */
    public TfLiteFile withOutputs(List<Integer> outputs) {
        TfLiteSubgraph main = main();
        return withMain(
                new TfLiteSubgraph(
                        main.name(), main.tensors(), main.inputs(), outputs, main.operators()),
                List.of());
    }

    /**
     * Returns a model of consecutive operators, without signatures. Its inputs are the tensors that
     * the operators read and do not write, in the order of the indices; its outputs are all tensors
     * that they write, in the operators' order. Tensors keep their indices; the content of
     * constants that no operator of the model reads is left out.
     *
     * @param begin index of the first operator
     * @param end index after the last one
     */
    public TfLiteFile withOperators(int begin, int end) {
        TfLiteSubgraph main = main();
        List<TfLiteOperator> operators = main.operators().subList(begin, end);
        List<Integer> written =
                operators.stream().flatMap(each -> each.presentOutputs().stream()).toList();
        Set<Integer> used = new TreeSet<>(written);
        operators.forEach(each -> used.addAll(each.presentInputs()));
        List<TfLiteTensor> tensors = new ArrayList<>();
        BitSet read = new BitSet();
        for (int id = 0; id < main.tensors().size(); id++) {
            TfLiteTensor tensor = used.contains(id) ? main.tensors().get(id) : UNUSED;
            tensors.add(tensor);
            read.set(tensor.buffer());
        }
        subgraphs.stream()
                .skip(1)
                .flatMap(each -> each.tensors().stream())
                .forEach(each -> read.set(each.buffer()));
        List<Integer> inputs =
                used.stream()
                        .filter(id -> !written.contains(id) && !isConstant(tensors.get(id)))
                        .toList();
        List<TfLiteBytes> left = new ArrayList<>();
        for (int i = 0; i < buffers.size(); i++) {
            boolean kept = read.get(i) || metadataBuffers.contains(i);
            left.add(kept ? buffers.get(i) : TfLiteBytes.EMPTY);
        }
        return with(
                subgraphsWith(new TfLiteSubgraph(main.name(), tensors, inputs, written, operators)),
                left,
                List.of(),
                List.of());
    }

    /**
     * Returns a model with independent operators: every tensor that is not a constant is an input,
     * in the order of the indices, and each operator writes to separate tensors, which are the
     * outputs, in the operators' order. It has no signatures.
     */
    public TfLiteFile withOperatorsApart() {
        TfLiteSubgraph main = main();
        List<TfLiteTensor> tensors = new ArrayList<>(main.tensors());
        List<TfLiteOperator> operators = new ArrayList<>();
        List<Integer> outputs = new ArrayList<>();
        for (TfLiteOperator operator : main.operators()) {
            List<Integer> own = new ArrayList<>();
            for (int id : operator.outputs()) {
                own.add(id == TfLiteOperator.ABSENT ? id : tensors.size());
                if (id != TfLiteOperator.ABSENT) {
                    outputs.add(tensors.size());
                    tensors.add(main.tensors().get(id));
                }
            }
            operators.add(operator.writing(own));
        }
        List<Integer> inputs =
                operators.stream()
                        .flatMap(operator -> operator.presentInputs().stream())
                        .filter(id -> !isConstant(main.tensors().get(id)))
                        .distinct()
                        .sorted()
                        .toList();
        return withMain(
                new TfLiteSubgraph(main.name(), tensors, inputs, outputs, operators), List.of());
    }

    private List<TfLiteSubgraph> subgraphsWith(TfLiteSubgraph main) {
        return ImmutableList.<TfLiteSubgraph>builder()
                .add(main)
                .addAll(subgraphs.subList(1, subgraphs.size()))
                .build();
    }

    private TfLiteFile withMain(TfLiteSubgraph main, List<Signature> others) {
        return with(subgraphsWith(main), buffers, metadata, others);
    }

    private TfLiteFile with(
            List<TfLiteSubgraph> otherSubgraphs,
            List<TfLiteBytes> otherBuffers,
            List<Metadata> otherMetadata,
            List<Signature> otherSignatures) {
        return new TfLiteFile(
                description,
                operatorCodes,
                otherSubgraphs,
                otherBuffers,
                metadataBuffers,
                otherMetadata,
                otherSignatures,
                notCarried);
    }

    /**
     * Returns whether another model is equal except for the content of buffers of at least this
     * size, which must have equal sizes.
     */
    public boolean equalsExceptLargeBuffers(TfLiteFile other, long leastBytes) {
        if (buffers.size() != other.buffers.size()) {
            return false;
        }
        for (int i = 0; i < buffers.size(); i++) {
            int bytes = buffers.get(i).sizeBytes();
            if (bytes != other.buffers.get(i).sizeBytes()
                    || (bytes < leastBytes && !buffers.get(i).equals(other.buffers.get(i)))) {
                return false;
            }
        }
        return description.equals(other.description)
                && operatorCodes.equals(other.operatorCodes)
                && subgraphs.equals(other.subgraphs)
                && metadataBuffers.equals(other.metadataBuffers)
                && metadata.equals(other.metadata)
                && signatures.equals(other.signatures)
                && notCarried.equals(other.notCarried);
    }

    public TfLiteOperatorCode codeOf(TfLiteOperator operator) {
        return operatorCodes.get(operator.opcodeIndex());
    }

    /**
     * Returns whether the model, or a graph that it calls, keeps values from one prediction to the
     * next.
     */
    public boolean keepsState() {
        return KeptState.isIn(this);
    }

    /** Returns whether a tensor's content lies in the file. */
    public boolean isConstant(TfLiteTensor tensor) {
        return isConstant(buffers, tensor);
    }

    static boolean isConstant(List<TfLiteBytes> buffers, TfLiteTensor tensor) {
        return tensor.buffer() != 0 && buffers.get(tensor.buffer()).sizeBytes() > 0;
    }

    /**
     * A named buffer with additional data of the model.
     *
     * @param name of the data
     * @param buffer index of its content in the file's buffers
     */
    public record Metadata(String name, int buffer) {}

    /**
     * Names of the inputs and outputs of a subgraph.
     *
     * @param inputs names of inputs
     * @param outputs names of outputs
     * @param key name of the signature
     * @param deprecatedTag a field that newer files leave empty
     * @param subgraph index of the subgraph
     */
    public record Signature(
            List<Entry> inputs,
            List<Entry> outputs,
            String key,
            String deprecatedTag,
            int subgraph) {

        public Signature {
            inputs = ImmutableList.copyOf(inputs);
            outputs = ImmutableList.copyOf(outputs);
        }

        private Signature of(IntUnaryOperator moved) {
            return new Signature(inputs, outputs, key, deprecatedTag, moved.applyAsInt(subgraph));
        }

        /**
         * One name.
         *
         * @param name the name
         * @param tensor index of the tensor in the subgraph
         */
        public record Entry(String name, int tensor) {}
    }
}
