package org.djlplan.integration.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks tests that run twice: on the DJL against which the project is compiled, with DJL's own
 * TensorFlow Lite engine; and on current DJL with djl-plan's engine, in Surefire's second
 * execution.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("every-djl")
public @interface OnEveryDjl {}
