package org.djlplan.memplan.djl;

import java.net.URI;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.config.OptionKey;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.spi.SharedStore;
import org.djlplan.memplan.store.SharedFolder;

/** The stores that {@code memplan.store} may name. None is asked for anything here. */
final class SharedStores {

    private static final String CLASS = "class:";
    private static final String URL = "file:";

    private SharedStores() {}

    /**
     * Returns the store of a model.
     *
     * @throws IllegalArgumentException if it is no store, no class and no folder
     */
    static Optional<SharedStore> of(PlanOptions options) {
        return options.store().map(SharedStores::of);
    }

    private static SharedStore of(Object value) {
        if (value instanceof SharedStore store) {
            return store;
        }
        String text = value.toString().trim();
        if (text.startsWith(CLASS)) {
            return ModelPlanning.newInstance(
                    OptionKey.STORE, text.substring(CLASS.length()), SharedStore.class);
        }
        try {
            Path folder = text.startsWith(URL) ? Path.of(URI.create(text)) : Path.of(text);
            // Not by its relative name: a framework may have set another folder by then.
            return new SharedFolder(folder.toAbsolutePath());
        } catch (IllegalArgumentException | FileSystemNotFoundException e) {
            throw new IllegalArgumentException(
                    "%s=%s: must be a folder, a SharedStore or class: and the name of one"
                            .formatted(OptionKey.STORE.key(), text),
                    e);
        }
    }
}
