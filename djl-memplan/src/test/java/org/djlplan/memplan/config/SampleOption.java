package org.djlplan.memplan.config;

/** An option of another module. */
record SampleOption(String key, String defaultValue, Origin origin) implements Option {

    @Override
    public String meaning() {
        return "a sample";
    }
}
