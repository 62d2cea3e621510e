package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.Model;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StockTfLiteAdapterTest {

    /** Keeps mappings reachable, as the engine does. */
    private final List<MappedByteBuffer> mappings = new ArrayList<>();

    @TempDir Path folder;

    @AfterEach
    void holdMappings() {
        mappings.forEach(mapping -> assertEquals(1, mapping.get(0)));
    }

    private static Optional<Path> find(String name, Path modelPath) {
        Model model =
                (Model)
                        Proxy.newProxyInstance(
                                Model.class.getClassLoader(),
                                new Class<?>[] {Model.class},
                                (proxy, method, arguments) ->
                                        switch (method.getName()) {
                                            case "getName" -> name;
                                            case "getModelPath" -> modelPath;
                                            default -> throw new AssertionError(method);
                                        });
        return StockTfLiteAdapter.fileOf(model);
    }

    private Path file(String name) throws IOException {
        return Files.write(folder.resolve(name), new byte[] {1, 2, 3});
    }

    private Path mapped(String name) throws IOException {
        Path file = file(name);
        try (FileChannel channel = FileChannel.open(file)) {
            mappings.add(channel.map(MapMode.READ_ONLY, 0, channel.size()));
        }
        return file;
    }

    @Test
    void fileOf_fileWithOrWithoutExtension_found() throws IOException {
        Path file = mapped("net.tflite");
        assertEquals(Optional.of(file), find("net", folder));
        assertEquals(Optional.of(file), find("net.tflite", folder));
        assertEquals(Optional.empty(), find("other", folder));
    }

    @Test
    void fileOf_namedLikeItsFolder_found() throws IOException {
        Path file = mapped(folder.getFileName() + ".tflite");
        assertEquals(Optional.of(file), find("whatever", folder));
    }

    /** If DJL is given a file instead of a folder, it cuts five characters off the name. */
    @Test
    void fileOf_nameWithHalfAnExtension_found() throws IOException {
        Path file = mapped("MobileFaceNet.tflite");
        assertEquals(Optional.of(file), find("MobileFaceNet.t", folder));
        assertEquals(Optional.empty(), find("MobileFaceNet.x", folder));
    }

    @Test
    void fileOf_pathThatIsTheFile_found() throws IOException {
        Path file = mapped("a net with spaces and an ü.tflite");
        assertEquals(Optional.of(file), find("anything", file));
    }

    @Test
    void fileOf_linkToTheMappedFile_found() throws IOException {
        Path file = mapped("real.tflite");
        Path link = Files.createSymbolicLink(folder.resolve("link.tflite"), file);
        assertEquals(Optional.of(link), find("link", folder));
    }

    @Test
    void fileOf_fileThatIsNotMapped_nothing() throws IOException {
        mapped("other.tflite");
        Path file = file("net.tflite");
        assertEquals(Optional.empty(), find("net", folder));
        assertEquals(Optional.empty(), find("net", file));
    }

    /** The engine loads the first existing file, so the second one is not the model. */
    @Test
    void fileOf_mappedFileBehindAnotherOfTheName_nothing() throws IOException {
        file("net");
        mapped("net.tflite");
        assertEquals(Optional.empty(), find("net", folder));
    }

    @Test
    void fileOf_mappedFileWhoseNameEndsAlike_nothing() throws IOException {
        mapped("another net.tflite");
        file("net.tflite");
        assertEquals(Optional.empty(), find("net", folder));
    }

    @Test
    void fileOf_blockSetByHand_nothing() {
        assertEquals(Optional.empty(), find("net", null));
    }

    @Test
    void fileOf_folderInPlaceOfTheFile_nothing() throws IOException {
        Files.createDirectory(folder.resolve("net"));
        assertEquals(Optional.empty(), find("net", folder));
    }
}
