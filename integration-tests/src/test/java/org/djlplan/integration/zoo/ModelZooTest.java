package org.djlplan.integration.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.torch.TorchScriptModels;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a team's model zoo in a folder: a property of the artifact switches planning on. */
@OnEveryDjlWhenLong
class ModelZooTest {

    @TempDir Path folder;

    /** Adds an artifact. Several artifacts may have the same file. */
    private void add(String artifact, Path file, String arguments) throws Exception {
        Path of =
                Files.createDirectories(
                        folder.resolve("zoo/model/undefined/org/example").resolve(artifact));
        String name = file.getFileName().toString();
        Files.copy(file, Files.createDirectory(of.resolve("0.0.1")).resolve(name));
        Files.writeString(
                of.resolve("metadata.json"),
                """
                {
                  "metadataVersion": "0.2",
                  "resourceType": "model",
                  "application": "undefined",
                  "groupId": "org.example",
                  "artifactId": "%1$s",
                  "name": "%1$s",
                  "artifacts": [
                    {
                      "version": "0.0.1",
                      "name": "%2$s",
                      "arguments": {%4$s},
                      "files": {"model": {"uri": "0.0.1/%3$s", "name": "%3$s"}}
                    }
                  ]
                }
                """
                        .formatted(
                                artifact,
                                name.substring(0, name.lastIndexOf('.')),
                                name,
                                arguments));
    }

    /** Runs in a separate JVM, because DJL reads the location of its zoo only once. */
    @Test
    void load_byGroupAndArtifact_planningIsOnWhereThePropertyIs() throws Exception {
        Path face = folder.resolve("face.tflite");
        Files.copy(TestModels.built("blaze_face"), face);
        Path cnn = folder.resolve("cnn.pt");
        Files.copy(TorchScriptModels.named("cnn").file(), cnn);
        String property = "\"translatorFactory\": \"org.djlplan.memplan.PlannedTranslatorFactory\"";
        add("face", face, "");
        add("face-planned", face, property);
        add("cnn", cnn, "");
        add("cnn-planned", cnn, property);

        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(
                                "-Dai.djl.repository.zoo.location=" + folder.resolve("zoo").toUri(),
                                "-DDJL_CACHE_DIR=" + folder.resolve("cache"))
                        .run(
                                ModelZooProgram.class,
                                "TFLite",
                                "face",
                                "1,128,128,3",
                                "TFLite",
                                "face-planned",
                                "1,128,128,3",
                                "PyTorch",
                                "cnn",
                                "1,3,32,32",
                                "PyTorch",
                                "cnn-planned",
                                "1,3,32,32");

        assertEquals(0, result.exitCode(), result.printed());
        List<String[]> lines = result.out().lines().map(line -> line.split(" ", -1)).toList();
        assertEquals(4, lines.size(), result.printed());
        for (int i = 0; i < lines.size(); i += 2) {
            assertEquals("stock", lines.get(i)[1], result.printed());
            assertEquals("planned=true", lines.get(i + 1)[1], result.printed());
            assertEquals(lines.get(i)[2], lines.get(i + 1)[2], result.printed());
        }
        assertEquals(List.of(), result.warnings());
    }
}
