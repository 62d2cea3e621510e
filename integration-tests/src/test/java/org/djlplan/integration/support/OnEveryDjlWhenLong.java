package org.djlplan.integration.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks long tests: they run on current DJL, and with {@code -Pmodels} also on the DJL against
 * which the project is compiled.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@OnEveryDjl
@Tag("long-on-first-djl")
public @interface OnEveryDjlWhenLong {}
