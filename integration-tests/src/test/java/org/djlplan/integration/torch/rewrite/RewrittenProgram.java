package org.djlplan.integration.torch.rewrite;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.testing.Await;

/**
 * Loads a TorchScript model as the first thing in its process, and predicts. If a choice is stored,
 * waits until the chosen module serves. Prints how much memory the process then takes.
 */
final class RewrittenProgram {

    private static final int PREDICTIONS = 8;

    private RewrittenProgram() {}

    /** {@code FILE RECIPE SHAPE}, where the recipe is expected, or "planned" for no rewriting. */
    public static void main(String[] arguments) throws Exception {
        Torch.threads(1);
        Path file = Path.of(arguments[0]);
        String recipe = arguments[1];
        boolean chosen = !recipe.equals("planned");
        Shape shape =
                new Shape(
                        Arrays.stream(arguments[2].split("x", -1))
                                .mapToLong(Long::parseLong)
                                .toArray());
        try (ZooModel<NDList, NDList> model =
                        Torch.load(
                                file,
                                chosen
                                        ? Map.of("delegation.profile", "off")
                                        : Map.of("delegation.enabled", "false"));
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            predict(predictor, shape);
            if (chosen) {
                Await.until(
                        () ->
                                Torch.report(model)
                                        .delegation()
                                        .filter(report -> report.delegate().equals(recipe))
                                        .isPresent());
            }
            for (int i = 0; i < PREDICTIONS; i++) {
                predict(predictor, shape);
            }
            PlanHandle.of(model).orElseThrow().trim();
            System.gc();
            ProcessMemory.trim();
            System.out.println(new ProcessMemory().residentBytes().orElseThrow());
        }
    }

    private static void predict(Predictor<NDList, NDList> predictor, Shape shape) throws Exception {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDList unused = predictor.predict(new NDList(manager.ones(shape)));
        }
    }
}
