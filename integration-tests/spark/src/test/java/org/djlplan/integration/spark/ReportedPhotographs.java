package org.djlplan.integration.spark;

import ai.djl.modality.cv.Image;
import ai.djl.repository.zoo.ZooModel;
import com.example.spark.Figures;
import com.example.spark.Photographs;
import java.util.Iterator;
import org.apache.spark.sql.Row;
import org.apache.spark.util.CollectionAccumulator;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** Returns the class of each file, and the configuration of the model in each task's executor. */
final class ReportedPhotographs extends Photographs {

    private static final long serialVersionUID = 1;

    private final CollectionAccumulator<String> choices;

    /**
     * @param choices collects the configuration in each task's executor
     */
    ReportedPhotographs(
            PlannedTranslatorFactory factory,
            Figures figures,
            CollectionAccumulator<String> choices) {
        super(factory, figures);
        this.choices = choices;
    }

    @Override
    public Iterator<Integer> call(Iterator<Row> files) throws Exception {
        Iterator<Integer> classes = super.call(files);
        try (ZooModel<Image, Integer> model = PlannedModels.acquire("photographs", criteria())) {
            choices.add(Examination.choice(model));
        }
        return classes;
    }
}
