package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.internal.NDArrayEx;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the method names in the tables with the API of DJL on the class path. */
class EffectsTest {

    private static final Set<String> ARRAYS = methods(NDArray.class, NDArrayEx.class);

    private static Set<String> methods(Class<?>... types) {
        return Arrays.stream(types)
                .flatMap(type -> Arrays.stream(type.getMethods()))
                .map(Method::getName)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void writes_everyInPlaceTwinOfAnOperation_yes() {
        Set<String> twins =
                ARRAYS.stream()
                        .filter(name -> name.endsWith("i") && !name.equals("fromi"))
                        .filter(
                                name -> {
                                    String plain = name.substring(0, name.length() - 1);
                                    return ARRAYS.contains(plain) || plain.startsWith("r");
                                })
                        .collect(Collectors.toSet());
        assertTrue(twins.containsAll(Set.of("addi", "subi", "rsubi", "negi")), twins.toString());
        assertEquals(Set.of(), filter(twins, name -> !Effects.writes(name)));
    }

    @Test
    void writes_everyUpdateOfAnOptimizer_yes() {
        Set<String> updates = filter(ARRAYS, name -> name.endsWith("Update"));
        assertEquals(6, updates.size(), updates.toString());
        assertEquals(Set.of(), filter(updates, name -> !Effects.writes(name)));
    }

    @Test
    void writes_operationsThatMakeANewArray_no() {
        for (String name : new String[] {"add", "sub", "neg", "get", "reshape", "duplicate"}) {
            assertFalse(Effects.writes(name), name);
        }
    }

    @Test
    void draws_everyRandomMethodOfAManager_yes() {
        Set<String> random =
                filter(
                        methods(NDManager.class),
                        name ->
                                name.startsWith("random")
                                        || name.startsWith("sample")
                                        || name.startsWith("truncated"));
        assertTrue(random.size() >= 6, random.toString());
        assertEquals(Set.of(), filter(random, name -> !Effects.draws(name)));
        assertFalse(Effects.draws("zeros"));
    }

    @Test
    void draws_everyRandomMethodOfAnArray_yes() {
        Set<String> random = filter(ARRAYS, name -> name.startsWith("random"));
        assertFalse(random.isEmpty());
        assertEquals(Set.of(), filter(random, name -> !Effects.draws(name)));
    }

    @Test
    void changesOwner_everyMethodOfAResource_yes() {
        Set<String> owning =
                filter(
                        ARRAYS,
                        name -> name.matches("(temp)?[aA]ttach|detach|returnResource|close"));
        assertTrue(owning.size() >= 4, owning.toString());
        assertEquals(Set.of(), filter(owning, name -> !Effects.changesOwner(name)));
        assertFalse(Effects.changesOwner("getManager"));
    }

    /**
     * Methods that return views, and methods that return the array itself if there is nothing to
     * do.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "reshape",
                "transpose",
                "swapAxes",
                "flatten",
                "squeeze",
                "expandDims",
                "get",
                "split",
                "broadcast",
                "flip",
                "toType",
                "toDevice",
                "stopGradient",
                "getGradient",
                "getNDArrayInternal"
            })
    void mayShare_viewsAndThemselves_yes(String method) {
        assertTrue(ARRAYS.contains(method), "no longer in DJL");
        assertTrue(Effects.mayShare(method));
    }

    @Test
    void mayShare_aMethodOfALaterDjl_yes() {
        assertTrue(Effects.mayShare("addedInALaterVersion"));
    }

    @Test
    void mayShare_inPlaceMethods_isTrue() {
        assertEquals(
                Set.of(), filter(ARRAYS, name -> Effects.writes(name) && !Effects.mayShare(name)));
        assertFalse(Effects.mayShare("add"));
        assertFalse(Effects.mayShare("matMul"));
    }

    private static Set<String> filter(
            Set<String> names, java.util.function.Predicate<String> test) {
        Stream<String> kept = names.stream().filter(test);
        return kept.collect(Collectors.toCollection(TreeSet::new));
    }
}
