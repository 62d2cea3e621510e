package org.djlplan.integration.spark;

import ai.djl.modality.cv.Image;
import ai.djl.repository.zoo.ZooModel;
import java.util.Iterator;
import org.apache.spark.sql.Row;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.LongAccumulator;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;

/** The same, and how the model of each task's executor runs. */
final class ReportedPhotographs extends Photographs {

    private static final long serialVersionUID = 1;

    private final CollectionAccumulator<String> choices;
    private final LongAccumulator unplanned;

    /**
     * @param choices of the executors, one for each task
     * @param unplanned predictions of the executors until then
     */
    ReportedPhotographs(
            PlannedTranslatorFactory factory,
            LongAccumulator classified,
            CollectionAccumulator<String> choices,
            LongAccumulator unplanned) {
        super(factory, classified);
        this.choices = choices;
        this.unplanned = unplanned;
    }

    @Override
    public Iterator<Integer> call(Iterator<Row> files) throws Exception {
        Iterator<Integer> classes = super.call(files);
        try (ZooModel<Image, Integer> model = PlannedModels.get("photographs", criteria())) {
            PlanReport report = PlanReport.of(model).orElseThrow();
            choices.add(Examination.choice(model));
            unplanned.add(report.planned() ? report.predictions().unplanned() : 1);
        }
        return classes;
    }
}
