package org.djlplan.cli;

import com.google.gson.JsonElement;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A part of {@code djlplan report} that another module adds: a class with a public constructor
 * without parameters, listed in {@code META-INF/services/org.djlplan.cli.ReportPart}.
 */
public interface ReportPart {

    /** Returns its name in the report, such as {@code delegation}. */
    String name();

    /**
     * Returns the data about a model, without running it.
     *
     * @param model a {@code .tflite} file
     * @return empty if there is none
     * @throws IOException if the file cannot be read
     */
    Optional<JsonElement> of(Path model) throws IOException;
}
