package org.djlplan.integration.current;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs the tests of djl-plan's arrays in a JVM whose class path has no other engine. */
final class ArraysAloneProgram {

    private ArraysAloneProgram() {}

    /** Returns the tests of djl-plan's arrays. */
    static List<Method> tests() {
        return Arrays.stream(OwnArrays.class.getPermittedSubclasses())
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Test.class))
                .toList();
    }

    /** Prints how many tests passed; throws the exception of the first that fails. */
    public static void main(String[] arguments) throws Exception {
        int passed = 0;
        for (Method method : tests()) {
            OwnArrays test =
                    (OwnArrays) method.getDeclaringClass().getDeclaredConstructor().newInstance();
            test.open();
            try {
                method.setAccessible(true);
                method.invoke(test);
            } finally {
                test.close();
            }
            passed++;
        }
        System.out.println(passed + " passed");
    }
}
