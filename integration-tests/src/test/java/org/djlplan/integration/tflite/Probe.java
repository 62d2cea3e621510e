package org.djlplan.integration.tflite;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Actions that tests run in a separate JVM, because the JVM may crash. Prints one line per result.
 */
public final class Probe {

    private interface Loader {
        ZooModel<NDList, NDList> load(Path file) throws Exception;
    }

    private static final int AGAIN = 400;

    private Probe() {}

    /**
     * {@code load FILE…}, {@code zeros FILE…}, {@code truncate FILE}, {@code overwrite FILE},
     * {@code reload FILE LOADS}, {@code reloadPlain FILE LOADS}.
     */
    public static void main(String[] args) throws Exception {
        StockInterpreter.loadEngine();
        switch (args[0]) {
            case "load" -> {
                for (String file : List.of(args).subList(1, args.length)) {
                    System.out.println("stock " + outcome(Path.of(file), true));
                    System.out.println("planned " + outcome(Path.of(file), false));
                }
            }
            case "zeros" -> {
                for (String file : List.of(args).subList(1, args.length)) {
                    System.out.println(zeros(Path.of(file)));
                }
            }
            case "truncate" -> damage(Path.of(args[1]), true);
            case "overwrite" -> damage(Path.of(args[1]), false);
            case "reload" ->
                    reload(
                            Path.of(args[1]),
                            Integer.parseInt(args[2]),
                            file -> Planned.loadDirectly(file, Map.of("memplan.threads", 1)));
            case "reloadPlain" ->
                    reload(
                            Path.of(args[1]),
                            Integer.parseInt(args[2]),
                            file -> Planned.loadPlain(file, 1));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    /** Loads a model and, if that succeeds, predicts with zeros. */
    private static String outcome(Path file, boolean stock) {
        try (ZooModel<NDList, NDList> model =
                stock ? Planned.loadStock(file) : Planned.load(file, Map.of())) {
            return "loaded, " + prediction(file, model);
        } catch (Exception e) {
            return describe(e);
        }
    }

    /** Loads a valid model and predicts with zeros; only djl-plan uses JNA here. */
    private static String zeros(Path file) throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.toString());
        List<ByteBuffer> inputs = new ArrayList<>();
        List<List<Integer>> shapes = new ArrayList<>();
        for (int id : graph.inputs()) {
            Tensor input = graph.tensors().get(id);
            inputs.add(ByteBuffer.allocateDirect(Ints.checkedCast(input.bytes())));
            shapes.add(input.shape());
        }
        try (ZooModel<NDList, NDList> model = Planned.load(file, Map.of())) {
            return Planned.predict(model, inputs, shapes).size() + " outputs";
        }
    }

    private static String prediction(Path file, ZooModel<NDList, NDList> model) {
        try (StockInterpreter shapes = new StockInterpreter(file, 1)) {
            List<ByteBuffer> outputs =
                    Planned.predict(model, shapes.randomInputs(1), shapes.shapes());
            return outputs.size() + " outputs";
        } catch (Exception e) {
            return describe(e);
        }
    }

    private static String describe(Exception e) {
        Throwable root = Throwables.getRootCause(e);
        String message = String.valueOf(root.getMessage()).replaceAll("\\s+", " ");
        // The number of a file descriptor: it differs from load to load.
        return root.getClass().getSimpleName() + " " + message.replaceAll("'\\d+'", "'N'");
    }

    private static void damage(Path file, boolean truncate) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, -1);
                ZooModel<NDList, NDList> model = Planned.load(file, Map.of());
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            List<List<Integer>> shapes = stock.shapes();
            System.out.println(
                    Planned.predict(predictor, model.getNDManager(), inputs, shapes)
                            .equals(stock.run(inputs)));
            Thread.sleep(50); // longer than the file system's clock ticks
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                if (truncate) {
                    channel.truncate(100);
                } else {
                    channel.write(ByteBuffer.allocate(64), channel.size() / 2);
                }
            }
            try {
                List<ByteBuffer> unused =
                        Planned.predict(predictor, model.getNDManager(), inputs, shapes);
            } catch (Exception e) {
                System.out.println(describe(e));
            }
            System.out.println(PlanReport.of(model).orElseThrow().predictions().total());
        }
        System.out.println("closed");
    }

    /**
     * Loads and closes some times, and then repeatedly. Prints by how much resident bytes and
     * mappings have grown in the second part.
     */
    private static void reload(Path file, int before, Loader loader) throws Exception {
        List<ByteBuffer> inputs;
        List<List<Integer>> shapes;
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            inputs = stock.randomInputs(1);
            shapes = stock.shapes();
        }
        long residentBytes = 0;
        int mappings = 0;
        for (int i = 0; i <= before + AGAIN; i++) {
            try (ZooModel<NDList, NDList> model = loader.load(file)) {
                List<ByteBuffer> unused = Planned.predict(model, inputs, shapes);
            }
            if (i == before) {
                System.gc();
                residentBytes = ProcessSize.residentBytes();
                mappings = mappings();
            }
        }
        System.gc();
        System.out.println(ProcessSize.residentBytes() - residentBytes);
        System.out.println(mappings() - mappings);
    }

    private static int mappings() throws Exception {
        return Files.readAllLines(Path.of("/proc/self/maps")).size();
    }
}
