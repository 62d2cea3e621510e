package org.djlplan.memplan.internal.djl.purity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.djl.purity.CodeReader.Lambda;
import org.djlplan.thirdparty.asm.Handle;
import org.djlplan.thirdparty.asm.Opcodes;
import org.djlplan.thirdparty.asm.Type;
import org.junit.jupiter.api.Test;

class KnownFunctionsTest {

    private static final String FIELD = "a.Block#activation";
    private static final Lambda RELU = lambda("relu");
    private static final Lambda TANH = lambda("tanh");

    private final KnownFunctions functions = new KnownFunctions();

    private static Lambda lambda(String method) {
        Handle body = new Handle(Opcodes.H_INVOKESTATIC, "a/Block", method, "()V", false);
        return new Lambda(
                KnownFunctionsTest.class,
                body,
                "java/lang/Runnable",
                new Type[0],
                Type.getMethodType("()V"));
    }

    @Test
    void reachable_fieldThatNobodyWrites_hasItsFunctions() {
        assertTrue(functions.escape(RELU));
        assertTrue(functions.escape(TANH));
        functions.addTo(FIELD, Set.of(TANH));
        assertTrue(functions.hasFunctions(FIELD));
        assertEquals(List.of(TANH), functions.reachable(Optional.of(FIELD)));
    }

    @Test
    void reachable_fieldThatIsWritten_hasAllThatEscaped() {
        functions.escape(RELU);
        functions.escape(TANH);
        functions.addTo(FIELD, Set.of(TANH));
        assertTrue(functions.noteWrite(FIELD));
        assertFalse(functions.noteWrite(FIELD));
        assertEquals(List.of(RELU, TANH), functions.reachable(Optional.of(FIELD)));
    }

    @Test
    void reachable_unknownField_hasAllThatEscaped() {
        functions.escape(RELU);
        assertEquals(List.of(RELU), functions.reachable(Optional.empty()));
        assertEquals(List.of(RELU), functions.reachable(Optional.of("a.Block#other")));
    }

    @Test
    void escape_sameBodyAndType_isKnown() {
        assertTrue(functions.escape(RELU));
        assertFalse(functions.escape(lambda("relu")));
    }
}
