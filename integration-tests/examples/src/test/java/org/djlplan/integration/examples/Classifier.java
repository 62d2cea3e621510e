package org.djlplan.integration.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.testing.TestImage;

/**
 * A model that was made for the examples, and images.
 *
 * @param model a MobileNet v2 with random weights
 */
record Classifier(Path model, List<Path> images) {

    private static final int IMAGES = 8;
    private static final Pattern ANSWER = Pattern.compile("(?m)^.*\\.png: (class \\d+)$");

    /** Writes them into a folder. */
    static Classifier in(Path folder) throws IOException {
        Path model = Files.createDirectory(folder.resolve("model")).resolve("mobilenet_v2.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), model);
        List<Path> images = new ArrayList<>();
        for (int seed = 0; seed < IMAGES; seed++) {
            images.add(Files.write(folder.resolve(seed + ".png"), TestImage.png(seed)));
        }
        return new Classifier(model, images);
    }

    /** Returns what the example without a framework prints. */
    String runPlain(String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(model.toString()));
        images.forEach(image -> arguments.add(image.toString()));
        try (ExampleProcess example = new ExampleProcess("plain", List.of(options), arguments)) {
            assertEquals(0, example.exitValue(), example::printed);
            return example.printed();
        }
    }

    /** Returns the classes of the images by the stock engine. */
    List<String> stockClasses() throws Exception {
        return classes(runPlain("-Ddjlplan.memplan.enabled=false"));
    }

    /** Returns the classes in what was printed. */
    static List<String> classes(String printed) {
        return ANSWER.matcher(printed).results().map((MatchResult r) -> r.group(1)).toList();
    }
}
