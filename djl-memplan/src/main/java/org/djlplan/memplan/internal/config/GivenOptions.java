package org.djlplan.memplan.internal.config;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.spi.Option;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The values of djl-plan's options that were given for a model. Values from the application's code
 * take precedence over system properties. System properties take precedence over DJL's arguments,
 * which may come from the model's folder.
 */
public final class GivenOptions {

    /** Prefix of a system property that sets an option; the option's key follows. */
    public static final String PROPERTY_PREFIX = "djlplan.";

    private static final List<String> PREFIXES =
            List.of(OptionKey.PREFIX, PlanOptions.DELEGATION_PREFIX);

    private final ImmutableMap<String, Object> values;

    private GivenOptions(Map<String, Object> values) {
        this.values = ImmutableMap.copyOf(values);
    }

    /**
     * Returns the value that the application gives an option, in its code or as a system property.
     *
     * @param code values set by the application's code, by key
     */
    public static Optional<String> ofApplication(OptionKey option, Map<String, ?> code) {
        Object value = code.get(option.key());
        return Optional.ofNullable(
                value == null
                        ? System.getProperty(PROPERTY_PREFIX + option.key())
                        : value.toString());
    }

    /**
     * Returns the effective values.
     *
     * @param code values set by the application's code, by key
     * @param properties the system properties of this JVM
     * @param arguments as passed by DJL to a translator factory; other keys are ignored. Instead of
     *     {@code memplan.threads} there may be a map {@code memplan} with {@code threads}, as
     *     Spring Boot binds properties
     * @param delegation the known delegation options; if empty, any delegation key is accepted, as
     *     when djl-delegation is absent
     * @throws IllegalArgumentException if a key under a djl-plan prefix is unknown (the message
     *     names the nearest), or if arguments set an option that only the application may set (the
     *     message says how)
     */
    public static GivenOptions of(
            Map<String, ?> code,
            Map<String, ?> properties,
            Map<String, ?> arguments,
            Collection<? extends Option> delegation) {
        Map<String, Option> known = new LinkedHashMap<>();
        for (Option option : OptionKey.values()) {
            known.put(option.key(), option);
        }
        for (Option option : delegation) {
            known.put(option.key(), option);
        }
        Map<String, Object> values = planArguments(arguments);
        values.keySet().forEach(key -> requireKnown("", key, known));
        Map<String, Object> application = new LinkedHashMap<>();
        for (Map.Entry<String, ?> property : properties.entrySet()) {
            String name = property.getKey();
            if (name.startsWith(PROPERTY_PREFIX)) {
                String key = name.substring(PROPERTY_PREFIX.length());
                if (isPlanOption(key)) {
                    requireKnown(PROPERTY_PREFIX, key, known);
                    application.put(key, String.valueOf(property.getValue()));
                }
            }
        }
        for (Map.Entry<String, ?> given : code.entrySet()) {
            requireKnown("", given.getKey(), known);
            application.put(given.getKey(), given.getValue());
        }
        values.keySet().removeAll(application.keySet());
        for (Map.Entry<String, Object> value : values.entrySet()) {
            requireAnyones(known.get(value.getKey()), value.getValue());
        }
        values.putAll(application);
        return new GivenOptions(values);
    }

    /** Returns whether a key has a djl-plan prefix, known or not. */
    public static boolean isPlanOption(String key) {
        return key.startsWith(OptionKey.PREFIX) || key.startsWith(PlanOptions.DELEGATION_PREFIX);
    }

    /**
     * Returns the arguments under djl-plan's prefixes. Some frameworks bind keys with dots as
     * nested maps; if both forms are given, the key with dots takes precedence.
     */
    private static Map<String, Object> planArguments(Map<String, ?> arguments) {
        Map<String, Object> ours = new LinkedHashMap<>();
        Map<String, Object> nested = new LinkedHashMap<>();
        for (Map.Entry<String, ?> argument : arguments.entrySet()) {
            String key = argument.getKey();
            if (isPlanOption(key)) {
                addTo(ours, key, argument.getValue());
            } else if (isPlanOption(key + ".") && argument.getValue() instanceof Map) {
                addTo(nested, key, argument.getValue());
            }
        }
        for (Map.Entry<String, Object> each : nested.entrySet()) {
            ours.putIfAbsent(each.getKey(), each.getValue());
        }
        return ours;
    }

    private static void addTo(Map<String, Object> flat, String key, Object value) {
        if (value instanceof Map<?, ?> inner) {
            inner.forEach((name, each) -> addTo(flat, key + "." + name, each));
        } else {
            flat.put(key, value == null ? "null" : value);
        }
    }

    private static void requireKnown(String before, String key, Map<String, Option> known) {
        if (known.containsKey(key)) {
            return;
        }
        String prefix =
                PREFIXES.stream().filter(key::startsWith).findFirst().orElse(OptionKey.PREFIX);
        List<String> candidates =
                known.keySet().stream().filter(k -> k.startsWith(prefix)).toList();
        if (!candidates.isEmpty()) {
            throw new IllegalArgumentException(
                    "unknown option "
                            + before
                            + key
                            + "; the nearest known one is "
                            + before
                            + Nearest.of(key, candidates));
        }
    }

    /** An unknown option belongs to an absent module, and has no effect. */
    private static void requireAnyones(Option option, Object value) {
        if (option != null) {
            Optional<String> refusal = OriginLimits.refusal(option, String.valueOf(value));
            if (refusal.isPresent()) {
                throw new IllegalArgumentException(refusal.get());
            }
        }
    }

    /** Returns the values by key, as given. */
    public Map<String, Object> values() {
        return values;
    }
}
