package org.djlplan.integration.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.testing.TestImage;

/**
 * A model made for the examples, and images to classify.
 *
 * @param model a MobileNet v2 with random weights
 */
record Classifier(Path model, List<Path> images) {

    private static final int IMAGES = 8;

    /** All classes of a MobileNet. */
    static final int CLASSES = 1001;

    /** The difference that a delegate's outputs may always have, relative to the largest. */
    private static final double TOLERANCE = 1e-4;

    private static final Pattern ANSWER = Pattern.compile("(?m)^.*\\.png: (class .*)$");
    private static final Pattern CLASS = Pattern.compile("(class \\d+) \\(([^)]+)\\)");

    /** Writes the model and the images into a folder. */
    static Classifier in(Path folder) throws IOException {
        Path model = Files.createDirectory(folder.resolve("model")).resolve("mobilenet_v2.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), model);
        List<Path> images = new ArrayList<>();
        for (int seed = 0; seed < IMAGES; seed++) {
            images.add(Files.write(folder.resolve(seed + ".png"), TestImage.png(seed)));
        }
        return new Classifier(model, images);
    }

    /** Returns the output of the example without a framework, with all classes of each image. */
    String runPlain(String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of("-Dtop=" + CLASSES));
        all.addAll(List.of(options));
        List<String> arguments = new ArrayList<>(List.of(model.toString()));
        images.forEach(image -> arguments.add(image.toString()));
        try (ExampleProcess example = new ExampleProcess("plain", all, arguments)) {
            assertEquals(0, example.exitValue(), example::printed);
            return example.printed();
        }
    }

    /** Returns the probabilities of each image by the stock engine. */
    List<Map<String, Double>> stock() throws Exception {
        return probabilities(runPlain("-Ddjlplan.memplan.enabled=false"));
    }

    /** Returns the printed probabilities of each image, by class. */
    static List<Map<String, Double>> probabilities(String printed) {
        return ANSWER.matcher(printed).results().map(Classifier::probabilities).toList();
    }

    private static Map<String, Double> probabilities(MatchResult answer) {
        Map<String, Double> probabilities = new TreeMap<>();
        CLASS.matcher(answer.group(1))
                .results()
                .forEach(c -> probabilities.put(c.group(1), Double.valueOf(c.group(2))));
        assertEquals(CLASSES, probabilities.size());
        return probabilities;
    }

    /** Asserts that probabilities of an image are the stock ones, bit by bit. */
    static void assertSame(Map<String, Double> expected, Map<String, Double> actual) {
        assertEquals(expected.keySet(), actual.keySet());
        expected.forEach((name, value) -> assertEquals(value, actual.get(name), name));
    }

    /** Asserts that a delegate's probabilities of an image are close enough to the stock ones. */
    static void assertClose(Map<String, Double> expected, Map<String, Double> actual) {
        assertEquals(expected.keySet(), actual.keySet());
        double limit = TOLERANCE * Collections.max(expected.values());
        expected.forEach((name, value) -> assertEquals(value, actual.get(name), limit, name));
    }
}
