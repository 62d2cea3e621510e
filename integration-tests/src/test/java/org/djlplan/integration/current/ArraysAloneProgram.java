package org.djlplan.integration.current;

import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;

/** Runs the tests of djl-plan's arrays in a JVM whose class path has no other engine. */
final class ArraysAloneProgram {

    private ArraysAloneProgram() {}

    /** Prints how many tests passed; throws the exception of the first that fails. */
    public static void main(String[] arguments) throws Exception {
        int passed = 0;
        for (Method method : OwnArraysTest.class.getDeclaredMethods()) {
            if (method.isAnnotationPresent(Test.class)) {
                OwnArraysTest test = new OwnArraysTest();
                test.open();
                try {
                    method.setAccessible(true);
                    method.invoke(test);
                } finally {
                    test.close();
                }
                passed++;
            }
        }
        System.out.println(passed + " passed");
    }
}
