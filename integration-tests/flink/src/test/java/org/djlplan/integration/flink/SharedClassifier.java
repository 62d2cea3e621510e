package org.djlplan.integration.flink;

import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;

/** Holds the one model of a job, for all its operators. */
final class SharedClassifier {

    private SharedClassifier() {}

    static ZooModel<float[], Integer> model(RuntimeContext context, Path folder) throws Exception {
        // Closed when the job ends, not a minute later.
        ClassLoader job = context.getUserCodeClassLoader();
        context.registerUserCodeClassLoaderReleaseHookIfAbsent(
                "classifier", () -> PlannedModels.closeUnused(job));
        return PlannedModels.acquire(
                "classifier",
                Criteria.builder()
                        .setTypes(float[].class, Integer.class)
                        .optEngine("TFLite")
                        .optModelPath(folder)
                        .optModelName("mobilenet_v2")
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(new BestClassTranslator())
                                        .with("delegation.onMissing", "fail"))
                        .build());
    }

    /**
     * Registers gauges of the model, and of the resources that all models of the task manager
     * share.
     */
    static void gauges(RuntimeContext context, ZooModel<?, ?> model) {
        MetricGroup group = context.getMetricGroup().addGroup("djlplan");
        group.gauge("arenaBytes", (Gauge<Long>) () -> report(model).plan().arenaBytes());
        group.gauge("predictions", (Gauge<Long>) () -> report(model).predictions().total());
        group.gauge("unplanned", (Gauge<Long>) () -> report(model).predictions().unplanned());
        group.gauge(
                "waiting", (Gauge<Long>) () -> (long) PlannedModels.pools().workers().waiting());
    }

    private static PlanReport report(ZooModel<?, ?> model) {
        return PlanReport.of(model).orElseThrow();
    }
}
