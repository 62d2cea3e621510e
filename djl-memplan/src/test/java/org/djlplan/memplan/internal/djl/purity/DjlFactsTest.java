package org.djlplan.memplan.internal.djl.purity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.internal.NDArrayEx;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Checks the table of the effects of DJL's methods. */
class DjlFactsTest {

    @Test
    void arrayMethods_ofDjl_areAllKnown() {
        TreeSet<String> unknown = new TreeSet<>();
        for (Class<?> type : List.of(NDArray.class, NDArrayEx.class, NDArrays.class)) {
            for (Method method : type.getDeclaredMethods()) {
                if (Modifier.isPublic(method.getModifiers())) {
                    unknown.add(method.getName());
                }
            }
        }
        unknown.removeAll(DjlFacts.arrayMethods());
        assertEquals(new TreeSet<String>(), unknown);
    }

    @Test
    void of_methodThatWrites_changesItsOperand() {
        assertEquals(Fact.Effect.CHANGES, effect("addi"));
        assertEquals(Fact.Effect.CHANGES, effect("set"));
        assertEquals(Fact.Effect.CHANGES_SECOND, effect("copyTo"));
        assertEquals(Fact.Effect.SAME, effect("reshape"));
        assertEquals(Fact.Effect.VALUE, effect("add"));
        assertEquals(Fact.Effect.LOOKS, effect("toFloatArray"));
    }

    @Test
    void of_methodOfLaterVersions_isNotKnown() {
        assertEquals(Optional.empty(), DjlFacts.of(NDArray.class, "doMagic", "()V", false));
    }

    @Test
    void of_bufferThatMayBeAWindow_isOpaque() {
        String descriptor = "(Z)Ljava/nio/ByteBuffer;";
        assertTrue(
                DjlFacts.of(NDArray.class, "toByteBuffer", descriptor, true)
                        .orElseThrow()
                        .finding()
                        .isPresent());
        assertTrue(
                DjlFacts.of(NDArray.class, "toByteBuffer", descriptor, false)
                        .orElseThrow()
                        .finding()
                        .isEmpty());
    }

    private static Fact.Effect effect(String name) {
        return DjlFacts.of(NDArray.class, name, "()V", false).orElseThrow().effect();
    }
}
