package org.djlplan.memplan.internal.config;

import org.djlplan.memplan.spi.Option;
import org.djlplan.memplan.spi.Origin;

/** An option of another module. */
record SampleOption(String key, String defaultValue, Origin origin) implements Option {

    @Override
    public String meaning() {
        return "a sample";
    }
}
