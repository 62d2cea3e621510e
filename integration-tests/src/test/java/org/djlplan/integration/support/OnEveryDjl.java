package org.djlplan.integration.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Tests that run twice: on the DJL that everything is compiled against, with its own engine of
 * TensorFlow Lite, and on a current one with ours, in Surefire's second execution.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("every-djl")
public @interface OnEveryDjl {}
