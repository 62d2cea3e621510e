package org.djlplan.integration.torch;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableList;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * TorchScript files of real networks that take an image of 224 × 224, where they were fetched,
 * which they must have been when {@code DJLPLAN_REQUIRE_TORCH_MODELS} is true.
 */
final class RealModels {

    /** One image. */
    static final ModelInputs IMAGE = ModelInputs.floats(new long[] {1, 3, 224, 224});

    private static final Path FOLDER = Path.of("models", "torchscript");
    private static final boolean REQUIRED =
            Boolean.parseBoolean(
                    System.getenv().getOrDefault("DJLPLAN_REQUIRE_TORCH_MODELS", "false"));

    private RealModels() {}

    /** Returns the files that are there. */
    static List<Path> all() {
        List<Path> there =
                ImmutableList.of("squeezenet1_1", "mobilenet_v2", "resnet18", "densenet121")
                        .stream()
                        .map(name -> FOLDER.resolve(name + ".pt").toAbsolutePath())
                        .filter(file -> Files.isRegularFile(file) || REQUIRED)
                        .toList();
        there.forEach(file -> assertTrue(Files.isRegularFile(file), file + " is required"));
        return there;
    }
}
