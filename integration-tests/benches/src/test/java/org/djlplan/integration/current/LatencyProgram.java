package org.djlplan.integration.current;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.tflite.engine.InterpreterByHand;
import ai.djl.training.ParameterStore;
import ai.djl.translate.NoopTranslator;
import ai.djl.util.PairList;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.djlplan.integration.support.BareInterpreter;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.child.ParentConnection;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * Runs TensorFlow Lite models in one runtime for {@link CurrentLatencyBench}, which requests each
 * step by a line of JSON. Loaded models stay loaded.
 */
final class LatencyProgram {

    /** Stands for no set number of threads. */
    static final int AS_IT_COMES = -1;

    /** The runtime of the models. */
    enum Way {
        /** DJL without djl-plan, on its engine's CPU kernels. */
        STOCK,
        /** The C interface alone, if DJL's engine does not support arrays of 8 bits. */
        BARE,
        /** The C interface with XNNPACK for everything. */
        BY_HAND,
        /** The same in another JVM, to show how much two equal JVMs differ. */
        BY_HAND_TOO,
        /** The C interface with XNNPACK for everything, in a block of DJL with DJL's predictor. */
        BY_HAND_IN_DJL,
        /** The one line without delegation. */
        PLANNED,
        /** The one line. */
        ONE_LINE
    }

    private interface Step {
        void run() throws Exception;
    }

    /** The cheapest possible block: it copies inputs to the C interface and outputs from it. */
    private static final class Bare extends AbstractBlock {

        private final BareInterpreter interpreter;
        private final DataType type;
        private final List<ByteBuffer> outputs;

        /**
         * @param type of all outputs
         */
        Bare(BareInterpreter interpreter, DataType type) {
            this.interpreter = interpreter;
            this.type = type;
            outputs = interpreter.outputs();
        }

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            interpreter.setInputs(inputs.stream().map(NDArray::toByteBuffer).toList());
            interpreter.run();
            NDManager manager = inputs.head().getManager();
            NDList results = new NDList(outputs.size());
            for (int i = 0; i < outputs.size(); i++) {
                results.add(manager.create(outputs.get(i).duplicate(), shape(i), type));
            }
            return results;
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return IntStream.range(0, outputs.size()).mapToObj(this::shape).toArray(Shape[]::new);
        }

        private Shape shape(int output) {
            return new Shape(outputs.get(output).capacity() / type.getNumOfBytes());
        }
    }

    private final Map<String, Step> steps = new HashMap<>();

    private LatencyProgram() {}

    public static void main(String[] arguments) throws Exception {
        LatencyProgram program = new LatencyProgram();
        ParentConnection parent = ParentConnection.open(() -> {});
        while (true) {
            JsonObject request = parent.take();
            try {
                parent.reply(program.answer(request));
            } catch (Exception e) {
                parent.fail("failed", e.toString());
            }
        }
    }

    private JsonObject answer(JsonObject request) throws Exception {
        String name = request.get("model").getAsString();
        JsonObject reply = new JsonObject();
        if (request.has("file")) {
            reply.addProperty(
                    "text",
                    load(
                            name,
                            Way.valueOf(request.get("way").getAsString()),
                            Path.of(request.get("file").getAsString()),
                            request.get("threads").getAsInt()));
            return reply;
        }
        Step step = steps.get(name);
        JsonArray nanos = new JsonArray();
        for (int i = 0; i < request.get("count").getAsInt(); i++) {
            long start = System.nanoTime();
            step.run();
            nanos.add(System.nanoTime() - start);
        }
        reply.add("nanos", nanos);
        return reply;
    }

    /** Loads a model, and returns its delegation report, or an empty text. */
    private String load(String name, Way way, Path file, int threads) throws Exception {
        List<ByteBuffer> inputs;
        List<List<Integer>> shapes;
        try (StockInterpreter model = new StockInterpreter(file, threads)) {
            inputs = model.randomInputs(1);
            shapes = model.shapes();
        }
        switch (way) {
            case BARE, BY_HAND, BY_HAND_TOO -> {
                BareInterpreter bare =
                        way == Way.BARE
                                ? BareInterpreter.cpu(file, threads)
                                : BareInterpreter.xnnpack(file, threads);
                bare.setInputs(inputs);
                steps.put(name, bare::run);
                return "";
            }
            case BY_HAND_IN_DJL -> {
                Model model = Model.newInstance(name, "TFLite");
                NDList arrays = arrays(model.getNDManager(), inputs, shapes);
                model.setBlock(
                        new Bare(
                                BareInterpreter.xnnpack(file, threads),
                                arrays.head().getDataType()));
                Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator(null));
                steps.put(name, () -> predictor.predict(arrays).close());
                return "";
            }
            default -> {
                ZooModel<NDList, NDList> model = load(way, file, threads);
                NDList arrays = arrays(model.getNDManager(), inputs, shapes);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                steps.put(name, () -> predictor.predict(arrays).close());
                return PlanReport.of(model)
                        .flatMap(PlanReport::delegation)
                        .map(d -> d.delegatedOperators() + " operators, " + d.reason())
                        .orElse("");
            }
        }
    }

    /** Returns arrays of floats, or of 8-bit integers if the buffer has a byte per element. */
    private static NDList arrays(
            NDManager manager, List<ByteBuffer> values, List<List<Integer>> shapes) {
        NDList arrays = new NDList();
        for (int i = 0; i < values.size(); i++) {
            Shape shape = new Shape(Longs.toArray(shapes.get(i)));
            DataType type =
                    values.get(i).remaining() == shape.size() ? DataType.INT8 : DataType.FLOAT32;
            arrays.add(manager.create(values.get(i), shape, type));
        }
        return arrays;
    }

    private static ZooModel<NDList, NDList> load(Way way, Path file, int threads) throws Exception {
        return switch (way) {
            case STOCK -> InterpreterByHand.stock(file, threads);
            case ONE_LINE ->
                    Planned.load(file, options(threads, Map.of("delegation.profile", "blocking")));
            default -> Planned.load(file, options(threads, Map.of()));
        };
    }

    private static Map<String, Object> options(int threads, Map<String, String> more) {
        Map<String, Object> options = new HashMap<>(more);
        if (threads != AS_IT_COMES) {
            options.put("memplan.threads", threads);
        }
        return options;
    }
}
