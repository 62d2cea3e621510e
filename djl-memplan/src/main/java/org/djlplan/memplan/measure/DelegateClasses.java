package org.djlplan.memplan.measure;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Loads a delegate of the user's and what it uses from the application's class path, but shows no
 * configuration of logging that lies there: it would open the application's log files.
 */
final class DelegateClasses extends URLClassLoader {

    private static final Pattern LOGGING =
            Pattern.compile(
                    "/?(META-INF/services/.*(slf4j|log4j|logback|logging).*"
                            + "|(log4j|logback|simplelogger|tinylog|logging)[^/]*)");

    static {
        ClassLoader.registerAsParallelCapable();
    }

    private DelegateClasses(URL[] places, ClassLoader parent) {
        super(places, parent);
    }

    static ClassLoader of(List<Path> places, ClassLoader parent) throws MalformedURLException {
        URL[] urls = new URL[places.size()];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = places.get(i).toUri().toURL();
        }
        return new DelegateClasses(urls, parent);
    }

    @Override
    public URL findResource(String name) {
        return LOGGING.matcher(name).matches() ? null : super.findResource(name);
    }

    @Override
    public Enumeration<URL> findResources(String name) throws IOException {
        return LOGGING.matcher(name).matches()
                ? Collections.emptyEnumeration()
                : super.findResources(name);
    }
}
