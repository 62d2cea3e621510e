package org.djlplan.integration.bench;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Embeds sentences with a trained encoder: stock, with each precision, and in ONNX Runtime. Prints
 * tables; asserts nothing, because machines are noisy.
 *
 * <p>The property {@code djlplan.bench.encoder} names a folder with {@code model.pt}, which {@code
 * trained_encoder.py} makes, and its {@code tokenizer.json}. For rows of ONNX Runtime it also has
 * {@code model.onnx}, of which {@code model.pt} was made, and {@code model8.onnx}, its 8-bit
 * version, and {@code djlplan.bench.onnxruntime} is the class path of DJL's engine for them; if it
 * has LangChain4j's artifacts of this model, these are measured, too.
 *
 * <p>{@code djlplan.bench.server} is the class path of the example {@code embedding} together with
 * djl-delegation, for figures of a web server.
 */
@Tag("bench")
@Tag("djl-current")
class PrecisionBench {

    private static final Path ENCODER =
            Path.of(System.getProperty("djlplan.bench.encoder", "encoder"));
    private static final String ROUNDS = System.getProperty("djlplan.bench.rounds", "21");
    private static final List<String> THREADS =
            Splitter.on(',').splitToList(System.getProperty("djlplan.bench.threads", "1,2"));

    private static final List<String> ONNX_RUNTIME =
            Splitter.on(File.pathSeparatorChar)
                    .omitEmptyStrings()
                    .splitToList(System.getProperty("djlplan.bench.onnxruntime", ""));

    private static final String SERVER = System.getProperty("djlplan.bench.server", "");

    private static final ImmutableList<String> PYTORCH =
            ImmutableList.of("stock", "float32", "float16", "bfloat16", "int8");

    /** Of 1 to 60 tokens. */
    private static final ImmutableList<String> TEXTS =
            ImmutableList.of(
                    "Hello",
                    "A cat sits on the mat.",
                    "How do I reset my password?",
                    "The quick brown fox jumps over the lazy dog near the river bank.",
                    "Interest rates were raised by a quarter of a percentage point on Wednesday, and markets fell sharply afterwards as investors worried about growth.",
                    "Der Zug nach Berlin hat heute leider zwanzig Minuten Verspätung.",
                    "java.lang.NullPointerException: Cannot invoke method on null value",
                    "1 + 1 = 2",
                    "Please ship order #4711 to the new address before Friday; the customer called twice already and would like a confirmation by e-mail, including the tracking number and the name of the carrier, if possible today.",
                    "What is the capital of Mongolia?",
                    "Photosynthesis converts light energy into chemical energy.",
                    "My laptop's battery drains within two hours although it is new.",
                    "Buy now!!! Limited offer!!!",
                    "The contract may be terminated by either party with thirty days' written notice.",
                    "She sang beautifully at the wedding.",
                    "An embedding maps texts to vectors so that similar texts have similar vectors.",
                    "Rain",
                    "The patient was admitted with acute chest pain and shortness of breath, and an electrocardiogram was performed immediately.",
                    "Can I bring my dog on the plane?",
                    "Two pounds of flour, three eggs, a pinch of salt",
                    "Napoleon was defeated at Waterloo in 1815.",
                    "git rebase --interactive HEAD~3",
                    "Our quarterly revenue grew by 12 % compared with last year, driven by strong demand for cloud services and a favourable exchange rate.",
                    "I love this phone, but the camera is terrible.",
                    "Turn left at the second traffic light.",
                    "The stock of the company rose after the announcement.",
                    "Where can I find a vegetarian restaurant nearby?",
                    "Gravity bends light.",
                    "The committee will meet on the third Tuesday of each month, unless that day is a public holiday.",
                    "ok",
                    "Quantum computers use qubits, which can be in superpositions of states, to solve certain problems faster than classical computers can.",
                    "Thank you for your help yesterday!");

    @TempDir Path folder;

    @Test
    void printPrecisions() throws Exception {
        List<String> variants = new ArrayList<>();
        for (String name : PYTORCH) {
            add(variants, name, "model.pt", "model.pt");
        }
        if (!ONNX_RUNTIME.isEmpty()) {
            add(variants, "onnx", "model.onnx", "model.onnx");
            add(variants, "onnx8", "model8.onnx", "model.onnx");
        }
        if (ONNX_RUNTIME.stream().anyMatch(jar -> jar.contains("langchain4j"))) {
            variants.addAll(List.of("langchain4j", "langchain4j8"));
        }
        Files.write(folder.resolve("texts.txt"), TEXTS);
        try (Turns turns = new Turns(folder, 1)) {
            for (String threads : THREADS) {
                turns.compare("threads: " + threads, List.of(way("", threads, "1", variants)));
            }
            for (String callers : List.of("1", "8")) {
                List<Way> ways = new ArrayList<>();
                for (String variant : variants) {
                    ways.add(way(variant, "1", callers, List.of(variant)));
                }
                turns.compare("callers: " + callers, ways);
            }
        }
    }

    @Test
    void printConnections() throws Exception {
        if (SERVER.isEmpty()) {
            return;
        }
        List<String> variants = new ArrayList<>();
        for (String variant : PYTORCH) {
            add(variants, variant, "model.pt", variant + ".pt");
        }
        System.out.printf(
                "%-10s %11s %8s %8s %8s%n", "", "connections", "per s", "p50 ms", "p99 ms");
        for (String variant : variants) {
            try (EmbeddingServer server =
                    new EmbeddingServer(SERVER, folder.resolve(variant), options(variant))) {
                // The 32nd request waits for the measurement.
                EmbeddingServer.Figures unused = server.serve(TEXTS, 1, 3);
                for (int connections : new int[] {1, 8, 64}) {
                    EmbeddingServer.Figures figures =
                            server.serve(TEXTS, connections, Integer.parseInt(ROUNDS));
                    System.out.printf("%-10s %11d %s%n", variant, connections, figures);
                }
            }
        }
    }

    private static List<String> options(String variant) {
        return variant.equals("stock")
                ? List.of("-Ddjlplan.memplan.enabled=false")
                : List.of(
                        "-Ddjlplan.delegation.precision=" + variant,
                        "-Ddjlplan.delegation.profile=blocking");
    }

    /** Each variant has its own folder, because choices are stored there. */
    private void add(List<String> variants, String variant, String source, String target)
            throws Exception {
        Path file = ENCODER.resolve(source).toAbsolutePath();
        if (Files.exists(file)) {
            Path own = Files.createDirectory(folder.resolve(variant));
            Files.createSymbolicLink(own.resolve(target), file);
            Files.createSymbolicLink(
                    own.resolve("tokenizer.json"),
                    ENCODER.resolve("tokenizer.json").toAbsolutePath());
            variants.add(variant);
        }
    }

    private Way way(String name, String threads, String callers, List<String> variants) {
        List<String> arguments = new ArrayList<>();
        arguments.addAll(List.of(folder.toString(), threads, ROUNDS, callers));
        arguments.addAll(variants);
        List<String> classPath = new ArrayList<>(ChildJvm.ownClassPath());
        classPath.addAll(ONNX_RUNTIME);
        return Way.of(name, PrecisionApplication.class, arguments.toArray(String[]::new))
                .jvm(jvm -> jvm.classPath(classPath));
    }
}
