package org.djlplan.memplan.source.tflite;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A model as the tables it is stored in: the reader's way back. */
final class FileTables {

    /** The largest number that the older field for an operator's code can hold. */
    private static final int LARGEST_OLD_CODE = 127;

    private final String type;
    private final ImmutableMap.Builder<String, Object> fields = ImmutableMap.builder();

    private FileTables(String type) {
        this.type = type;
    }

    private FileTables set(String field, Object value) {
        fields.put(field, value);
        return this;
    }

    private FileTables setIndex(String field, int index) {
        return set(field, (long) index);
    }

    private FileTables setUnlessEmpty(String field, List<?> values) {
        return values.isEmpty() ? this : set(field, values);
    }

    private FileTables setUnlessEmpty(String field, TfLiteBytes bytes) {
        return bytes.sizeBytes() == 0 ? this : set(field, bytes);
    }

    private FileTables setUnlessEmpty(String field, String text) {
        return text.isEmpty() ? this : set(field, text);
    }

    private FileTables setIfPresent(String field, Optional<FlatTable> table) {
        return table.isPresent() ? set(field, table.get()) : this;
    }

    private FlatTable build() {
        return new FlatTable(type, fields.buildOrThrow());
    }

    private static <T> ImmutableList<FlatTable> all(
            List<T> values, Function<T, FlatTable> toTable) {
        return values.stream().map(toTable).collect(ImmutableList.toImmutableList());
    }

    /** Returns the root table. */
    static FlatTable model(TfLiteFile file) {
        return new FileTables("Model")
                .setIndex("version", TfLiteFile.SCHEMA_VERSION)
                .set("operator_codes", all(file.operatorCodes(), FileTables::operatorCode))
                .set("subgraphs", all(file.subgraphs(), FileTables::subgraph))
                .setUnlessEmpty("description", file.description())
                .set("buffers", all(file.buffers(), FileTables::buffer))
                .setUnlessEmpty("metadata_buffer", file.metadataBuffers())
                .setUnlessEmpty("metadata", all(file.metadata(), FileTables::metadata))
                .setUnlessEmpty("signature_defs", all(file.signatures(), FileTables::signature))
                .build();
    }

    private static FlatTable operatorCode(TfLiteOperatorCode code) {
        return new FileTables("OperatorCode")
                .set("deprecated_builtin_code", Math.min(code.builtinCode(), LARGEST_OLD_CODE))
                .setUnlessEmpty("custom_code", code.customCode())
                .set("version", code.version())
                .set("builtin_code", code.builtinCode())
                .build();
    }

    private static FlatTable subgraph(TfLiteSubgraph subgraph) {
        return new FileTables("SubGraph")
                .set("tensors", all(subgraph.tensors(), FileTables::tensor))
                .set("inputs", subgraph.inputs())
                .set("outputs", subgraph.outputs())
                .set("operators", all(subgraph.operators(), FileTables::operator))
                .setUnlessEmpty("name", subgraph.name())
                .build();
    }

    private static FlatTable tensor(TfLiteTensor tensor) {
        return new FileTables("Tensor")
                .set("shape", tensor.shape())
                .set("type", tensor.typeCode())
                .setIndex("buffer", tensor.buffer())
                .setUnlessEmpty("name", tensor.name())
                .setIfPresent("quantization", tensor.quantization().map(FileTables::quantization))
                .set("is_variable", tensor.isVariable())
                .setIfPresent("sparsity", tensor.sparsity())
                .setUnlessEmpty("shape_signature", tensor.shapeSignature())
                .set("has_rank", tensor.hasRank())
                .build();
    }

    private static FlatTable quantization(TfLiteQuantization quantization) {
        return new FileTables("QuantizationParameters")
                .setUnlessEmpty("min", quantization.min())
                .setUnlessEmpty("max", quantization.max())
                .setUnlessEmpty("scale", quantization.scale())
                .setUnlessEmpty("zero_point", quantization.zeroPoint())
                .setIfPresent("details", quantization.details())
                .set("quantized_dimension", quantization.quantizedDimension())
                .build();
    }

    private static FlatTable operator(TfLiteOperator operator) {
        return new FileTables("Operator")
                .setIndex("opcode_index", operator.opcodeIndex())
                .set("inputs", operator.inputs())
                .set("outputs", operator.outputs())
                .setIfPresent("builtin_options", operator.builtinOptions())
                .setUnlessEmpty("custom_options", operator.customOptions())
                .set("custom_options_format", operator.customOptionsFormat())
                .setUnlessEmpty("mutating_variable_inputs", operator.mutatingVariableInputs())
                .setUnlessEmpty("intermediates", operator.intermediates())
                .build();
    }

    private static FlatTable buffer(TfLiteBytes content) {
        return new FileTables("Buffer").setUnlessEmpty("data", content).build();
    }

    private static FlatTable metadata(TfLiteMetadata metadata) {
        return new FileTables("Metadata")
                .set("name", metadata.name())
                .setIndex("buffer", metadata.buffer())
                .build();
    }

    private static FlatTable signature(TfLiteSignature signature) {
        return new FileTables("SignatureDef")
                .set("inputs", all(signature.inputs(), FileTables::signatureEntry))
                .set("outputs", all(signature.outputs(), FileTables::signatureEntry))
                .setUnlessEmpty("signature_key", signature.key())
                .setUnlessEmpty("deprecated_tag", signature.deprecatedTag())
                .setIndex("subgraph_index", signature.subgraph())
                .build();
    }

    private static FlatTable signatureEntry(TfLiteSignature.Entry entry) {
        return new FileTables("TensorMap")
                .set("name", entry.name())
                .setIndex("tensor_index", entry.tensor())
                .build();
    }
}
