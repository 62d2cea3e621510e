package org.djlplan.integration.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Marks a test that needs real models. If they are absent, the test is skipped with the reason,
 * before a parameterized test computes its arguments. If the environment requires the models, the
 * test fails instead.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag(NeedsModels.TAG)
@ExtendWith(NeedsModels.Check.class)
public @interface NeedsModels {

    /** The tag of all such tests: {@code mvn verify -Pmodels} runs them alone. */
    String TAG = "real-models";

    /** The set of models, all of which must be present. */
    RealModels value();

    /** Skips the test or lets it fail if the models are absent. */
    final class Check implements ExecutionCondition {

        private static final Logger logger = LoggerFactory.getLogger(NeedsModels.class);

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            Optional<RealModels> models =
                    AnnotationSupport.findAnnotation(context.getElement(), NeedsModels.class)
                            .map(NeedsModels::value);
            Optional<String> missing = models.flatMap(RealModels::missing);
            if (missing.isPresent() && models.orElseThrow().required()) {
                throw new IllegalStateException(missing.get());
            }
            // Prints the reason, because Surefire mentions it only in its reports.
            missing.ifPresent(
                    reason ->
                            logger.warn(
                                    "{}.{} is skipped, because {}",
                                    context.getRequiredTestClass().getSimpleName(),
                                    context.getTestMethod().map(Method::getName).orElse("*"),
                                    reason));
            return missing.map(ConditionEvaluationResult::disabled)
                    .orElse(ConditionEvaluationResult.enabled("the models are there"));
        }
    }
}
