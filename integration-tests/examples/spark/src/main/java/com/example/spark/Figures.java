package com.example.spark;

import ai.djl.Model;
import ai.djl.nn.Block;
import java.io.Serializable;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.report.PlanReport.Predictions;

/** Counts rows and predictions of tasks in accumulators, which the driver reads. */
public class Figures implements Serializable {

    private static final long serialVersionUID = 1;

    /** What was told of the models of this executor, which its tasks share. */
    private static final Map<Block, Predictions> TOLD = new WeakHashMap<>();

    private final LongAccumulator rows;
    private final LongAccumulator planned;
    private final LongAccumulator unplanned;

    public Figures(SparkContext spark) {
        rows = spark.longAccumulator("rows");
        planned = spark.longAccumulator("planned predictions");
        unplanned = spark.longAccumulator("unplanned predictions");
    }

    /** Counts a row. */
    public <T> T row(T output) {
        rows.add(1);
        return output;
    }

    /** Counts what the model has predicted since a task of this executor counted that. */
    public void predictions(Model model) {
        synchronized (TOLD) {
            Predictions now =
                    PlanReport.of(model).map(PlanReport::predictions).orElse(Predictions.NONE);
            Predictions before = TOLD.getOrDefault(model.getBlock(), Predictions.NONE);
            TOLD.put(model.getBlock(), now);
            long outside = now.unplanned() - before.unplanned();
            unplanned.add(outside);
            planned.add(now.total() - before.total() - outside);
        }
    }

    public long rows() {
        return rows.value();
    }

    public long planned() {
        return planned.value();
    }

    public long unplanned() {
        return unplanned.value();
    }

    @Override
    public String toString() {
        return rows() + " rows; predictions: " + planned() + " planned, " + unplanned() + " not";
    }
}
