package org.djlplan.memplan.cli;

import ai.djl.engine.Engine;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Tells the version of this project as its jar states it, and those of DJL and Java. */
final class VersionProvider implements IVersionProvider {

    private static final String POM = "/META-INF/maven/org.djlplan/djl-memplan/pom.properties";

    @Override
    public String[] getVersion() throws IOException {
        Properties pom = new Properties();
        try (InputStream in = VersionProvider.class.getResourceAsStream(POM)) {
            if (in != null) {
                pom.load(in);
            }
        }
        return new String[] {
            "djlplan " + pom.getProperty("version", "(built from classes)"),
            "DJL " + Engine.getDjlVersion() + ", Java " + System.getProperty("java.version")
        };
    }
}
