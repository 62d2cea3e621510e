package org.djlplan.memplan.internal.source.tflite;

/**
 * The function of an operator: a builtin one, or a custom one with a name.
 *
 * @param builtinCode number of the builtin operator; {@link #CUSTOM} for a custom one
 * @param customCode name of a custom operator, otherwise empty
 * @param version kernel version that the model needs
 */
public record TfLiteOperatorCode(int builtinCode, String customCode, int version) {

    /** Number of the builtin operator that denotes a custom one. */
    public static final int CUSTOM = 32;

    /**
     * Returns the code of a builtin operator.
     *
     * @param name its name in TensorFlow's schema, for example {@code CONV_2D}
     * @throws IllegalArgumentException if there is no such operator
     */
    public static TfLiteOperatorCode builtin(String name, int version) {
        int code = Schema.operators().indexOf(name);
        if (code < 0) {
            throw new IllegalArgumentException("no builtin operator " + name);
        }
        return new TfLiteOperatorCode(code, "", version);
    }

    public boolean isCustom() {
        return builtinCode == CUSTOM;
    }

    /**
     * Returns the operator's name: {@code CONV_2D}, {@code CUSTOM:name}, or {@code BUILTIN_n} for a
     * number that is newer than the schema.
     */
    public String name() {
        if (isCustom()) {
            return "CUSTOM:" + customCode;
        }
        return builtinCode >= 0 && builtinCode < Schema.operators().size()
                ? Schema.operators().get(builtinCode)
                : "BUILTIN_" + builtinCode;
    }
}
