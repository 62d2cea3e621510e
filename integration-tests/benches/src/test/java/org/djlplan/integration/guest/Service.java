package org.djlplan.integration.guest;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonObject;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.delegation.ModelCopy;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.measure.TfLiteDelegableModel;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.math.Quantiles;

/** A service of one busy thread that runs while another model is measured. */
final class Service {

    private static final Path BUSY_WITH = TestModels.built("mobilenet_v2");
    private static final Path MEASURED = TestModels.built("uneven");
    private static final int PER_TURN = 3;
    private static final int WARM_UP = 200;
    private static final long PATIENCE_MINUTES = 20;

    private final Predictor<NDList, NDList> predictor;
    private final NDList inputs;

    private Service(Predictor<NDList, NDList> predictor, NDList inputs) {
        this.predictor = predictor;
        this.inputs = inputs;
    }

    /**
     * {@code throughput URGENCY WINDOWS SECONDS} prints predictions per second, in turns alone and
     * beside a process that measures; {@code choose FOLDER BUSY} prints how long it takes until a
     * model is measured in the background, and the choice; both as JSON.
     */
    public static void main(String[] args) throws Exception {
        StockInterpreter.loadEngine();
        try (StockInterpreter stock = new StockInterpreter(BUSY_WITH, 1);
                ZooModel<NDList, NDList> model =
                        Planned.load(BUSY_WITH, Map.of("memplan.threads", 1));
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            List<ByteBuffer> values = stock.randomInputs(1);
            NDList inputs = Planned.inputs(manager, values, stock.shapes());
            Service service = new Service(predictor, inputs);
            for (int i = 0; i < WARM_UP; i++) {
                service.predict();
            }
            if (args[0].equals("throughput")) {
                service.throughput(
                        Urgency.valueOf(args[1]),
                        Integer.parseInt(args[2]),
                        Integer.parseInt(args[3]));
            } else {
                service.choose(Path.of(args[1]), Boolean.parseBoolean(args[2]));
            }
        }
    }

    private void predict() throws Exception {
        predictor.predict(inputs).close();
    }

    private double perSecond(int seconds) throws Exception {
        long start = System.nanoTime();
        long end = start + TimeUnit.SECONDS.toNanos(seconds);
        int count = 0;
        while (System.nanoTime() < end) {
            predict();
            count++;
        }
        return count * 1e9 / (System.nanoTime() - start);
    }

    private void throughput(Urgency urgency, int windows, int seconds) throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(MEASURED), "measured");
        TfLiteDelegableModel measured =
                new TfLiteDelegableModel(
                        MEASURED,
                        FileIdentity.text(MEASURED),
                        graph,
                        Files.createTempDirectory("djlplan-bench"),
                        Served.options(Map.of("delegation.delegate", "xnnpack")),
                        EngineLibrary.loaded(),
                        Optional.empty());
        Semaphore turn = new Semaphore(0);
        try (CandidateRunner runner = measured.newProcess(urgency, Tolerance.AUTO)) {
            Candidate all = new Candidate(new TreeSet<>(runner.partitions().get(0)), 1);
            runner.prepare(Candidate.cpu(1));
            runner.prepare(all);
            Thread measuring = new Thread(() -> measure(runner, all, turn), "measuring");
            measuring.setDaemon(true);
            measuring.start();
            double[] alone = new double[windows];
            double[] beside = new double[windows];
            for (int window = 0; window < windows; window++) {
                alone[window] = perSecond(seconds);
                turn.release();
                beside[window] = perSecond(seconds);
                turn.acquire();
            }
            JsonObject row = new JsonObject();
            row.addProperty("alone per s", Quantiles.median().compute(alone));
            row.addProperty("measuring per s", Quantiles.median().compute(beside));
            System.out.println(row);
        }
    }

    private static void measure(CandidateRunner runner, Candidate all, Semaphore turn) {
        try {
            while (true) {
                turn.acquire();
                try {
                    runner.time(Candidate.cpu(1), PER_TURN);
                    runner.time(all, PER_TURN);
                } finally {
                    turn.release();
                }
                // Lets the other thread get the turn.
                Thread.sleep(1);
            }
        } catch (CandidateException | InterruptedException | IllegalStateException e) {
            // The bench is over.
            return;
        }
    }

    private void choose(Path folder, boolean busy) throws Exception {
        Path own = Files.createTempDirectory(folder, "model");
        Path file = Files.copy(MEASURED, own.resolve("net.tflite"));
        long start = System.nanoTime();
        long end = start + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
        ZooModel<NDList, NDList> measured =
                Planned.load(
                        file,
                        Map.of(
                                "memplan.threads", "1",
                                "delegation.profile", "background:500ms"));
        while (!ModelCopy.hasProfile(file) && System.nanoTime() < end) {
            if (busy) {
                predict();
            } else {
                // The measurement has the machine to itself in this case.
                Thread.sleep(10);
            }
        }
        measured.close();
        double seconds = (System.nanoTime() - start) / 1e9;
        try (ZooModel<NDList, NDList> model =
                Planned.load(file, Map.of("memplan.threads", "1", "delegation.profile", "off"))) {
            DelegationReport choice =
                    PlanReport.of(model).flatMap(PlanReport::delegation).orElseThrow();
            JsonObject row = new JsonObject();
            row.addProperty("s until it is measured", seconds);
            row.addProperty("operators", choice.delegatedOperators());
            row.addProperty("choice", choice.origin() + ": " + choice.reason());
            System.out.println(row);
        }
    }
}
