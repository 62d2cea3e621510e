package org.djlplan.memplan.cli;

import ai.djl.translate.TranslatorFactory;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The one place where the commands meet what plans and runs models. */
final class PlannedLoading {

    /** The argument that sets the number of threads of a planned model. */
    static final String THREADS_ARGUMENT = "memplan.threads";

    private static final String FACTORY = "org.djlplan.memplan.PlannedTranslatorFactory";

    private PlannedLoading() {}

    /** Returns the factory that makes DJL load a model planned. */
    static TranslatorFactory translatorFactory() {
        try {
            return Class.forName(FACTORY)
                    .asSubclass(TranslatorFactory.class)
                    .getConstructor()
                    .newInstance();
        } catch (ClassNotFoundException e) {
            throw new Failure("planned models are not available yet: use --stock");
        } catch (ReflectiveOperationException e) {
            throw new Failure("cannot create " + FACTORY, e);
        }
    }

    /** Returns the bytes of the stock engine's own arena for a model, or empty if unknown. */
    static OptionalLong stockArenaBytes(Path model, EngineKind engine, OptionalInt threads) {
        return OptionalLong.empty();
    }
}
