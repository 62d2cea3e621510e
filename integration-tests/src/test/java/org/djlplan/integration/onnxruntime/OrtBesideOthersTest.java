package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.integration.text.TextFiles;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests ONNX Runtime in one JVM with PyTorch, TensorFlow Lite and DJL's text translators. */
@Tag("djl-current")
class OrtBesideOthersTest {

    private static final Path RELEASES =
            Path.of("downloads", "target", "onnxruntime").toAbsolutePath();

    @TempDir Path folder;

    private Path tfLite() throws Exception {
        NetworkBuilder network = new NetworkBuilder("net", 1);
        LayerOutput x = network.input("in", 1, 16, 16, 8);
        for (int i = 0; i < 4; i++) {
            x = network.conv2d(x, 8, 3, 1, Activation.RELU6);
        }
        Path file = folder.resolve("net.tflite");
        TfLiteWriter.write(network.output(x).build(), file);
        return file;
    }

    @Test
    void predict_threeEngines_areStocksBytesWithOneTotal() throws Exception {
        List<String> classPath = new ArrayList<>(ChildJvm.ownClassPath());
        for (String jar : List.of("onnxruntime-engine-0.35.1.jar", "onnxruntime-1.21.1.jar")) {
            classPath.add(RELEASES.resolve(jar).toString());
        }
        Path texts = Files.createDirectory(folder.resolve("texts"));
        TextFiles.writeTokenizer(texts);
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .classPath(classPath)
                        .run(
                                OrtBesideOthersProgram.class,
                                tfLite().toString(),
                                TorchScriptModels.named("cnn").file().toAbsolutePath().toString(),
                                OrtModels.detector(folder).toString(),
                                OnnxSketch.textEncoder()
                                        .write(texts.resolve("model.onnx"))
                                        .toString());
        assertEquals(0, result.exitCode(), result.printed());
        for (String engine : List.of("TFLite", "PyTorch", "OnnxRuntime")) {
            assertTrue(result.out().contains(engine + ": 10 same, planned"), result.printed());
            assertTrue(result.out().contains(engine + ": one total"), result.printed());
        }
        assertTrue(result.out().contains("texts: same"), result.printed());
        assertEquals(List.of(), result.warnings(), result.printed());
    }
}
