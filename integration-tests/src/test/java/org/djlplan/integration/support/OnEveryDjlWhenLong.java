package org.djlplan.integration.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Tests that take long: they run on a current DJL, and with {@code -Pmodels} on the DJL that
 * everything is compiled against, too.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@OnEveryDjl
@Tag("long-on-first-djl")
public @interface OnEveryDjlWhenLong {}
