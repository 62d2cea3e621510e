package org.djlplan.integration.current;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.tflite.engine.InterpreterByHand;
import ai.djl.translate.NoopTranslator;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.bench.BareBlock;
import org.djlplan.integration.bench.Rounds;
import org.djlplan.integration.support.BareInterpreter;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.child.ParentConnection;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * Runs TensorFlow Lite models in one runtime for {@link LatencyBench}, which requests each step by
 * a line of JSON. Loaded models stay loaded until they are loaded again.
 */
final class LatencyProgram {

    /** Stands for no set number of threads. */
    static final int AS_IT_COMES = -1;

    /** The runtime of the models. */
    enum Way {
        /** DJL without djl-plan, on its engine's CPU kernels. */
        STOCK,
        /** The C interface alone, on CPU kernels; DJL 0.27.0 has no arrays of 8 bits. */
        BARE,
        /** The C interface with XNNPACK for everything. */
        BY_HAND,
        /** XNNPACK for everything, in a block of DJL with DJL's predictor. */
        BY_HAND_IN_DJL,
        /** The one line without delegation. */
        PLANNED,
        /** The one line. */
        ONE_LINE
    }

    private final Map<String, Rounds.Step> steps = new HashMap<>();
    private final Map<String, ZooModel<NDList, NDList>> models = new HashMap<>();

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
        JsonObject reply = new JsonObject();
        if (request.has("file")) {
            Path file = Path.of(request.get("file").getAsString());
            Way way = Way.valueOf(request.get("way").getAsString());
            load(reply, way, file, request.get("threads").getAsInt());
            return reply;
        }
        Rounds.Step step = steps.get(request.get("predict").getAsString());
        JsonArray nanos = new JsonArray();
        for (int i = 0; i < request.get("count").getAsInt(); i++) {
            long start = System.nanoTime();
            step.run();
            nanos.add(System.nanoTime() - start);
        }
        reply.add("nanos", nanos);
        return reply;
    }

    /** Loads a model, and replies with the time of the load and a text about its memory. */
    private void load(JsonObject reply, Way way, Path file, int threads) throws Exception {
        String name = file.toString();
        List<ByteBuffer> inputs;
        List<List<Integer>> shapes;
        try (StockInterpreter model = new StockInterpreter(file, threads)) {
            inputs = model.randomInputs(1);
            shapes = model.shapes();
        }
        reply.addProperty("text", "");
        if (way == Way.BARE || way == Way.BY_HAND) {
            BareInterpreter bare =
                    way == Way.BARE
                            ? BareInterpreter.cpu(file, threads)
                            : BareInterpreter.xnnpack(file, threads);
            bare.setInputs(inputs);
            steps.put(name, bare::run);
            return;
        }
        if (models.containsKey(name)) {
            models.remove(name).close();
        }
        long begin = System.nanoTime();
        ZooModel<NDList, NDList> model = load(way, file, threads);
        reply.addProperty("millis", (System.nanoTime() - begin) / 1e6);
        models.put(name, model);
        NDList arrays = arrays(model.getNDManager(), inputs, shapes);
        if (way == Way.BY_HAND_IN_DJL && !isDjls()) {
            BareInterpreter bare = BareInterpreter.xnnpack(file, threads);
            Model own = Model.newInstance(name, "TFLite");
            own.setBlock(new BareBlock(bare, arrays.head().getDataType()));
            Predictor<NDList, NDList> predictor = own.newPredictor(new NoopTranslator(null));
            steps.put(name, () -> predictor.predict(arrays).close());
            return;
        }
        Predictor<NDList, NDList> predictor = model.newPredictor();
        steps.put(name, () -> predictor.predict(arrays).close());
        Optional<PlanReport> report = PlanReport.of(model);
        if (report.isPresent()) {
            reply.addProperty("text", text(report.get(), file, threads));
        }
    }

    /** Returns whether DJL has its own engine. */
    private static boolean isDjls() {
        return Engine.getEngine("TFLite").getClass().getName().startsWith("ai.djl.");
    }

    private static String text(PlanReport report, Path file, int threads) throws Exception {
        String delegated =
                report.delegation()
                        .map(d -> d.delegatedOperators() + " operators, " + d.reason())
                        .orElse("");
        long own = report.plan().arenaBytes() + report.plan().inputOutputBytes();
        return delegated
                + String.format(
                        " %.2f MB planned, %.2f MB stock",
                        own / 1e6, EngineView.of(file, Math.max(1, threads)).arenaBytes() / 1e6);
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
            case BY_HAND_IN_DJL ->
                    isDjls()
                            ? InterpreterByHand.xnnpack(file, threads)
                            : Planned.loadPlain(file, threads);
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
