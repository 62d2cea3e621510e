package org.djlplan.integration.spark;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.djlplan.memplan.report.PlanReport;

/**
 * Runs rows through two models of an executor, and returns each model's share of the executor's
 * budget.
 */
final class BudgetShares implements FlatMapFunction<Iterator<Integer>, BudgetShares.Share> {

    private static final long serialVersionUID = 1;

    private final Examination first;
    private final Examination second;

    BudgetShares(Examination first, Examination second) {
        this.first = first;
        this.second = second;
    }

    /**
     * The result of one row in both models.
     *
     * @param firstBytes the first model's share
     */
    record Share(int seed, int firstBits, int secondBits, long firstBytes, long secondBytes)
            implements Serializable {}

    @Override
    public Iterator<Share> call(Iterator<Integer> seeds) throws Exception {
        List<Share> rows = new ArrayList<>();
        try (ZooModel<NDList, NDList> one = first.model();
                ZooModel<NDList, NDList> other = second.model();
                Predictor<NDList, NDList> ofOne = one.newPredictor();
                Predictor<NDList, NDList> ofOther = other.newPredictor()) {
            while (seeds.hasNext()) {
                int seed = seeds.next();
                rows.add(
                        new Share(
                                seed,
                                Examination.bits(one, ofOne, seed),
                                Examination.bits(other, ofOther, seed),
                                bytes(one),
                                bytes(other)));
            }
        }
        return rows.iterator();
    }

    private static long bytes(ZooModel<?, ?> model) {
        return PlanReport.of(model).orElseThrow().budget().orElseThrow().budgetBytes();
    }
}
