package org.djlplan.integration.support;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.hash.Hashing;

/** Stored files beside a model, altered by an attacker who knows the format. */
public final class Forgery {

    private Forgery() {}

    /** Returns the only stored file beside a model with an ending. */
    public static Path kept(Path model, String ending) throws IOException {
        try (Stream<Path> files = Files.list(model.resolveSibling(".djlplan"))) {
            return files.filter(file -> file.toString().endsWith(ending)).findFirst().orElseThrow();
        }
    }

    /**
     * Changes the value in a file and corrects the checksum.
     *
     * @param kind the name of the value's part
     */
    public static void change(Path file, String kind, Consumer<JsonObject> change)
            throws IOException {
        JsonObject text = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
        change.accept(text.getAsJsonObject(kind));
        text.addProperty(
                "sha256",
                Hashing.sha256()
                        .hashString(text.get(kind).toString(), StandardCharsets.UTF_8)
                        .toString());
        Files.writeString(file, text.toString());
    }
}
