package org.djlplan.memplan;

import ai.djl.util.ClassLoaderUtils;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.errors.NotPlannedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what happens to a model that cannot be planned because classes of djl-plan are missing,
 * as in a native image. So this class uses no other class of djl-plan except {@link
 * NotPlannedException}.
 */
final class MissingClasses {

    private static final Logger logger = LoggerFactory.getLogger(MissingClasses.class);
    private static final String REQUIRED = "memplan.required";

    private MissingClasses() {}

    /**
     * Returns an object of the class that an argument names; empty if there is no such argument.
     *
     * @throws IllegalArgumentException if there is no such class
     */
    static <T> Optional<T> named(Class<T> type, String key, Map<String, ?> arguments) {
        Object name = arguments.get(key);
        if (name == null) {
            return Optional.empty();
        }
        T made =
                ClassLoaderUtils.initClass(
                        ClassLoaderUtils.getContextClassLoader(), type, name.toString());
        if (made == null) {
            throw new IllegalArgumentException(
                    key + "=" + name + ": not a " + type.getSimpleName());
        }
        return Optional.of(made);
    }

    /**
     * Returns the exception to throw if the model must be planned; otherwise logs a warning, and
     * returns empty.
     *
     * @param model its name
     * @param given options set by the application's code
     * @param arguments DJL's arguments of the model
     */
    static Optional<NotPlannedException> leaveAsStock(
            String model, Map<String, ?> given, Map<String, ?> arguments, Error problem) {
        Object value = given.get(REQUIRED);
        value = value == null ? System.getProperty("djlplan." + REQUIRED) : value;
        value = value == null ? arguments.get(REQUIRED) : value;
        if (value != null && value.toString().trim().equalsIgnoreCase("true")) {
            return Optional.of(new NotPlannedException(model, problem.toString()));
        }
        logger.warn("{} runs as without djl-plan: {}", model, problem.toString());
        return Optional.empty();
    }
}
