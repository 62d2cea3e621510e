package org.djlplan.integration.spark;

import com.google.common.collect.Iterators;
import java.io.File;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.djlplan.memplan.PlannedModels;

/** Reports from which jars an executor loaded djl-plan and Guava. */
final class Sources implements FlatMapFunction<Iterator<Integer>, String> {

    private static final long serialVersionUID = 1;

    @Override
    public Iterator<String> call(Iterator<Integer> rows) {
        return List.of(jarOf(PlannedModels.class), jarOf(Iterators.class)).iterator();
    }

    private static String jarOf(Class<?> type) {
        return new File(type.getProtectionDomain().getCodeSource().getLocation().getPath())
                .getName();
    }
}
