package org.djlplan.integration.flink;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.java.tuple.Tuple2;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;

/**
 * A Flink function that classifies rows and returns the configuration of the model. It fails a
 * given number of times, each time some rows after a checkpoint.
 */
public class Examination extends RichMapFunction<Tuple2<Long, float[]>, Examined>
        implements CheckpointListener {

    private static final long serialVersionUID = 1;

    private static final int ROWS_AFTER_CHECKPOINT = 3;

    /**
     * Until its checkpoint, an attempt that must fail processes rows slowly, so that some rows are
     * left.
     */
    private static final long PACE_MILLIS = 200;

    private final int failures;

    private transient ZooModel<float[], Integer> model;
    private transient Predictor<float[], Integer> predictor;
    private transient boolean checkpoint;
    private transient int rows;

    /**
     * @param failures how often the job must fail
     */
    public Examination(int failures) {
        this.failures = failures;
    }

    @Override
    public void open(OpenContext context) throws Exception {
        UserCode.add(Examination.class.getClassLoader());
        Path folder = getRuntimeContext().getDistributedCache().getFile("classifier").toPath();
        model = SharedClassifier.model(getRuntimeContext(), folder);
        predictor = model.newPredictor();
    }

    @Override
    public Examined map(Tuple2<Long, float[]> image) throws Exception {
        int attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
        int best = predictor.predict(image.f1);
        if (!checkpoint && attempt < failures) {
            Thread.sleep(PACE_MILLIS);
        }
        if (checkpoint && attempt < failures && rows++ == ROWS_AFTER_CHECKPOINT) {
            throw new IllegalStateException("failed by intention");
        }
        return new Examined(image.f0, best, attempt, facts(), residentBytes());
    }

    @Override
    public void notifyCheckpointComplete(long id) {
        checkpoint = true;
    }

    private String facts() {
        PlanReport report = PlanReport.of(model).orElseThrow();
        DelegationReport delegation = report.delegation().orElseThrow();
        return (report.planned() ? "planned, " : "not planned, ")
                + report.predictions().unplanned()
                + " unplanned, "
                + (delegation.delegatedOperators() > 0 ? "delegated, " : "not delegated, ")
                + delegation.origin();
    }

    private static long residentBytes() throws Exception {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public void close() {
        if (model != null) {
            predictor.close();
            model.close();
        }
    }
}
