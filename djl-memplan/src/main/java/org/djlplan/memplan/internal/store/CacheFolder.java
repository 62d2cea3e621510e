package org.djlplan.memplan.internal.store;

import ai.djl.util.Utils;
import java.nio.file.Path;

/** The folder for files that cannot be stored next to a model: a folder in DJL's own cache. */
public final class CacheFolder {

    private static final String NAME = "djl-plan";

    private CacheFolder() {}

    /** Returns the folder, which need not exist. */
    public static Path get() {
        return Utils.getCacheDir().resolve(NAME);
    }
}
