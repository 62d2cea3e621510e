package org.djlplan.memplan;

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
