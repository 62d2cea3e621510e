package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.nn.Parameter;
import java.lang.ref.WeakReference;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;

class HeldObjectsTest {

    private record Old(String name) {}

    private record New(String name) {}

    private static class Base {
        private Object inherited = new Old("inherited");
    }

    private static final class Holder extends Base {
        private Object field = new Old("field");
        private final Object constant = new Old("constant");
        private final Object[] elements = {new Old("element"), null, "text"};
        private final List<Object> list = new ArrayList<>(List.of(new Old("listed")));
        private final List<Object> fixed = Collections.unmodifiableList(list);
        private final List<Object> immutable = List.of(new Old("immutable"), "more");
        private final Map<Object, Object> map = new HashMap<>(Map.of("key", new Old("value")));
        private final AtomicReference<Object> reference =
                new AtomicReference<>(new Old("referent"));
        private final AtomicReferenceArray<Object> references =
                new AtomicReferenceArray<>(new Object[] {new Old("one of several")});
        private final Map.Entry<String, Object> entry =
                new AbstractMap.SimpleEntry<>("key", new Old("entry"));

        @SuppressWarnings("UnusedVariable") // the walk reads it
        private final List<Object> own =
                new AbstractList<>() {
                    private final Object[] elements = {new Old("own")};

                    @Override
                    public Object get(int index) {
                        throw new AssertionError("user code runs for " + elements[index]);
                    }

                    @Override
                    public int size() {
                        throw new AssertionError("user code runs");
                    }
                };

        private Optional<Object> optional = Optional.of(new Old("optional"));
        private WeakReference<Object> weak = new WeakReference<>(constant);
        private final Holder itself = this;
        private final Holder[] others;

        Holder(Holder... others) {
            this.others = others;
        }
    }

    private static final class Statics {
        private static Object field;
    }

    private final Set<String> seen = new HashSet<>();

    private Object replace(Object object) {
        if (object instanceof Old old) {
            seen.add(old.name());
            return new New(old.name());
        }
        return object;
    }

    private static String name(Object replaced) {
        return ((New) replaced).name();
    }

    @Test
    void replaceAll_whereverItCanBePut_isReplaced() {
        Holder holder = new Holder();
        assertTrue(HeldObjects.replaceAll(holder, List.of(), this::replace));
        assertEquals("field", name(holder.field));
        assertEquals("inherited", name(((Base) holder).inherited));
        assertEquals("element", name(holder.elements[0]));
        assertEquals("listed", name(holder.list.get(0)));
        assertEquals("value", name(holder.map.get("key")));
        assertEquals("referent", name(holder.reference.get()));
        assertEquals("one of several", name(holder.references.get(0)));
        assertEquals("entry", name(holder.entry.getValue()));
        assertTrue(seen.contains("own"));
        assertEquals("optional", name(holder.optional.orElseThrow()));
    }

    @Test
    void replaceAll_whereNothingCanBeChanged_isSeenAndStays() {
        Holder holder = new Holder();
        assertTrue(HeldObjects.replaceAll(holder, List.of(), this::replace));
        assertEquals(new Old("constant"), holder.constant);
        assertEquals(List.of(new Old("immutable"), "more"), holder.immutable);
        assertEquals(holder.list, holder.fixed);
        assertTrue(seen.containsAll(Set.of("constant", "immutable")), seen.toString());
    }

    @Test
    void replaceAll_nothingToReplace_touchesNothing() {
        Holder holder = new Holder();
        Object field = holder.field;
        Optional<Object> optional = holder.optional;
        WeakReference<Object> weak = holder.weak;
        assertTrue(HeldObjects.replaceAll(holder, List.of(), object -> object));
        assertSame(field, holder.field);
        assertSame(optional, holder.optional);
        assertSame(weak, holder.weak);
    }

    @Test
    void replaceAll_childrenInArrays_areVisitedOnce() {
        Holder child = new Holder();
        Holder holder = new Holder(child, child);
        List<Object> visited = new ArrayList<>();
        assertTrue(
                HeldObjects.replaceAll(
                        holder,
                        List.of(),
                        object -> {
                            if (object instanceof Old old && old.name().equals("field")) {
                                visited.add(old);
                            }
                            return object;
                        }));
        assertEquals(2, visited.size());
        assertSame(child, holder.others[1]);
        assertSame(holder, holder.itself);
    }

    @Test
    void replaceAll_statics_onlyOfTheClassesNamed() {
        Statics.field = new Old("static");
        assertTrue(HeldObjects.replaceAll(new Object(), List.of(), this::replace));
        assertEquals(new Old("static"), Statics.field);
        assertTrue(HeldObjects.replaceAll(new Object(), List.of(Statics.class), this::replace));
        assertEquals("static", name(Statics.field));
        Statics.field = null;
    }

    /** Parameters belong to the model, and are never closed early. */
    @Test
    void replaceAll_parameter_isNotEntered() {
        Parameter parameter =
                Parameter.builder().setName("weight").setType(Parameter.Type.WEIGHT).build();
        List<Object> met = new ArrayList<>();
        assertTrue(
                HeldObjects.replaceAll(
                        new Object[] {parameter},
                        List.of(),
                        object -> {
                            met.add(object);
                            return object;
                        }));
        assertTrue(met.contains(parameter));
        assertFalse(met.contains("weight"));
    }

    @Test
    void replaceAll_tooManyObjects_returnsFalse() {
        Object[] many = new Object[100_001];
        for (int i = 0; i < many.length; i++) {
            many[i] = new Object[0];
        }
        assertFalse(HeldObjects.replaceAll(many, List.of(), object -> object));
        Object[] fewer = java.util.Arrays.copyOf(many, 99_000);
        assertTrue(HeldObjects.replaceAll(fewer, List.of(), object -> object));
    }
}
