package org.djlplan.integration.spark;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;

/**
 * Predicts rows with one model per executor, stock or planned, and returns the time taken and the
 * executor's memory.
 *
 * @param engine the name of DJL's engine
 * @param file the model's file; for DJL's own networks, the folder that {@link #save} made
 * @param shape the shape of an input
 * @param options the options of the planned load; null for stock
 */
record Load(String engine, String file, long[] shape, Map<String, String> options)
        implements FlatMapFunction<Iterator<Integer>, Load.Share> {

    private static final long serialVersionUID = 1;

    /**
     * The figures of one task.
     *
     * @param process the executor's process id
     * @param rows number of rows that the task predicted
     * @param firstNanos time from the task's start to the first row's output
     * @param nanos time from the task's start to its end
     * @param beforeBytes resident memory before the executor's first model was loaded
     * @param afterBytes resident memory when the task ended
     * @param bits hash of all bits of the outputs
     * @param choice identifier of the delegation
     */
    record Share(
            long process,
            int partition,
            int rows,
            long firstNanos,
            long nanos,
            long beforeBytes,
            long afterBytes,
            int bits,
            String choice)
            implements Serializable {}

    /** State of one executor: its idle memory and random input values. */
    private static final class Executor {
        private static final long IDLE_BYTES = residentBytes();
        private static final float[] NOISE = noise();

        private static float[] noise() {
            Random random = new Random(1);
            float[] values = new float[1 << 20];
            for (int i = 0; i < values.length; i++) {
                values[i] = random.nextFloat();
            }
            return values;
        }
    }

    @Override
    public Iterator<Share> call(Iterator<Integer> seeds) throws Exception {
        long begin = System.nanoTime();
        long idle = Executor.IDLE_BYTES;
        long first = 0;
        int rows = 0;
        int bits = 0;
        String choice;
        try (ZooModel<NDList, NDList> model = PlannedModels.acquire("load", criteria());
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            while (seeds.hasNext()) {
                bits += 31 * predict(model, predictor, seeds.next());
                rows++;
                first = first == 0 ? System.nanoTime() - begin : first;
            }
            choice = choice(model);
        }
        return List.of(
                        new Share(
                                ProcessHandle.current().pid(),
                                TaskContext.getPartitionId(),
                                rows,
                                first,
                                System.nanoTime() - begin,
                                idle,
                                residentBytes(),
                                bits,
                                choice))
                .iterator();
    }

    private int predict(
            ZooModel<NDList, NDList> model, Predictor<NDList, NDList> predictor, int seed)
            throws Exception {
        int values = (int) new Shape(shape).size();
        int from = Math.floorMod(seed * 7919, Executor.NOISE.length - values);
        // Arrays of a network of blocks live as long as the manager of its input.
        try (NDManager manager = model.getNDManager().newSubManager()) {
            NDArray input =
                    manager.create(
                            Arrays.copyOfRange(Executor.NOISE, from, from + values),
                            new Shape(shape));
            NDList output = predictor.predict(new NDList(input));
            int bits = seed;
            for (NDArray each : output) {
                bits = 31 * bits + Arrays.hashCode(each.toFloatArray());
            }
            output.close();
            return bits;
        }
    }

    private Criteria<NDList, NDList> criteria() {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder().setTypes(NDList.class, NDList.class).optEngine(engine);
        Path path = Path.of(file);
        criteria.optModelPath(path);
        if (Files.isDirectory(path)) {
            String name = path.getFileName().toString();
            criteria.optModelName(name).optBlock(Networks.named(name).orElseThrow().blocks().get());
        }
        if (options == null) {
            return criteria.optOption("numThreads", "1")
                    .optTranslator(new NoopTranslator())
                    .build();
        }
        options.forEach(criteria::optArgument);
        return criteria.optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                .build();
    }

    /**
     * Writes the parameters of one of DJL's own networks.
     *
     * @param folder a folder with the network's name
     */
    static void save(String engine, Path folder, Shape shape) throws IOException {
        String name = folder.getFileName().toString();
        try (Model model = Model.newInstance(name, engine)) {
            model.setBlock(Networks.named(name).orElseThrow().blocks().get());
            model.getBlock().initialize(model.getNDManager(), DataType.FLOAT32, shape);
            model.save(folder, name);
        }
    }

    private static String choice(ZooModel<?, ?> model) {
        return PlanReport.of(model)
                .flatMap(PlanReport::delegation)
                .map(Load::inOneLine)
                .orElse("-");
    }

    private static String inOneLine(DelegationReport report) {
        return report.delegatedOperators() + "/" + report.operators() + " " + report.origin();
    }

    static long residentBytes() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
                }
            }
            throw new IllegalStateException("no resident set");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
