package org.djlplan.integration.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.delegation.internal.MeasuredDelegation;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests djl-plan in class loaders below the engine's, as in an application container. */
class ClassLoadersTest {

    @TempDir Path folder;

    @Test
    void load_twoLoadersBelowTheEngines_bothPlanAndPredict() throws Exception {
        List<String> ours =
                List.of(home(PlannedTranslatorFactory.class), home(MeasuredDelegation.class));
        List<String> classPath = new ArrayList<>(ChildJvm.ownClassPath());
        classPath.removeIf(entry -> ours.contains(entry));
        assertTrue(
                classPath.size() == ChildJvm.ownClassPath().size() - 2, ours + " in " + classPath);

        List<String> arguments = new ArrayList<>();
        arguments.add(TestModels.built("chains").toString());
        arguments.addAll(List.of("1", "32", "32", "8"));
        ours.forEach(entry -> arguments.add(new File(entry).toURI().toString()));
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .classPath(classPath)
                        .run(ClassLoadersMain.class, arguments.toArray(String[]::new));
        assertEquals(0, result.exitCode(), result.printed());
        assertTrue(result.out().strip().endsWith("OK"), result.printed());
    }

    private static String home(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }
}
