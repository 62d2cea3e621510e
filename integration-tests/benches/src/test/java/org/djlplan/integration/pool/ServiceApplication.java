package org.djlplan.integration.pool;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.djlplan.integration.support.Planned;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.report.PlanReport;

/**
 * A service with one TFLite model in its own JVM. Lines on its standard input set the number of
 * predicting threads and the duration, or ask for the first predictions.
 */
final class ServiceApplication {

    private static final int FIRST = 15;

    private final ZooModel<NDList, NDList> model;
    private final NDManager manager;
    private final NDList inputs;

    /**
     * The results of one interval.
     *
     * @param perSecond predictions of all threads
     */
    record Figures(double perSecond, double medianMillis, double p99Millis) {

        static Figures of(String line) {
            double[] numbers =
                    Arrays.stream(line.split(" ", -1)).mapToDouble(Double::parseDouble).toArray();
            return new Figures(numbers[0], numbers[1], numbers[2]);
        }

        private String line() {
            return perSecond + " " + medianMillis + " " + p99Millis;
        }
    }

    private ServiceApplication(ZooModel<NDList, NDList> model, Path file) throws Exception {
        this.model = model;
        manager = model.getNDManager().newSubManager();
        Random random = new Random(1);
        List<ByteBuffer> values = new ArrayList<>();
        List<List<Integer>> shapes = new ArrayList<>();
        var graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.toString());
        for (int id : graph.inputs()) {
            var tensor = graph.tensors().get(id);
            ByteBuffer value =
                    ByteBuffer.allocateDirect((int) tensor.bytes()).order(ByteOrder.nativeOrder());
            while (value.hasRemaining()) {
                value.putFloat(random.nextFloat());
            }
            values.add(value.rewind());
            shapes.add(tensor.shape());
        }
        inputs = Planned.inputs(manager, values, shapes);
    }

    /**
     * Arguments: the model; {@code serve}, {@code minute} or the seconds before the first
     * prediction; options.
     */
    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[0]);
        Map<String, Object> options = new HashMap<>();
        for (String option : Arrays.asList(arguments).subList(2, arguments.length)) {
            int equals = option.indexOf('=');
            options.put(option.substring(0, equals), option.substring(equals + 1));
        }
        boolean stock = options.containsKey("stock");
        try (ZooModel<NDList, NDList> model =
                stock ? Planned.loadStock(file) : Planned.load(file, options)) {
            ServiceApplication service = new ServiceApplication(model, file);
            if (arguments[1].equals("serve")) {
                service.serve();
            } else if (arguments[1].equals("minute")) {
                service.predictForAMinute();
            } else {
                // The measured predictions come some time after the load.
                Thread.sleep((long) (1000 * Double.parseDouble(arguments[1])));
                service.predictFirst();
            }
        }
    }

    /** Prints the milliseconds of each of the first predictions. */
    private void predictFirst() throws Exception {
        StringBuilder line = new StringBuilder();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < FIRST; i++) {
                long begin = System.nanoTime();
                predictor.predict(inputs).close();
                line.append((System.nanoTime() - begin) / 1e6).append(' ');
            }
        }
        System.out.println(line.toString().strip());
    }

    /** Prints for each prediction when it ended, how long it took, and what served it. */
    private void predictForAMinute() throws Exception {
        StringBuilder lines = new StringBuilder();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            long start = System.nanoTime();
            for (long last = start; last - start < TimeUnit.MINUTES.toNanos(1); ) {
                long begin = System.nanoTime();
                predictor.predict(inputs).close();
                last = System.nanoTime();
                lines.append((last - start) / 1e9).append(' ');
                lines.append((last - begin) / 1e6).append(' ').append(served()).append('\n');
            }
        }
        System.out.print(lines);
    }

    private String served() {
        return PlanReport.of(model)
                .flatMap(PlanReport::delegation)
                .map(d -> d.origin() + " " + d.delegatedOperators() + " " + d.threads())
                .orElse("stock 0 -1");
    }

    private void serve() throws Exception {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] order = line.split(" ", -1);
            System.out.println(
                    slice(
                                    Integer.parseInt(order[0]),
                                    Long.parseLong(order[1]),
                                    Long.parseLong(order[2]))
                            .line());
        }
    }

    private Figures slice(int threads, long warmUpMillis, long millis) throws Exception {
        long begin = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(warmUpMillis);
        long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<long[]>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            running.add(pool.submit(() -> predict(begin, end)));
        }
        LongStream.Builder all = LongStream.builder();
        for (Future<long[]> each : running) {
            Arrays.stream(each.get()).forEach(all::add);
        }
        pool.shutdown();
        long[] nanos = all.build().sorted().toArray();
        if (nanos.length == 0) {
            return new Figures(0, millis, millis);
        }
        return new Figures(
                nanos.length * 1e3 / millis,
                nanos[nanos.length / 2] / 1e6,
                nanos[nanos.length * 99 / 100] / 1e6);
    }

    /** Predicts, and returns the nanoseconds of the predictions that ended in a time span. */
    private long[] predict(long begin, long end) throws Exception {
        LongStream.Builder nanos = LongStream.builder();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (long last = System.nanoTime(); last < end; ) {
                predictor.predict(inputs).close();
                long now = System.nanoTime();
                if (now >= begin && now < end) {
                    nanos.add(now - last);
                }
                last = now;
            }
        }
        return nanos.build().toArray();
    }
}
