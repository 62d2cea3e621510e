package org.djlplan.memplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.memplan.PlannedTranslatorFactoryBuilder.Profile;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.spi.Option;
import org.junit.jupiter.api.Test;

/** Checks that the typed builder has a method for each option, and that it sets this option. */
class PlannedTranslatorFactoryBuilderTest {

    /** Sample values of each parameter type that is no enum. */
    private static final Map<Class<?>, List<Object>> SAMPLES =
            Map.of(
                    boolean.class, List.of(true, false),
                    int.class, List.of(1),
                    long.class, List.of(100_000_000L),
                    double.class, List.of(1e-4),
                    Path.class, List.of(Path.of("results")),
                    Duration.class, List.of(Duration.ofSeconds(3)),
                    String[].class, List.<Object>of((Object) new String[] {"17-23", "CONV_2D"}));

    /** A sample value of each option that is a text. */
    private static final Map<String, String> TEXTS =
            Map.of(
                    "optWarmup", "1,3,224,224;1,128:int64",
                    "optBudget", "64MB:best-effort",
                    "optMaxRequest", "256MB",
                    "optSharedBudget", "256MB",
                    "optDelegationDelegate", "xnnpack",
                    "optDelegationMaxMemory", "64MB",
                    "optDelegationPrecision", "int8:0.98");

    private static String method(Option option) {
        return Arrays.stream(option.key().split("\\."))
                .filter(part -> !part.equals("memplan"))
                .map(part -> part.substring(0, 1).toUpperCase(Locale.ROOT) + part.substring(1))
                .collect(Collectors.joining("", "opt", ""));
    }

    private static List<Method> setters() {
        return Arrays.stream(PlannedTranslatorFactoryBuilder.class.getMethods())
                .filter(method -> method.getName().startsWith("opt"))
                .toList();
    }

    /** The builder has no method for block factories: PlannedBlockFactory wraps them. */
    @Test
    void options_all_haveAMethod() {
        Set<String> methods = setters().stream().map(Method::getName).collect(Collectors.toSet());
        List<String> without =
                Stream.of(OptionKey.values(), DelegationKey.values())
                        .flatMap(Arrays::stream)
                        .map(Option.class::cast)
                        .filter(option -> !methods.contains(method(option)))
                        .map(Option::key)
                        .toList();
        assertEquals(List.of(OptionKey.BLOCK_FACTORY.key()), without);
    }

    @Test
    void opt_eachMethodAndValue_isAcceptedAsItsOption() throws Exception {
        Set<String> set = new TreeSet<>();
        for (Method method : setters()) {
            Class<?>[] types = method.getParameterTypes();
            if (method.getName().matches("opt(Translator|TranslatorFactory|Progress)")) {
                continue;
            }
            List<Object> firsts = types.length == 0 ? List.of("") : values(method, types[0]);
            for (Object first : firsts) {
                if (types.length == 2 && first == Profile.OFF) {
                    continue;
                }
                Object[] arguments =
                        switch (types.length) {
                            case 0 -> new Object[0];
                            case 1 -> new Object[] {first};
                            default -> new Object[] {first, values(method, types[1]).get(0)};
                        };
                Map<String, Object> options = optionsAfter(method, arguments);
                assertEquals(1, options.size(), method + " sets " + options);
                PlanOptions parsed = parse(options);
                DelegationOptions unused = DelegationOptions.parse(parsed.delegation());
                set.addAll(options.keySet());
            }
        }
        assertTrue(set.size() >= 18, set.toString());
    }

    private static List<Object> values(Method method, Class<?> type) {
        if (type.isEnum()) {
            return List.of(type.getEnumConstants());
        }
        return type == String.class
                ? List.of(Optional.ofNullable(TEXTS.get(method.getName())).orElseThrow())
                : SAMPLES.get(type);
    }

    private static Map<String, Object> optionsAfter(Method method, Object... arguments)
            throws IllegalAccessException, InvocationTargetException {
        PlannedTranslatorFactoryBuilder builder = PlannedTranslatorFactory.builder();
        Object same = method.invoke(builder, arguments);
        assertEquals(builder, same);
        return builder.build().options();
    }

    private static PlanOptions parse(Map<String, Object> options) {
        return PlanOptions.parse(
                GivenOptions.of(options, Map.of(), Map.of(), List.of(DelegationKey.values())));
    }
}
