package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.lang.reflect.Proxy;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScopedTranslatorTest {

    private static final Model MODEL = model();
    private static final Model OTHER_MODEL = model();

    /** A translator that is equal to others with the same label. */
    record Labelled(String label) implements Translator<String, String> {

        @Override
        public NDList processInput(TranslatorContext context, String input) {
            return new NDList();
        }

        @Override
        public String processOutput(TranslatorContext context, NDList outputs) {
            return label;
        }
    }

    /** Returns a model that equals only itself and has no name and no manager. */
    private static Model model() {
        return (Model)
                Proxy.newProxyInstance(
                        Model.class.getClassLoader(),
                        new Class<?>[] {Model.class},
                        (proxy, method, arguments) ->
                                switch (method.getName()) {
                                    case "equals" -> proxy == arguments[0];
                                    case "hashCode" -> System.identityHashCode(proxy);
                                    case "getName", "getNDManager" -> null;
                                    default -> throw new UnsupportedOperationException();
                                });
    }

    private static Translator<String, String> wrapped(String label) {
        return ScopedTranslator.wrap(
                new Labelled(label), MODEL, OptionalInt.empty(), OptionalInt.empty());
    }

    @Test
    void equals_itself_isTrue() {
        Translator<String, String> translator = wrapped("a");
        assertTrue(translator.equals(translator));
        assertTrue(Set.of(translator).contains(translator));
        assertEquals(new Labelled("a").toString(), translator.toString());
    }

    @Test
    void equals_others_asTheTranslatorsAre() {
        assertEquals(wrapped("a"), wrapped("a"));
        assertEquals(wrapped("a").hashCode(), wrapped("a").hashCode());
        assertNotEquals(wrapped("a"), wrapped("b"));
        assertNotEquals(
                wrapped("a"),
                ScopedTranslator.wrap(
                        new Labelled("a"), OTHER_MODEL, OptionalInt.empty(), OptionalInt.empty()));
    }

    /** Equality must be symmetric. */
    @Test
    void equals_unwrappedTranslator_isFalse() {
        Translator<String, String> translator = wrapped("a");
        assertFalse(translator.equals(null));
        assertNotEquals(translator, new Labelled("a"));
        assertNotEquals(new Labelled("a"), translator);
        assertNotEquals(translator, MODEL);
    }
}
