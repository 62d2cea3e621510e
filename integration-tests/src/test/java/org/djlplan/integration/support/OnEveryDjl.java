package org.djlplan.integration.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Tests that run twice: on the DJL that everything is compiled against and on a current one, in
 * Surefire's second execution. They lie in a {@code torch} package, since that class path has no
 * TFLite engine.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("every-djl")
public @interface OnEveryDjl {}
